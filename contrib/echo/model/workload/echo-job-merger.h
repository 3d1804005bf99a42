// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_MERGER_H
#define ECHO_JOB_MERGER_H

#include "echo-workload-graph.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A job that is to run beside others. */
struct JobWorkload
{
    std::string name; //!< unique
    WorkloadGraphPtr workload;
    Time start; //!< added to its ranks' own start times
};

/**
 * Several jobs as one workload: the ranks of each follow those of the one before, programs are
 * shared with the originals, and groups get numbers of their own and the names "job/group". Jobs
 * have no communication in common; whatever they share is the network's.
 * @throws InputError if there is none
 */
WorkloadGraphPtr MergeJobs(const std::vector<JobWorkload>& jobs);

/**
 * One job of several, alone: all ranks, groups and start times stay what they are, so that paths
 * and the order of events at one instant stay too, but the other jobs' ranks have nothing to do.
 * @param job index of @p workload's GetJobs()
 */
WorkloadGraphPtr KeepJob(const WorkloadGraph& workload, size_t job);

} // namespace echo
} // namespace ns3

#endif /* ECHO_JOB_MERGER_H */
