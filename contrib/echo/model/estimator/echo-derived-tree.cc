// SPDX-License-Identifier: GPL-2.0-only
#include "echo-derived-tree.h"

#include "echo-derived-messages.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

/** The first piece's way through one tree: up its slowest branch, and down its slowest. */
struct TreeFill
{
    CostTerms up;
    CostTerms down;
    double upTransferUs{0};   //!< between hosts, without delays
    double downTransferUs{0}; //!< between hosts, without delays
    double downDelaysUs{0};   //!< all but transfers
    double downIntraUs{0};    //!< inside hosts, at the share beside the other channels
    uint32_t hops{0};         //!< up, between hosts
};

/** @return the slower way up with the slower way down */
TreeFill Slower(const TreeFill& a, const TreeFill& b)
{
    TreeFill slower = a;
    if (b.up.GetTotal() > a.up.GetTotal())
    {
        slower.up = b.up;
        slower.upTransferUs = b.upTransferUs;
        slower.hops = b.hops;
    }
    if (b.down.GetTotal() > a.down.GetTotal())
    {
        slower.down = b.down;
        slower.downTransferUs = b.downTransferUs;
        slower.downDelaysUs = b.downDelaysUs;
        slower.downIntraUs = b.downIntraUs;
    }
    return slower;
}

/** @return the rate of a first piece; inside hosts the channels spread in time, not the two trees
 */
double FirstRate(const GeometryEdge& edge)
{
    return edge.interHost ? edge.firstRate : edge.aloneRate;
}

TreeFill FillOf(const GeometryEdge* begin, uint32_t ranks, double piece, const WireFormat& wire)
{
    // Connections come in pairs: to the parent, then back.
    std::vector<const GeometryEdge*> up(ranks, nullptr);
    for (size_t i = 0; i + 1 < 2 * static_cast<size_t>(ranks); i += 2)
    {
        if (i + 2 < 2 * static_cast<size_t>(ranks))
        {
            up[begin[i].source] = &begin[i];
        }
    }
    TreeFill slowest;
    for (uint32_t member = 0; member < ranks; ++member)
    {
        TreeFill own;
        for (uint32_t at = member; up[at] != nullptr; at = up[at]->destination)
        {
            const GeometryEdge& above = up[at][0];
            const GeometryEdge& below = up[at][1];
            Add(own.up, above.interHost, MessageUs(wire, above, piece, FirstRate(above)));
            Add(own.down, below.interHost, MessageUs(wire, below, piece, FirstRate(below)));
            const double wireBytes = WireBytes(wire, above.interHost, piece);
            own.downDelaysUs += below.delayUs + wire.stepOverheadUs +
                                PacketBytes(wire, below.interHost, piece) * below.hopUsPerByte;
            own.downIntraUs += below.interHost ? 0 : piece / below.firstRate;
            own.upTransferUs += above.interHost ? wireBytes / above.firstRate : 0;
            own.downTransferUs += below.interHost ? wireBytes / below.firstRate : 0;
            own.hops += above.interHost ? 1 : 0;
            own.up.synchronisation += wire.stepOverheadUs;
            own.down.synchronisation += wire.stepOverheadUs;
        }
        slowest = Slower(slowest, own);
    }
    return slowest;
}

/** When pieces pass, edge by edge. */
struct PiecePasses
{
    std::vector<double> before; //!< from the start until the first piece is where the edge begins
    std::vector<double> after;  //!< from when the last piece has crossed the edge until the end
    double fillUs{0};           //!< until the first piece has been everywhere
};

/** @return the time of a piece over an edge, beside the channel's other tree or alone */
double PieceUs(const WireFormat& wire, const GeometryEdge& edge, double piece, bool beside)
{
    const double rate = edge.interHost || !beside ? edge.aloneRate : edge.treeRate;
    return MessageUs(wire, edge, piece, rate) + wire.stepOverheadUs;
}

/** Adds what one share's pieces do; @p first is the number of its first edge. */
void WalkTree(const PlanGeometry& geometry,
              size_t first,
              uint32_t ranks,
              double piece,
              const WireFormat& wire,
              PiecePasses& passes)
{
    // Connections come in pairs: to the parent, then back. Parents before their children:
    const GeometryEdge* edges = &geometry.edges[first];
    const size_t count = 2 * (static_cast<size_t>(ranks) - 1);
    std::vector<size_t> up(ranks, count);
    std::vector<uint32_t> child(ranks, ranks);   // one of them
    std::vector<uint32_t> sibling(ranks, ranks); // the next one
    for (size_t i = 0; i < count; i += 2)
    {
        up[edges[i].source] = i;
        sibling[edges[i].source] = child[edges[i].destination];
        child[edges[i].destination] = edges[i].source;
    }
    std::vector<uint32_t> order{
        static_cast<uint32_t>(std::find(up.begin(), up.end(), count) - up.begin())};
    for (size_t i = 0; i < order.size(); ++i)
    {
        for (uint32_t below = child[order[i]]; below != ranks; below = sibling[below])
        {
            order.push_back(below);
        }
    }
    std::vector<double> ready(ranks, 0); // the first piece of all below is here
    std::vector<double> tail(ranks, 0);  // from here down to the last
    for (size_t i = order.size(); i-- > 1;)
    {
        const uint32_t member = order[i];
        const GeometryEdge* pair = &edges[up[member]];
        const uint32_t parent = pair->destination;
        passes.before[first + up[member]] = ready[member];
        passes.after[first + up[member] + 1] = tail[member];
        ready[parent] =
            std::max(ready[parent], ready[member] + PieceUs(wire, pair[0], piece, true));
        tail[parent] = std::max(tail[parent], tail[member] + PieceUs(wire, pair[1], piece, true));
    }
    std::vector<double> down(ranks, ready[order[0]]); // the first piece comes down here, shared
    std::vector<double> alone(down);                  // and with links of its own
    std::vector<double> left(ranks, tail[order[0]]);  // for a piece that goes up from here
    for (size_t i = 1; i < order.size(); ++i)
    {
        const uint32_t member = order[i];
        const GeometryEdge* pair = &edges[up[member]];
        const uint32_t parent = pair->destination;
        passes.before[first + up[member] + 1] = down[parent];
        passes.after[first + up[member]] = left[parent];
        down[member] = down[parent] + PieceUs(wire, pair[1], piece, true);
        alone[member] = alone[parent] + PieceUs(wire, pair[1], piece, false);
        left[member] = left[parent] + PieceUs(wire, pair[0], piece, true);
        passes.fillUs = std::max(passes.fillUs, alone[member]);
    }
}

