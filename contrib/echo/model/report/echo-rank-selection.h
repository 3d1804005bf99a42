// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANK_SELECTION_H
#define ECHO_RANK_SELECTION_H

#include "ns3/echo-ids.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Which ranks are shown operator by operator: a timeline of all ranks of a large job is too large
 * to look at. Sums and tables always hold all ranks.
 */
class RankSelection
{
  public:
    /** All ranks. */
    RankSelection() = default;

    /**
     * @param ranks the ranks of the job
     * @param limit most ranks to show; above it, that many ranks spread evenly over the job
     * @param wanted if not empty: just these
     */
    RankSelection(uint32_t ranks, uint32_t limit, const std::vector<RankId>& wanted)
        : m_all(wanted.empty() && ranks <= limit), m_selected(wanted.begin(), wanted.end())
    {
        for (uint64_t i = 0; !m_all && wanted.empty() && i < limit; ++i)
        {
            m_selected.insert(RankId(static_cast<uint32_t>(i * ranks / limit)));
        }
    }

    bool Contains(RankId rank) const
    {
        return m_all || m_selected.count(rank) > 0;
    }

    /** @return at most @p limit of the selected ranks, spread evenly; @p ranks: of the job */
    RankSelection Thin(uint32_t ranks, uint32_t limit) const
    {
        if (m_all)
        {
            return RankSelection(ranks, limit, {});
        }
        std::vector<RankId> kept;
        uint64_t i = 0;
        for (const RankId rank : m_selected)
        {
            // Keeps the i-th of n where i * limit / n moves on.
            if (m_selected.size() <= limit || i * limit % m_selected.size() < limit)
            {
                kept.push_back(rank);
            }
            ++i;
        }
        return RankSelection(ranks, limit, kept);
    }

  private:
    bool m_all{true};
    std::set<RankId> m_selected;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANK_SELECTION_H */
