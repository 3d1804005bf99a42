// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RUN_SUMMARY_H
#define ECHO_RUN_SUMMARY_H

#include "ns3/echo-fingerprint.h"
#include "ns3/echo-job-span.h"
#include "ns3/echo-records.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/** Mean and largest of a time over the ranks. */
struct RankStatistic
{
    Time mean;    //!< rounded down to a picosecond
    Time largest; //!< of all ranks
};

/** Sums over the collectives of one job, operation, group kind and fidelity. */
struct CollectiveTotals
{
    std::string job; //!< its name where several share the run; else empty
    CollectiveKind kind{CollectiveKind::ALL_REDUCE};
    GroupKind group{GroupKind::OTHER};
    Fidelity fidelity{Fidelity::ANALYTICAL};
    uint64_t count{0};
    uint64_t bytes{0};        //!< sizes as nccl-tests defines them
    uint64_t payloadBytes{0}; //!< what members sent to others
    Time duration;            //!< sum of end less start
    Time longest;             //!< largest of these
    Time waiting;             //!< sum of start less first join
    double busBytes{0};       //!< sum of bytes times the factor of busbw
    double largestUtilization{0};
    uint64_t extrapolated{0};
    uint64_t contended{0};
    uint64_t uncoupled{0};
};

/** What summary.json, the printed summary and the report's page show of a run. */
struct RunSummary
{
    RunRecord run;
    RankStatistic compute;
    RankStatistic communication;
    RankStatistic exposedCommunication;
    RankStatistic waiting;
    RankStatistic idle;
    RankStatistic slowdown;

    uint64_t collectives{0};
    uint64_t operators{0};
    uint64_t flows{0};
    std::map<Fidelity, uint64_t> byFidelity; //!< collectives; analytical, flow and packet are there
    uint64_t extrapolated{0};                //!< collectives
    uint64_t contended{0};                   //!< collectives
    uint64_t uncoupled{0};                   //!< collectives
    std::vector<CollectiveTotals> totals;    //!< longest sum of durations first
    std::vector<LinkRecord> hottestFabricLinks; //!< between hosts, most utilised first, at most 12
    std::vector<LinkRecord> hottestHostLinks;   //!< inside hosts, most utilised first, at most 8

    // Sums over links.csv where there are links, else what the run counted.
    uint64_t bytesOnWire{0}; //!< over links between hosts
    uint64_t drops{0};
    uint64_t pauses{0};
    uint64_t ecnMarks{0};

    std::string fingerprint;           //!< of all records, 16 hexadecimal digits
    std::vector<std::string> warnings; //!< the run's own; then where ranks do not add up
    std::vector<std::string> notes;    //!< what was folded, and what files leave out
};

/**
 * Adds a run up as its records come; holds a fixed amount a rank and nothing an operator.
 *
 * The fingerprint takes in: of an operator stream, number, activity, times and bytes; of a
 * collective operation, group kind, ranks, bytes, choice, fidelity and times; of a flow ends,
 * bytes, times and packets; of a link port and counters; of a rank its times; of the run its step
 * time. Names and instance numbers are left out: giving a thing another name is no change of
 * results. Operators and collectives are taken in as a sum of hashes, each as often as it has
 * replicas: neither the order of what happens at one instant nor the folding of equal ranks changes
 * it.
 */
class SummarySink : public RecordSink
{
  public:
    /** @param jobs several jobs, whose collectives are added up apart; empty: all ranks are one */
    explicit SummarySink(std::vector<JobSpan> jobs = {});
    void OnOperator(const OperatorRecord& record) override;
    void OnCollective(const CollectiveRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLink(const LinkRecord& record) override;
    void OnRank(const RankRecord& record) override;
    void OnRun(const RunRecord& record) override;

    /** Adds what users should know of the files; after OnRun. */
    void AddNote(const std::string& note)
    {
        m_summary.notes.push_back(note);
    }

    /** @return the summary; whole once the run record has come */
    const RunSummary& GetSummary() const
    {
        return m_summary;
    }

  private:
    /** A sum of times that cannot overflow, and the largest. */
    struct Accumulator
    {
        void Add(Time time);
        RankStatistic Get(uint64_t count) const;

        int64_t microseconds{0};
        int64_t picoseconds{0}; //!< below a microsecond, summed apart
        int64_t largest{0};     //!< picoseconds
    };

    void SortTotals();
    static void SelectLinks(std::vector<LinkRecord>& links, size_t limit);
    void AddWarnings();

    RunSummary m_summary;
    Fingerprint m_fingerprint;
    uint64_t m_hashes{0}; //!< sum over operators and collectives
    std::vector<JobSpan> m_jobs;
    /// By first rank of the job, kind, group and fidelity.
    std::map<std::tuple<RankId, CollectiveKind, GroupKind, Fidelity>, CollectiveTotals> m_totals;
    Accumulator m_compute;
    Accumulator m_communication;
    Accumulator m_exposed;
    Accumulator m_waiting;
    Accumulator m_idle;
    Accumulator m_slowdown;
    uint64_t m_rankCount{0};
    std::vector<std::pair<RankId, Time>> m_partSums; //!< each rank's four parts, to check
    uint64_t m_linkCount{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RUN_SUMMARY_H */
