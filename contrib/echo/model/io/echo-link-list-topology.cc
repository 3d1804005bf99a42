// SPDX-License-Identifier: GPL-2.0-only
#include "echo-foreign-topology.h"
#include "echo-input-file.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

const uint64_t MOST = 1u << 20; // nodes, links

struct FileLink
{
    uint32_t a{0};
    uint32_t b{0};
    DataRate rate;
    Time delay;
    uint32_t line{0};
};

class Reader
{
  public:
    Reader(const std::string& path, bool isSimAi)
        : m_path(path), m_isSimAi(isSimAi), m_text(ReadInputFile(path, LARGEST_TEXT))
    {
    }

    ForeignTopology Read();

  private:
    [[noreturn]] void Fail(const std::string& item,
                           const std::string& found,
                           const std::string& expected) const
    {
        throw InputError({m_path, m_line, item}, found, expected);
    }

    void NextLine(const std::string& what);
    uint64_t Number(const std::string& item, uint64_t most);
    void ReadHeader();
    void ReadSwitches();
    void ReadLinks();
    void CountRest();
    void NumberHosts();
    std::vector<uint32_t> DistancesFromHosts() const;
    void SetServers();
    void AddFabric();
    std::string NicOf(uint32_t host) const;

    bool IsHost(uint32_t node) const
    {
        return !m_isSwitch[node];
    }

    std::string m_path;
    bool m_isSimAi;
    std::istringstream m_text;
    uint32_t m_line{0};
    std::vector<std::string> m_words;
    size_t m_at{0};

    uint64_t m_nodes{0};
    uint64_t m_switches{0};
    uint64_t m_linkCount{0};
    uint64_t m_serverGpus{1};
    uint64_t m_nvSwitches{0};
    std::vector<bool> m_isSwitch;
    std::vector<bool> m_isNvSwitch;
    std::vector<FileLink> m_links;
    std::vector<uint32_t> m_hostNumber; //!< by node
    bool m_isForwarding{false};         //!< hosts are joined directly and pass traffic on
    ForeignTopology m_result;
};

void Reader::NextLine(const std::string& what)
{
    std::string line;
    ++m_line;
    if (!std::getline(m_text, line))
    {
        Fail("", "the end of the file", what);
    }
    std::istringstream in(line);
    m_words.clear();
    m_at = 0;
    for (std::string word; in >> word;)
    {
        m_words.push_back(word);
    }
}

uint64_t Reader::Number(const std::string& item, uint64_t most)
{
    if (m_at == m_words.size())
    {
        Fail(item, "the end of the line", "a whole number");
    }
    const std::string& word = m_words[m_at++];
    const bool isNumber =
        word.size() <= 10 && word.find_first_not_of("0123456789") == std::string::npos;
    const uint64_t number = isNumber ? std::stoull(word) : 0;
    if (!isNumber || number > most)
    {
        Fail(item, "'" + word.substr(0, 40) + "'", "a whole number up to " + std::to_string(most));
    }
    return number;
}

void Reader::ReadHeader()
{
    NextLine("a line with the numbers of nodes, switches and links");
    m_nodes = Number("nodes", MOST);
    if (m_isSimAi)
    {
        m_serverGpus = Number("GPUs of a server", 1024);
        m_nvSwitches = Number("NVSwitches", m_nodes);
    }
    m_switches = Number("switches", m_nodes) + m_nvSwitches;
    m_linkCount = Number("links", MOST);
    if (m_isSimAi && m_at < m_words.size())
    {
        m_result.gpu = m_words[m_at++];
    }
    if (m_at < m_words.size())
    {
        Fail("", std::to_string(m_words.size()) + " words", std::to_string(m_at));
    }
    if (m_switches >= m_nodes || m_serverGpus == 0)
    {
        Fail("",
             std::to_string(m_nodes) + " nodes of which " + std::to_string(m_switches) +
                 " are switches",
             "at least one host");
    }
}

void Reader::ReadSwitches()
{
    NextLine("a line with the numbers of the switches");
    m_isSwitch.assign(m_nodes, false);
    m_isNvSwitch.assign(m_nodes, false);
    if (m_words.size() != m_switches)
    {
        Fail("switches",
             std::to_string(m_words.size()) + " numbers",
             std::to_string(m_switches) + ", as line 1 says");
    }
    for (uint64_t i = 0; i < m_switches; ++i)
    {
        const uint64_t node = Number("switches", m_nodes - 1);
        if (m_isSwitch[node])
        {
            Fail("switches", std::to_string(node) + " twice", "each once");
        }
        m_isSwitch[node] = true;
        m_isNvSwitch[node] = i < m_nvSwitches; // they stand first
    }
}

