// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANK_REPLICA_H
#define ECHO_RANK_REPLICA_H

#include "ns3/echo-comm-group.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A symmetric job of which one rank is known. */
struct RankReplica
{
    std::string file;     //!< of the rank, for messages
    uint32_t rank{0};     //!< that is known
    uint32_t recorded{1}; //!< ranks of the job that was recorded
    uint32_t ranks{1};    //!< ranks of the job that is built

    /**
     * Lays the groups of other ranks out as the known one's: evenly spaced members, in blocks that
     * tile the job. A group whose block is the whole recorded job spans the whole new one.
     * @return members of the group of rank @p to that is like @p members of the known rank
     * @throws InputError if the group is not laid out so
     */
    std::vector<uint32_t> GetMembers(const std::vector<uint32_t>& members, uint32_t to) const;
};

/**
 * Groups that each of their members has in the same slot of the same program: each is made once,
 * as listing its members for every one of them takes the square of their number.
 */
class SharedGroups
{
  public:
    explicit SharedGroups(uint32_t ranks) : m_ranks(ranks)
    {
    }

    /** @return the group of a rank in a slot; @p make makes it where no member had it before */
    const CommGroupPtr& Get(uint32_t program,
                            uint32_t slot,
                            uint32_t rank,
                            const std::function<CommGroupPtr()>& make);

  private:
    uint32_t m_ranks;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<CommGroupPtr>> m_groups; //!< by rank
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANK_REPLICA_H */
