// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLOW_FILLING_H
#define ECHO_FLOW_FILLING_H

#include "echo-flow-streams.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Max-min fair shares of all active streams at once, in whole bits per second; as MaxMinSolver's,
 * but for single bits where a link's rate does not divide. They do not depend on the order of
 * streams or links, and no link is ever given more than it has.
 *
 * Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2) link by link: the link
 * with the least equal share is a bottleneck, its streams have that share, and what they leave on
 * their other links is shared by the rest. A link's share only grows meanwhile, so links wait in
 * narrow buckets by the share they had when last looked at, and each stream is met twice in all.
 * Works on the links' lists of users as they are: nothing is built for it.
 */
class FlowFilling
{
  public:
    /** @p streams outlives this object. */
    explicit FlowFilling(FlowStreams& streams);

    /** Finds the shares; O(H + L) for streams of H hops in sum over L links. */
    void Solve();

    /** @return all active streams, by rising share */
    const std::vector<uint32_t>& GetOrder() const
    {
        return m_order;
    }

    /** @return bit/s of an active stream */
    uint64_t GetRate(uint32_t stream) const
    {
        return m_rates[stream];
    }

    /** @return a full link on which nobody has more */
    PortId GetBottleneck(uint32_t stream) const
    {
        return m_bottlenecks[stream];
    }

    /** @return bit/s that a link's streams leave of it */
    uint64_t GetRemaining(PortId port) const
    {
        return m_links[port.Get()].remaining;
    }

  private:
    struct Link
    {
        uint64_t remaining{0}; //!< bit/s not given to streams with a share
        uint64_t open{0};      //!< weight of those without one

        uint64_t GetShare() const
        {
            return FlowWeight::GetShare(remaining, open);
        }
    };

    /** The link waits in the bucket of its share. */
    void Put(uint32_t port, uint64_t share);
    /** Finds the shares of what waits in the bucket, least first. */
    void EmptyBucket(uint32_t bucket);
    /** @return least share of the links of m_waiting, of which only those of this bucket stay */
    uint64_t FindLeast(uint32_t bucket);
    /** Streams that cross a link of m_level have the share. */
    void FixLevel(uint64_t share);

    FlowStreams& m_streams;
    std::vector<Link> m_links;         //!< by port
    std::vector<uint32_t> m_next;      //!< by port: next in its bucket, or NONE
    std::vector<uint32_t> m_buckets;   //!< first port of each, or NONE
    uint32_t m_lastBucket{0};          //!< with a port
    std::vector<uint32_t> m_waiting;   //!< ports of the bucket in hand
    std::vector<uint32_t> m_level;     //!< ports of equal, least share
    std::vector<uint64_t> m_rates;     //!< by stream
    std::vector<PortId> m_bottlenecks; //!< by stream
    std::vector<uint32_t> m_order;     //!< streams with a share
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLOW_FILLING_H */
