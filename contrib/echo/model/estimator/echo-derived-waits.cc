// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-waits.h"

#include "echo-derived-messages.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/**
 * How channels that begin in step on links between hosts get apart. A NIC takes packets of its
 * channels in turn, so of C messages that begin together the first ends a packet before the next,
 * and is that much ahead at the next hop, where it gains again. What is left of the wait for each
 * other after k hops is exp(-k / h), with h = 0.7 (q - 1) for messages of q packets: of one packet
 * they are apart at once, flows stay in step for good. The 0.7 is what packets do with 2 to 8
 * channels on 3 to 17 hosts at messages of 1 to 64 packets.
 */
class Drift
{
  public:
    Drift(const WireFormat& wire, bool interHost, double bytes)
    {
        constexpr double HOPS_PER_PACKET = 0.7;
        if (!interHost || wire.payloadBytes <= 0)
        {
            m_kept = 1;
            return;
        }
        const double hops = HOPS_PER_PACKET * (CeilOf(bytes, wire.payloadBytes) - 1);
        m_kept = hops > 0 ? std::exp(-1 / hops) : 0;
    }

    /**
     * @param wait us that a hop takes longer in step than alone
     * @param spare us that a hop alone leaves of the time the busiest link takes anyway
     * @return us that @p hops hops, the first with all its wait, take above the longer of the two
     */
    double GetWaits(double hops, double wait, double spare) const
    {
        if (hops < 1 || wait <= spare)
        {
            return hops < 1 ? 0 : wait;
        }
        double further = hops - 1;
        if (m_kept >= 1)
        {
            return wait + further * (wait - spare);
        }
        if (m_kept <= 0)
        {
            return wait;
        }
        if (spare > 0)
        {
            further = std::min(further, std::floor(std::log(spare / wait) / std::log(m_kept)));
        }
        return wait - further * spare +
               wait * m_kept * (1 - std::pow(m_kept, further)) / (1 - m_kept);
    }

  private:
    double m_kept; //!< of the wait, from one hop to the next
};

/** @return us that @p bytes take longer at an edge's share of its links than alone */
double WaitUs(const WireFormat& wire, const GeometryEdge& edge, double bytes)
{
    const double wireBytes = WireBytes(wire, edge.interHost, bytes);
    return std::max(0.0, wireBytes / edge.rate - wireBytes / edge.aloneRate);
}

} // namespace

void AddRingWaits(CostTerms& terms,
                  const PlanGeometry& geometry,
                  const WireFormat& wire,
                  const GeometryEdge* edges,
                  size_t count,
                  size_t steps,
                  double piece,
                  double around)
{
    const bool interHost = geometry.interLoadUsPerByte > 0;
    double wait = 0;
    double shared = 0;
    for (size_t i = 0; i < count; ++i)
    {
        if (edges[i].interHost == interHost)
        {
            wait += WaitUs(wire, edges[i], piece);
            shared += 1;
        }
    }
    if (wait <= 0)
    {
        return;
    }
    const double hops =
        std::max(1.0, static_cast<double>(steps) * shared / static_cast<double>(count));
    const double spare = std::max(0.0, -around / shared);
    Add(terms, interHost, Drift(wire, interHost, piece).GetWaits(hops, wait / shared, spare));
}

void AddRingMeetings(CostTerms& terms,
                     const WireFormat& wire,
                     const GeometryEdge* edges,
                     size_t count,
                     size_t steps,
                     double piece,
                     double busyUs,
                     double sharedUs)
{
    constexpr double MOST_OF_LATENCY = 0.4;
    constexpr double POWER = 2.5;
    double walk = 0; // of a step, on average
    double latency = 0;
    for (size_t i = 0; i < count; ++i)
    {
        walk += MessageUs(wire, edges[i], piece, edges[i].aloneRate) / static_cast<double>(count);
        latency += edges[i].delayUs / static_cast<double>(count);
    }
    if (sharedUs <= 0 || walk <= 0)
    {
        return;
    }
    const double part = std::min(1.0, walk / busyUs);
    const double most = MOST_OF_LATENCY * latency * part * part * static_cast<double>(steps);
    const double together = std::pow(std::pow(walk, POWER) + std::pow(sharedUs, POWER), 1 / POWER) *
                            static_cast<double>(steps);
    const double taken = terms.GetTotal() - terms.synchronisation;
    terms.intra += std::clamp(together - taken, 0.0, most);
}

double AddChainWaits(CostTerms& terms,
                     const CollectivePlan& plan,
                     const WireFormat& wire,
                     const GeometryEdge* edges,
                     size_t count,
                     double piece)
{
    // Edges are in ring order; the chain begins where one does not follow the one before.
    size_t begin = 0;
    while (begin < count && edges[begin].source == edges[(begin + count - 1) % count].destination)
    {
        ++begin;
    }
    const bool fromRoot = plan.spec.kind == CollectiveKind::BROADCAST;
    constexpr double OTHERS_THERE = 0.37;
    double wait = 0;
    double hops = 0;
    double beyond = 0;
    bool atRoot = true;
    for (size_t i = 0; i < count; ++i)
    {
        const GeometryEdge& edge = edges[(begin + (fromRoot ? i : count - 1 - i)) % count];
        atRoot = atRoot && !edge.interHost;
        if (edge.interHost)
        {
            wait += WaitUs(wire, edge, piece);
            hops += 1;
        }
        else if (atRoot)
        {
            terms.intra += WaitUs(wire, edge, piece);
        }
        else
        {
            beyond += OTHERS_THERE * WaitUs(wire, edge, piece);
        }
    }
    if (hops > 0)
    {
        terms.inter += Drift(wire, true, piece).GetWaits(hops, wait / hops, 0);
    }
    return beyond;
}

} // namespace echo
} // namespace ns3
