// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-adoption.h"

#include "echo-kineto-links.h"
#include "echo-range-finder.h"

#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** @return the members of the only process group of more than one rank; empty if there are others
 */
std::vector<uint32_t> FindOnlyGroup(const KinetoTrace& trace)
{
    std::set<std::vector<uint32_t>> groups;
    for (const auto& [name, members] : trace.groups)
    {
        if (members.size() > 1)
        {
            groups.insert(members);
        }
    }
    return groups.size() == 1 ? *groups.begin() : std::vector<uint32_t>();
}

} // namespace

std::string OperatorKind(const std::string& name)
{
    const size_t colons = name.rfind("::");
    if (colons == std::string::npos || name.find("c10d") != std::string::npos ||
        name.find("copy") != std::string::npos) // "fsdp::all_gather_copy_in" fills its buffer
    {
        return "";
    }
    for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"})
    {
        if (name.find(kind, colons) != std::string::npos)
        {
            return kind;
        }
    }
    return "";
}

void AdoptCommunications(KinetoTrace& trace)
{
    std::vector<bool> isOther; // by name
    for (const auto& name : trace.names)
    {
        isOther.push_back(LooksLikeCommunication(name));
    }
    std::vector<uint32_t> candidates;
    for (uint32_t i = 0; i < trace.activities.size(); ++i)
    {
        const GpuActivity& activity = trace.activities[i];
        if (activity.kind == GpuActivity::Kind::KERNEL && isOther[activity.name])
        {
            candidates.push_back(i);
        }
    }
    const std::vector<uint32_t> group = FindOnlyGroup(trace);
    if (candidates.empty() || group.empty())
    {
        return;
    }
    const RangeFinder ranges(trace, true);
    const std::vector<uint32_t> callOf = FindLaunchingCalls(trace);
    std::set<uint32_t> used; // ranges: each performs one collective
    for (uint32_t i : candidates)
    {
        if (callOf[i] == KINETO_NONE)
        {
            continue;
        }
        const HostCall& call = trace.calls[callOf[i]];
        const uint32_t range = ranges.Find(call.thread, call.start);
        if (range == KINETO_NONE || !trace.ranges[range].record.HasSizes() ||
            trace.ranges[range].record.source != RecordSource::OPERATOR ||
            !used.insert(range).second)
        {
            continue;
        }
        CommunicationRecord record;
        record.ranks = group;
        trace.activities[i].kind = GpuActivity::Kind::COMMUNICATION;
        trace.activities[i].record = static_cast<uint32_t>(trace.records.size());
        trace.records.push_back(std::move(record));
    }
}

} // namespace echo
} // namespace ns3
