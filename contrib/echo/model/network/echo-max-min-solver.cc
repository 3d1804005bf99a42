// SPDX-License-Identifier: GPL-2.0-only
#include "echo-max-min-solver.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Heap order: smallest share on top, ties by link so that runs repeat. */
template <typename Level>
bool IsLater(const Level& a, const Level& b)
{
    return a.share != b.share ? a.share > b.share : a.link > b.link;
}

} // namespace

void MaxMinSolver::Clear()
{
    m_capacities.clear();
    m_flowStart.assign(1, 0);
    m_flowLinks.clear();
}

uint32_t MaxMinSolver::AddLink(uint64_t capacity)
{
    m_capacities.push_back(capacity);
    return static_cast<uint32_t>(m_capacities.size() - 1);
}

uint32_t MaxMinSolver::AddFlow(const uint32_t* links, uint32_t count)
{
    NS_ASSERT_MSG(count > 0, "a flow needs a link");
    if (m_flowStart.empty())
    {
        m_flowStart.push_back(0);
    }
    m_flowLinks.insert(m_flowLinks.end(), links, links + count);
    m_flowStart.push_back(static_cast<uint32_t>(m_flowLinks.size()));
    return static_cast<uint32_t>(m_flowStart.size() - 2);
}

void MaxMinSolver::IndexFlowsByLink()
{
    const size_t flows = m_flowStart.empty() ? 0 : m_flowStart.size() - 1;
    m_open.assign(m_capacities.size(), 0);
    for (const uint32_t link : m_flowLinks)
    {
        ++m_open[link];
    }
    m_linkStart.assign(m_capacities.size() + 1, 0);
    for (size_t link = 0; link < m_capacities.size(); ++link)
    {
        m_linkStart[link + 1] = m_linkStart[link] + m_open[link];
    }
    m_linkFlows.resize(m_flowLinks.size());
    std::vector<uint32_t>& next = m_full; // free now: where a link's next flow goes
    next.assign(m_linkStart.begin(), m_linkStart.end());
    for (uint32_t flow = 0; flow < flows; ++flow)
    {
        for (uint32_t i = m_flowStart[flow]; i < m_flowStart[flow + 1]; ++i)
        {
            m_linkFlows[next[m_flowLinks[i]]++] = flow;
        }
    }
    m_rates.assign(flows, 0);
    m_bottlenecks.assign(flows, 0);
    m_fixed.assign(flows, false);
}

void MaxMinSolver::PopFullest(uint64_t& share)
{
    m_full.clear();
    while (!m_heap.empty())
    {
        Level top = m_heap.front();
        if (!m_full.empty() && top.share > share)
        {
            return;
        }
        std::pop_heap(m_heap.begin(), m_heap.end(), IsLater<Level>);
        m_heap.pop_back();
        if (m_open[top.link] == 0)
        {
            continue;
        }
        // Fixing flows can only raise what is left for each of the others on a link.
        const uint64_t now = m_remaining[top.link] / m_open[top.link];
        if (now > top.share)
        {
            top.share = now;
            m_heap.push_back(top);
            std::push_heap(m_heap.begin(), m_heap.end(), IsLater<Level>);
            continue;
        }
        share = now;
        m_full.push_back(top.link);
    }
}

void MaxMinSolver::Fix(uint32_t flow, uint32_t link, uint64_t share)
{
    m_bottlenecks[flow] = link;
    m_fixed[flow] = true;
    m_rates[flow] = share;
    for (uint32_t i = m_flowStart[flow]; i < m_flowStart[flow + 1]; ++i)
    {
        m_remaining[m_flowLinks[i]] -= share;
        --m_open[m_flowLinks[i]];
    }
}

void MaxMinSolver::Solve()
{
    IndexFlowsByLink();
    m_remaining = m_capacities;
    m_heap.clear();
    for (uint32_t link = 0; link < m_capacities.size(); ++link)
    {
        if (m_open[link] > 0)
        {
            m_heap.push_back({m_capacities[link] / m_open[link], link});
        }
    }
    std::make_heap(m_heap.begin(), m_heap.end(), IsLater<Level>);
    uint64_t share = 0;
    for (PopFullest(share); !m_full.empty(); PopFullest(share))
    {
        for (const uint32_t link : m_full)
        {
            for (uint32_t i = m_linkStart[link]; i < m_linkStart[link + 1]; ++i)
            {
                if (!m_fixed[m_linkFlows[i]])
                {
                    Fix(m_linkFlows[i], link, share);
                }
            }
        }
    }
}

} // namespace echo
} // namespace ns3
