// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMMUNICATION_CHECK_H
#define ECHO_COMMUNICATION_CHECK_H

#include "echo-communication-pattern.h"

namespace ns3
{
namespace echo
{

/**
 * Checks that all members of each group call the same collectives in the same order.
 * @throws InputError that names both ranks, their operators and the first call that differs
 */
void CheckCollectives(const WorkloadGraph& workload, const CommunicationPatterns& patterns);

/**
 * Checks that every send has a receive of its size, first-in first-out by group, source,
 * destination and tag.
 * @throws InputError that names ranks, operators, tag, sizes and what waits behind
 */
void CheckMessages(const WorkloadGraph& workload, const CommunicationPatterns& patterns);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMMUNICATION_CHECK_H */
