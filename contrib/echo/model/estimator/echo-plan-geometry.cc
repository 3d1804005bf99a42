// SPDX-License-Identifier: GPL-2.0-only
#include "echo-plan-geometry.h"

#include "echo-nic-loads.h"

#include "ns3/echo-connection-map.h"
#include "ns3/echo-error.h"
#include "ns3/echo-layout-cursor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** How many connections use a port; upwards: those of the tree that go to the root. */
struct PortUse
{
    double all{0}; //!< a connection that is spread counts by its parts
    double upwards{0};
};

using PortUses = std::unordered_map<uint32_t, PortUse>; // looked up only

double Microseconds(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) * 1e-6;
}

/** Finds paths; keeps the ports of all of them in one list, those of all ways where flows are
 * spread. */
class PathBook
{
  public:
    PathBook(const CollectivePlan& plan, const Router& router) : m_plan(plan), m_router(router)
    {
    }

    /** @return whether the connection is between hosts */
    bool Add(const Connection& connection)
    {
        const ConnectionEndpoints ends = MapConnection(m_plan, connection);
        if (!m_router.FindParts(ends.source, ends.destination, ends.label, m_path))
        {
            const Topology& topology = *m_router.GetTopology();
            throw UnsupportedError("no path from " + topology.GetDevice(ends.source).name + " to " +
                                   topology.GetDevice(ends.destination).name);
        }
        m_begins.push_back(m_ports.size());
        m_ports.insert(m_ports.end(), m_path.begin(), m_path.end());
        return ends.interHost;
    }

    const PathPart* Begin(size_t path) const
    {
        return m_ports.data() + m_begins[path];
    }

    const PathPart* End(size_t path) const
    {
        return m_ports.data() + (path + 1 < m_begins.size() ? m_begins[path + 1] : m_ports.size());
    }

    const std::vector<PathPart>& GetLast() const
    {
        return m_path;
    }

  private:
    const CollectivePlan& m_plan;
    const Router& m_router;
    std::vector<PathPart> m_path; //!< the last one
    std::vector<PathPart> m_ports;
    std::vector<size_t> m_begins;
};

/** The tree's connections come in pairs: to the parent, then back. */
bool GoesUp(const CollectivePlan& plan, size_t index)
{
    return MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::TREE && index % 2 == 0;
}

void FillRates(GeometryEdge& edge,
               const PathPart* begin,
               const PathPart* end,
               const PortUses& uses,
               const Topology& topology)
{
    edge.rate = INFINITY;
    edge.firstRate = INFINITY;
    double slowest = 0;
    for (const PathPart* hop = begin; hop != end; ++hop)
    {
        const double rate = BytesPerMicrosecond(topology.RateOf(hop->port));
        const PortUse& use = uses.at(hop->port.Get());
        edge.delayUs += Microseconds(topology.DelayOf(hop->port)) * hop->part;
        edge.rate = std::min(edge.rate, rate / use.all);
        // A link has the two trees of a channel; the first pieces of one are on it at a time.
        const double channels = std::max(std::floor((use.upwards + 1) / 2), hop->part);
        edge.firstRate = std::min(edge.firstRate, rate / channels);
        edge.hopUsPerByte += hop->part / rate;
        slowest = std::max(slowest, hop->part / rate);
    }
    edge.hopUsPerByte -= slowest;
    edge.aloneRate = 1 / slowest;
}

/** Rings and chains of channels that look alike take as long: one of them is enough. */
void KeepDistinctChannels(std::vector<GeometryEdge>& edges)
{
    using Look = std::vector<std::tuple<double, double, double, double, bool>>;
    std::set<Look> seen;
    std::vector<GeometryEdge> kept;
    for (size_t begin = 0; begin < edges.size();)
    {
        size_t end = begin;
        Look look;
        while (end < edges.size() && edges[end].channel == edges[begin].channel)
        {
            const GeometryEdge& edge = edges[end++];
            look.emplace_back(
                edge.delayUs, edge.rate, edge.aloneRate, edge.hopUsPerByte, edge.interHost);
        }
        if (seen.insert(std::move(look)).second)
        {
            kept.insert(kept.end(),
                        edges.begin() + static_cast<std::ptrdiff_t>(begin),
                        edges.begin() + static_cast<std::ptrdiff_t>(end));
        }
        begin = end;
    }
    edges = std::move(kept);
}

/**
 * The two trees of a channel pass a host in the same order, so what goes up (or down) one and the
 * other is on its links at the same time; other channels pass its GPUs at other times.
 */
