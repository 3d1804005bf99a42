// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_AGREEMENT_H
#define ECHO_COLLECTIVE_AGREEMENT_H

#include "echo-collective-backend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * What the members of an instance must agree on, and how an instance is described to users. Split
 * from CollectiveBackend, which calls it.
 */

/** @throws InputError if @p spec cannot be carried out by @p group whatever the others ask */
void CheckSpec(const CollectiveSpec& spec, const CommGroup& group, const std::string& origin);

/**
 * Compares what a member asks for with what the one asked for that joined first.
 * @throws StallError naming both ranks, both operators and what differs
 */
void CheckAgreement(const CollectiveInstance& instance,
                    uint32_t member,
                    const CollectiveSpec& spec);

/**
 * All-to-all-v, when all have joined: fills plan.splits from what members asked and sets
 * plan.spec.bytes to the most that one member sends.
 * @throws StallError if a member expects other bytes than its peer sends; names both
 */
void AgreeOnSplits(CollectiveInstance& instance);

/** @return whether nothing has to be transferred or waited for once all have joined */
bool MovesNothing(const CollectivePlan& plan);

/** @return "64 MiB (67108864 B)", or "7 B" where both are the same */
std::string ExactBytes(uint64_t bytes);

/** @return "ranks 0, 1, 2 and 13 more" */
std::string ListRanks(const std::vector<RankId>& ranks);

/** @return one line on an unfinished instance: what it is, who joined, who is missing */
std::string DescribeInstance(const CollectiveInstance& instance);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_AGREEMENT_H */
