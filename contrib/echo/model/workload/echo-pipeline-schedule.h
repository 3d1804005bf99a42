// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PIPELINE_SCHEDULE_H
#define ECHO_PIPELINE_SCHEDULE_H

#include "echo-training-plan.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** One step of a pipeline stage: a pass over a micro-batch, or transfers that complete as one. */
struct PipelineStep
{
    enum class Kind : uint8_t
    {
        FORWARD,
        BACKWARD,
        TRANSFER,
    };

    /** A message to or from a neighbour stage. */
    struct Transfer
    {
        bool isSend{true};
        bool isActivation{true}; //!< activations go to the next stage, gradients to the previous
        uint32_t microBatch{0};
    };

    Kind kind{Kind::FORWARD};
    uint32_t microBatch{0};          //!< FORWARD, BACKWARD
    std::vector<Transfer> transfers; //!< TRANSFER: one, or a send and a receive
};

/**
 * The steps of one stage in order.
 *
 * 1F1B follows Megatron-Core's forward_backward_pipelining_without_interleaving: stage s of p
 * warms up with min(p - s - 1, m) forward passes, then alternates, then cools down. In the steady
 * part the send of a pass and the receive of the next one are one batch, so that neighbours cannot
 * wait for each other.
 *
 * @param kind schedule
 * @param stage index of the stage, below @p stages
 * @param stages stages of the pipeline, at least 1
 * @param microBatches micro-batches, at least 1
 */
std::vector<PipelineStep> MakePipelineSchedule(PipelineScheduleKind kind,
                                               uint32_t stage,
                                               uint32_t stages,
                                               uint32_t microBatches);

/** @return most micro-batches whose activations a stage holds at one time */
uint32_t GetMicroBatchesInFlight(PipelineScheduleKind kind,
                                 uint32_t stage,
                                 uint32_t stages,
                                 uint32_t microBatches);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PIPELINE_SCHEDULE_H */
