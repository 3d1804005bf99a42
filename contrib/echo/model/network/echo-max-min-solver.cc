// SPDX-License-Identifier: GPL-2.0-only
#include "echo-max-min-solver.h"

#include "echo-flow-weight.h"

#include "ns3/assert.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ns3
{
namespace echo
{

void MaxMinSolver::Clear()
{
    m_capacities.clear();
    m_flowStart.assign(1, 0);
    m_parts.clear();
    m_flowLinks.clear();
}

uint32_t MaxMinSolver::AddLink(uint64_t capacity)
{
    m_capacities.push_back(capacity);
    return static_cast<uint32_t>(m_capacities.size() - 1);
}

uint32_t MaxMinSolver::AddFlow(const uint32_t* links, uint32_t count, uint32_t parts)
{
    NS_ASSERT_MSG(count > 0, "a flow needs a link");
    if (m_flowStart.empty())
    {
        m_flowStart.push_back(0);
    }
    m_flowLinks.insert(m_flowLinks.end(), links, links + count);
    m_flowStart.push_back(static_cast<uint32_t>(m_flowLinks.size()));
    m_parts.push_back(parts);
    return static_cast<uint32_t>(m_flowStart.size() - 2);
}

void MaxMinSolver::Solve()
{
    const size_t flows = m_flowStart.empty() ? 0 : m_flowStart.size() - 1;
    m_remaining = m_capacities;
    m_open.assign(m_capacities.size(), 0);
    for (size_t flow = 0; flow < flows; ++flow)
    {
        for (uint32_t i = m_flowStart[flow]; i < m_flowStart[flow + 1]; ++i)
        {
            m_open[m_flowLinks[i]] += FlowWeight::Of(m_parts[flow]);
        }
    }
    m_shares.resize(m_capacities.size());
    m_isBottleneck.resize(m_capacities.size());
    m_rates.assign(flows, 0);
    m_bottlenecks.assign(flows, 0);
    m_openFlows.resize(flows);
    std::iota(m_openFlows.begin(), m_openFlows.end(), 0);
    while (!m_openFlows.empty())
    {
        ShareLinks();
        FindBottlenecks();
        FixFlows();
    }
}

void MaxMinSolver::ShareLinks()
{
    for (size_t link = 0; link < m_capacities.size(); ++link)
    {
        m_isBottleneck[link] = 1;
        if (m_open[link] > 0)
        {
            m_shares[link] = FlowWeight::GetShare(m_remaining[link], m_open[link]);
        }
    }
}

void MaxMinSolver::FindBottlenecks()
{
    for (const uint32_t flow : m_openFlows)
    {
        uint64_t least = std::numeric_limits<uint64_t>::max();
        for (uint32_t i = m_flowStart[flow]; i < m_flowStart[flow + 1]; ++i)
        {
            least = std::min(least, m_shares[m_flowLinks[i]]);
        }
        for (uint32_t i = m_flowStart[flow]; i < m_flowStart[flow + 1]; ++i)
        {
            // Without a branch, which would be mispredicted as often as not.
            m_isBottleneck[m_flowLinks[i]] &=
                static_cast<uint8_t>(m_shares[m_flowLinks[i]] == least);
        }
        m_rates[flow] = least;
    }
}

void MaxMinSolver::FixFlows()
{
    size_t kept = 0;
    for (const uint32_t flow : m_openFlows)
    {
        const auto first = m_flowLinks.begin() + m_flowStart[flow];
        const auto last = m_flowLinks.begin() + m_flowStart[flow + 1];
        const auto bottleneck =
            std::find_if(first, last, [this](uint32_t link) { return m_isBottleneck[link] != 0; });
        if (bottleneck == last)
        {
            m_openFlows[kept++] = flow;
            continue;
        }
        m_bottlenecks[flow] = *bottleneck;
        m_rates[flow] /= m_parts[flow];
        const uint64_t weight = FlowWeight::Of(m_parts[flow]);
        std::for_each(first, last, [this, flow, weight](uint32_t link) {
            m_remaining[link] -= m_rates[flow];
            m_open[link] -= weight;
        });
    }
    m_openFlows.resize(kept); // the least share of all is a bottleneck: at least one was fixed
}

} // namespace echo
} // namespace ns3
