// SPDX-License-Identifier: GPL-2.0-only
#include "echo-foreign-topology.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/** One dimension of an ASTRA-sim network; the first varies fastest with the NPU's number. */
struct Dimension
{
    std::string type;
    uint32_t size{1};
    DataRate rate;
    Time latency;
    uint32_t stride{1};
};

/** What a dimension of pairs may cost at most. */
const uint64_t MOST_LINKS = 1u << 17;

std::vector<Dimension> ReadDimensions(const YamlNode& root)
{
    root.RequireMap();
    const auto types = root.Get("topology").GetEntries();
    const auto sizes = root.Get("npus_count").GetEntries();
    const auto rates = root.Get("bandwidth").GetEntries();
    const auto latencies = root.Get("latency").GetEntries();
    root.RefuseUnknownKeys();
    for (const char* key : {"npus_count", "bandwidth", "latency"})
    {
        const size_t entries = root.Get(key).GetEntries().size();
        if (entries != types.size() || types.empty())
        {
            root.Get(key).Fail(std::to_string(entries) + " entries",
                               std::to_string(types.size()) + " as topology has, at least one");
        }
    }
    std::vector<Dimension> dimensions;
    uint64_t npus = 1;
    for (size_t i = 0; i < types.size(); ++i)
    {
        Dimension dimension;
        dimension.type = types[i].AsString();
        if (dimension.type != "Ring" && dimension.type != "Switch" &&
            dimension.type != "FullyConnected")
        {
            types[i].Fail("'" + dimension.type + "'", "Ring, FullyConnected or Switch");
        }
        dimension.size = static_cast<uint32_t>(sizes[i].AsInteger(2, 1 << 20));
        dimension.stride = static_cast<uint32_t>(npus);
        npus *= dimension.size;
        if (npus > (1u << 20))
        {
            sizes[i].Fail("more than 2^20 NPUs", "fewer");
        }
        const double bytes = rates[i].AsNumber(1e-6, 1e6) * 1e9;
        dimension.rate = DataRate(static_cast<uint64_t>(std::llround(bytes * 8)));
        dimension.latency =
            PicoSeconds(static_cast<int64_t>(std::llround(latencies[i].AsNumber(0, 1e12) * 1e3)));
        dimensions.push_back(dimension);
    }
    return dimensions;
}

/** @return pairs of neighbours in a ring or among all of @p size */
std::vector<std::pair<uint32_t, uint32_t>> PairsOf(const Dimension& dimension)
{
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    for (uint32_t a = 0; a < dimension.size; ++a)
    {
        if (dimension.type == "Ring")
        {
            const uint32_t b = (a + 1) % dimension.size;
            if (dimension.size > 2 || a < b)
            {
                pairs.emplace_back(a, b);
            }
            continue;
        }
        for (uint32_t b = a + 1; b < dimension.size; ++b)
        {
            pairs.emplace_back(a, b);
        }
    }
    return pairs;
}

class Builder
{
  public:
    Builder(const YamlNode& root, std::vector<Dimension> dimensions)
        : m_root(root), m_dimensions(std::move(dimensions))
    {
        const Dimension& last = m_dimensions.back();
        m_npus = last.stride * last.size;
    }

    ForeignTopology Build();

  private:
    void SetHost(const Dimension& dimension);
    void AddSwitch();
    void AddDimensions();
    void AddDimension(size_t number);
    std::string NicOf(uint32_t npu) const;

    const YamlNode& m_root;
    std::vector<Dimension> m_dimensions;
    uint32_t m_npus{0};
    ForeignTopology m_result;
};

std::string Builder::NicOf(uint32_t npu) const
{
    return "host" + std::to_string(npu / m_result.gpusPerHost) + "/nic" +
           std::to_string(npu % m_result.gpusPerHost);
}

/** The first of two dimensions is the inside of a host. */
void Builder::SetHost(const Dimension& dimension)
{
    if (dimension.size > 1024)
    {
        m_root.Get("npus_count")
            .Fail("a first dimension of " + std::to_string(dimension.size),
                  "at most 1024, as it is the inside of a host");
    }
    m_result.gpusPerHost = dimension.size;
    m_result.hasNvSwitch = dimension.type == "Switch";
    m_result.gpuRate = dimension.rate;
    m_result.gpuDelay = dimension.latency;
    if (!m_result.hasNvSwitch)
    {
        m_result.gpuLinks = PairsOf(dimension);
    }
}

