// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-terms.h"

#include "echo-derived-messages.h"
#include "echo-derived-tree.h"

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

/**
 * @return the rate that an edge's messages have
 *
 * Where all edges are alike, channels move in step, and a link's connections share it all the time.
 * Where some are between hosts and some inside, channels drift apart and meet seldom inside.
 */
double RateOf(const PlanGeometry& geometry, const GeometryEdge& edge)
{
    return geometry.mixed && !edge.interHost ? edge.aloneRate : edge.rate;
}

/**
 * Adds what links inside hosts hold up where channels share them, if @p bytes go over each
 * connection (mixed groups).
 */
void AddIntraLoad(CostTerms& terms, const PlanGeometry& geometry, double bytes)
{
    if (geometry.mixed)
    {
        const double load = bytes * geometry.intraSharedUsPerByte;
        const double total = terms.GetTotal();
        terms.intra += std::cbrt(total * total * total + load * load * load) - total;
    }
}

/** @return bytes on the wire of @p part bytes that are sent in messages of @p piece bytes */
double PiecesWireBytes(const WireFormat& wire, bool interHost, double part, double piece)
{
    if (piece <= 0 || piece >= part)
    {
        return WireBytes(wire, interHost, part);
    }
    const double whole = std::floor(part / piece);
    const double rest = part - whole * piece;
    return whole * WireBytes(wire, interHost, piece) +
           (rest > 0 ? WireBytes(wire, interHost, rest) : 0);
}

/** The longest chain of one channel's ring; @p edges in ring order. */
CostTerms RingChannel(const CollectivePlan& plan,
                      const PlanGeometry& geometry,
                      const WireFormat& wire,
                      const GeometryEdge* edges,
                      size_t count)
{
    const bool twice = plan.spec.kind == Kind::ALL_REDUCE;
    const size_t steps = (twice ? 2 : 1) * (count - 1);
    const double part = std::ceil(ChannelBytes(plan) / static_cast<double>(count));
    const double piece = PieceBytes(plan, part);
    double slowest = 0;
    double lastPieces = 0; // of a step's data, what follows its first piece on the slowest edge
    bool slowestInter = false;
    for (size_t i = 0; i < count; ++i)
    {
        const bool interHost = edges[i].interHost;
        const double rate = RateOf(geometry, edges[i]);
        const double time = PiecesWireBytes(wire, interHost, part, piece) / rate;
        if (time > slowest)
        {
            slowest = time;
            slowestInter = interHost;
            lastPieces = std::max(0.0, time - WireBytes(wire, interHost, piece) / rate);
        }
    }
    // The stretch of 1 to `steps` edges whose messages take longest above `slowest` each: the
    // difference of two prefix sums at most `steps` apart, its smaller end kept in a queue.
    const auto excess = [&](size_t i) {
        const GeometryEdge& edge = edges[i % count];
        return MessageUs(wire, edge, piece, RateOf(geometry, edge)) - slowest;
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
    Add(terms, slowestInter, lastPieces);
    terms.synchronisation = static_cast<double>(steps) * wire.stepOverheadUs;
    AddIntraLoad(terms, geometry, static_cast<double>(steps) * part);
    return terms;
}

/** One channel's chain from the root or to it. */
CostTerms ChainChannel(const CollectivePlan& plan,
                       const PlanGeometry& geometry,
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
        const double rate = RateOf(geometry, edge);
        Add(terms, edge.interHost, MessageUs(wire, edge, piece, rate));
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

CostTerms ByChannel(const CollectivePlan& plan,
                    const PlanGeometry& geometry,
                    const WireFormat& wire,
                    CostTerms (*evaluate)(const CollectivePlan&,
                                          const PlanGeometry&,
                                          const WireFormat&,
                                          const GeometryEdge*,
                                          size_t))
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
        longest = Longer(longest, evaluate(plan, geometry, wire, &edges[begin], end - begin));
        begin = end;
    }
    return longest;
}

/** @return the most that a member of an all-to-all-v sends to others or receives from them */
double BusiestBytes(const CollectivePlan& plan)
{
    const uint32_t ranks = plan.layout->GetRanks();
    std::vector<double> received(ranks, 0);
    double most = 0;
    for (uint32_t source = 0; source < ranks; ++source)
    {
        double sent = 0;
        for (uint32_t destination = 0; destination < ranks; ++destination)
        {
            if (source != destination)
            {
                const auto bytes = static_cast<double>(plan.splits.at(source).at(destination));
                sent += bytes;
                received[destination] += bytes;
            }
        }
        most = std::max(most, sent);
    }
    return std::max(most, *std::max_element(received.begin(), received.end()));
}

CostTerms AllToAllTerms(const CollectivePlan& plan,
                        const PlanGeometry& geometry,
                        const WireFormat& wire)
{
    // Rounds that PairwiseAlgorithm has in flight.
    constexpr double IN_FLIGHT = 8;
    const double others = plan.layout->GetRanks() - 1.0;
    const double bytes = plan.spec.kind == Kind::ALL_TO_ALL_V
                             ? std::ceil(BusiestBytes(plan) / others)
                             : std::ceil(static_cast<double>(plan.spec.bytes) / (others + 1));
    CostTerms terms;
    if (bytes <= 0)
    {
        return terms;
    }
    const double rounds = CeilOf(others, IN_FLIGHT);
    // Rounds in flight do not load links alike; neither do lanes keep in step. What flow runs take
    // lies between the two, nearer to the even load.
    const double perByte = 0.6 * geometry.interLoadUsPerByte + 0.4 * geometry.interWindowUsPerByte;
    const double interBusy = WireBytes(wire, true, bytes) * perByte;
    const double intraBusy = bytes * geometry.intraLoadUsPerByte;
    const double interEnd =
        geometry.longestInterUs + PacketBytes(wire, true, bytes) * geometry.interHopUsPerByte;
    // Each round of a lane waits for the last one's messages; what the lanes' delays leave open of
    // each other is some 0.7 in flow fidelity.
    const double inter =
        geometry.interLoadUsPerByte > 0 ? interBusy + interEnd * (1 + 0.7 * (rounds - 1)) : 0;
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

/** Rounds of dissemination: a member goes on when it has its own message of the round. */
CostTerms DisseminationTerms(const CollectivePlan& plan,
                             const PlanGeometry& geometry,
                             const WireFormat& wire)
{
    const size_t ranks = plan.layout->GetRanks();
    std::vector<CostTerms> at(ranks);
    for (size_t begin = 0; begin + ranks <= geometry.edges.size(); begin += ranks)
    {
        std::vector<CostTerms> next = at;
        for (size_t i = begin; i < begin + ranks; ++i)
        {
            const GeometryEdge& edge = geometry.edges[i];
            CostTerms arrival = at[edge.source];
            Add(arrival, edge.interHost, MessageUs(wire, edge, BARRIER_BYTES, edge.aloneRate));
            arrival.synchronisation += wire.stepOverheadUs;
            next[edge.destination] = Longer(next[edge.destination], arrival);
        }
        at = std::move(next);
    }
    CostTerms last;
    for (const CostTerms& terms : at)
    {
        last = Longer(last, terms);
    }
    return last;
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
    const bool tree = MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::TREE;
    switch (plan.spec.kind)
    {
    case Kind::ALL_REDUCE:
        return tree ? EvaluateDerivedTree(plan, geometry, wire)
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
        return tree ? EvaluateDerivedTree(plan, geometry, wire)
                    : DisseminationTerms(plan, geometry, wire);
    }
    return CostTerms{};
}

} // namespace echo
} // namespace ns3
