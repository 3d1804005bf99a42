// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRANSFORMER_GENERATOR_H
#define ECHO_TRANSFORMER_GENERATOR_H

#include "echo-training-plan.h"
#include "echo-workload-graph.h"

namespace ns3
{
namespace echo
{

/**
 * Makes the workload of one training step of a transformer from its plan alone: every rank's
 * kernels, with operations and bytes, and communications, as Megatron-Core would issue them
 * (doc/formats/generate.md lists them). Ranks of one pipeline stage share one program.
 *
 * Kernels have no duration: a ComputeModel gives it.
 *
 * @param plan the plan
 * @param ranks ranks of the job
 * @throws InputError if the plan cannot run or its degrees do not multiply to @p ranks
 * @throws UnsupportedError if there is no generator for it
 */
WorkloadGraphPtr GenerateTransformer(const TrainingPlan& plan, uint32_t ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRANSFORMER_GENERATOR_H */
