// SPDX-License-Identifier: GPL-2.0-only
#include "echo-flow-rates.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

FlowRates::FlowRates(FlowStreams& streams) : m_streams(streams), m_filling(streams)
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
    stream.trialRate = stream.progress.GetRate();
    stream.trialBottleneck = stream.bottleneck;
    m_set.push_back(number);
    for (const PortId port : m_streams.GetPath(number))
    {
        m_fixed[IncludeLink(port)] -= stream.progress.GetRate();
    }
}

uint32_t FlowRates::IncludeLink(PortId port)
{
    FlowLink& link = m_streams.GetLink(port);
    if (link.visit != m_visit)
    {
        link.visit = m_visit;
        link.inDoubt = false;
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
    m_inDoubt.clear();
    m_changed.clear();
    if (m_allTouched)
    {
        m_allTouched = false;
        m_touched.clear();
        ++m_updates;
        UpdateAll(now);
        return m_filling.GetOrder();
    }
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
        if (m_set.size() > m_largeSet)
        {
            break;
        }
    }
    m_touched.clear();
    m_forAll = false;
    if (m_set.empty())
    {
        return m_changed;
    }
    ++m_updates;
    // A change that runs through very many streams one by one is found faster for all at once.
    constexpr int MOST_ROUNDS = 64;
    size_t solved = 0;
    for (int round = 0; solved < m_set.size(); ++round)
    {
        if (round == MOST_ROUNDS || m_set.size() > m_largeSet)
        {
            UpdateAll(now);
            return m_filling.GetOrder();
        }
        solved = m_set.size();
        Solve();
        ReadSolution();
        for (const PortId port : m_inDoubt)
        {
            IncludeAffected(port);
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
        m_pathLinks.clear();
        for (const PortId port : m_streams.GetPath(number))
        {
            m_pathLinks.push_back(m_streams.GetLink(port).number);
        }
        m_solver.AddFlow(m_pathLinks.data(),
                         static_cast<uint32_t>(m_pathLinks.size()),
                         m_streams.Get(number).parts);
    }
    m_solver.Solve();
}

void FlowRates::Doubt(PortId port)
{
    FlowLink& link = m_streams.GetLink(port);
    if (!link.inDoubt)
    {
        link.inDoubt = true;
        m_inDoubt.push_back(port);
    }
}

void FlowRates::ReadSolution()
{
    for (const PortId port : m_inDoubt)
    {
        m_streams.GetLink(port).inDoubt = false;
    }
    m_inDoubt.clear();
    for (uint32_t flow = 0; flow < m_set.size(); ++flow)
    {
        FlowStream& stream = m_streams.Get(m_set[flow]);
        const PortId bottleneck = m_links[m_solver.GetBottleneck(flow)];
        if (m_solver.GetRate(flow) != stream.trialRate)
        {
            for (const PortId port : m_streams.GetPath(m_set[flow]))
            {
                Doubt(port);
            }
            stream.trialRate = m_solver.GetRate(flow);
        }
        if (bottleneck != stream.trialBottleneck)
        {
            Doubt(bottleneck);
            stream.trialBottleneck = bottleneck;
        }
    }
}

void FlowRates::IncludeAffected(PortId port)
{
    const FlowLink& link = m_streams.GetLink(port);
    uint64_t used = 0;
    uint64_t most = 0;     // highest share on the link: a part has one part of its share
    uint64_t atMost = 0;   // bit/s that sharing may leave: one for each stream that has it
    uint64_t ownShare = 0; // of streams of the set that are stopped here
    bool stopsOwn = false;
    bool hasParts = false;
    for (const auto& user : link.users)
    {
        const FlowStream& stream = m_streams.Get(user.stream);
        const bool own = stream.visit == m_visit;
        const uint64_t rate = own ? stream.trialRate : stream.progress.GetRate();
        used += rate;
        const uint64_t share = rate * stream.parts;
        hasParts = hasParts || stream.parts > 1;
        atMost = share > most ? 1 : atMost + (share == most ? 1 : 0);
        most = std::max(most, share);
        if (own && stream.trialBottleneck == port)
        {
            stopsOwn = true;
            ownShare = share + stream.parts - 1; // rounded down in its rate
        }
    }
    const auto part = [this](uint64_t rate) {
        return static_cast<uint64_t>(static_cast<double>(rate) * m_tolerance);
    };
    atMost = hasParts ? 2 * link.users.size() : atMost; // shares and rates are rounded
    const bool full = link.capacity - used < atMost + part(link.capacity);
    for (const auto& user : link.users)
    {
        const FlowStream& stream = m_streams.Get(user.stream);
        if (stream.visit == m_visit)
        {
            continue;
        }
        const uint64_t rate = stream.progress.GetRate();
        const uint64_t share = rate * stream.parts;
        const bool tooFast = stopsOwn && share > ownShare + part(ownShare);
        const bool losesBottleneck =
            stream.bottleneck == port && !(full && share + stream.parts - 1 + part(most) >= most);
        if (tooFast || losesBottleneck)
        {
            Include(user.stream);
        }
    }
}

void FlowRates::Commit(int64_t now)
{
    for (const uint32_t number : m_set)
    {
        FlowStream& stream = m_streams.Get(number);
        stream.bottleneck = stream.trialBottleneck;
        if (stream.trialRate != stream.progress.GetRate())
        {
            m_streams.SetRate(number, stream.trialRate, now);
            m_changed.push_back(number);
        }
    }
    for (const PortId port : m_links)
    {
        FlowLink& link = m_streams.GetLink(port);
        link.peakRate = std::max(link.peakRate, link.allocated);
    }
}

void FlowRates::UpdateAll(int64_t now)
{
    m_filling.Solve();
    m_forAll = true;
    m_totalRate = 0;
    for (const uint32_t number : m_filling.GetOrder())
    {
        const uint64_t rate = m_filling.GetRate(number);
        m_streams.TakeShare(number, rate, m_filling.GetBottleneck(number), now);
        m_totalRate += rate;
    }
    for (const PortId port : m_streams.GetUsedLinks())
    {
        FlowLink& link = m_streams.GetLink(port);
        link.allocated = link.capacity - m_filling.GetRemaining(port);
        link.peakRate = std::max(link.peakRate, link.allocated);
    }
}

} // namespace echo
} // namespace ns3