/**
 * @return what the busy links need: none can begin before the first piece has come to it on one of
 *         its connections, nor can the end be before the last piece has gone on from it
 *
 * What the first piece's way through the whole tree takes beside counts as far as the link's own
 * bytes do not hide it: a cubic mean, as either alone is a lower bound.
 */
double BusyLinksUs(const PlanGeometry& geometry,
                   const WireFormat& wire,
                   double part,
                   const PiecePasses& passes)
{
    double most = passes.fillUs;
    for (const GeometryLink& link : geometry.busyLinks)
    {
        double before = INFINITY;
        double after = INFINITY;
        for (const uint32_t edge : link.edges)
        {
            before = std::min(before, passes.before[edge]);
            after = std::min(after, passes.after[edge]);
        }
        const double load = WireBytes(wire, link.interHost, part) * link.loadUsPerByte;
        const double fill = std::max(passes.fillUs - before - after, 0.0);
        most = std::max(most, before + after + std::cbrt(std::pow(fill, 3) + std::pow(load, 3)));
    }
    return most;
}

} // namespace

CostTerms EvaluateDerivedTree(const CollectivePlan& plan,
                              const PlanGeometry& geometry,
                              const WireFormat& wire)
{
    const uint32_t ranks = plan.layout->GetRanks();
    const size_t perShare = 2 * (static_cast<size_t>(ranks) - 1);
    const size_t shares = geometry.edges.size() / perShare;
    const bool barrier = plan.spec.kind == CollectiveKind::BARRIER;
    const double part = barrier
                            ? static_cast<double>(BARRIER_BYTES)
                            : std::ceil(ChannelBytes(plan) * std::max(plan.choice.channels, 1u) /
                                        static_cast<double>(shares));
    const double piece = PieceBytes(plan, part);
    TreeFill slowest;
    PiecePasses passes{
        std::vector<double>(geometry.edges.size()), std::vector<double>(geometry.edges.size()), 0};
    for (size_t share = 0; share < shares; ++share)
    {
        WalkTree(geometry, share * perShare, ranks, piece, wire, passes);
        slowest = Slower(slowest, FillOf(&geometry.edges[share * perShare], ranks, piece, wire));
    }
    const double interLoad = WireBytes(wire, true, part) * geometry.interLoadUsPerByte;
    const double nicLoad = WireBytes(wire, true, part) * geometry.nicLoadUsPerByte;
    const double intraLoad = part * geometry.intraLoadUsPerByte;
    const bool inter = interLoad >= intraLoad;
    // Many pieces: the busiest link is never idle for long. It waits while the first piece comes up
    // at half rate beside the leaf's own stream, and the last piece goes down at its share beside
    // all of the link's streams (4, of two hosts 2); some 13 pieces of that are hidden, as the
    // leaf's stream goes ahead. Fair sharing has no closed form: these weights give what packets
    // do within 10 % on 8 to 128 hosts.
    const double streams = plan.layout->GetHosts() == 2 ? 2 : 4;
    const double hop = slowest.hops > 0 ? slowest.upTransferUs / slowest.hops : 0;
    const double waits = streams / 2 * slowest.upTransferUs + streams * slowest.downTransferUs -
                         12.6 * streams / 4 * hop;
    const double fill = slowest.up.GetTotal() + slowest.down.GetTotal();
    const double hidden = std::max(0.0, waits) / 2; // where NICs have time to spare
    const double nicBusy = nicLoad + std::max(0.0, waits) + slowest.downIntraUs;
    const double fabricBusy = interLoad > nicLoad ? interLoad + hidden : 0;
    const double busy = std::max(nicBusy, fabricBusy) + slowest.downDelaysUs;
    // Few pieces: the way of the first. Between the two the longer counts, mostly. A busiest link
    // inside a host is so from start to end, as each GPU stands elsewhere in another channel.
    const double acrossHosts = std::cbrt(std::pow(fill, 3) + std::pow(busy, 3));
    const double total = std::max({acrossHosts,
                                   intraLoad + slowest.downDelaysUs / 4,
                                   BusyLinksUs(geometry, wire, part, passes)});
    CostTerms terms = slowest.up;
    terms.intra += slowest.down.intra;
    terms.inter += slowest.down.inter;
    terms.synchronisation += slowest.down.synchronisation;
    Add(terms, inter, total - fill);
    terms.synchronisation += (CeilOf(part, std::max(piece, 1.0)) - 1) * wire.stepOverheadUs;
    return terms;
}

} // namespace echo
} // namespace ns3
