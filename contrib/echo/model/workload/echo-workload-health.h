// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WORKLOAD_HEALTH_H
#define ECHO_WORKLOAD_HEALTH_H

#include "echo-workload-graph.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a workload holds, found before time zero, with what looks wrong in it. */
struct WorkloadHealth
{
    /** Communications that are alike. */
    struct Use
    {
        CollectiveKind kind{CollectiveKind::ALL_REDUCE};
        GroupKind group{GroupKind::OTHER};
        uint32_t ranks{0};     //!< members of the group; send-recv: 2
        uint64_t instances{0}; //!< collectives, or messages
        uint64_t bytes{0};     //!< sum of sizes (CollectiveSpec::bytes), each instance once
    };

    uint32_t ranks{0};
    uint32_t programs{0};                //!< different programs
    std::array<uint64_t, 6> operators{}; //!< over all ranks, by OperatorType
    uint32_t fewestStreams{0};           //!< of a rank
    uint32_t mostStreams{0};             //!< of a rank
    std::vector<Use> uses;               //!< by kind, group and ranks
    std::vector<std::string> warnings;   //!< sentences

    /** @return the report for users, several lines */
    std::string ToText() const;
};

/**
 * Looks through a workload before it runs.
 *
 * Refused, as the run could not end or would mean nothing: collectives that members of a group call
 * in different number or order; a send without its receive or of another size (paired first-in
 * first-out by group, source, destination and tag, as at run time); a workload that communicates
 * but would move no byte. Where calls of one group are spread over streams, only run time knows
 * their order: then numbers and sizes are compared. Whether the order of operators is a deadlock is
 * left to run time, too.
 *
 * @throws InputError that names ranks, operators, tag and sizes
 */
WorkloadHealth CheckWorkload(const WorkloadGraph& workload);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_HEALTH_H */
