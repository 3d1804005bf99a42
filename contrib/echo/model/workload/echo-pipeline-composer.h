// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PIPELINE_COMPOSER_H
#define ECHO_PIPELINE_COMPOSER_H

#include "echo-training-plan.h"
#include "echo-workload-graph.h"

namespace ns3
{
namespace echo
{

/**
 * Makes steps of many micro-batches from a trace of one.
 *
 * Each program of the trace says of its operators which part they are (Operator::part): the forward
 * pass of a stage, its backward pass, or the end of the step. The parts are put in the order of a
 * pipeline schedule; what the stages say to each other is matched by rule, not by the trace's
 * order:
 *
 * | message of the trace | passes | to or from |
 * | --- | --- | --- |
 * | sent in the forward part | activations | the next stage |
 * | received in the forward part | activations | the previous stage |
 * | sent in the backward part | gradients | the previous stage |
 * | received in the backward part | gradients | the next stage |
 *
 * A rank's stage is its place in the group that passes messages. With several model chunks a stage
 * (Operator::chunk), chunk c of stage s of p is part c p + s of the model, and the stages next to
 * it are those of the parts next to it. A pass begins when what it receives is there and the pass
 * before is over, its communication too; with several chunks messages go beside passes, and what a
 * pass receives is asked for a pass ahead (Megatron-Core's overlapped interleaving).
 *
 * @param traced one micro-batch a step
 * @param schedule order of the passes, forward and whole backward
 * @param microBatches at least 1
 * @throws InputError naming operators without a part, messages that are not a neighbour's or lack,
 *         and schedules that do not suit
 */
WorkloadGraphPtr ComposePipeline(const WorkloadGraph& traced,
                                 const PipelineSchedule& schedule,
                                 uint32_t microBatches);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PIPELINE_COMPOSER_H */
