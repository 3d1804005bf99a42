// SPDX-License-Identifier: GPL-2.0-only
#include "echo-flow-filling.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint64_t OPEN = std::numeric_limits<uint64_t>::max(); //!< no share yet

constexpr uint32_t NONE = 0xffffffff;
constexpr uint32_t OCTAVE_BITS = 10; //!< buckets of an octave: two to this power
constexpr uint32_t BUCKETS = 65 << OCTAVE_BITS;

/** @return the bucket of a share: rises with it */
uint32_t BucketOf(uint64_t share)
{
    const auto value = static_cast<double>(share + 1);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint32_t>((bits >> (52 - OCTAVE_BITS)) - (uint64_t{1023} << OCTAVE_BITS));
}

} // namespace

FlowFilling::FlowFilling(FlowStreams& streams) : m_streams(streams)
{
}

void FlowFilling::Put(uint32_t port, uint64_t share)
{
    const uint32_t bucket = BucketOf(share);
    m_next[port] = m_buckets[bucket];
    m_buckets[bucket] = port;
    m_lastBucket = std::max(m_lastBucket, bucket);
}

void FlowFilling::Solve()
{
    m_links.resize(m_streams.GetLinks().size());
    m_next.resize(m_links.size());
    m_buckets.resize(BUCKETS, NONE);
    m_rates.resize(m_streams.GetCount());
    m_bottlenecks.resize(m_streams.GetCount());
    m_order.clear();
    for (const uint32_t stream : m_streams.GetActive())
    {
        m_rates[stream] = OPEN;
    }
    m_lastBucket = 0;
    uint32_t first = BUCKETS;
    for (const PortId port : m_streams.GetUsedLinks())
    {
        const FlowLink& used = m_streams.GetLink(port);
        Link& link = m_links[port.Get()];
        link = {used.capacity, used.weight};
        const uint64_t share = link.GetShare();
        first = std::min(first, BucketOf(share));
        Put(port.Get(), share);
    }
    for (uint32_t bucket = first; bucket <= m_lastBucket; ++bucket)
    {
        EmptyBucket(bucket);
    }
}

void FlowFilling::EmptyBucket(uint32_t bucket)
{
    m_waiting.clear();
    for (uint32_t port = m_buckets[bucket]; port != NONE; port = m_next[port])
    {
        m_waiting.push_back(port);
    }
    m_buckets[bucket] = NONE;
    while (!m_waiting.empty())
    {
        const uint64_t least = FindLeast(bucket);
        // All links of this share together, so that it makes no difference which comes first.
        m_level.clear();
        for (const uint32_t port : m_waiting)
        {
            if (m_links[port].GetShare() == least)
            {
                m_level.push_back(port);
            }
        }
        FixLevel(least);
    }
}

uint64_t FlowFilling::FindLeast(uint32_t bucket)
{
    uint64_t least = OPEN;
    size_t kept = 0;
    for (const uint32_t port : m_waiting)
    {
        const Link& link = m_links[port];
        if (link.open == 0)
        {
            continue;
        }
        const uint64_t share = link.GetShare();
        if (BucketOf(share) != bucket)
        {
            Put(port, share);
            continue;
        }
        m_waiting[kept++] = port;
        least = std::min(least, share);
    }
    m_waiting.resize(kept);
    return least;
}

void FlowFilling::FixLevel(uint64_t share)
{
    const size_t first = m_order.size();
    for (const uint32_t port : m_level)
    {
        for (const FlowLink::User& user : m_streams.GetLink(PortId(port)).users)
        {
            if (m_rates[user.stream] == OPEN)
            {
                m_rates[user.stream] = share / m_streams.Get(user.stream).parts;
                m_bottlenecks[user.stream] = PortId(port);
                m_order.push_back(user.stream);
            }
        }
    }
    for (size_t i = first; i < m_order.size(); ++i)
    {
        const uint64_t weight = FlowWeight::Of(m_streams.Get(m_order[i]).parts);
        for (const PortId port : m_streams.GetPath(m_order[i]))
        {
            Link& link = m_links[port.Get()];
            link.remaining -= m_rates[m_order[i]];
            link.open -= weight;
        }
    }
}

} // namespace echo
} // namespace ns3
