// SPDX-License-Identifier: GPL-2.0-only
#include "echo-rank-replica.h"

#include "echo-kineto-health.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

std::vector<uint32_t> RankReplica::GetMembers(const std::vector<uint32_t>& members,
                                              uint32_t to) const
{
    const auto size = static_cast<uint32_t>(members.size());
    const uint32_t stride = size > 1 ? members[1] - members[0] : 1;
    uint32_t count = size;
    uint32_t block = size * stride;
    bool isRegular = stride > 0 && stride <= recorded && recorded % block == 0 &&
                     members[0] == rank / block * block + rank % stride;
    for (uint32_t i = 1; i < size; ++i)
    {
        isRegular = isRegular && members[i] == members[0] + i * stride;
    }
    if (isRegular && block == recorded)
    {
        count = ranks / stride;
        block = ranks;
        isRegular = ranks % stride == 0;
    }
    if (!isRegular || ranks % block != 0)
    {
        throw InputError({file, 0, "rank " + std::to_string(rank)},
                         "a group of ranks " + FormatRankList(members) +
                             ", from which those of rank " + std::to_string(to) + " of " +
                             std::to_string(ranks) + " cannot be told",
                         "a file for every rank");
    }
    std::vector<uint32_t> result(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        result[i] = to / block * block + to % stride + i * stride;
    }
    return result;
}

const CommGroupPtr& SharedGroups::Get(uint32_t program,
                                      uint32_t slot,
                                      uint32_t rank,
                                      const std::function<CommGroupPtr()>& make)
{
    std::vector<CommGroupPtr>& known = m_groups[{program, slot}];
    known.resize(m_ranks);
    if (!known[rank])
    {
        const CommGroupPtr group = make();
        for (RankId member : group->GetRanks())
        {
            known[member.Get()] = group;
        }
        known[rank] = group;
    }
    return known[rank];
}

} // namespace echo
} // namespace ns3
