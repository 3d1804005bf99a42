// SPDX-License-Identifier: GPL-2.0-only
#include "echo-foreign-topology.h"

#include "echo-input-file.h"

#include "ns3/echo-units.h"

#include <filesystem>
#include <map>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

std::string RateText(DataRate rate)
{
    return std::to_string(rate.GetBitRate()) + "bps";
}

std::string DelayText(Time delay)
{
    return std::to_string(delay.GetPicoSeconds()) + "ps";
}

/** @return text in double quotes, as YAML and JSON write it */
std::string Quoted(const std::string& text)
{
    std::string quoted = "\"";
    for (char c : text)
    {
        quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return quoted + "\"";
}

} // namespace

std::string ForeignTopology::ToYaml() const
{
    std::ostringstream out;
    for (const auto& note : notes)
    {
        out << "# " << note << "\n";
    }
    out << "echo_cluster: 1\nname: " << Quoted(name) << "\ngpu: {name: " << Quoted(gpu)
        << "}\nhosts: " << hosts << "\nhost:\n  gpus: " << gpusPerHost
        << "\n  nics: " << gpusPerHost << "\n";
    if (hasNvSwitch)
    {
        out << "  nvlink: {type: nvswitch, rate: " << RateText(gpuRate)
            << ", delay: " << DelayText(gpuDelay) << "}\n";
    }
    else if (!gpuLinks.empty())
    {
        out << "  nvlink:\n    type: links\n    delay: " << DelayText(gpuDelay) << "\n    links:\n";
        for (const auto& [a, b] : gpuLinks)
        {
            out << "      - [" << a << ", " << b << ", " << RateText(gpuRate) << "]\n";
        }
    }
    out << "  nic: {rate: " << RateText(nicRate) << ", delay: " << DelayText(nicDelay)
        << "}\nfabric:\n  type: graph\n  nodes:";
    out << (switches.empty() ? " []\n" : "\n");
    for (const Switch& entry : switches)
    {
        out << "    - {name: " << entry.name << ", role: " << ToString(entry.role) << "}\n";
    }
    out << "  links:" << (links.empty() ? " []\n" : "\n");
    for (const Link& link : links)
    {
        out << "    - {a: " << link.a << ", b: " << link.b << ", rate: " << RateText(link.rate)
            << ", delay: " << DelayText(link.delay) << "}\n";
    }
    return out.str();
}

TopologyFormat RecognizeTopology(const std::string& path)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(path);
    std::string head(1 << 16, '\0');
    head.resize(source->Read(head.data(), head.size()));
    head.erase(0, SkipByteOrderMark(head));
    std::istringstream first(head.substr(0, head.find('\n')));
    std::vector<std::string> words;
    size_t numbers = 0;
    for (std::string word; first >> word;)
    {
        const bool isNumber = word.find_first_not_of("0123456789") == std::string::npos;
        numbers += isNumber && numbers == words.size() ? 1 : 0;
        words.push_back(word);
    }
    if (numbers >= 2)
    {
        return words.size() == 3 ? TopologyFormat::HPCC : TopologyFormat::SIMAI;
    }
    if (head.find("\"logical-dims\"") != std::string::npos)
    {
        throw InputError({path, 0, ""},
                         "a logical topology of ASTRA-sim, which names no links",
                         "the physical topology file beside it");
    }
    const bool hasDimensions = head.find("npus_count") != std::string::npos;
    return hasDimensions && head.find("echo_cluster") == std::string::npos
               ? TopologyFormat::ASTRA_SIM
               : TopologyFormat::ECHO;
}

TopologyFormat ParseTopologyFormat(const std::string& name)
{
    static const std::map<std::string, TopologyFormat> formats{
        {"echo", TopologyFormat::ECHO},
        {"hpcc", TopologyFormat::HPCC},
        {"simai", TopologyFormat::SIMAI},
        {"astra-sim", TopologyFormat::ASTRA_SIM},
    };
    const auto known = formats.find(name);
    if (known == formats.end())
    {
        throw InputError(
            {"", 0, "--from"}, "'" + name + "'", "one of auto, echo, hpcc, simai, astra-sim");
    }
    return known->second;
}

ForeignTopology ReadForeignTopology(const std::string& path, TopologyFormat format)
{
    ForeignTopology topology = format == TopologyFormat::ASTRA_SIM
                                   ? ReadDimensionTopology(path)
                                   : ReadLinkListTopology(path, format == TopologyFormat::SIMAI);
    topology.name = std::filesystem::path(path).filename().string();
    return topology;
}

YamlNode LoadCluster(const std::string& path)
{
    const TopologyFormat format = RecognizeTopology(path);
    if (format == TopologyFormat::ECHO)
    {
        return YamlNode::LoadFile(path);
    }
    return YamlNode::LoadText(ReadForeignTopology(path, format).ToYaml(), path);
}

} // namespace echo
} // namespace ns3
