// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-figures.h"

#include <algorithm>
#include <limits>
#include <map>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace ns3
{
namespace echo
{

namespace
{

uint64_t SaturatingAdd(uint64_t a, uint64_t b)
{
    return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                        : a + b;
}

/** NICs that see the fabric alike: the same neighbours, in the same numbers. */
struct NicClass
{
    std::vector<DeviceId> nics;
    std::vector<uint64_t> byNumber; //!< NICs by number in their host
};

std::vector<NicClass> ClassifyNics(const Topology& topology)
{
    std::map<std::vector<DeviceId>, NicClass> classes;
    for (const DeviceId nic : topology.GetDevices(DeviceRole::NIC))
    {
        std::vector<DeviceId> neighbors;
        for (const PortId port : topology.GetPorts(nic))
        {
            if (topology.IsFabricLink(Topology::LinkOf(port)))
            {
                const DeviceId neighbor = topology.NeighborOf(port);
                neighbors.push_back(neighbor);
                if (topology.GetDevice(neighbor).role == DeviceRole::NIC)
                {
                    neighbors.push_back(nic); // joined directly: in a class of its own
                }
            }
        }
        std::sort(neighbors.begin(), neighbors.end());
        NicClass& ofNic = classes[neighbors];
        ofNic.nics.push_back(nic);
        const uint32_t number = topology.GetDevice(nic).index;
        ofNic.byNumber.resize(std::max<size_t>(ofNic.byNumber.size(), number + 1));
        ++ofNic.byNumber[number];
    }
    std::vector<NicClass> list;
    for (auto& entry : classes)
    {
        list.push_back(std::move(entry.second));
    }
    return list;
}

/** Counts shortest ways to one destination, from anywhere, each device once. */
class PathCounter
{
  public:
    explicit PathCounter(const Router& router)
        : m_router(router), m_known(router.GetTopology()->GetDeviceCount(), 0)
    {
        m_paths.resize(m_known.size());
        m_links.resize(m_known.size());
    }

    void SetDestination(DeviceId destination)
    {
        m_destination = destination;
        ++m_round;
        m_known[destination.Get()] = m_round;
        m_paths[destination.Get()] = 1;
        m_links[destination.Get()] = 0;
    }

    /** @return ways from @p source; 0: unreachable */
    uint64_t CountFrom(DeviceId source)
    {
        // A stack of our own: a chain of switches may be longer than the program's stack is deep.
        std::vector<DeviceId> open{source};
        std::vector<PortId> ports;
        while (!open.empty())
        {
            const DeviceId at = open.back();
            m_router.GetNextHops(at, m_destination, ports);
            const size_t before = open.size();
            for (const PortId port : ports)
            {
                const DeviceId next = m_router.GetTopology()->NeighborOf(port);
                if (m_known[next.Get()] != m_round)
                {
                    open.push_back(next);
                }
            }
            if (open.size() == before)
            {
                open.pop_back();
                if (m_known[at.Get()] != m_round)
                {
                    AddUp(at, ports);
                }
            }
        }
        return m_paths[source.Get()];
    }

    /** @return links of these ways, after CountFrom */
    uint32_t GetLinks(DeviceId at) const
    {
        return m_links[at.Get()];
    }

  private:
    /** Next hops are all counted: so is @p at. */
    void AddUp(DeviceId at, const std::vector<PortId>& ports)
    {
        uint64_t paths = 0;
        uint32_t links = 0;
        for (const PortId port : ports)
        {
            const DeviceId next = m_router.GetTopology()->NeighborOf(port);
            paths = SaturatingAdd(paths, m_paths[next.Get()]);
            links = m_links[next.Get()] + 1;
        }
        m_known[at.Get()] = m_round;
        m_paths[at.Get()] = paths;
        m_links[at.Get()] = links;
    }

    const Router& m_router;
    DeviceId m_destination;
    uint32_t m_round{0};           //!< destinations so far
    std::vector<uint32_t> m_known; //!< round in which a device was counted
    std::vector<uint64_t> m_paths;
    std::vector<uint32_t> m_links;
};

/** Ordered pairs of NICs of equal number, one of each class. */
uint64_t CountPairs(const NicClass& a, const NicClass& b, bool same)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < std::min(a.byNumber.size(), b.byNumber.size()); ++i)
    {
        pairs += a.byNumber[i] * (b.byNumber[i] - (same && b.byNumber[i] > 0 ? 1 : 0));
    }
    return pairs;
}

void MeasurePaths(const Router& router, TopologyFigures& figures)
{
    const auto classes = ClassifyNics(*router.GetTopology());
    PathCounter counter(router);
    double sum = 0;
    figures.minPaths = std::numeric_limits<uint64_t>::max();
    figures.minLinks = std::numeric_limits<uint32_t>::max();
    for (size_t to = 0; to < classes.size(); ++to)
    {
        counter.SetDestination(classes[to].nics.front());
        for (size_t from = 0; from < classes.size(); ++from)
        {
            const uint64_t pairs = CountPairs(classes[from], classes[to], from == to);
            if (pairs == 0)
            {
                continue;
            }
            const DeviceId source = classes[from].nics[from == to ? 1 : 0];
            const uint64_t paths = counter.CountFrom(source);
            figures.nicPairs += pairs;
            if (paths == 0)
            {
                figures.unreached += pairs;
                continue;
            }
            sum += static_cast<double>(paths) * static_cast<double>(pairs);
            figures.minPaths = std::min(figures.minPaths, paths);
            figures.minLinks = std::min(figures.minLinks, counter.GetLinks(source));
            figures.diameter = std::max(figures.diameter, counter.GetLinks(source));
        }
    }
    if (figures.nicPairs == figures.unreached)
    {
        figures.minPaths = 0;
        figures.minLinks = 0;
        return;
    }
    figures.minPaths = figures.unreached > 0 ? 0 : figures.minPaths;
    figures.meanPaths = sum / static_cast<double>(figures.nicPairs);
}

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS,
    boost::vecS,
    boost::directedS,
    boost::no_property,
    boost::property<
        boost::edge_capacity_t,
        int64_t,
        boost::property<boost::edge_residual_capacity_t,
                        int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

void AddFlowEdges(FlowGraph& graph, uint32_t a, uint32_t b, int64_t forward, int64_t backward)
{
    const auto ab = boost::add_edge(a, b, graph).first;
    const auto ba = boost::add_edge(b, a, graph).first;
    boost::put(boost::edge_capacity, graph, ab, forward);
    boost::put(boost::edge_capacity, graph, ba, backward);
    boost::put(boost::edge_reverse, graph, ab, ba);
    boost::put(boost::edge_reverse, graph, ba, ab);
}

/** Maximum flow from the first to the last half of the hosts, links of equal ends added up. */
void MeasureBisection(const Topology& topology, TopologyFigures& figures)
{
    const uint32_t source = topology.GetDeviceCount();
    const uint32_t sink = source + 1;
    figures.halfHosts = topology.GetHostCount() / 2;
    const auto vertexOf = [&](DeviceId id) {
        const Device& device = topology.GetDevice(id);
        if (device.role != DeviceRole::NIC)
        {
            return id.Get();
        }
        const uint32_t host = device.host.Get();
        const bool isFirst = host < figures.halfHosts;
        const bool isLast = host >= topology.GetHostCount() - figures.halfHosts;
        return isFirst ? source : isLast ? sink : id.Get();
    };
    std::map<std::pair<uint32_t, uint32_t>, int64_t> capacity;
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const auto isMiddle = [&](DeviceId id) {
            return vertexOf(id) == id.Get() && topology.GetDevice(id).role == DeviceRole::NIC;
        };
        if (!topology.IsFabricLink(LinkId(i)) || isMiddle(link.a) || isMiddle(link.b))
        {
            continue;
        }
        const auto ends = std::minmax({vertexOf(link.a), vertexOf(link.b)});
        const auto rate = static_cast<int64_t>(link.rate.GetBitRate());
        for (const DeviceId end : {link.a, link.b})
        {
            figures.halfNicBitsPerSecond += vertexOf(end) == source ? static_cast<double>(rate) : 0;
        }
        if (ends.first != ends.second)
        {
            capacity[ends] += rate;
        }
    }
    FlowGraph graph(topology.GetDeviceCount() + 2);
    for (const auto& [ends, rate] : capacity)
    {
        // The source and the sink (the largest numbers) neither take back nor give.
        const bool isToSource = ends.second == source;
        const bool isToSink = ends.second == sink;
        AddFlowEdges(graph, ends.first, ends.second, isToSource ? 0 : rate, isToSink ? 0 : rate);
    }
    figures.bisectionBitsPerSecond =
        static_cast<double>(boost::push_relabel_max_flow(graph, source, sink));
}

