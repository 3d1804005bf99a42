// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-links.h"

#include "echo-range-finder.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

class Linker
{
  public:
    Linker(const KinetoTrace& trace, const ExecutionTrace* executionTrace)
        : m_trace(trace),
          m_executionTrace(executionTrace),
          m_records(trace, false),
          m_annotations(trace, true)
    {
    }

    KinetoLinks Link();

  private:
    void ClassifyRanges();
    void MatchExecutionTrace();
    bool MatchById();
    bool MatchByOrder();
    void CheckElements(uint32_t range, const CommunicationRecord& record) const;
    void LinkCommunication(uint32_t activity);
    CommunicationRecord Merge(uint32_t activity, uint32_t range, uint32_t annotation) const;
    std::vector<CommunicationRecord> PendingRecords(uint32_t thread, int64_t before);
    static std::vector<CommunicationRecord> Coalesce(std::vector<CommunicationRecord> parts,
                                                     std::optional<CollectiveKind> kind);
    void LinkWaits();
    bool IsWait(uint32_t range) const;

    const KinetoTrace& m_trace;
    const ExecutionTrace* m_executionTrace;
    RangeFinder m_records;
    RangeFinder m_annotations;
    KinetoLinks m_links;
    std::map<uint32_t, const CommunicationRecord*> m_executionRecords; //!< by range
    std::map<uint32_t, uint32_t> m_activityOfRange; //!< record_param_comms -> activity
    std::map<uint32_t, size_t> m_nextPending;       //!< by thread: first range not yet looked at
};

void Linker::ClassifyRanges()
{
    m_links.isIssue.assign(m_trace.ranges.size(), false);
    for (uint32_t i = 0; i < m_trace.ranges.size(); ++i)
    {
        const CommunicationRange& range = m_trace.ranges[i];
        const uint32_t annotation = m_annotations.FindFirstIn(range.thread, range.start, range.end);
        m_links.isIssue[i] = range.isAnnotation || annotation != KINETO_NONE ||
                             (!range.record.name.empty() && !range.record.IsWait());
    }
    for (uint32_t i = 0; i < m_trace.activities.size(); ++i)
    {
        const uint32_t call = m_links.callOf[i];
        if (m_trace.activities[i].kind != GpuActivity::Kind::COMMUNICATION || call == KINETO_NONE)
        {
            continue;
        }
        const uint32_t range =
            m_records.Find(m_trace.calls[call].thread, m_trace.calls[call].start);
        if (range != KINETO_NONE)
        {
            m_links.isIssue[range] = true;
            m_activityOfRange[range] = i;
        }
    }
}

bool Linker::IsWait(uint32_t range) const
{
    return !m_trace.ranges[range].isAnnotation && !m_links.isIssue[range];
}

bool Linker::MatchById()
{
    std::map<int64_t, const CommunicationRecord*> byId;
    for (const auto& record : m_executionTrace->communications)
    {
        byId.emplace(record.functionId, &record);
    }
    std::map<uint32_t, const CommunicationRecord*> found;
    for (uint32_t i = 0; i < m_trace.ranges.size(); ++i)
    {
        const auto& range = m_trace.ranges[i];
        const auto known = byId.find(range.record.functionId);
        if (!range.isAnnotation && range.record.functionId >= 0 && known != byId.end() &&
            known->second->IsWait() == IsWait(i))
        {
            found[i] = known->second;
        }
    }
    m_executionRecords = found;
    return !found.empty();
}

bool Linker::MatchByOrder()
{
    for (bool withWaits : {true, false})
    {
        std::vector<uint32_t> ranges;
        std::vector<const CommunicationRecord*> records;
        for (uint32_t i = 0; i < m_trace.ranges.size(); ++i)
        {
            if (!m_trace.ranges[i].isAnnotation && (withWaits || !IsWait(i)))
            {
                ranges.push_back(i);
            }
        }
        for (const auto& record : m_executionTrace->communications)
        {
            if (withWaits || !record.IsWait())
            {
                records.push_back(&record);
            }
        }
        const bool fits = std::equal(ranges.begin(),
                                     ranges.end(),
                                     records.begin(),
                                     records.end(),
                                     [this](uint32_t range, const CommunicationRecord* record) {
                                         return IsWait(range) == record->IsWait();
                                     });
        if (fits)
        {
            for (size_t i = 0; i < ranges.size(); ++i)
            {
                m_executionRecords[ranges[i]] = records[i];
            }
            return true;
        }
    }
    return false;
}