void FillTreeRates(PlanGeometry& geometry, const PathBook& book, const Topology& topology)
{
    std::unordered_map<uint64_t, double> uses; // looked up only
    const auto useOf = [&](size_t i, PortId port) -> double& {
        const uint64_t way = uint64_t{geometry.edges[i].channel} * 2 + i % 2;
        return uses[(way << 32) | port.Get()];
    };
    for (size_t i = 0; i < geometry.edges.size(); ++i)
    {
        for (const PathPart* hop = book.Begin(i); hop != book.End(i); ++hop)
        {
            useOf(i, hop->port) += hop->part;
        }
    }
    for (size_t i = 0; i < geometry.edges.size(); ++i)
    {
        GeometryEdge& edge = geometry.edges[i];
        edge.treeRate = INFINITY;
        for (const PathPart* hop = book.Begin(i); hop != book.End(i); ++hop)
        {
            const double rate = BytesPerMicrosecond(topology.RateOf(hop->port));
            edge.treeRate = std::min(edge.treeRate, rate / useOf(i, hop->port));
        }
    }
}

/** Fills busyLinks, after FillLoads. */
void FillBusyLinks(PlanGeometry& geometry,
                   const PathBook& book,
                   const PortUses& uses,
                   const Topology& topology)
{
    const double busiest = std::max(geometry.interLoadUsPerByte, geometry.intraLoadUsPerByte);
    std::map<uint32_t, GeometryLink> links;
    for (size_t i = 0; i < geometry.edges.size(); ++i)
    {
        for (const PathPart* hop = book.Begin(i); hop != book.End(i); ++hop)
        {
            const double load =
                uses.at(hop->port.Get()).all / BytesPerMicrosecond(topology.RateOf(hop->port));
            if (2 * load >= busiest)
            {
                GeometryLink& link = links[hop->port.Get()];
                link.interHost = topology.IsFabricLink(Topology::LinkOf(hop->port));
                link.loadUsPerByte = load;
                link.edges.push_back(static_cast<uint32_t>(i));
            }
        }
    }
    for (auto& [port, link] : links)
    {
        geometry.busyLinks.push_back(std::move(link));
    }
}

void FillLoads(PlanGeometry& geometry, const PortUses& uses, const Topology& topology)
{
    for (const auto& [number, use] : uses) // order does not matter: a maximum
    {
        const PortId port(number);
        const double load = use.all / BytesPerMicrosecond(topology.RateOf(port));
        const bool inter = topology.IsFabricLink(Topology::LinkOf(port));
        double& most = inter ? geometry.interLoadUsPerByte : geometry.intraLoadUsPerByte;
        most = std::max(most, load);
        if (!inter && use.all > 1)
        {
            geometry.intraSharedUsPerByte = std::max(geometry.intraSharedUsPerByte, load);
        }
        if (inter && IsNicLink(topology, topology.GetLink(Topology::LinkOf(port))))
        {
            geometry.nicLoadUsPerByte = std::max(geometry.nicLoadUsPerByte, load);
        }
    }
}

/**
 * Rounds that an all-to-all has in flight (PairwiseAlgorithm): a round is the distance in the ring
 * order of channel 0. A window of rounds loads some links more than the whole does on average.
 */
class WindowLoads
{
  public:
    WindowLoads(const GroupLayout& layout, uint32_t inFlight)
        : m_inFlight(inFlight), m_position(layout.GetRanks())
    {
        uint32_t position = 0;
        for (const uint32_t member : RingOrder(layout, 0))
        {
            m_position[member] = position++;
        }
        m_windows.resize((position + inFlight - 2) / inFlight);
    }

    /** @return the channel of a message, as PairwiseAlgorithm gives it one */
    uint32_t ChannelOf(uint32_t source, uint32_t destination, uint32_t channels) const
    {
        const auto lanes = std::min(m_inFlight, static_cast<uint32_t>(m_position.size()) - 1);
        return (RoundOf(source, destination) - 1) % lanes % channels;
    }

    void Add(uint32_t source, uint32_t destination, const std::vector<PathPart>& path)
    {
        PortUses& uses = m_windows[(RoundOf(source, destination) - 1) / m_inFlight];
        for (const PathPart& hop : path)
        {
            uses[hop.port.Get()].all += hop.part;
        }
    }

    /** @return the busiest link's time for a byte a connection, summed over windows */
    double GetSum(const Topology& topology) const
    {
        double sum = 0;
        for (const PortUses& uses : m_windows)
        {
            double most = 0;
            for (const auto& [number, use] : uses) // order does not matter: a maximum
            {
                const PortId port(number);
                most = std::max(most, use.all / BytesPerMicrosecond(topology.RateOf(port)));
            }
            sum += most;
        }
        return sum;
    }

  private:
    uint32_t RoundOf(uint32_t source, uint32_t destination) const
    {
        const auto ranks = static_cast<uint32_t>(m_position.size());
        return (m_position[destination] + ranks - m_position[source]) % ranks;
    }

