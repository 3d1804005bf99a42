// SPDX-License-Identifier: GPL-2.0-only
#include "echo-machine-profile.h"

#include "ns3/echo-error.h"
#include "ns3/echo-name-table.h"

#include <algorithm>
#include <iterator>

namespace ns3
{
namespace echo
{

namespace
{

const NameTable<GpuGeneration> GENERATIONS{
    {GpuGeneration::VOLTA, "volta"},
    {GpuGeneration::AMPERE, "ampere"},
    {GpuGeneration::HOPPER, "hopper"},
    {GpuGeneration::BLACKWELL, "blackwell"},
};
const NameTable<CpuVendor> VENDORS{
    {CpuVendor::INTEL, "intel"},
    {CpuVendor::AMD, "amd"},
    {CpuVendor::OTHER, "other"},
};
const NameTable<SelectionRule> RULES{
    {SelectionRule::TUNER, "tuner"},
    {SelectionRule::LEAST_COST, "least-cost"},
};

} // namespace

const char* ToString(GpuGeneration value)
{
    return NameOf(GENERATIONS, value);
}

const char* ToString(CpuVendor value)
{
    return NameOf(VENDORS, value);
}

const char* ToString(SelectionRule value)
{
    return NameOf(RULES, value);
}

GpuGeneration ParseGpuGeneration(const std::string& text)
{
    return ValueOf(GENERATIONS, text);
}

CpuVendor ParseCpuVendor(const std::string& text)
{
    return ValueOf(VENDORS, text);
}

SelectionRule ParseSelectionRule(const std::string& text)
{
    return ValueOf(RULES, text);
}

GroupShape ShapeOf(const GroupLayout& layout)
{
    GroupShape shape;
    shape.ranks = layout.GetRanks();
    shape.hosts = layout.GetHosts();
    shape.localRanks = layout.maxLocal;
    shape.nics = shape.hosts > 1 ? std::max(layout.nicsPerHost, 1u) : layout.nicsPerHost;
    return shape;
}

GroupShape EvenShape(uint32_t ranks, uint32_t hosts, uint32_t nicsPerHost)
{
    GroupShape shape;
    shape.ranks = ranks;
    shape.hosts = hosts;
    shape.localRanks = (ranks + hosts - 1) / hosts;
    shape.nics = std::min(nicsPerHost, shape.localRanks);
    if (hosts > 1)
    {
        shape.nics = std::max(shape.nics, 1u);
    }
    return shape;
}

uint32_t ProtocolIndex(CollectiveProtocol protocol)
{
    switch (protocol)
    {
    case CollectiveProtocol::LL:
        return 0;
    case CollectiveProtocol::LL128:
        return 1;
    case CollectiveProtocol::SIMPLE:
    case CollectiveProtocol::AUTO:
        break;
    }
    return 2;
}

#define ECHO_CONSTANT(member) \
    [](MachineConstants& constants) -> double& { return constants.member; }

namespace
{

// Spreads: a factor e^spread is one standard deviation of what is believed before measuring.
// Latencies are known within a factor of e or so; rates from the links within a third.
constexpr double ROUGH = 1.0;
constexpr double LINK = 0.3;
// LL128 took 0.7 to 1.5 us a step inside hosts of four machines whose rows tell it.
constexpr double KNOWN_STEP = 0.5;
const ConstantInfo CONSTANTS[] = {
    {"setup_us", ECHO_CONSTANT(setupUs), 0.1, 1000, ROUGH, "launch and set-up of the kernel"},
    {"setup_per_channel_us",
     ECHO_CONSTANT(setupPerChannelUs),
     1e-4,
     100,
     ROUGH,
     "more set-up for each channel in use"},
    {"host_issue_us",
     ECHO_CONSTANT(hostIssueUs),
     1e-3,
     100,
     ROUGH,
     "a thread's time to issue one GPU's kernel: least time of back-to-back calls"},
    {"launch_us",
     ECHO_CONSTANT(launchUs),
     0,
     1000,
     0.5,
     "launch of a call, in the time of calls that are timed one by one"},
    {"gpu_GBps",
     ECHO_CONSTANT(gpuGBps),
     0.1,
     10000,
     0.15,
     "what a GPU sustains to the others of its host, one direction, Simple"},
    {"nic_GBps",
     ECHO_CONSTANT(nicGBps),
     0.01,
     1000,
     0.15,
     "what a NIC sustains, one direction, Simple"},
    {"simplex_gain",
     ECHO_CONSTANT(simplexGain),
     1,
     4,
     0.3,
     "how much more a NIC sustains where data goes in one direction only"},
    {"ll_channel_GBps",
     ECHO_CONSTANT(llChannelGBps),
     0.01,
     1000,
     ROUGH,
     "what one channel sustains with LL inside a host"},
    {"tree_bandwidth_factor",
     ECHO_CONSTANT(treeBandwidthFactor),
     0.1,
     10,
     0.15,
     "a tree's time a chunk over what the links' rates give"},
    {"tree_chunk_us",
     ECHO_CONSTANT(treeChunkUs),
     1e-3,
     1000,
     ROUGH,
     "synchronising one chunk of the tree's pipeline"},
    {"tree_burst_bytes",
     ECHO_CONSTANT(treeBurstBytes),
     0,
     1e9,
     ROUGH,
     "what of a tree's channel hosts pass on together, with Simple; absent: chunk by chunk"},
    {"ring_tail",
     ECHO_CONSTANT(ringTail),
     1e-3,
     1,
     0.5,
     "time of the last receive of a ring, which nothing overlaps, in steps"},
    {"overlap_exponent",
     ECHO_CONSTANT(overlapExponent),
     1,
     8,
     LINK,
     "1: a ring's step latencies add to its transfers; larger: they hide behind them"},
    {"net_overlap_exponent",
     ECHO_CONSTANT(netOverlapExponent),
     0,
     8,
     LINK,
     "the same where the slowest link is between hosts, which proxies serve; absent: as above"},
    {"message_us",
     ECHO_CONSTANT(messageUs),
     0,
     10000,
     ROUGH,
     "serving one message of a ring between hosts above eager_bytes, one after the other"},
    {"copy_us",
     ECHO_CONSTANT(copyUs),
     0,
     10000,
     ROUGH,
     "more for a message of LL that a host copies to its GPU; absent: none"},
    {"reduction_us_per_MiB",
     ECHO_CONSTANT(reductionUsPerMiB),
     0,
     1000,
     ROUGH,
     "reducing that transfers do not hide, a MiB reduced at a rank"},
    {"nvls_us",
     ECHO_CONSTANT(nvlsUs),
     0,
     1000,
     0.5,
     "all-reduce in the NVSwitch (NVLink SHARP): latency beside set-up"},
    {"nvls_chunk_us",
     ECHO_CONSTANT(nvlsChunkUs),
     0,
     1000,
     0.5,
     "NVLink SHARP: synchronising one round of chunks"},
    {"nvls_GBps",
     ECHO_CONSTANT(nvlsGBps),
     0,
     10000,
     0.1,
     "what a GPU sustains with NVLink SHARP, one direction; 0: none"},
    {"nvls_overlap_exponent",
     ECHO_CONSTANT(nvlsOverlapExponent),
     0,
     20,
     0.5,
     "1: its tree's transfers inside and between hosts add up; larger: they hide; absent: the "
     "longer counts"},
    {"peer_us",
     ECHO_CONSTANT(peerUs),
     1e-3,
     1000,
     ROUGH,
     "each further peer of grouped sends and receives"},
    {"pair_channel_GBps",
     ECHO_CONSTANT(pairChannelGBps),
     0.01,
     1000,
     LINK,
     "what one channel of a send and receive sustains inside a host"},
    {"net_channel_GBps",
     ECHO_CONSTANT(netChannelGBps),
     0.01,
     1000,
     LINK,
     "what one channel of a send and receive sustains between hosts"},
    {"pairwise_efficiency",
     ECHO_CONSTANT(pairwiseEfficiency),
     0.01,
     2,
     LINK,
     "what sends and receives sustain of what rings do"},
    {"ll.intra_step_us",
     ECHO_CONSTANT(protocols[0].intraStepUs),
     1e-3,
     1000,
     ROUGH,
     "one step of LL inside a host"},
    {"ll.inter_step_us",
     ECHO_CONSTANT(protocols[0].interStepUs),
     1e-3,
     10000,
     ROUGH,
     "one step of LL between hosts"},
    {"ll.intra_efficiency",
     ECHO_CONSTANT(protocols[0].intraEfficiency),
     0.001,
     0.5,
     0.5,
     "payload's part of the rate inside hosts (4 of 8 bytes are flags)"},
    {"ll.inter_efficiency",
     ECHO_CONSTANT(protocols[0].interEfficiency),
     0.001,
     0.5,
     0.5,
     "payload's part of the rate between hosts (4 of 8 bytes are flags)"},
    {"ll128.intra_step_us",
     ECHO_CONSTANT(protocols[1].intraStepUs),
     1e-3,
     1000,
     KNOWN_STEP,
     "one step of LL128 inside a host"},
    {"ll128.inter_step_us",
     ECHO_CONSTANT(protocols[1].interStepUs),
     1e-3,
     10000,
     ROUGH,
     "one step of LL128 between hosts"},
    {"ll128.intra_efficiency",
     ECHO_CONSTANT(protocols[1].intraEfficiency),
     0.01,
     0.9375,
     LINK,
     "payload's part of the rate inside hosts (8 of 128 bytes are flags)"},
    {"ll128.inter_efficiency",
     ECHO_CONSTANT(protocols[1].interEfficiency),
     0.01,
     0.9375,
     0.15,
     "payload's part of the rate between hosts (8 of 128 bytes are flags)"},
    {"simple.intra_step_us",
     ECHO_CONSTANT(protocols[2].intraStepUs),
     1e-3,
     1000,
     ROUGH,
     "one step of Simple inside a host"},
    {"simple.inter_step_us",
     ECHO_CONSTANT(protocols[2].interStepUs),
     1e-3,
     10000,
     ROUGH,
     "one step of Simple between hosts"},
};

} // namespace

const std::vector<ConstantInfo>& GetConstantInfos()
{
    static const std::vector<ConstantInfo> infos(std::begin(CONSTANTS), std::end(CONSTANTS));
    return infos;
}

#undef ECHO_CONSTANT

const CalibratedRange* MachineProfile::FindRange(CollectiveKind kind) const
{
    const auto it = std::find_if(
        ranges.begin(), ranges.end(), [kind](const auto& range) { return range.kind == kind; });
    return it == ranges.end() ? nullptr : &*it;
}

} // namespace echo
} // namespace ns3