void Linker::CheckElements(uint32_t range, const CommunicationRecord& record) const
{
    const CommunicationRange& outer = m_trace.ranges[range];
    const uint32_t annotation = m_annotations.FindFirstIn(outer.thread, outer.start, outer.end);
    const int64_t elements = outer.record.inElements >= 0 ? outer.record.inElements
                             : annotation != KINETO_NONE
                                 ? m_trace.ranges[annotation].record.inElements
                                 : -1;
    if (elements >= 0 && record.inElements >= 0 && elements != record.inElements)
    {
        throw InputError({m_executionTrace->file, 0, "node " + std::to_string(record.line)},
                         record.name + " of " + std::to_string(record.inElements) + " elements",
                         std::to_string(elements) + " as in " + m_trace.file);
    }
}

void Linker::MatchExecutionTrace()
{
    if (!m_executionTrace)
    {
        return;
    }
    if (!MatchById() && !MatchByOrder())
    {
        m_links.warnings.push_back(m_executionTrace->file +
                                   " is not used: its communications are not those of " +
                                   m_trace.file + " (other number or order)");
        return;
    }
    for (const auto& [range, record] : m_executionRecords)
    {
        CheckElements(range, *record);
    }
}

CommunicationRecord Linker::Merge(uint32_t activity, uint32_t range, uint32_t annotation) const
{
    std::vector<const CommunicationRecord*> sources;
    if (activity != KINETO_NONE)
    {
        sources.push_back(&m_trace.records[m_trace.activities[activity].record]);
    }
    if (range != KINETO_NONE)
    {
        sources.push_back(&m_trace.ranges[range].record);
        const auto executed = m_executionRecords.find(range);
        if (executed != m_executionRecords.end())
        {
            sources.push_back(executed->second);
        }
    }
    if (annotation != KINETO_NONE)
    {
        sources.push_back(&m_trace.ranges[annotation].record);
    }
    CommunicationRecord merged;
    for (const CommunicationRecord* source : sources)
    {
        if (source->source != RecordSource::NONE && source->HasSizes())
        {
            merged = *source;
            break;
        }
    }
    auto take = [](auto& into, const auto& from, bool isKnown) {
        if (isKnown)
        {
            into = from;
        }
    };
    for (const CommunicationRecord* source : sources)
    {
        take(merged.name, source->name, merged.name.empty());
        take(merged.ranks, source->ranks, merged.ranks.empty());
        take(merged.groupName, source->groupName, merged.groupName.empty());
        take(merged.groupSize, source->groupSize, merged.groupSize < 0);
        take(merged.rankStart, source->rankStart, merged.rankStart < 0);
        take(merged.rankStride, source->rankStride, merged.rankStride < 0);
        take(merged.sequence, source->sequence, merged.sequence < 0);
        take(merged.root, source->root, merged.root < 0);
        take(
            merged.unreadable, source->unreadable, !merged.HasSizes() && merged.unreadable.empty());
        // Splits count rows, so they fit any of the sources.
        take(merged.inSplits, source->inSplits, merged.inSplits.empty());
        take(merged.outSplits, source->outSplits, merged.outSplits.empty());
        if (merged.peer < 0 && source->peer >= 0)
        {
            merged.peer = source->peer;
            merged.isPeerGlobal = source->isPeerGlobal;
        }
    }
    if (annotation != KINETO_NONE && merged.peer < 0)
    {
        // "nccl:send 0->1", "nccl:recv 1<-0": indices in the group.
        const std::string& text = m_trace.ranges[annotation].record.name;
        const size_t arrow = text.find_first_of("-<");
        const auto numbers = ParseNumberList(arrow == std::string::npos ? "" : text.substr(arrow));
        if (numbers.size() == 1)
        {
            merged.peer = static_cast<int64_t>(numbers[0]);
            merged.isPeerGlobal = false;
        }
    }
    return merged;
}

/** Communications that were recorded before, without a kernel of their own: parts of one. */
std::vector<CommunicationRecord> Linker::PendingRecords(uint32_t thread, int64_t before)
{
    std::vector<CommunicationRecord> records;
    const auto& ranges = m_records.GetRanges(thread);
    size_t& next = m_nextPending[thread];
    for (; next < ranges.size() && m_trace.ranges[ranges[next]].start < before; ++next)
    {
        const uint32_t range = ranges[next];
        if (m_activityOfRange.count(range) > 0)
        {
            continue;
        }
        const CommunicationRange& outer = m_trace.ranges[range];
        CommunicationRecord record = Merge(
            KINETO_NONE, range, m_annotations.FindFirstIn(outer.thread, outer.start, outer.end));
        if (record.HasSizes() && ParseRecordedKind(record.name).kind)
        {
            records.push_back(std::move(record));
        }
    }
    return records;
}

