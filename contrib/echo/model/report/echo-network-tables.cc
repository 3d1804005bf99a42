// SPDX-License-Identifier: GPL-2.0-only
#include "echo-report-tables.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

template <typename Tag>
std::string Id(StrongId<Tag> id)
{
    return id.IsValid() ? std::to_string(id.Get()) : "";
}

bool IsFabricEnd(DeviceRole role)
{
    return role == DeviceRole::NIC || role == DeviceRole::LEAF || role == DeviceRole::SPINE ||
           role == DeviceRole::CORE;
}

const ReportColumns<FlowRow> FLOW_COLUMNS{
    {"id",
     "id",
     "number of the message",
     [](const FlowRow& r) { return std::to_string(r.flow.id); }},
    {"collective",
     "id",
     "instance in collectives.csv that it belongs to; empty if none",
     [](const FlowRow& r) { return Id(r.flow.collective); }},
    {"source",
     "text",
     "device that sends: its name, or its id if no name is known",
     [](const FlowRow& r) { return r.source; }},
    {"destination",
     "text",
     "device that receives: its name, or its id if no name is known",
     [](const FlowRow& r) { return r.destination; }},
    {"label",
     "number",
     "chooses the path and the queue pair; equal labels of a pair share them",
     [](const FlowRow& r) { return std::to_string(r.flow.label); }},
    {"bytes", "bytes", "payload", [](const FlowRow& r) { return std::to_string(r.flow.bytes); }},
    {"start_us",
     "us",
     "simulated time at which it was handed to the network",
     [](const FlowRow& r) { return Microseconds(r.flow.start); }},
    {"end_us",
     "us",
     "simulated time at which its last byte was delivered",
     [](const FlowRow& r) { return Microseconds(r.flow.end); }},
    {"duration_us",
     "us",
     "end less start",
     [](const FlowRow& r) { return Microseconds(r.flow.end - r.flow.start); }},
    {"rate_GBps",
     "GB/s (10^9 bytes a second)",
     "bytes over duration",
     [](const FlowRow& r) {
         return FormatShare(RateGBps(static_cast<double>(r.flow.bytes), r.flow.end - r.flow.start));
     }},
    {"packets",
     "count",
     "data packets (packet fidelity)",
     [](const FlowRow& r) { return std::to_string(r.flow.packets); }},
    {"retransmitted",
     "count",
     "of these, sent again",
     [](const FlowRow& r) { return std::to_string(r.flow.retransmitted); }},
    {"hops",
     "count",
     "links on its path",
     [](const FlowRow& r) { return std::to_string(r.flow.hops); }},
};

const ReportColumns<LinkRow> LINK_COLUMNS{
    {"link", "id", "number of the link", [](const LinkRow& r) { return Id(r.link.link); }},
    {"port",
     "id",
     "port that transmits: twice the link, or one more for the other direction",
     [](const LinkRow& r) { return Id(r.link.port); }},
    {"from", "text", "device that transmits", [](const LinkRow& r) { return r.link.from; }},
    {"to", "text", "device that receives", [](const LinkRow& r) { return r.link.to; }},
    {"from_role",
     "text",
     "role of the device that transmits: gpu, nic, leaf, spine ...",
     [](const LinkRow& r) { return std::string(ToString(r.link.fromRole)); }},
    {"to_role",
     "text",
     "role of the device that receives",
     [](const LinkRow& r) { return std::string(ToString(r.link.toRole)); }},
    {"rate_GBps",
     "GB/s (10^9 bytes a second)",
     "rate of this direction",
     [](const LinkRow& r) { return FormatShare(GigabytesPerSecond(r.link.rate)); }},
    {"wire_bytes",
     "bytes",
     "headers and retransmissions included (flow and analytical: the payload)",
     [](const LinkRow& r) { return std::to_string(r.link.wireBytes); }},
    {"payload_bytes",
     "bytes",
     "payload",
     [](const LinkRow& r) { return std::to_string(r.link.payloadBytes); }},
    {"packets",
     "count",
     "packets transmitted (packet fidelity)",
     [](const LinkRow& r) { return std::to_string(r.link.packets); }},
    {"utilisation",
     "0..1",
     "wire bytes over what the rate could carry in the step time, at most 1: bytes before and "
     "after count too (background traffic, a packet under way, last acknowledgements); the rate "
     "is the cluster's, also where a failure lowers it",
     [](const LinkRow& r) { return FormatShare(MeanUtilization(r.link, r.stepTime)); }},
    {"peak_utilisation",
     "0..1",
     "largest share in use at one time of the rate that the link then had; empty if not known",
     [](const LinkRow& r) { return r.link.peakRate > 0 ? FormatShare(r.link.peakRate) : ""; }},
    {"busy_us",
     "us",
     "time spent transmitting",
     [](const LinkRow& r) { return Microseconds(r.link.busy); }},
    {"last_busy_us",
     "us",
     "simulated time at which its last transmission ended",
     [](const LinkRow& r) { return Microseconds(r.link.lastBusy); }},
    {"max_queue_bytes",
     "bytes",
     "most that waited at the transmitting port at one time",
     [](const LinkRow& r) { return std::to_string(r.link.maxQueueBytes); }},
    {"ecn_marks",
     "count",
     "packets that the transmitting port marked as having met congestion",
     [](const LinkRow& r) { return std::to_string(r.link.ecnMarks); }},
    {"pauses",
     "count",
     "PFC pause frames that the transmitting port received",
     [](const LinkRow& r) { return std::to_string(r.link.pauses); }},
    {"paused_us",
     "us",
     "time that the transmitting port was paused",
     [](const LinkRow& r) { return Microseconds(r.link.paused); }},
    {"drops",
     "count",
     "packets lost at the transmitting port or on the link",
     [](const LinkRow& r) { return std::to_string(r.link.drops); }},
};

} // namespace

double MeanUtilization(const LinkRecord& link, Time stepTime)
{
    const double capacity = GigabytesPerSecond(link.rate);
    const double rate = RateGBps(static_cast<double>(link.wireBytes), stepTime);
    // A packet that is under way at the end counts whole. Estimates may ask a link for too much.
    const double most = link.packets > 0 ? 1 : std::numeric_limits<double>::infinity();
    return capacity > 0 ? std::min(rate / capacity, most) : 0;
}

bool IsFabricLink(const LinkRecord& link)
{
    return IsFabricEnd(link.fromRole) && IsFabricEnd(link.toRole);
}

const ReportColumns<FlowRow>& GetFlowColumns()
{
    return FLOW_COLUMNS;
}

const ReportColumns<LinkRow>& GetLinkColumns()
{
    return LINK_COLUMNS;
}

} // namespace echo
} // namespace ns3
