// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_CONTEXT_H
#define ECHO_JOB_CONTEXT_H

#include "ns3/echo-collective-backend.h"
#include "ns3/echo-compute-model.h"
#include "ns3/echo-event-batcher.h"
#include "ns3/echo-records.h"
#include "ns3/echo-slowdown-model.h"
#include "ns3/echo-workload-graph.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

class RankExecutor;

/** The end of a kernel, copy or host operator that nothing can move. */
struct TimedEnd
{
    RankExecutor* executor{nullptr};
    uint32_t stream{0};
};

/** What all rank executors of a job share. */
struct JobContext
{
    explicit JobContext(EventBatcher<TimedEnd>::Handler onTimedEnd) : ends(std::move(onTimedEnd))
    {
    }

    WorkloadGraphPtr workload;
    Ptr<CollectiveBackend> backend;
    Ptr<ComputeModel> compute;
    Ptr<SlowdownModel> slowdown;                           //!< null: no slowdown
    double communicationSlowdown{1};                       //!< of transfers beside kernels
    RecordSink* sink{nullptr};                             //!< null: none
    TracedCallback<const OperatorRecord&>* trace{nullptr}; //!< of the job

    /// By program, by operator: how long it takes on every rank; none where ranks differ.
    std::map<const ExecutionGraph*, std::vector<Time>> durations;
    EventBatcher<TimedEnd> ends;

    uint64_t done{0};                          //!< operators
    uint64_t total{0};                         //!< operators
    std::function<void()> onFinished;          //!< the last operator is done
    OperatorRecord record;                     //!< reused, so that names keep their memory
    const std::string* name{nullptr};          //!< that the record has a copy of
    std::vector<uint32_t> streams;             //!< reused list of streams to look at
    std::vector<PointToPointElement> elements; //!< reused

    bool IsRecording() const
    {
        return sink || !trace->IsEmpty();
    }

    /** @param given lives as long as the workload */
    void SetName(const std::string& given)
    {
        if (name != &given)
        {
            name = &given;
            record.name = given;
        }
    }

    void Emit()
    {
        if (sink)
        {
            sink->OnOperator(record);
        }
        (*trace)(record);
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_JOB_CONTEXT_H */