/** One dimension of a switch: all NPUs on it. */
void Builder::AddSwitch()
{
    const Dimension& dimension = m_dimensions.back();
    m_result.switches.push_back({"switch", DeviceRole::LEAF});
    m_result.nicRate = dimension.rate;
    m_result.nicDelay = dimension.latency;
    for (uint32_t npu = 0; npu < m_npus; ++npu)
    {
        m_result.links.push_back({NicOf(npu), "switch", dimension.rate, dimension.latency});
    }
}

void Builder::AddDimension(size_t number)
{
    const Dimension& dimension = m_dimensions[number];
    const bool isSwitch = dimension.type == "Switch";
    const auto pairs = isSwitch ? std::vector<std::pair<uint32_t, uint32_t>>() : PairsOf(dimension);
    if (m_result.links.size() + pairs.size() * (m_npus / dimension.size) > MOST_LINKS)
    {
        m_root.Get("npus_count").Fail("more than 2^17 links", "a smaller network");
    }
    for (uint32_t npu = 0; npu < m_npus; ++npu)
    {
        if (npu / dimension.stride % dimension.size != 0)
        {
            continue; // the first of each group adds its links
        }
        auto nodeOf = [&](uint32_t place) {
            return "npu" + std::to_string(npu + place * dimension.stride);
        };
        if (isSwitch)
        {
            const std::string name = "switch" + std::to_string(number) + "-" + std::to_string(npu);
            m_result.switches.push_back({name, DeviceRole::SPINE});
            for (uint32_t place = 0; place < dimension.size; ++place)
            {
                m_result.links.push_back({nodeOf(place), name, dimension.rate, dimension.latency});
            }
        }
        for (const auto& [a, b] : pairs)
        {
            m_result.links.push_back({nodeOf(a), nodeOf(b), dimension.rate, dimension.latency});
        }
    }
}

/** NPUs pass traffic on: each has a switch behind its NIC. */
void Builder::AddDimensions()
{
    uint64_t rate = 0;
    for (const Dimension& dimension : m_dimensions)
    {
        const uint64_t links = dimension.type == "Switch" ? 1
                               : dimension.type == "Ring" ? std::min(2u, dimension.size - 1)
                                                          : dimension.size - 1;
        rate += dimension.rate.GetBitRate() * links;
    }
    m_result.nicRate = DataRate(rate);
    for (uint32_t npu = 0; npu < m_npus; ++npu)
    {
        m_result.switches.push_back({"npu" + std::to_string(npu), DeviceRole::LEAF});
        m_result.links.push_back({NicOf(npu), "npu" + std::to_string(npu), DataRate(rate), Time()});
    }
    for (size_t i = 0; i < m_dimensions.size(); ++i)
    {
        AddDimension(i);
    }
    m_result.notes.push_back("NPUs pass traffic on: each has a switch of its own behind a NIC as "
                             "fast as its links");
}

ForeignTopology Builder::Build()
{
    // What a switch joins from outside are hosts; in meshes of dimensions every NPU is one.
    const bool endsInSwitch = m_dimensions.back().type == "Switch" && m_dimensions.size() <= 2;
    const bool hasHosts = endsInSwitch && m_dimensions.size() == 2;
    if (hasHosts)
    {
        SetHost(m_dimensions.front());
        m_result.notes.push_back("the first dimension is the inside of a host; groups of the "
                                 "second share one non-blocking switch");
    }
    m_result.hosts = m_npus / m_result.gpusPerHost;
    if (endsInSwitch)
    {
        AddSwitch();
    }
    else
    {
        AddDimensions();
    }
    m_result.notes.push_back("bandwidths are 10^9 bytes a second, as labelled; ASTRA-sim "
                             "computes with 2^30");
    return std::move(m_result);
}

} // namespace

ForeignTopology ReadDimensionTopology(const std::string& path)
{
    const YamlNode root = YamlNode::LoadFile(path);
    return Builder(root, ReadDimensions(root)).Build();
}

} // namespace echo
} // namespace ns3
