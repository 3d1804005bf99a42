// SPDX-License-Identifier: GPL-2.0-only
#include "echo-flow-streams.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace echo
{

size_t FlowStreams::KeyHash::operator()(const Key& key) const
{
    const auto& [source, destination, label] = key;
    uint64_t hash = (uint64_t{source.Get()} << 32 | destination.Get()) * 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 29) ^ label) * 0xbf58476d1ce4e5b9ULL;
    return hash ^ (hash >> 32);
}

void FlowStreams::Prepare(Ptr<Router> router)
{
    m_router = router;
    const Topology& topology = GetTopology();
    m_links.resize(2 * topology.GetLinkCount());
    for (uint32_t port = 0; port < m_links.size(); ++port)
    {
        m_links[port].rate = m_links[port].capacity = topology.RateOf(PortId(port)).GetBitRate();
    }
}

uint32_t FlowStreams::FindOrAdd(DeviceId source, DeviceId destination, uint64_t label)
{
    const auto [it, isNew] =
        m_index.try_emplace({source, destination, label}, static_cast<uint32_t>(m_streams.size()));
    if (!isNew)
    {
        return it->second;
    }
    const Topology& topology = GetTopology();
    if (source == destination ||
        (!m_router->FindPath(source, destination, label, m_path) && !m_allowsCuts))
    {
        m_index.erase(it);
        throw UnsupportedError("no path from " + topology.GetDevice(source).name + " to " +
                               topology.GetDevice(destination).name);
    }
    m_keys.push_back(it->first);
    m_streams.emplace_back();
    m_paths.push_back({});
    TakePath(it->second);
    return it->second;
}

void FlowStreams::TakePath(uint32_t number)
{
    Span& span = m_paths[number];
    if (m_path.size() > span.count) // else it fits where the old one is
    {
        span.first = static_cast<uint32_t>(m_hops.size());
        m_hops.resize(m_hops.size() + m_path.size());
        m_slots.resize(m_hops.size());
    }
    span.count = static_cast<uint32_t>(m_path.size());
    std::copy(m_path.begin(), m_path.end(), m_hops.begin() + span.first);
    FlowStream& stream = m_streams[number];
    stream.delay = 0;
    for (const PortId port : m_path)
    {
        stream.delay += GetTopology().DelayOf(port).GetPicoSeconds();
    }
}

void FlowStreams::Reroute(uint32_t number, int64_t now)
{
    const auto& [source, destination, label] = m_keys[number];
    if (!m_router->FindPath(source, destination, label, m_path))
    {
        m_path.clear();
    }
    const FlowPath old = GetPath(number);
    if (std::equal(old.begin(), old.end(), m_path.begin(), m_path.end()))
    {
        return;
    }
    const bool active = m_streams[number].active;
    if (active)
    {
        SetRate(number, 0, now);
        const FlowStream& stream = m_streams[number];
        Book(number, stream.unbooked - stream.progress.GetLeftBytes());
        Leave(number, now);
    }
    TakePath(number);
    if (active)
    {
        Enter(number, now);
    }
}

void FlowStreams::Enter(uint32_t number, int64_t now)
{
    FlowStream& stream = m_streams[number];
    stream.active = true;
    stream.bottleneck = PortId();
    stream.slot = static_cast<uint32_t>(m_active.size());
    m_active.push_back(number);
    const Span span = m_paths[number];
    for (uint32_t hop = span.first; hop < span.first + span.count; ++hop)
    {
        FlowLink& link = GetLink(m_hops[hop]);
        if (link.users.empty())
        {
            link.busySince = now;
            link.slot = static_cast<uint32_t>(m_used.size());
            m_used.push_back(m_hops[hop]);
        }
        m_slots[hop] = static_cast<uint32_t>(link.users.size());
        link.users.push_back({number, hop});
        link.weight += FlowWeight::Of(stream.parts);
    }
}

void FlowStreams::Leave(uint32_t number, int64_t now)
{
    FlowStream& stream = m_streams[number];
    stream.active = false;
    m_active[stream.slot] = m_active.back();
    m_streams[m_active.back()].slot = stream.slot;
    m_active.pop_back();
    const Span span = m_paths[number];
    for (uint32_t hop = span.first; hop < span.first + span.count; ++hop)
    {
        FlowLink& link = GetLink(m_hops[hop]);
        const uint32_t slot = m_slots[hop];
        const FlowLink::User moved = link.users.back();
        link.users[slot] = moved;
        m_slots[moved.hop] = slot;
        link.users.pop_back();
        link.weight -= FlowWeight::Of(stream.parts);
        link.allocated -= stream.progress.GetRate();
        if (link.users.empty())
        {
            link.busy += now - link.busySince;
            link.lastBusy = now;
            m_used[link.slot] = m_used.back();
            GetLink(m_used.back()).slot = link.slot;
            m_used.pop_back();
        }
    }
}

void FlowStreams::Book(uint32_t number, uint64_t bytes)
{
    for (const PortId port : GetPath(number))
    {
        GetLink(port).bytes += bytes;
    }
    m_streams[number].unbooked -= bytes;
}

void FlowStreams::SetRate(uint32_t number, uint64_t bitsPerSecond, int64_t now)
{
    FlowStream& stream = m_streams[number];
    for (const PortId port : GetPath(number))
    {
        FlowLink& link = GetLink(port);
        link.allocated += bitsPerSecond - stream.progress.GetRate(); // wraps and comes back
    }
    stream.progress.SetRate(bitsPerSecond, now);
    ++stream.version;
    stream.expected = false;
}

} // namespace echo
} // namespace ns3
