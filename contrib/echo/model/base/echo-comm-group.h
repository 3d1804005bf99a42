// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMM_GROUP_H
#define ECHO_COMM_GROUP_H

#include "echo-enums.h"
#include "echo-ids.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** A process group: an ordered, immutable list of distinct member ranks. */
class CommGroup
{
  public:
    /**
     * @param id dense id within the job
     * @param kind dimension of the parallel plan
     * @param name for messages and outputs, e.g. "tp0"
     * @param ranks members in group order, at least one, no duplicates
     * @throws InputError if @p ranks is empty or holds a rank twice
     */
    CommGroup(GroupId id, GroupKind kind, std::string name, std::vector<RankId> ranks);

    GroupId GetId() const
    {
        return m_id;
    }

    GroupKind GetKind() const
    {
        return m_kind;
    }

    const std::string& GetName() const
    {
        return m_name;
    }

    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_ranks.size());
    }

    /** @return the members in group order */
    const std::vector<RankId>& GetRanks() const
    {
        return m_ranks;
    }

    RankId GetRank(uint32_t index) const
    {
        return m_ranks.at(index);
    }

    /** @return the index of @p rank in group order, or GetSize() if it is no member */
    uint32_t IndexOf(RankId rank) const;

  private:
    GroupId m_id;                                     //!< dense id within the job
    GroupKind m_kind;                                 //!< dimension of the plan
    std::string m_name;                               //!< shown name
    std::vector<RankId> m_ranks;                      //!< group order
    std::vector<std::pair<RankId, uint32_t>> m_index; //!< (rank, index), sorted by rank
};

using CommGroupPtr = std::shared_ptr<const CommGroup>;

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMM_GROUP_H */
