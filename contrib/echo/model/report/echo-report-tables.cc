// SPDX-License-Identifier: GPL-2.0-only
#include "echo-report-tables.h"

#include "ns3/echo-units.h"

namespace ns3
{
namespace echo
{

namespace
{

std::string Flag(bool value)
{
    return value ? "1" : "0";
}

template <typename Tag>
std::string Id(StrongId<Tag> id)
{
    return id.IsValid() ? std::to_string(id.Get()) : "";
}

const ReportColumns<CollectiveRecord> COLLECTIVE_COLUMNS{
    {"id", "id", "number of the instance", [](const CollectiveRecord& r) { return Id(r.id); }},
    {"operation",
     "text",
     "what it does: all-reduce, all-gather, send-recv ...",
     [](const CollectiveRecord& r) { return std::string(ToString(r.kind)); }},
    {"group_kind",
     "text",
     "dimension of the parallel plan: tp, pp, dp, ep, cp ...",
     [](const CollectiveRecord& r) { return std::string(ToString(r.group)); }},
    {"group",
     "text",
     "name of the process group",
     [](const CollectiveRecord& r) { return r.groupName; }},
    {"ranks",
     "count",
     "members",
     [](const CollectiveRecord& r) { return std::to_string(r.ranks); }},
    {"hosts",
     "count",
     "hosts that the members are on",
     [](const CollectiveRecord& r) { return std::to_string(r.hosts); }},
    {"bytes",
     "bytes",
     "size as nccl-tests defines it for the operation",
     [](const CollectiveRecord& r) { return std::to_string(r.bytes); }},
    {"algorithm",
     "text",
     "how the bytes move: ring, tree, pairwise",
     [](const CollectiveRecord& r) { return std::string(ToString(r.algorithm)); }},
    {"protocol",
     "text",
     "transport protocol of NCCL: ll, ll128, simple",
     [](const CollectiveRecord& r) { return std::string(ToString(r.protocol)); }},
    {"channels",
     "count",
     "channels side by side",
     [](const CollectiveRecord& r) { return std::to_string(r.channels); }},
    {"fidelity",
     "text",
     "the model that served it: analytical, flow, packet",
     [](const CollectiveRecord& r) { return std::string(ToString(r.fidelity)); }},
    {"first_join_us",
     "us",
     "simulated time at which the first member reached it",
     [](const CollectiveRecord& r) { return Microseconds(r.firstJoin); }},
    {"start_us",
     "us",
     "simulated time at which the last member reached it: the transfer begins",
     [](const CollectiveRecord& r) { return Microseconds(r.start); }},
    {"end_us",
     "us",
     "simulated time at which the last member was done",
     [](const CollectiveRecord& r) { return Microseconds(r.end); }},
    {"waiting_us",
     "us",
     "start less first join",
     [](const CollectiveRecord& r) { return Microseconds(r.start - r.firstJoin); }},
    {"duration_us",
     "us",
     "end less start",
     [](const CollectiveRecord& r) { return Microseconds(r.end - r.start); }},
    {"estimate_us",
     "us",
     "duration in closed form; empty if no estimate was made",
     [](const CollectiveRecord& r) { return r.estimate.IsZero() ? "" : Microseconds(r.estimate); }},
    {"algbw_GBps",
     "GB/s (10^9 bytes a second)",
     "bytes over duration",
     [](const CollectiveRecord& r) {
         return FormatShare(RateGBps(static_cast<double>(r.bytes), r.end - r.start));
     }},
    {"busbw_GBps",
     "GB/s (10^9 bytes a second)",
     "algbw times the factor that nccl-tests defines for the operation",
     [](const CollectiveRecord& r) {
         return FormatShare(RateGBps(static_cast<double>(r.bytes), r.end - r.start) *
                            BusBandwidthFactor(r.kind, r.ranks));
     }},
    {"payload_bytes",
     "bytes",
     "sum over the members of what each sends to others",
     [](const CollectiveRecord& r) { return std::to_string(r.payloadBytes); }},
    {"max_link_utilisation",
     "0..1",
     "largest over the links that it loads, during its transfer; where packets are balanced one by "
     "one, or links fail, over links at NICs and inside hosts; empty: it moves nothing (one rank, "
     "no "
     "bytes), takes a recorded time or is not known",
     [](const CollectiveRecord& r) {
         return r.linkUtilization > 0 ? FormatShare(r.linkUtilization) : "";
     }},
    {"extrapolated",
     "0 or 1",
     "1: the estimate lies outside the calibrated range",
     [](const CollectiveRecord& r) { return Flag(r.extrapolated); }},
    {"contended",
     "0 or 1",
     "1: shared links between hosts with another at the same time",
     [](const CollectiveRecord& r) { return Flag(r.contended); }},
    {"uncoupled",
     "0 or 1",
     "1: shared links with one that another model served, which neither saw",
     [](const CollectiveRecord& r) { return Flag(r.uncoupled); }},
    {"replicas",
     "count",
     "instances that the row stands for: of as many groups of equal ranks, which ran at the same "
     "times; the row's group is one of them",
     [](const CollectiveRecord& r) { return std::to_string(r.replicas); }},
};

const ReportColumns<RankRecord> RANK_COLUMNS{
    {"rank", "id", "number of the rank", [](const RankRecord& r) { return Id(r.rank); }},
    {"host",
     "id",
     "host that it runs on",
     [](const RankRecord& r) { return std::to_string(r.host); }},
    {"compute_us",
     "us",
     "some kernel or copy runs",
     [](const RankRecord& r) { return Microseconds(r.compute); }},
    {"exposed_communication_us",
     "us",
     "no kernel or copy runs, some communication transfers",
     [](const RankRecord& r) { return Microseconds(r.exposedCommunication); }},
    {"waiting_us",
     "us",
     "neither, but a communication is joined that others have not reached",
     [](const RankRecord& r) { return Microseconds(r.waiting); }},
    {"idle_us",
     "us",
     "none of these three; the four add up to the step time",
     [](const RankRecord& r) { return Microseconds(r.idle); }},
    {"communication_us",
     "us",
     "some communication transfers, overlapped or not",
     [](const RankRecord& r) { return Microseconds(r.communication); }},
    {"slowdown_us",
     "us",
     "time that kernels take longer because communication overlaps them",
     [](const RankRecord& r) { return Microseconds(r.slowdown); }},
    {"first_start_us",
     "us",
     "simulated time at which its first operator began",
     [](const RankRecord& r) { return Microseconds(r.firstStart); }},
    {"last_end_us",
     "us",
     "simulated time at which its last operator ended",
     [](const RankRecord& r) { return Microseconds(r.lastEnd); }},
};

} // namespace

const ReportColumns<CollectiveRecord>& GetCollectiveColumns()
{
    return COLLECTIVE_COLUMNS;
}

const ReportColumns<RankRecord>& GetRankColumns()
{
    return RANK_COLUMNS;
}

} // namespace echo
} // namespace ns3
