// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAINING_JOB_H
#define ECHO_TRAINING_JOB_H

#include "ns3/echo-collective-backend.h"
#include "ns3/echo-compute-model.h"
#include "ns3/echo-records.h"
#include "ns3/echo-workload-graph.h"
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
 * The timeline composer: runs every rank's execution graph on one global timeline.
 *
 * An operator starts when its stream is free and its dependencies are done. Communication joins
 * its back end; the time until the last member has joined is waiting, the rest is transfer.
 */
class TrainingJob : public Object
{
  public:
    static TypeId GetTypeId();
    TrainingJob();
    ~TrainingJob() override;

    /** @p slowdown may be null (no overlap slowdown); @p sink may be null. */
    void Prepare(WorkloadGraphPtr workload,
                 Ptr<CollectiveBackend> backend,
                 Ptr<ComputeModel> compute,
                 Ptr<SlowdownModel> slowdown,
                 RecordSink* sink);
    /** Schedules the first operators; then Simulator::Run. */
    void Start();
    bool IsFinished() const;
    /** @return operators done and in all, for progress */
    std::pair<uint64_t, uint64_t> GetProgress() const;
    /** @return latest end less earliest start over all ranks' operators */
    Time GetStepTime() const;
    /** Pushes one RankRecord a rank; the four parts of each add up to the step time exactly. */
    void ReportRanks(RecordSink& sink) const;
    /**
     * @return after the simulation drained with work left: each rank's blocked operators, what each
     *         waits for, the unfinished communications and a cycle of ranks if there is one
     */
    std::string DescribeStall() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
    TracedCallback<const OperatorRecord&> m_operatorDone; //!< trace source "OperatorDone"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAINING_JOB_H */