    uint32_t m_inFlight;
    std::vector<uint32_t> m_position; //!< by member
    std::vector<PortUses> m_windows;
};

/** All-to-all: loads and the longest ways only, as there are ranks squared connections. */
PlanGeometry MakePairGeometry(const CollectivePlan& plan, const Router& router)
{
    const Topology& topology = *router.GetTopology();
    const uint32_t ranks = plan.layout->GetRanks();
    const bool walkAll = uint64_t{ranks} * ranks <= MOST_WALKED_PAIRS;
    PlanGeometry geometry;
    geometry.fabricCounted = walkAll;
    PortUses uses;
    PathBook book(plan, router);
    WindowLoads windows(*plan.layout, 8);
    // Of many ranks the first goes to all, and all go to it: by symmetry its ports are like others.
    for (uint32_t source = 0; source < ranks; ++source)
    {
        for (uint32_t destination = 0; destination < ranks; ++destination)
        {
            if (source == destination || (!walkAll && source != 0))
            {
                continue;
            }
            const uint32_t channel = windows.ChannelOf(source, destination, plan.choice.channels);
            const bool inter = book.Add({source, destination, channel, 0, 1});
            double delay = 0;
            double hops = 0;
            double slowest = 0;
            for (const PathPart& hop : book.GetLast())
            {
                const double rate = BytesPerMicrosecond(topology.RateOf(hop.port));
                delay += Microseconds(topology.DelayOf(hop.port)) * hop.part;
                hops += hop.part / rate;
                slowest = std::max(slowest, hop.part / rate);
            }
            (inter ? geometry.longestInterUs : geometry.longestIntraUs) =
                std::max(inter ? geometry.longestInterUs : geometry.longestIntraUs, delay);
            if (inter && walkAll)
            {
                windows.Add(source, destination, book.GetLast());
            }
            if (inter)
            {
                geometry.interHopUsPerByte = std::max(geometry.interHopUsPerByte, hops - slowest);
            }
            const bool own = walkAll || !inter;
            if (own)
            {
                for (const PathPart& hop : book.GetLast())
                {
                    uses[hop.port.Get()].all += hop.part;
                }
            }
        }
    }
    FillLoads(geometry, uses, topology);
    geometry.interWindowUsPerByte = windows.GetSum(topology);
    if (!walkAll)
    {
        // What the hosts' NICs carry of what their members exchange with all others.
        geometry.interLoadUsPerByte = NicLoads::GetPairsUsPerByte(*plan.layout);
        geometry.interWindowUsPerByte = geometry.interLoadUsPerByte;
    }
    return geometry;
}

} // namespace

bool IsNicLink(const Topology& topology, const Link& link)
{
    return topology.GetDevice(link.a).role == DeviceRole::NIC ||
           topology.GetDevice(link.b).role == DeviceRole::NIC;
}

PlanGeometry MakePlanGeometry(const CollectivePlan& plan,
                              const CollectiveAlgorithm& algorithm,
                              const Router& router)
{
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL ||
        plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        return MakePairGeometry(plan, router);
    }
    const Topology& topology = *router.GetTopology();
    const std::vector<Connection> connections = algorithm.GetConnections(plan);
    PlanGeometry geometry;
    geometry.edges.resize(connections.size());
    PortUses uses;
    PathBook book(plan, router);
    for (size_t i = 0; i < connections.size(); ++i)
    {
        GeometryEdge& edge = geometry.edges[i];
        edge.source = connections[i].source;
        edge.destination = connections[i].destination;
        edge.channel = connections[i].channel;
        edge.plane = connections[i].plane;
        edge.interHost = book.Add(connections[i]);
        for (const PathPart& hop : book.GetLast())
        {
            PortUse& use = uses[hop.port.Get()];
            use.all += hop.part;
            use.upwards += GoesUp(plan, i) ? hop.part : 0;
        }
    }
    for (size_t i = 0; i < connections.size(); ++i)
    {
        FillRates(geometry.edges[i], book.Begin(i), book.End(i), uses, topology);
    }
    FillLoads(geometry, uses, topology);
    if (MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::TREE)
    {
        FillTreeRates(geometry, book, topology);
        FillBusyLinks(geometry, book, uses, topology);
    }
    geometry.mixed = geometry.interLoadUsPerByte > 0 && geometry.intraLoadUsPerByte > 0;
    if (MovesLike(plan.choice.algorithm) == CollectiveAlgorithmKind::RING &&
        plan.spec.kind != CollectiveKind::BARRIER)
    {
        KeepDistinctChannels(geometry.edges);
    }
    return geometry;
}

} // namespace echo
} // namespace ns3
