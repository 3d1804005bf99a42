// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANK_SELECTION_H
#define ECHO_RANK_SELECTION_H

#include "ns3/echo-records.h"

#include <algorithm>
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
        : m_all(wanted.empty() && ranks <= limit)
    {
        for (const RankId rank : wanted)
        {
            Add(rank);
        }
        for (uint64_t i = 0; !m_all && wanted.empty() && i < limit; ++i)
        {
            Add(RankId(static_cast<uint32_t>(i * ranks / limit)));
        }
    }

    /**
     * As many of the simulated ranks, spread evenly, as together have at most @p operators
     * operators; at least one and at most @p limit.
     */
    static RankSelection Fit(const std::vector<SimulatedRank>& ranks,
                             uint32_t limit,
                             uint64_t operators)
    {
        RankSelection selection;
        for (uint64_t count = std::min<uint64_t>(ranks.size(), limit); count > 0; --count)
        {
            selection = RankSelection();
            selection.m_all = false;
            uint64_t sum = 0;
            for (uint64_t i = 0; i < count && (sum <= operators || count == 1); ++i)
            {
                const SimulatedRank& rank = ranks[i * ranks.size() / count];
                selection.Add(rank.rank);
                sum += rank.operators;
            }
            if (sum <= operators)
            {
                break;
            }
        }
        return selection;
    }

    bool Contains(RankId rank) const
    {
        return m_all || (rank.Get() < m_is.size() && m_is[rank.Get()]);
    }

    /** @return number of selected ranks of a job of @p ranks */
    uint64_t GetCount(uint64_t ranks) const
    {
        return m_all ? ranks : m_selected.size();
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
    void Add(RankId rank)
    {
        m_selected.insert(rank);
        m_is.resize(std::max<size_t>(m_is.size(), size_t{rank.Get()} + 1));
        m_is[rank.Get()] = true;
    }

    bool m_all{true};
    std::set<RankId> m_selected;
    std::vector<bool> m_is; //!< by rank, as far as there are selected ones
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANK_SELECTION_H */
