// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GENERATOR_READER_H
#define ECHO_GENERATOR_READER_H

#include "echo-yaml.h"

#include "ns3/echo-gpu-spec.h"
#include "ns3/echo-training-plan.h"
#include "ns3/echo-workload-graph.h"

namespace ns3
{
namespace echo
{

/**
 * Reads the `generate:` block of a scenario (doc/formats/generate.md).
 * @param node the block
 * @param ranks ranks of the job
 * @return a plan that passed TrainingPlan::Check and fits @p ranks
 * @throws InputError with file, line, key, what was found and what was expected
 * @throws UnsupportedError if there is no generator for the plan
 */
TrainingPlan ReadTrainingPlan(const YamlNode& node, uint32_t ranks);

/**
 * Checks that a GPU multiplies in the plan's formats.
 * @param node the block that @p plan was read from
 * @param plan the plan
 * @param gpu the GPU of the cluster
 * @throws InputError at `precision.parameters` or `precision.matmul`, naming the GPU's formats
 */
void CheckFormats(const YamlNode& node, const TrainingPlan& plan, const GpuSpec& gpu);

/** @return the schedule that the key `schedule` names or lists; 1F1B without it */
Ptr<PipelineSchedule> ReadPipelineSchedule(const YamlNode& node);

/** Reads the block and makes the workload. @throws as ReadTrainingPlan */
WorkloadGraphPtr GenerateWorkload(const YamlNode& node, uint32_t ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_GENERATOR_READER_H */
