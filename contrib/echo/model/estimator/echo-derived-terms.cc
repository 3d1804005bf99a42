// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-terms.h"

#include "echo-derived-messages.h"
#include "echo-derived-tree.h"
#include "echo-derived-waits.h"

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

/** What one step of a ring takes on its busiest links, us. */
struct RingStep
{
    double busyUs{0};       //!< on the busiest link, or on the slowest edge
    double lastPiecesUs{0}; //!< of it, what follows the first piece
    bool interHost{false};  //!< where that is
    double delayUs{0};      //!< of the shortest edge there
};

RingStep StepOf(const PlanGeometry& geometry,
                const WireFormat& wire,
                const GeometryEdge* edges,
                size_t count,
                double part,
                double piece)
{
    RingStep step;
    const auto consider = [&](bool interHost, double usPerByte) {
        const double time = PiecesWireBytes(wire, interHost, part, piece) * usPerByte;
        if (time > step.busyUs)
        {
            step.busyUs = time;
            step.interHost = interHost;
            step.lastPiecesUs = std::max(0.0, time - WireBytes(wire, interHost, piece) * usPerByte);
        }
    };
    consider(true, geometry.interLoadUsPerByte);
    consider(false, geometry.intraLoadUsPerByte);
    for (size_t i = 0; i < count; ++i)
    {
        consider(edges[i].interHost, 1 / edges[i].aloneRate);
    }
    step.delayUs = INFINITY;
    for (size_t i = 0; i < count; ++i)
    {
        if (edges[i].interHost == step.interHost)
        {
            step.delayUs = std::min(step.delayUs, edges[i].delayUs);
        }
    }
    step.delayUs = std::isfinite(step.delayUs) ? step.delayUs : 0;
    return step;
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
    const RingStep step = StepOf(geometry, wire, edges, count, part, piece);
    const double slowest = step.busyUs;
    // The stretch of 1 to `steps` edges whose messages take longest above `slowest` each: the
    // difference of two prefix sums at most `steps` apart, its smaller end kept in a queue.
    const auto excess = [&](size_t i) {
        const GeometryEdge& edge = edges[i % count];
        return MessageUs(wire, edge, piece, edge.aloneRate) - slowest;
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
    Add(terms, step.interHost, static_cast<double>(steps - (bestEnd - bestBegin)) * slowest);
    Add(terms, step.interHost, step.lastPiecesUs);
    terms.synchronisation = static_cast<double>(steps) * wire.stepOverheadUs;
    AddRingWaits(terms, geometry, wire, edges, count, steps, piece, sums[count]);
    // The busiest link has bytes from the start, and is not done before all of them are over.
    const double least = static_cast<double>(steps) * slowest + step.delayUs;
    const double taken = terms.GetTotal() - terms.synchronisation;
    Add(terms, step.interHost, std::max(0.0, least - taken));
    if (geometry.mixed)
    {
        const double shared = part * geometry.intraSharedUsPerByte;
        AddRingMeetings(terms, wire, edges, count, steps, piece, slowest, shared);
    }
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
    for (size_t i = 0; i < count; ++i)
    {
        Add(terms, edges[i].interHost, MessageUs(wire, edges[i], piece, edges[i].aloneRate));
    }
    // Only channels with more than a piece are still there when others come.
    const double waits =
        AddChainWaits(terms, plan, wire, edges, count, piece) * (part > 0 ? 1 - piece / part : 0);
    const auto rest = [&](bool interHost, double usPerByte) {
        return (WireBytes(wire, interHost, part) - WireBytes(wire, interHost, piece)) * usPerByte;
    };
    // Links inside hosts that wait for NICs have gaps, which take in half of the waits.
    const double inter = rest(true, geometry.interLoadUsPerByte) + waits / 2;
    const double intra = rest(false, geometry.intraLoadUsPerByte) + waits;
    Add(terms, inter >= intra, std::max(inter, intra));
    const double least = std::max(WireBytes(wire, true, part) * geometry.interLoadUsPerByte,
                                  part * geometry.intraLoadUsPerByte);
    Add(terms, inter >= intra, std::max(0.0, least - terms.GetTotal()));
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
