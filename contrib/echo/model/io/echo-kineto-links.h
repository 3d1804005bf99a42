// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_LINKS_H
#define ECHO_KINETO_LINKS_H

#include "echo-kineto-trace.h"
#include "echo-pytorch-et-reader.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How the parts of a profiler file belong together. */
struct KinetoLinks
{
    std::vector<uint32_t> callOf; //!< by activity: the call that launched it, or KINETO_NONE
    /// Communications by activity: one record, or several for a batch of sends and receives.
    std::map<uint32_t, std::vector<CommunicationRecord>> records;
    /// record_param_comms and "nccl:" ranges that issue a communication, by index of the range.
    std::vector<bool> isIssue;
    /// "wait" ranges by index: the activity waited for, KINETO_NONE if it is not in the file.
    std::map<uint32_t, uint32_t> waitTargets;
    std::vector<std::string> warnings;
};

/** @return by activity: the call that launched it (of equal correlation), or KINETO_NONE */
std::vector<uint32_t> FindLaunchingCalls(const KinetoTrace& trace);

/**
 * Joins kernels with the calls that launched them (correlation) and NCCL kernels with what is
 * recorded of them. Sizes come from the kernel's arguments, else from the profiler's
 * record_param_comms around the launch, else from the execution trace, whose k-th communication is
 * the profiler's k-th (or the one of equal record function id), else from the "nccl:" annotation.
 *
 * @param executionTrace of the same rank; may be null
 * @throws InputError if profiler and execution trace disagree in the elements of a communication
 */
KinetoLinks LinkKineto(const KinetoTrace& trace, const ExecutionTrace* executionTrace);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_LINKS_H */
