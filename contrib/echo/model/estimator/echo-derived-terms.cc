// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-terms.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

using Kind = CollectiveKind;

double CeilOf(double a, double b)
{
    return std::ceil(a / b);
}

/** @return bytes on the wire of a message */
double WireBytes(const WireFormat& wire, bool interHost, double bytes)
{
    return interHost ? bytes + wire.headerBytes * CeilOf(bytes, wire.payloadBytes) : bytes;
}

/** @return bytes that a switch has of a message before it sends on */
double PacketBytes(const WireFormat& wire, bool interHost, double bytes)
{
    return interHost ? std::min(bytes, wire.payloadBytes) + wire.headerBytes : 0;
}

/** @return the time of a message at @p rate, from the first bit sent to the last one received */
double MessageUs(const WireFormat& wire, const GeometryEdge& edge, double bytes, double rate)
{
    return edge.delayUs + WireBytes(wire, edge.interHost, bytes) / rate +
           PacketBytes(wire, edge.interHost, bytes) * edge.hopUsPerByte;
}

/** The largest part when bytes are dealt to channels. */
double ChannelBytes(const CollectivePlan& plan)
{
    return std::ceil(static_cast<double>(plan.spec.bytes) / std::max(plan.choice.channels, 1u));
}

/** The largest message when a part is cut into pieces. */
double PieceBytes(const CollectivePlan& plan, double part)
{
    const auto chunk = static_cast<double>(plan.choice.chunkBytes);
    return chunk > 0 ? std::min(chunk, part) : part;
}

void Add(CostTerms& terms, bool interHost, double time)
{
    (interHost ? terms.inter : terms.intra) += time;
}

/** The longest chain of one channel's ring; @p edges in ring order. */
CostTerms RingChannel(const CollectivePlan& plan,
                      const WireFormat& wire,
                      const GeometryEdge* edges,
                      size_t count)
{
    const bool twice = plan.spec.kind == Kind::ALL_REDUCE;
    const size_t steps = (twice ? 2 : 1) * (count - 1);
    const double part = std::ceil(ChannelBytes(plan) / static_cast<double>(count));
    const double piece = PieceBytes(plan, part);
    double slowest = 0;
    bool slowestInter = false;
    for (size_t i = 0; i < count; ++i)
    {
        const double time = WireBytes(wire, edges[i].interHost, part) / edges[i].rate;
        if (time > slowest)
        {
            slowest = time;
            slowestInter = edges[i].interHost;
        }
    }
    // The stretch of 1 to `steps` edges whose messages take longest above `slowest` each: the
    // difference of two prefix sums at most `steps` apart, its smaller end kept in a queue.
    const auto excess = [&](size_t i) {
        const GeometryEdge& edge = edges[i % count];
        return MessageUs(wire, edge, piece, edge.rate) - slowest;
    };
    const size_t length = count + steps;
    std::vector<double> sums(length + 1, 0);
    std::vector<size_t> queue;
    size_t front = 0;
    double best = -INFINITY;
    size_t bestBegin = 0;
    size_t bestEnd = 1;
    for (size_t end = 1; end <= length; ++end)
    {
        sums[end] = sums[end - 1] + excess(end - 1);
        while (queue.size() > front && sums[queue.back()] >= sums[end - 1])
        {
            queue.pop_back();
        }
        queue.push_back(end - 1);
        while (queue[front] + steps < end)
        {
            ++front;
        }
        if (sums[end] - sums[queue[front]] > best)
        {
            best = sums[end] - sums[queue[front]];
            bestBegin = queue[front];
            bestEnd = end;
        }
    }
    CostTerms terms;
    for (size_t i = bestBegin; i < bestEnd; ++i)
    {
        Add(terms, edges[i % count].interHost, excess(i) + slowest);
    }
    Add(terms, slowestInter, static_cast<double>(steps - (bestEnd - bestBegin)) * slowest);
    terms.synchronisation = static_cast<double>(steps) * wire.stepOverheadUs;
    return terms;
}

