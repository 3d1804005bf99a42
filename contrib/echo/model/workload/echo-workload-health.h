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

class CommunicationPatterns;

/**
 * What a workload holds, with what looks wrong in it, found before time zero.
 *
 * Refused, as the run could not end or would mean nothing: collectives that members of a group call
 * in different number or order; a send without its receive or of another size (paired first-in
 * first-out by group, source, destination and tag, as at run time); a workload that communicates
 * but would move no byte. Where calls of one group are spread over streams, only run time knows
 * their order: then numbers and sizes are compared. Whether the order of operators is a deadlock is
 * left to run time, too.
 */
class WorkloadHealth
{
  public:
    /** Communications that are alike. */
    struct Use
    {
        CollectiveKind kind{CollectiveKind::ALL_REDUCE};
        GroupKind group{GroupKind::OTHER};
        uint32_t ranks{0};     //!< members of the group; send-recv: 2
        uint64_t instances{0}; //!< collectives, or messages
        uint64_t bytes{0};     //!< sum of sizes (CollectiveSpec::bytes), each instance once; of an
                               //!< all-to-all-v what the first member sends
    };

    /** @throws InputError that names ranks, operators, tag and sizes */
    explicit WorkloadHealth(const WorkloadGraph& workload);

    uint32_t GetRankCount() const
    {
        return m_ranks;
    }

    /** @return number of different programs */
    uint32_t GetProgramCount() const
    {
        return m_programs;
    }

    /** @return operators of a type over all ranks */
    uint64_t GetOperatorCount(OperatorType type) const
    {
        return m_operators.at(static_cast<size_t>(type));
    }

    /** @return by kind, group kind and ranks */
    const std::vector<Use>& GetUses() const
    {
        return m_uses;
    }

    /** @return sentences */
    const std::vector<std::string>& GetWarnings() const
    {
        return m_warnings;
    }

    /** @return the report for users, several lines */
    std::string ToString() const;

  private:
    void CountOperators(const WorkloadGraph& workload, const CommunicationPatterns& patterns);
    void CountUses(const WorkloadGraph& workload, const CommunicationPatterns& patterns);
    void CheckEmptiness(const WorkloadGraph& workload, const CommunicationPatterns& patterns);

    uint32_t m_ranks{0};
    uint32_t m_programs{0};
    std::array<uint64_t, 6> m_operators{}; //!< over all ranks, by OperatorType
    uint32_t m_fewestStreams{0};           //!< of a rank
    uint32_t m_mostStreams{0};             //!< of a rank
    std::vector<Use> m_uses;
    std::vector<std::string> m_warnings;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_HEALTH_H */
