// SPDX-License-Identifier: GPL-2.0-only
#include "echo-run-summary.h"

#include "echo-report-tables.h"
#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** First word of each record in the fingerprint, so that kinds cannot be mixed up. */
enum RecordTag : uint64_t
{
    OPERATOR_TAG = 1,
    COLLECTIVE_TAG,
    FLOW_TAG,
    LINK_TAG,
    RANK_TAG,
    RUN_TAG,
};

constexpr size_t HOTTEST_FABRIC_LINKS = 12;
constexpr size_t HOTTEST_HOST_LINKS = 8;

} // namespace

void SummarySink::Accumulator::Add(Time time)
{
    const int64_t ps = time.GetPicoSeconds();
    microseconds += ps / 1000000;
    picoseconds += ps % 1000000;
    largest = std::max(largest, ps);
}

RankStatistic SummarySink::Accumulator::Get(uint64_t count) const
{
    const auto n = static_cast<int64_t>(count);
    if (n == 0)
    {
        return {};
    }
    const int64_t rest = (microseconds % n) * 1000000 + picoseconds;
    return {PicoSeconds(microseconds / n * 1000000 + rest / n), PicoSeconds(largest)};
}

SummarySink::SummarySink(std::vector<JobSpan> jobs) : m_jobs(std::move(jobs))
{
    m_summary.byFidelity = {{Fidelity::ANALYTICAL, 0}, {Fidelity::FLOW, 0}, {Fidelity::PACKET, 0}};
}

void SummarySink::OnOperator(const OperatorRecord& record)
{
    m_summary.operators += record.replicas;
    Fingerprint f;
    f.Add(OPERATOR_TAG | static_cast<uint64_t>(record.activity) << 8 |
          uint64_t{record.stream.Get()} << 32);
    f.Add(record.op.Get());
    f.Add(record.start);
    f.Add(record.end);
    if (record.activity == ActivityKind::COMMUNICATION)
    {
        f.Add(record.ready);
        f.Add(record.bytes);
    }
    m_hashes += f.GetValue() * record.replicas;
}

void SummarySink::OnCollective(const CollectiveRecord& record)
{
    Fingerprint f;
    f.Add(COLLECTIVE_TAG);
    f.Add(static_cast<uint64_t>(record.kind));
    f.Add(static_cast<uint64_t>(record.group));
    f.Add(record.ranks);
    f.Add(record.bytes);
    f.Add(static_cast<uint64_t>(record.algorithm));
    f.Add(static_cast<uint64_t>(record.protocol));
    f.Add(record.channels);
    f.Add(static_cast<uint64_t>(record.fidelity));
    f.Add(record.firstJoin);
    f.Add(record.start);
    f.Add(record.end);
    const uint64_t count = record.replicas;
    m_hashes += f.GetValue() * count;

    m_summary.collectives += count;
    m_summary.byFidelity[record.fidelity] += count;
    m_summary.extrapolated += record.extrapolated ? count : 0;
    m_summary.contended += record.contended ? count : 0;
    m_summary.uncoupled += record.uncoupled ? count : 0;

    const auto times = [count](Time time) {
        return TimeStep(static_cast<uint64_t>(time.GetTimeStep()) * count);
    };
    const JobSpan* job = FindJob(m_jobs, record.firstMember);
    const RankId firstRank = job ? job->firstRank : RankId(0);
    CollectiveTotals& totals = m_totals[{firstRank, record.kind, record.group, record.fidelity}];
    totals.job = job ? job->name : "";
    totals.kind = record.kind;
    totals.group = record.group;
    totals.fidelity = record.fidelity;
    totals.count += count;
    totals.bytes += count * record.bytes;
    totals.payloadBytes += count * record.payloadBytes;
    const Time duration = record.end - record.start;
    totals.duration += times(duration);
    totals.longest = std::max(totals.longest, duration);
    totals.waiting += times(record.start - record.firstJoin);
    totals.busBytes += static_cast<double>(count) * static_cast<double>(record.bytes) *
                       BusBandwidthFactor(record.kind, record.ranks);
    totals.largestUtilization = std::max(totals.largestUtilization, record.linkUtilization);
    totals.extrapolated += record.extrapolated ? count : 0;
    totals.contended += record.contended ? count : 0;
    totals.uncoupled += record.uncoupled ? count : 0;
}

void SummarySink::OnFlow(const FlowRecord& record)
{
    ++m_summary.flows;
    Fingerprint& f = m_fingerprint;
    f.Add(FLOW_TAG);
    f.Add(record.source.Get());
    f.Add(record.destination.Get());
    f.Add(record.label);
    f.Add(record.bytes);
    f.Add(record.start);
    f.Add(record.end);
    f.Add(record.packets);
    f.Add(record.retransmitted);
}

