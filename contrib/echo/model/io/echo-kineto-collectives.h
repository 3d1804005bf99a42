// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_COLLECTIVES_H
#define ECHO_KINETO_COLLECTIVES_H

#include "echo-kineto-files.h"
#include "echo-kineto-health.h"
#include "echo-kineto-links.h"
#include "echo-kineto-program.h"
#include "echo-kineto-timeline.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** A communicator: its members, and which of those with equal members it is. */
struct KinetoGroup
{
    std::vector<uint32_t> ranks;
    uint32_t communicator{0};
    std::string name; //!< as recorded; empty: not recorded

    bool operator<(const KinetoGroup& other) const
    {
        return std::tie(ranks, communicator) < std::tie(other.ranks, other.communicator);
    }
};

/** One rank's step with what it communicates. */
struct KinetoRankStep
{
    const KinetoRank* files{nullptr};
    KinetoLinks links;
    StepTimeline timeline;
    std::vector<KinetoGroup> groups;                         //!< by slot
    std::map<uint32_t, ProgramCommunication> communications; //!< by activity of the step
    int64_t clockShift{0}; //!< to be added to its times to be on the first rank's clock
};

/** The same collective on all its members: (index in steps, activity of the step). */
struct KinetoInstance
{
    KinetoGroup group;
    uint32_t sequence{0};
    std::vector<std::pair<uint32_t, uint32_t>> members; //!< in the group's order
};

/**
 * Gives every communication of a step its group and size.
 * @param worldSize ranks of the job
 * @throws InputError for unknown groups, kinds or sizes
 */
void ResolveCommunications(KinetoRankStep& step, uint32_t worldSize, KinetoHealth& health);

/**
 * Matches the k-th collective of each member of a group, checks that they agree, and makes
 * all-to-alls of one form: ALL_TO_ALL if every member sends everyone the same, else ALL_TO_ALL_V.
 * @param isCopied steps of one rank stand for ranks without files
 * @return instances by group and sequence; none for copied steps
 * @throws InputError if members disagree
 */
std::vector<KinetoInstance> MatchCollectives(std::vector<KinetoRankStep>& steps, bool isCopied);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_COLLECTIVES_H */