void Reader::ReadLinks()
{
    uint64_t lossy = 0;
    for (uint64_t i = 0; i < m_linkCount; ++i)
    {
        NextLine(std::to_string(m_linkCount) + " links, as line 1 says, of which there are " +
                 std::to_string(i));
        if (m_words.empty())
        {
            --i;
            continue;
        }
        if (m_words.size() != 5)
        {
            Fail("link",
                 std::to_string(m_words.size()) + " words",
                 "5: node, node, rate, delay, error rate");
        }
        FileLink link;
        link.line = m_line;
        link.a = static_cast<uint32_t>(Number("link", m_nodes - 1));
        link.b = static_cast<uint32_t>(Number("link", m_nodes - 1));
        try
        {
            link.rate = ParseRate(m_words[2]);
            link.delay = ParseTime(m_words[3]);
        }
        catch (const InputError& error)
        {
            throw error.At({m_path, m_line, "link"});
        }
        char* end = nullptr;
        const double loss = std::strtod(m_words[4].c_str(), &end);
        if (*end != '\0' || !(loss >= 0 && loss <= 1))
        {
            Fail("link", "error rate '" + m_words[4].substr(0, 40) + "'", "from 0 to 1");
        }
        lossy += loss > 0 ? 1 : 0;
        if (link.a == link.b)
        {
            Fail("link", "a link of node " + m_words[0] + " to itself", "two nodes");
        }
        m_links.push_back(link);
    }
    CountRest();
    if (lossy > 0)
    {
        m_result.notes.push_back("error rates of " + std::to_string(lossy) + " links are left out");
    }
}

/** HPCC reads as many links as line 1 says; its own files hold more, and explanations. */
void Reader::CountRest()
{
    uint64_t lines = 0;
    for (std::string line; std::getline(m_text, line);)
    {
        lines += line.find_first_not_of(" \t\r") != std::string::npos ? 1 : 0;
    }
    if (lines > 0)
    {
        m_result.notes.push_back(std::to_string(lines) + " lines behind the " +
                                 std::to_string(m_linkCount) +
                                 " links that line 1 names are left out, as HPCC does");
    }
}

void Reader::NumberHosts()
{
    uint32_t hosts = 0;
    m_hostNumber.assign(m_nodes, 0);
    for (uint32_t node = 0; node < m_nodes; ++node)
    {
        m_hostNumber[node] = IsHost(node) ? hosts++ : 0;
    }
    if (hosts % m_serverGpus != 0)
    {
        throw InputError({m_path, 1, "GPUs of a server"},
                         std::to_string(hosts) + " GPUs in servers of " +
                             std::to_string(m_serverGpus),
                         "full servers");
    }
    m_result.gpusPerHost = static_cast<uint32_t>(m_serverGpus);
    m_result.hosts = hosts / m_result.gpusPerHost;
}

/** @return by node: links to the nearest host, over switches of the fabric */
std::vector<uint32_t> Reader::DistancesFromHosts() const
{
    std::vector<std::vector<uint32_t>> neighbours(m_nodes);
    for (const FileLink& link : m_links)
    {
        if (!m_isNvSwitch[link.a] && !m_isNvSwitch[link.b])
        {
            neighbours[link.a].push_back(link.b);
            neighbours[link.b].push_back(link.a);
        }
    }
    std::vector<uint32_t> distance(m_nodes, UINT32_MAX);
    std::deque<uint32_t> queue;
    for (uint32_t node = 0; node < m_nodes; ++node)
    {
        if (IsHost(node))
        {
            distance[node] = 0;
            queue.push_back(node);
        }
    }
    while (!queue.empty())
    {
        const uint32_t node = queue.front();
        queue.pop_front();
        for (uint32_t next : neighbours[node])
        {
            if (distance[next] == UINT32_MAX)
            {
                distance[next] = distance[node] + 1;
                queue.push_back(next);
            }
        }
    }
    return distance;
}