/** @return the parts that a kernel of that kind carries: all messages, or a sum of collectives */
std::vector<CommunicationRecord> Linker::Coalesce(std::vector<CommunicationRecord> parts,
                                                  std::optional<CollectiveKind> kind)
{
    auto keep = [&parts](CollectiveKind wanted) {
        std::vector<CommunicationRecord> kept;
        std::copy_if(parts.begin(), parts.end(), std::back_inserter(kept), [&](const auto& part) {
            return ParseRecordedKind(part.name).kind == wanted;
        });
        return kept;
    };
    if (parts.empty())
    {
        return {};
    }
    std::vector<CommunicationRecord> kept = keep(kind.value_or(CollectiveKind::SEND_RECV));
    if (!kept.empty() && ParseRecordedKind(kept.front().name).kind == CollectiveKind::SEND_RECV)
    {
        return kept;
    }
    if (kept.empty()) // all-to-alls run in the kernel of sends and receives
    {
        kept = keep(*ParseRecordedKind(parts.back().name).kind);
    }
    CommunicationRecord sum = kept.front();
    for (size_t i = 1; i < kept.size(); ++i)
    {
        const CommunicationRecord& part = kept[i];
        if (part.dataType != sum.dataType || !part.inSplits.empty() || !part.outSplits.empty())
        {
            return {};
        }
        auto add = [](int64_t& total, int64_t more) {
            const bool fits = total >= 0 && more >= 0 &&
                              total <= std::numeric_limits<int64_t>::max() - more; // else unknown
            total = fits ? total + more : -1;
        };
        add(sum.inElements, part.inElements);
        add(sum.outElements, part.outElements);
    }
    return {sum};
}

void Linker::LinkCommunication(uint32_t activity)
{
    auto& records = m_links.records[activity];
    const uint32_t call = m_links.callOf[activity];
    if (call == KINETO_NONE)
    {
        records.push_back(Merge(activity, KINETO_NONE, KINETO_NONE));
        return;
    }
    const uint32_t thread = m_trace.calls[call].thread;
    const int64_t time = m_trace.calls[call].start;
    const uint32_t range = m_records.Find(thread, time);
    CommunicationRecord record = Merge(activity, range, m_annotations.Find(thread, time));
    if (!ParseRecordedKind(record.name).kind || !record.HasSizes())
    {
        records = Coalesce(PendingRecords(thread, time),
                           ParseKernelName(m_trace.names[m_trace.activities[activity].name]).kind);
    }
    if (records.empty())
    {
        if (record.name.find("coalesced") != std::string::npos &&
            !ParseRecordedKind(record.name).kind)
        {
            record.name.clear(); // says nothing of the kind
        }
        records.push_back(record);
    }
}

void Linker::LinkWaits()
{
    std::map<int64_t, uint32_t> bySequence; // the latest so far
    for (uint32_t i = 0; i < m_trace.ranges.size(); ++i)
    {
        const auto executed = m_executionRecords.find(i);
        const int64_t sequence = executed == m_executionRecords.end()
                                     ? m_trace.ranges[i].record.sequence
                                     : executed->second->sequence;
        const auto activity = m_activityOfRange.find(i);
        if (m_trace.ranges[i].isAnnotation || sequence < 0)
        {
            continue;
        }
        if (activity != m_activityOfRange.end())
        {
            bySequence[sequence] = activity->second;
        }
        else if (IsWait(i))
        {
            const auto target = bySequence.find(sequence);
            m_links.waitTargets[i] = target == bySequence.end() ? KINETO_NONE : target->second;
        }
    }
}

KinetoLinks Linker::Link()
{
    m_links.callOf = FindLaunchingCalls(m_trace);
    ClassifyRanges();
    MatchExecutionTrace();
    for (uint32_t i = 0; i < m_trace.activities.size(); ++i)
    {
        if (m_trace.activities[i].kind == GpuActivity::Kind::COMMUNICATION)
        {
            LinkCommunication(i);
        }
    }
    LinkWaits();
    return std::move(m_links);
}

} // namespace

std::vector<uint32_t> FindLaunchingCalls(const KinetoTrace& trace)
{
    std::vector<std::pair<int64_t, uint32_t>> calls; // correlation, call; the first counts
    calls.reserve(trace.calls.size());
    for (uint32_t i = 0; i < trace.calls.size(); ++i)
    {
        calls.emplace_back(trace.calls[i].correlation, i);
    }
    std::sort(calls.begin(), calls.end());
    std::vector<uint32_t> callOf(trace.activities.size(), KINETO_NONE);
    for (uint32_t i = 0; i < trace.activities.size(); ++i)
    {
        const int64_t correlation = trace.activities[i].correlation;
        const auto call =
            std::lower_bound(calls.begin(), calls.end(), std::make_pair(correlation, 0u));
        if (correlation >= 0 && call != calls.end() && call->first == correlation &&
            trace.calls[call->second].start <= trace.activities[i].end)
        {
            callOf[i] = call->second;
        }
    }
    return callOf;
}

KinetoLinks LinkKineto(const KinetoTrace& trace, const ExecutionTrace* executionTrace)
{
    return Linker(trace, executionTrace).Link();
}

} // namespace echo
} // namespace ns3