void MeasureTiers(const Topology& topology, TopologyFigures& figures)
{
    for (const DeviceRole role : {DeviceRole::LEAF, DeviceRole::SPINE, DeviceRole::CORE})
    {
        TierFigures tier;
        tier.role = role;
        for (const DeviceId id : topology.GetDevices(role))
        {
            double down = 0;
            double up = 0;
            for (const PortId port : topology.GetPorts(id))
            {
                const bool isDown = topology.GetDevice(topology.NeighborOf(port)).role < role;
                (isDown ? down : up) += static_cast<double>(topology.RateOf(port).GetBitRate());
            }
            ++tier.switches;
            tier.downBitsPerSecond += down;
            tier.upBitsPerSecond += up;
            if (down > 0 && up > 0)
            {
                tier.oversubscription = std::max(tier.oversubscription, down / up);
            }
        }
        if (tier.switches > 0)
        {
            figures.tiers.push_back(tier);
        }
    }
}

} // namespace

TopologyFigures MeasureTopology(const Router& router)
{
    TopologyFigures figures;
    const Topology& topology = *router.GetTopology();
    if (topology.GetHostCount() > 1)
    {
        MeasurePaths(router, figures);
        MeasureBisection(topology, figures);
    }
    MeasureTiers(topology, figures);
    return figures;
}

} // namespace echo
} // namespace ns3