void SummarySink::OnLink(const LinkRecord& record)
{
    Fingerprint& f = m_fingerprint;
    f.Add(LINK_TAG);
    f.Add(record.port.Get());
    f.Add(record.wireBytes);
    f.Add(record.payloadBytes);
    f.Add(record.packets);
    f.Add(record.busy);
    f.Add(record.ecnMarks);
    f.Add(record.pauses);
    f.Add(record.drops);

    ++m_linkCount;
    m_summary.bytesOnWire += IsFabricLink(record) ? record.wireBytes : 0;
    m_summary.drops += record.drops;
    m_summary.pauses += record.pauses;
    m_summary.ecnMarks += record.ecnMarks;
    auto& hottest =
        IsFabricLink(record) ? m_summary.hottestFabricLinks : m_summary.hottestHostLinks;
    const size_t limit = IsFabricLink(record) ? HOTTEST_FABRIC_LINKS : HOTTEST_HOST_LINKS;
    hottest.push_back(record);
    if (hottest.size() >= 8 * limit)
    {
        SelectLinks(hottest, limit);
    }
}

void SummarySink::SelectLinks(std::vector<LinkRecord>& links, size_t limit)
{
    // The step time is not known yet, and not needed: it is the same for all.
    std::sort(links.begin(), links.end(), [](const LinkRecord& a, const LinkRecord& b) {
        const double loadA = static_cast<double>(a.wireBytes) / BytesPerSecond(a.rate);
        const double loadB = static_cast<double>(b.wireBytes) / BytesPerSecond(b.rate);
        return loadA != loadB ? loadA > loadB : a.port < b.port;
    });
    if (links.size() > limit)
    {
        links.resize(limit);
    }
}

void SummarySink::OnRank(const RankRecord& record)
{
    Fingerprint& f = m_fingerprint;
    f.Add(RANK_TAG);
    f.Add(record.rank.Get());
    for (const Time& time : {record.compute,
                             record.exposedCommunication,
                             record.waiting,
                             record.idle,
                             record.communication,
                             record.slowdown,
                             record.firstStart,
                             record.lastEnd})
    {
        f.Add(time);
    }

    ++m_rankCount;
    m_compute.Add(record.compute);
    m_communication.Add(record.communication);
    m_exposed.Add(record.exposedCommunication);
    m_waiting.Add(record.waiting);
    m_idle.Add(record.idle);
    m_slowdown.Add(record.slowdown);
    m_partSums.emplace_back(
        record.rank, record.compute + record.exposedCommunication + record.waiting + record.idle);
}

void SummarySink::OnRun(const RunRecord& record)
{
    m_fingerprint.Add(m_hashes);
    m_fingerprint.Add(RUN_TAG);
    m_fingerprint.Add(record.stepTime);

    m_summary.run = record;
    if (record.simulatedRanks > 0 && record.simulatedRanks < record.ranks)
    {
        AddNote(FormatCount(record.simulatedRanks) + " of " + FormatCount(record.ranks) +
                " ranks were simulated: each of them for all that do the same at the same times "
                "(--set=timeline.folding=off simulates all)");
    }
    m_summary.compute = m_compute.Get(m_rankCount);
    m_summary.communication = m_communication.Get(m_rankCount);
    m_summary.exposedCommunication = m_exposed.Get(m_rankCount);
    m_summary.waiting = m_waiting.Get(m_rankCount);
    m_summary.idle = m_idle.Get(m_rankCount);
    m_summary.slowdown = m_slowdown.Get(m_rankCount);
    if (m_linkCount == 0)
    {
        m_summary.bytesOnWire = record.wireBytes;
        m_summary.drops = record.drops;
        m_summary.pauses = record.pauses;
        m_summary.ecnMarks = record.ecnMarks;
    }
    SelectLinks(m_summary.hottestFabricLinks, HOTTEST_FABRIC_LINKS);
    SelectLinks(m_summary.hottestHostLinks, HOTTEST_HOST_LINKS);
    SortTotals();
    AddWarnings();
    m_summary.fingerprint = m_fingerprint.ToString();
}

void SummarySink::SortTotals()
{
    for (const auto& [key, totals] : m_totals)
    {
        m_summary.totals.push_back(totals);
    }
    std::stable_sort(m_summary.totals.begin(),
                     m_summary.totals.end(),
                     [](const CollectiveTotals& a, const CollectiveTotals& b) {
                         return a.duration > b.duration;
                     });
}

void SummarySink::AddWarnings()
{
    auto& warnings = m_summary.warnings;
    warnings = m_summary.run.warnings;
    uint64_t wrong = 0;
    std::string first;
    for (const auto& [rank, sum] : m_partSums)
    {
        if (sum != m_summary.run.stepTime && ++wrong == 1)
        {
            first = "rank " + std::to_string(rank.Get()) + ": " + FormatTime(sum) + " of " +
                    FormatTime(m_summary.run.stepTime);
        }
    }
    if (wrong > 0)
    {
        warnings.push_back("the parts of " + std::to_string(wrong) +
                           " ranks do not add up to the step time (first " + first + ")");
    }
}

} // namespace echo
} // namespace ns3
