// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAINING_JOB_H
#define ECHO_TRAINING_JOB_H

#include "ns3/echo-collective-backend.h"
#include "ns3/echo-compute-model.h"
#include "ns3/echo-records.h"
#include "ns3/echo-slowdown-model.h"
#include "ns3/echo-workload-graph.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The timeline composer: runs every rank's execution graph on one global timeline. Ranks may be
 * of several jobs (MergeJobs), which share the back end and nothing else.
 *
 * An operator starts when its stream is free and its dependencies are done. Communication joins
 * its back end; the time until the last member has joined is waiting, the rest is transfer. A
 * kernel beside a transfer of its rank runs slower by the slowdown model's factor, for that part of
 * its time only.
 *
 * The step time runs from the first start to the last end of any operator. At each instant of it a
 * rank computes (a kernel or copy runs), else communicates exposed (a transfer runs), else waits
 * (it has joined a communication that others have not), else idles; host operators count as idle.
 *
 * Ranks that do the same at the same times are folded (attribute Folding): one of each class runs,
 * its records say for how many it stands, and nothing else changes (RankFolding).
 */
class TrainingJob : public Object
{
  public:
    /** Signature of the trace source OperatorDone. */
    using OperatorTracedCallback = void (*)(const OperatorRecord& record);

    static TypeId GetTypeId();
    TrainingJob();
    ~TrainingJob() override;

    /** @p slowdown may be null (no overlap slowdown); @p sink may be null. */
    void Prepare(WorkloadGraphPtr workload,
                 Ptr<CollectiveBackend> backend,
                 Ptr<ComputeModel> compute,
                 Ptr<SlowdownModel> slowdown,
                 RecordSink* sink);
    /** Schedules the first operators; then Simulator::Run, out of which a StallError may come. */
    void Start();
    bool IsFinished() const;
    /** @return ranks that run: as many as there are, or classes of equal ones */
    uint32_t GetSimulatedRankCount() const;
    /** @return why ranks were not folded; empty if they were */
    const std::string& GetFoldingRefusal() const;
    /** @return operators done and in all, for progress */
    std::pair<uint64_t, uint64_t> GetProgress() const;
    /** @return latest end less earliest start over all ranks' operators */
    Time GetStepTime() const;
    /** @return what became of each of several jobs, hosts excepted; empty if all ranks are one job
     */
    std::vector<JobRecord> GetJobs() const;
    /** Pushes one RankRecord a rank; the four parts of each add up to the step time exactly. */
    void ReportRanks(RecordSink& sink) const;
    /**
     * @return after the simulation drained with work left: each rank's blocked operators, what each
     *         waits for, the unfinished communications and a cycle of ranks if there is one
     */
    std::string DescribeStall() const;

  private:
    void DoDispose() override;

    struct Impl;
    void Fold();
    void MakeExecutors();

    std::unique_ptr<Impl> m_impl;
    bool m_folding{true};                                 //!< attribute Folding
    Time m_stallTime;                                     //!< attribute StallTime
    double m_communicationSlowdown{1};                    //!< attribute CommunicationSlowdown
    TracedCallback<const OperatorRecord&> m_operatorDone; //!< trace source "OperatorDone"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAINING_JOB_H */
