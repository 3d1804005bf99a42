// SPDX-License-Identifier: GPL-2.0-only
#include "echo-link-merger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

void LinkMerger::OnLink(const LinkRecord& record)
{
    const auto [it, isNew] = m_links.emplace(record.port, record);
    if (isNew)
    {
        return;
    }
    LinkRecord& merged = it->second;
    merged.wireBytes += record.wireBytes;
    merged.payloadBytes += record.payloadBytes;
    merged.packets += record.packets;
    merged.busy += record.busy;
    merged.lastBusy = std::max(merged.lastBusy, record.lastBusy);
    merged.peakRate = std::max(merged.peakRate, record.peakRate);
    merged.maxQueueBytes = std::max(merged.maxQueueBytes, record.maxQueueBytes);
    merged.ecnMarks += record.ecnMarks;
    merged.pauses += record.pauses;
    merged.paused += record.paused;
    merged.drops += record.drops;
}

void LinkMerger::Report(RecordSink& sink) const
{
    for (const auto& [port, record] : m_links)
    {
        sink.OnLink(record);
    }
}

} // namespace echo
} // namespace ns3
