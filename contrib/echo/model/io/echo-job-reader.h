// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_READER_H
#define ECHO_JOB_READER_H

#include "echo-scenario.h"
#include "echo-yaml.h"

namespace ns3
{
namespace echo
{

/**
 * Reads what is one job's: `placement`, `ranks` and `workload`, of a scenario or of an entry of its
 * `jobs`.
 * @param[in,out] scenario has its cluster; gets workload, placement, warnings and report
 * @throws InputError
 */
void ReadJob(const YamlNode& node, Scenario& scenario);

/**
 * Reads `jobs` and `compare_alone`: several jobs on GPUs of their own, as one workload
 * (MergeJobs). Ranks are numbered by the jobs' places on the cluster, not by their places in the
 * list, so that the order of the list changes nothing.
 * @param[in,out] scenario as of ReadJob
 * @throws InputError, also if two jobs have a GPU or a name in common
 */
void ReadJobs(const YamlNode& root, Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_JOB_READER_H */