/** NVSwitches: each joins the GPUs of one server, all at one rate. */
void Reader::SetServers()
{
    std::map<uint32_t, uint32_t> serverOf; // by NVSwitch
    uint32_t joined = 0;
    for (const FileLink& link : m_links)
    {
        const bool isFirst = m_isNvSwitch[link.a];
        if (!isFirst && !m_isNvSwitch[link.b])
        {
            continue;
        }
        m_line = link.line;
        const uint32_t nvSwitch = isFirst ? link.a : link.b;
        const uint32_t gpu = isFirst ? link.b : link.a;
        if (!IsHost(gpu))
        {
            Fail("link", "an NVSwitch joined to another switch", "to GPUs only");
        }
        const uint32_t server = m_hostNumber[gpu] / m_result.gpusPerHost;
        if (serverOf.emplace(nvSwitch, server).first->second != server)
        {
            Fail("link",
                 "NVSwitch " + std::to_string(nvSwitch) + " in two servers",
                 "GPUs of one server");
        }
        if (joined > 0 && (link.rate != m_result.gpuRate || link.delay != m_result.gpuDelay))
        {
            Fail("link", "links to NVSwitches that differ", "equal ones");
        }
        m_result.gpuRate = link.rate;
        m_result.gpuDelay = link.delay;
        ++joined;
    }
    const uint32_t gpus = m_result.hosts * m_result.gpusPerHost;
    if (joined > 0 && (joined % gpus != 0 || m_nvSwitches % m_result.hosts != 0))
    {
        throw InputError({m_path, 0, ""},
                         std::to_string(joined) + " links to NVSwitches for " +
                             std::to_string(gpus) + " GPUs",
                         "as many for each GPU");
    }
    if (joined == 0 && m_result.gpusPerHost > 1)
    {
        throw InputError({m_path, 1, "NVSwitches"},
                         "servers of " + std::to_string(m_result.gpusPerHost) +
                             " GPUs without links to NVSwitches",
                         "one for each GPU");
    }
    if (joined > gpus)
    {
        m_result.gpuRate = DataRate(m_result.gpuRate.GetBitRate() * (joined / gpus));
    }
    m_result.hasNvSwitch = joined > 0 && m_result.gpusPerHost > 1;
}

std::string Reader::NicOf(uint32_t host) const
{
    const uint32_t gpu = m_hostNumber[host];
    return "host" + std::to_string(gpu / m_result.gpusPerHost) + "/nic" +
           std::to_string(gpu % m_result.gpusPerHost);
}

void Reader::AddFabric()
{
    const std::vector<uint32_t> distance = DistancesFromHosts();
    uint64_t direct = 0;
    for (const FileLink& link : m_links)
    {
        direct += IsHost(link.a) && IsHost(link.b) ? 1 : 0;
    }
    m_isForwarding = direct > 0;
    std::vector<std::string> names(m_nodes);
    uint64_t nicRate = 0;
    for (uint32_t node = 0; node < m_nodes; ++node)
    {
        if (m_isNvSwitch[node])
        {
            continue;
        }
        if (IsHost(node) && !m_isForwarding)
        {
            names[node] = NicOf(node);
            continue;
        }
        names[node] = (IsHost(node) ? "forward" : "switch") + std::to_string(node);
        m_result.switches.push_back({names[node],
                                     distance[node] <= 1   ? DeviceRole::LEAF
                                     : distance[node] == 2 ? DeviceRole::SPINE
                                                           : DeviceRole::CORE});
    }
    std::vector<uint64_t> rateOfHost(m_nodes, 0);
    for (const FileLink& link : m_links)
    {
        if (m_isNvSwitch[link.a] || m_isNvSwitch[link.b])
        {
            continue;
        }
        m_result.links.push_back({names[link.a], names[link.b], link.rate, link.delay});
        for (uint32_t node : {link.a, link.b})
        {
            rateOfHost[node] += link.rate.GetBitRate();
            if (IsHost(node))
            {
                nicRate =
                    std::max(nicRate, m_isForwarding ? rateOfHost[node] : link.rate.GetBitRate());
                m_result.nicDelay =
                    m_isForwarding ? Time() : std::max(m_result.nicDelay, link.delay);
            }
        }
    }
    for (uint32_t node = 0; node < m_nodes && m_isForwarding; ++node)
    {
        if (IsHost(node))
        {
            m_result.links.push_back({NicOf(node), names[node], DataRate(nicRate), Time()});
        }
    }
    if (nicRate == 0)
    {
        throw InputError({m_path, 0, ""}, "no link between a host and a network", "one a host");
    }
    m_result.nicRate = DataRate(nicRate);
    if (m_isForwarding)
    {
        m_result.notes.push_back("hosts are joined directly: each has a switch of its own that "
                                 "passes traffic on, behind a NIC as fast as its links");
    }
}

ForeignTopology Reader::Read()
{
    ReadHeader();
    ReadSwitches();
    ReadLinks();
    NumberHosts();
    SetServers();
    AddFabric();
    return std::move(m_result);
}

} // namespace

ForeignTopology ReadLinkListTopology(const std::string& path, bool isSimAi)
{
    return Reader(path, isSimAi).Read();
}

} // namespace echo
} // namespace ns3
