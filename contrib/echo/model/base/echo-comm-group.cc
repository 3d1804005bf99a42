// SPDX-License-Identifier: GPL-2.0-only
#include "echo-comm-group.h"

#include "echo-error.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

CommGroup::CommGroup(GroupId id, GroupKind kind, std::string name, std::vector<RankId> ranks)
    : m_id(id), m_kind(kind), m_name(std::move(name)), m_ranks(std::move(ranks))
{
    if (m_ranks.empty())
    {
        throw InputError({"", 0, "group " + m_name}, "no ranks", "at least one");
    }
    m_index.reserve(m_ranks.size());
    for (uint32_t i = 0; i < m_ranks.size(); ++i)
    {
        m_index.emplace_back(m_ranks[i], i);
    }
    std::sort(m_index.begin(), m_index.end());
    for (size_t i = 1; i < m_index.size(); ++i)
    {
        if (m_index[i].first == m_index[i - 1].first)
        {
            throw InputError({"", 0, "group " + m_name},
                             "rank " + std::to_string(m_index[i].first.Get()) + " twice",
                             "each rank once");
        }
    }
}

uint32_t CommGroup::IndexOf(RankId rank) const
{
    auto it = std::lower_bound(m_index.begin(), m_index.end(), std::make_pair(rank, 0u));
    return it != m_index.end() && it->first == rank ? it->second : GetSize();
}

} // namespace echo
} // namespace ns3
