// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_CONTEXT_H
#define ECHO_JOB_CONTEXT_H

#include "ns3/echo-collective-backend.h"
#include "ns3/echo-compute-model.h"
#include "ns3/echo-records.h"
#include "ns3/echo-slowdown-model.h"
#include "ns3/echo-workload-graph.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3
{
namespace echo
{

/** What all rank executors of a job share. */
struct JobContext
{
    WorkloadGraphPtr workload;
    Ptr<CollectiveBackend> backend;
    Ptr<ComputeModel> compute;
    Ptr<SlowdownModel> slowdown;                           //!< null: no slowdown
    double communicationSlowdown{1};                       //!< of transfers beside kernels
    RecordSink* sink{nullptr};                             //!< null: none
    TracedCallback<const OperatorRecord&>* trace{nullptr}; //!< of the job

    uint64_t done{0};                          //!< operators
    uint64_t total{0};                         //!< operators
    std::function<void()> onFinished;          //!< the last operator is done
    OperatorRecord record;                     //!< reused, so that names keep their memory
    std::vector<uint32_t> streams;             //!< reused list of streams to look at
    std::vector<PointToPointElement> elements; //!< reused

    bool IsRecording() const
    {
        return sink || !trace->IsEmpty();
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