/** One channel's chain from the root or to it. */
CostTerms ChainChannel(const CollectivePlan& plan,
                       const WireFormat& wire,
                       const GeometryEdge* edges,
                       size_t count)
{
    const double part = ChannelBytes(plan);
    const double piece = PieceBytes(plan, part);
    CostTerms terms;
    double slowest = 0;
    bool slowestInter = false;
    for (size_t i = 0; i < count; ++i)
    {
        const GeometryEdge& edge = edges[i];
        Add(terms, edge.interHost, MessageUs(wire, edge, piece, edge.rate));
        const double rest =
            (WireBytes(wire, edge.interHost, part) - WireBytes(wire, edge.interHost, piece)) /
            edge.rate;
        if (rest > slowest)
        {
            slowest = rest;
            slowestInter = edge.interHost;
        }
    }
    Add(terms, slowestInter, slowest);
    terms.synchronisation =
        (static_cast<double>(count) + CeilOf(part, std::max(piece, 1.0))) * wire.stepOverheadUs;
    return terms;
}

/** @return the longer of two */
CostTerms Longer(const CostTerms& a, const CostTerms& b)
{
    return b.GetTotal() > a.GetTotal() ? b : a;
}

CostTerms ByChannel(
    const CollectivePlan& plan,
    const PlanGeometry& geometry,
    const WireFormat& wire,
    CostTerms (*evaluate)(const CollectivePlan&, const WireFormat&, const GeometryEdge*, size_t))
{
    CostTerms longest;
    const auto& edges = geometry.edges;
    for (size_t begin = 0; begin < edges.size();)
    {
        size_t end = begin;
        while (end < edges.size() && edges[end].channel == edges[begin].channel)
        {
            ++end;
        }
        longest = Longer(longest, evaluate(plan, wire, &edges[begin], end - begin));
        begin = end;
    }
    return longest;
}

/** @return the time of the first piece from the member up to the root, longest branch below it */
CostTerms TreeTerms(const CollectivePlan& plan,
                    const PlanGeometry& geometry,
                    const WireFormat& wire)
{
    const uint32_t ranks = plan.layout->GetRanks();
    const auto& edges = geometry.edges;
    const size_t perShare = 2 * (static_cast<size_t>(ranks) - 1);
    const size_t shares = edges.size() / perShare;
    const bool barrier = plan.spec.kind == Kind::BARRIER;
    const double part =
        barrier ? BARRIER_BYTES
                : std::ceil(ChannelBytes(plan) * std::max(plan.choice.channels, 1u) / shares);
    const double piece = PieceBytes(plan, part);
    CostTerms longest;
    for (size_t share = 0; share < shares; ++share)
    {
        const GeometryEdge* begin = &edges[share * perShare];
        std::vector<const GeometryEdge*> up(ranks, nullptr);
        std::vector<const GeometryEdge*> down(ranks, nullptr);
        for (size_t i = 0; i < perShare; i += 2)
        {
            up[begin[i].source] = &begin[i];
            down[begin[i].source] = &begin[i + 1];
        }
        // Up and down times of each member's own branch to the root; the slowest up, then the
        // slowest down.
        CostTerms slowUp;
        CostTerms slowDown;
        for (uint32_t member = 0; member < ranks; ++member)
        {
            CostTerms rise;
            CostTerms fall;
            for (uint32_t at = member; up[at] != nullptr; at = up[at]->destination)
            {
                const GeometryEdge& above = *up[at];
                const GeometryEdge& below = *down[at];
                Add(rise, above.interHost, MessageUs(wire, above, piece, above.aloneRate));
                Add(fall, below.interHost, MessageUs(wire, below, piece, below.rate));
                rise.synchronisation += wire.stepOverheadUs;
                fall.synchronisation += wire.stepOverheadUs;
            }
            slowUp = Longer(slowUp, rise);
            slowDown = Longer(slowDown, fall);
        }
        CostTerms both;
        both.intra = slowUp.intra + slowDown.intra;
        both.inter = slowUp.inter + slowDown.inter;
        both.synchronisation = slowUp.synchronisation + slowDown.synchronisation;
        longest = Longer(longest, both);
    }
    const double interRest =
        (WireBytes(wire, true, part) - WireBytes(wire, true, piece)) * geometry.interLoadUsPerByte;
    const double intraRest = (part - piece) * geometry.intraLoadUsPerByte;
    Add(longest, interRest > intraRest, std::max(interRest, intraRest));
    longest.synchronisation += (CeilOf(part, std::max(piece, 1.0)) - 1) * wire.stepOverheadUs;
    return longest;
}

