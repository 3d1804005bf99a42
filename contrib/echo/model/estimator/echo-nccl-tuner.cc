// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-tuner.h"

#include "echo-nccl-chunks.h"
#include "echo-nccl-environment.h"
#include "echo-nccl-tuner-tables.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ns3
{
namespace echo
{

namespace
{

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithmKind;
using Protocol = CollectiveProtocol;
using namespace tuner;

const Tables& TablesOf(uint32_t version)
{
    const Tables* found = &TABLES[0];
    for (const auto& tables : TABLES)
    {
        if (tables.since <= version)
        {
            found = &tables;
        }
    }
    return *found;
}

double LargestLl(const Tables& tables, const NcclEnvironment& environment, const GroupShape& shape)
{
    const uint32_t column = std::min(shape.hosts, 3u) - 1;
    if (shape.hosts > 1)
    {
        return LL_LARGEST[environment.cpu == CpuVendor::AMD ? 1 : 0][column];
    }
    switch (environment.gpu)
    {
    case GpuGeneration::VOLTA:
        return LL_LARGEST[0][column];
    case GpuGeneration::AMPERE:
        return LL_LARGEST[1][column];
    case GpuGeneration::HOPPER:
        return tables.llHopper[column];
    case GpuGeneration::BLACKWELL:
        return 2 * tables.llHopper[column];
    }
    return LL_LARGEST[0][column];
}

/** @return sends that follow each other; all of them cross a link of the ring */
uint32_t RingSteps(Kind kind, uint32_t ranks)
{
    switch (kind)
    {
    case Kind::ALL_REDUCE:
    case Kind::BARRIER:
        return 2 * (ranks - 1);
    case Kind::ALL_GATHER:
    case Kind::REDUCE_SCATTER:
        return ranks - 1;
    default:
        return ranks;
    }
}

bool IsChain(Kind kind)
{
    return kind == Kind::BROADCAST || kind == Kind::REDUCE;
}

} // namespace

uint32_t ParseNcclVersion(const std::string& text)
{
    char* end = nullptr;
    const unsigned long major = std::strtoul(text.c_str(), &end, 10);
    unsigned long minor = 0;
    bool good = major == 2 && *end == '.';
    if (good)
    {
        const char* begin = end + 1;
        minor = std::strtoul(begin, &end, 10);
        good = end != begin && (*end == '\0' || *end == '.') && minor >= 8 && minor < 100;
    }
    if (!good)
    {
        throw InputError({}, "'" + text + "'", "an NCCL version from 2.8 on, such as 2.22");
    }
    return static_cast<uint32_t>(100 * major + minor);
}

uint32_t FloorLog2(uint64_t value)
{
    uint32_t log = 0;
    while (value > 1)
    {
        value /= 2;
        ++log;
    }
    return log;
}

double RingShare(const NcclEnvironment& environment, uint32_t localRanks)
{
    const std::vector<double>& rings = environment.hostRings;
    if (rings.empty() || localRanks < 2)
    {
        return 1;
    }
    const size_t index = std::min<size_t>(localRanks - 2, rings.size() - 1);
    return rings[index] / rings.back();
}

NetPaths NetPathsOf(const NcclEnvironment& environment, const GroupShape& shape)
{
    const double perPath = environment.channelsPerNic / environment.pathsPerNic;
    NetPaths paths{environment.pathsPerNic,
                   environment.netPathGBps,
                   environment.netTreeIntraGBps,
                   environment.channelsPerNic};
    if (environment.returnPathGBps > 0 && shape.localRanks > 1)
    {
        const double most = std::floor(environment.netPathGBps / environment.returnPathGBps);
        paths.perNic = std::clamp(most, 1.0, shape.localRanks - 1.0);
        paths.GBps = std::min(environment.returnPathGBps, environment.netPathGBps);
        paths.treeIntraGBps = std::min(2 * paths.GBps, environment.netTreeIntraGBps);
        paths.channels = perPath * paths.perNic;
    }
    return paths;
}

uint32_t NcclChannels(const NcclEnvironment& environment, const GroupShape& shape)
{
    if (shape.hosts <= 1)
    {
        const double share = RingShare(environment, shape.localRanks);
        return static_cast<uint32_t>(std::max(1.0, std::round(environment.hostChannels * share)));
    }
    const double channels = std::round(NetPathsOf(environment, shape).channels * shape.nics);
    return static_cast<uint32_t>(
        std::clamp(channels, 1.0, static_cast<double>(environment.largestChannelCount)));
}

NcclTuner::NcclTuner(const NcclEnvironment& environment, const GroupShape& shape)
    : m_environment(environment), m_shape(shape), m_version(ParseNcclVersion(environment.version))
{
}

bool NcclTuner::IsEnabled(Kind kind, AlgorithmProtocol how) const
{
    if (how.algorithm == Algorithm::TREE && kind != Kind::ALL_REDUCE && kind != Kind::BARRIER)
    {
        return false;
    }
    if (how.algorithm == Algorithm::NVLS || how.algorithm == Algorithm::NVLS_TREE)
    {
        // Alone inside a host, as a tree between several; between hosts NVLS needs CollNet.
        const bool several = how.algorithm == Algorithm::NVLS_TREE;
        return kind == Kind::ALL_REDUCE && how.protocol == Protocol::SIMPLE &&
               m_environment.nvlsPathGBps > 0 && m_shape.localRanks > 2 &&
               m_version >= (several ? 218u : 217u) && several == (m_shape.hosts > 1);
    }
    if (how.algorithm == Algorithm::PAT)
    {
        return (kind == Kind::ALL_GATHER || kind == Kind::REDUCE_SCATTER) &&
               how.protocol == Protocol::SIMPLE && m_version >= 223 && m_shape.hosts > 1 &&
               m_shape.localRanks == 1;
    }
    if (how.protocol == Protocol::LL128 && !m_environment.nvlink && m_shape.localRanks > 1)
    {
        return false;
    }
    return how.protocol != Protocol::LL128 || m_shape.hosts <= 1 || m_environment.ll128BetweenHosts;
}

double NcclTuner::GetSwitchBandwidth(bool tree) const
{
    const double heads = NcclSwitchHeads(m_shape);
    // The links of a GPU carry the parts of all heads.
    const double links = m_environment.hostPaths * m_environment.hostPathGBps;
    const double inside = std::min(m_environment.nvlsPathGBps, NcclHostLadderRate(links / heads));
    const bool two = m_shape.hosts <= 2;
    // Between hosts each GPU's part takes its NIC's path.
    const double net = tree ? m_environment.netPathGBps * m_environment.pathsPerNic *
                                  std::min(m_shape.nics / heads, 1.0)
                            : INFINITY;
    if (m_version < 228)
    {
        return heads * std::min(inside, two ? net : net / 2) * 5 / 6;
    }
    const size_t row = m_environment.gpu == GpuGeneration::BLACKWELL ? 1 : 0;
    const double both = 2 * inside * NVLS_EFFICIENCY[row] * (heads - 1) / heads;
    const double most = tree ? NVLS_TREE_CHANNEL[row][two ? 0 : 1] : INFINITY;
    const double ratio = m_shape.ranks / (2.0 * (m_shape.ranks - 1));
    return heads * std::min({both, two ? 2 * net : net, most}) * ratio;
}

bool NcclTuner::IsPlainTree() const
{
    // From Hopper on the search (src/graph/search.cc) takes trees whose NIC serves one GPU before
    // ways to the NIC that are longer, over which the balanced tree's second GPU would reach it.
    return m_version >= 218 && m_shape.hosts > 1 &&
           (m_environment.gpu >= GpuGeneration::HOPPER || m_shape.localRanks < 2);
}

double NcclTuner::GetBandwidth(Kind kind, AlgorithmProtocol how) const
{
    if (how.algorithm == Algorithm::NVLS || how.algorithm == Algorithm::NVLS_TREE)
    {
        return GetSwitchBandwidth(how.algorithm == Algorithm::NVLS_TREE);
    }
    const Tables& tables = TablesOf(m_version);
    const bool tree = how.algorithm == Algorithm::TREE;
    const bool single = m_shape.hosts <= 1;
    const uint32_t column = std::min(m_shape.hosts, 3u) - 1;
    const auto generation = static_cast<uint32_t>(m_environment.gpu);
    const double inside = std::max(
        1.0, std::round(m_environment.hostPaths * RingShare(m_environment, m_shape.localRanks)));
    // The search takes at most MAXCHANNELS / 2 (src/init.cc), which binds in hosts of many NICs.
    const double most = m_version >= 225 ? 32 : 16;
    const NetPaths net = NetPathsOf(m_environment, m_shape);
    const double between = net.perNic * m_shape.nics;
    const double paths = single ? inside : std::clamp(between, 1.0, most);
    double rate = single ? m_environment.hostPathGBps : net.GBps;
    if (tree && m_shape.hosts == 2)
    {
        rate = net.treeIntraGBps;
    }
    double bus = paths * rate;
    if (!single && m_shape.localRanks > 1)
    {
        bus = std::min(bus, m_environment.hostPaths * m_environment.hostPathGBps);
    }
    if (tables.capped && generation >= 1)
    {
        bus = std::min(bus, generation == 1 ? 235.0 : 370.0);
    }
    if (how.algorithm == Algorithm::PAT)
    {
        return .75 * bus;
    }
    const bool newer = m_version >= 228 && m_environment.gpu == GpuGeneration::BLACKWELL;
    if (tree)
    {
        const double channel =
            newer ? NEWER_TREE_CHANNEL[column] : TREE_CHANNEL[generation][column];
        bus = std::min(bus * .92, paths * channel);
    }
    if (how.protocol == Protocol::LL)
    {
        const bool reduces = kind == Kind::ALL_REDUCE || kind == Kind::REDUCE;
        const double part = tables.ringLl == .25 && single && !reduces ? 1.0 / 3 : tables.ringLl;
        bus = std::min(LargestLl(tables, m_environment, m_shape), bus * (tree ? 1 / 3.8 : part));
    }
    else if (how.protocol == Protocol::LL128)
    {
        const bool alone = m_shape.localRanks < 2 && m_version < 223;
        const double part = tree ? (single ? 7.0 / 9 : 120.0 / 128) : (alone ? .7 : .92);
        const double treeChannel =
            newer ? NEWER_TREE_LL128_CHANNEL[column] : TREE_LL128_CHANNEL[generation][column];
        const double ringChannel =
            newer ? NEWER_RING_LL128_CHANNEL : RING_LL128_CHANNEL[generation];
        const double channel = tree ? treeChannel : ringChannel;
        bus = std::min(bus * part, paths * channel);
    }
    if (tree && IsPlainTree())
    {
        constexpr double PLAIN_TREE = .85;
        bus *= PLAIN_TREE;
    }
    return bus * (tree ? .5 : static_cast<double>(m_shape.ranks) / RingSteps(kind, m_shape.ranks));
}

double NcclTuner::GetLatency(Kind kind, AlgorithmProtocol how) const
{
    const Tables& tables = TablesOf(m_version);
    const uint32_t row = how.algorithm == Algorithm::TREE ? 0 : 1;
    const uint32_t protocol = ProtocolIndex(how.protocol);
    const bool several = m_shape.hosts > 1;
    const double levels = FloorLog2(m_shape.hosts);
    if (how.algorithm == Algorithm::NVLS)
    {
        return tables.nvls;
    }
    if (how.algorithm == Algorithm::NVLS_TREE)
    {
        return tables.nvls + 2 * levels * tables.nvlsTreeNet;
    }
    if (how.algorithm == Algorithm::PAT)
    {
        constexpr double BASE = 8;
        constexpr double PER_RANK = 2.8;
        return BASE + levels * tables.net[0][protocol] / 3.5 + PER_RANK * m_shape.ranks;
    }
    double intra = (m_environment.nvlink ? tables.nvlink : tables.pci)[row][protocol];
    if (several && how.protocol == Protocol::LL)
    {
        intra *= tables.intraLlBetween;
    }
    const bool alone = m_shape.localRanks < 2 && m_version >= 223;
    const double inter = tables.net[alone ? 0 : row][protocol];
    double latency = tables.base[row][protocol];
    if (row == 0)
    {
        return latency + 2 * ((m_shape.localRanks - 1) * intra + FloorLog2(m_shape.hosts) * inter);
    }
    if (IsChain(kind))
    {
        return latency + (several                ? tables.net
                          : m_environment.nvlink ? tables.nvlink
                                                 : tables.pci)[1][protocol];
    }
    if (several && tables.netOverhead)
    {
        const double post = m_environment.cpu == CpuVendor::AMD ? 2.0 : 1.0;
        intra = std::max(intra, how.protocol == Protocol::SIMPLE ? 3 * post : post);
    }
    const bool twice = kind == Kind::ALL_REDUCE || kind == Kind::BARRIER;
    const double steps = RingSteps(kind, m_shape.ranks);
    // From 2.12 on until 2.23 the tuner counted 2 M steps of an all-reduce between hosts.
    const bool more = twice && several && m_version >= 212 && m_version < 223;
    const double between = (twice ? 2 : 1) * (m_shape.hosts - 1.0) + (more ? 2 : 0);
    return latency + (steps - between) * intra + between * inter;
}

std::optional<double> NcclTuner::GetTime(Kind kind, AlgorithmProtocol how, uint64_t bytes) const
{
    if (!IsEnabled(kind, how))
    {
        return std::nullopt;
    }
    const Tables& tables = TablesOf(m_version);
    double bandwidth = GetBandwidth(kind, how);
    double latency = GetLatency(kind, how);
    const uint32_t size = FloorLog2(bytes >> 6);
    if (how.algorithm == Algorithm::TREE && size < 23)
    {
        bandwidth *= TREE_CORRECTION[ProtocolIndex(how.protocol)][size];
    }
    if (how.algorithm == Algorithm::RING && how.protocol == Protocol::SIMPLE && m_shape.hosts > 1 &&
        kind == Kind::ALL_REDUCE)
    {
        // "Plateau effect of ring": from 4 KiB a rank on, later from 64 B a rank and channel on.
        const uint64_t least =
            m_version < 218 ? uint64_t{4096} * m_shape.ranks
                            : uint64_t{64} * m_shape.ranks * NcclChannels(m_environment, m_shape);
        const bool hopper = m_environment.gpu >= GpuGeneration::HOPPER;
        const bool volta = m_environment.gpu == GpuGeneration::VOLTA;
        if (bytes >= least)
        {
            latency *= volta ? 1.9 : hopper ? tables.plateauHopper : tables.ringPlateau;
        }
    }
    return latency + static_cast<double>(bytes) / (1000 * bandwidth);
}

AlgorithmProtocol NcclTuner::Choose(Kind kind, uint64_t bytes) const
{
    AlgorithmProtocol best;
    std::optional<double> least;
    for (const Algorithm algorithm :
         {Algorithm::TREE, Algorithm::RING, Algorithm::NVLS, Algorithm::NVLS_TREE, Algorithm::PAT})
    {
        for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::SIMPLE})
        {
            const AlgorithmProtocol how{algorithm, protocol};
            const std::optional<double> time = GetTime(kind, how, bytes);
            if (time && (!least || *time < *least))
            {
                least = time;
                best = how;
            }
        }
    }
    return best;
}

} // namespace echo
} // namespace ns3
