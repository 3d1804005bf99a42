// SPDX-License-Identifier: GPL-2.0-only
#include "echo-flow-rates.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

FlowRates::FlowRates(FlowStreams& streams) : m_streams(streams)
{
}

void FlowRates::Touch(PortId port)
{
    if (!m_streams.GetLink(port).users.empty())
    {
        m_touched.push_back(port);
    }
}

void FlowRates::Include(uint32_t number)
{
    FlowStream& stream = m_streams.Get(number);
    if (stream.visit == m_visit)
    {
        return;
    }
    stream.visit = m_visit;
    stream.number = static_cast<uint32_t>(m_set.size());
    m_set.push_back(number);
    const PortId* path = m_streams.GetPath(number);
    for (uint32_t hop = 0; hop < stream.hops; ++hop)
    {
        m_fixed[IncludeLink(path[hop])] -= stream.progress.GetRate();
    }
}

uint32_t FlowRates::IncludeLink(PortId port)
{
    FlowLink& link = m_streams.GetLink(port);
    if (link.visit != m_visit)
    {
        link.visit = m_visit;
        link.number = static_cast<uint32_t>(m_links.size());
        m_links.push_back(port);
        m_fixed.push_back(link.allocated);
    }
    return link.number;
}

const std::vector<uint32_t>& FlowRates::Update(int64_t now)
{
    ++m_visit;
    m_set.clear();
    m_links.clear();
    m_fixed.clear();
    m_changed.clear();
    for (const PortId port : m_touched)
    {
        for (const auto& user : m_streams.GetLink(port).users)
        {
            const PortId bottleneck = m_streams.Get(user.stream).bottleneck;
            if (bottleneck == port || !bottleneck.IsValid())
            {
                Include(user.stream);
            }
        }
    }
    m_touched.clear();
    if (m_set.empty())
    {
        return m_changed;
    }
    ++m_updates;
    // A change that runs through many streams one by one is found faster for all at once.
    constexpr int MOST_ROUNDS = 8;
    size_t solved = 0;
    for (int round = 0; solved < m_set.size(); ++round)
    {
        if (round == MOST_ROUNDS)
        {
            IncludeAllConnected();
        }
        Solve();
        solved = m_set.size();
        const auto links = static_cast<uint32_t>(m_links.size());
        for (uint32_t link = 0; link < links && round < MOST_ROUNDS; ++link)
        {
            IncludeAffected(link);
        }
    }
    Commit(now);
    return m_changed;
}

void FlowRates::Solve()
{
    m_solver.Clear();
    for (size_t link = 0; link < m_links.size(); ++link)
    {
        m_solver.AddLink(m_streams.GetLink(m_links[link]).capacity - m_fixed[link]);
    }
    for (const uint32_t number : m_set)
    {
        const FlowStream& stream = m_streams.Get(number);
        const PortId* path = m_streams.GetPath(number);
        m_pathLinks.clear();
        for (uint32_t hop = 0; hop < stream.hops; ++hop)
        {
            m_pathLinks.push_back(m_streams.GetLink(path[hop]).number);
        }
        m_solver.AddFlow(m_pathLinks.data(), stream.hops);
    }
    m_solver.Solve();
}

void FlowRates::IncludeAffected(uint32_t number)
{
    const PortId port = m_links[number];
    const FlowLink& link = m_streams.GetLink(port);
    uint64_t most = 0;     // highest rate on the link
    uint64_t atMost = 0;   // streams that have it
    uint64_t ownShare = 0; // of streams of the set that are stopped here
    bool stopsOwn = false;
    for (const auto& user : link.users)
    {
        const FlowStream& stream = m_streams.Get(user.stream);
        const bool own = stream.visit == m_visit && stream.number < m_solver.GetFlowCount();
        const uint64_t rate = own ? m_solver.GetRate(stream.number) : stream.progress.GetRate();
        atMost = rate > most ? 1 : atMost + (rate == most ? 1 : 0);
        most = std::max(most, rate);
        if (own && m_solver.GetBottleneck(stream.number) == number)
        {
            stopsOwn = true;
            ownShare = rate;
        }
    }
    const bool full = m_solver.GetRemaining(number) < atMost;
    for (const auto& user : link.users)
    {
        const FlowStream& stream = m_streams.Get(user.stream);
        if (stream.visit == m_visit)
        {
            continue;
        }
        const uint64_t rate = stream.progress.GetRate();
        const bool tooFast = stopsOwn && rate > ownShare;
        const bool losesBottleneck = stream.bottleneck == port && !(full && rate == most);
        if (tooFast || losesBottleneck)
        {
            Include(user.stream);
        }
    }
}

void FlowRates::IncludeAllConnected()
{
    for (size_t link = 0; link < m_links.size(); ++link) // grows while it runs
    {
        for (const auto& user : m_streams.GetLink(m_links[link]).users)
        {
            Include(user.stream);
        }
    }
}

void FlowRates::Commit(int64_t now)
{
    for (uint32_t flow = 0; flow < m_set.size(); ++flow)
    {
        FlowStream& stream = m_streams.Get(m_set[flow]);
        stream.bottleneck = m_links[m_solver.GetBottleneck(flow)];
        const uint64_t rate = m_solver.GetRate(flow);
        if (rate != stream.progress.GetRate())
        {
            m_streams.SetRate(m_set[flow], rate, now);
            m_changed.push_back(m_set[flow]);
        }
    }
    for (const PortId port : m_links)
    {
        FlowLink& link = m_streams.GetLink(port);
        link.peakRate =
            std::max(link.peakRate,
                     static_cast<double>(link.allocated) / static_cast<double>(link.capacity));
    }
}

} // namespace echo
} // namespace ns3