CostTerms AllToAllTerms(const CollectivePlan& plan,
                        const PlanGeometry& geometry,
                        const WireFormat& wire)
{
    // Rounds that PairwiseAlgorithm has in flight.
    constexpr double IN_FLIGHT = 8;
    const double others = plan.layout->GetRanks() - 1.0;
    const double bytes =
        plan.spec.kind == Kind::ALL_TO_ALL_V
            ? std::ceil(static_cast<double>(PayloadBytes(plan)) / others / (others + 1))
            : std::ceil(static_cast<double>(plan.spec.bytes) / (others + 1));
    CostTerms terms;
    if (bytes <= 0)
    {
        return terms;
    }
    const double rounds = CeilOf(others, IN_FLIGHT);
    const double interBusy = WireBytes(wire, true, bytes) * geometry.interLoadUsPerByte;
    const double intraBusy = bytes * geometry.intraLoadUsPerByte;
    const double interEnd =
        geometry.longestInterUs + PacketBytes(wire, true, bytes) * geometry.interHopUsPerByte;
    const double inter =
        geometry.interLoadUsPerByte > 0
            ? std::max(interBusy, (rounds - 1) * (interEnd + interBusy / others)) + interEnd
            : 0;
    const double intra =
        std::max(intraBusy, (rounds - 1) * geometry.longestIntraUs) + geometry.longestIntraUs;
    Add(terms, inter > intra, std::max(inter, intra));
    terms.synchronisation = rounds * wire.stepOverheadUs;
    return terms;
}

CostTerms PairTerms(const CollectivePlan& plan,
                    const PlanGeometry& geometry,
                    const WireFormat& wire)
{
    CostTerms terms;
    if (!geometry.edges.empty())
    {
        const GeometryEdge& edge = geometry.edges.front();
        Add(terms,
            edge.interHost,
            MessageUs(wire, edge, static_cast<double>(plan.spec.bytes), edge.rate));
    }
    terms.synchronisation = wire.stepOverheadUs;
    return terms;
}

/** Rounds of dissemination: in each the slowest message counts. */
CostTerms DisseminationTerms(const CollectivePlan& plan,
                             const PlanGeometry& geometry,
                             const WireFormat& wire)
{
    CostTerms terms;
    const size_t ranks = plan.layout->GetRanks();
    for (size_t begin = 0; begin + ranks <= geometry.edges.size(); begin += ranks)
    {
        CostTerms round;
        for (size_t i = begin; i < begin + ranks; ++i)
        {
            CostTerms message;
            const GeometryEdge& edge = geometry.edges[i];
            Add(message, edge.interHost, MessageUs(wire, edge, BARRIER_BYTES, edge.rate));
            round = Longer(round, message);
        }
        terms.intra += round.intra;
        terms.inter += round.inter;
        terms.synchronisation += wire.stepOverheadUs;
    }
    return terms;
}

} // namespace

CostTerms EvaluateDerived(const CollectivePlan& plan,
                          const PlanGeometry& geometry,
                          const WireFormat& wire)
{
    if (plan.layout->GetRanks() < 2)
    {
        return CostTerms{};
    }
    const bool tree = plan.choice.algorithm == CollectiveAlgorithmKind::TREE;
    switch (plan.spec.kind)
    {
    case Kind::ALL_REDUCE:
        return tree ? TreeTerms(plan, geometry, wire)
                    : ByChannel(plan, geometry, wire, RingChannel);
    case Kind::ALL_GATHER:
    case Kind::REDUCE_SCATTER:
        return ByChannel(plan, geometry, wire, RingChannel);
    case Kind::BROADCAST:
    case Kind::REDUCE:
        return ByChannel(plan, geometry, wire, ChainChannel);
    case Kind::ALL_TO_ALL:
    case Kind::ALL_TO_ALL_V:
        return AllToAllTerms(plan, geometry, wire);
    case Kind::SEND_RECV:
        return PairTerms(plan, geometry, wire);
    case Kind::BARRIER:
        return tree ? TreeTerms(plan, geometry, wire) : DisseminationTerms(plan, geometry, wire);
    }
    return CostTerms{};
}

} // namespace echo
} // namespace ns3
