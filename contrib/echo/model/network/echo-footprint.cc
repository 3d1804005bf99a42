// SPDX-License-Identifier: GPL-2.0-only
#include "echo-footprint.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace echo
{

namespace
{

/** Size of cached footprints: every part of every channel has the same number of bytes. */
uint64_t NominalBytes(const CollectivePlan& plan)
{
    return uint64_t{4096} * plan.layout->GetRanks() * std::max(plan.choice.channels, 1u);
}

/** One connection on its way through the network. */
struct Way
{
    std::vector<PortId> path;
    double rate{0}; //!< least on the path, bit/s
    DeviceId source;
    DeviceId destination;
};

/** Adds what the ways ask of fabric links; `leaving` and `entering` count ways by NIC. */
void AddDemand(const std::vector<Way>& ways,
               const std::map<DeviceId, uint32_t>& leaving,
               const std::map<DeviceId, uint32_t>& entering,
               const Topology& topology,
               std::map<PortId, double>& demand)
{
    for (const auto& way : ways)
    {
        const uint32_t sharing = std::max(leaving.at(way.source), entering.at(way.destination));
        for (const PortId port : way.path)
        {
            const auto rate = static_cast<double>(topology.RateOf(port).GetBitRate());
            demand[port] += way.rate / sharing / rate;
        }
    }
}

/** A bundle with the rate of all its ports, bit/s. */
struct Bundle
{
    uint64_t key{0};
    double rate{0};
};

/** @return the bundle of a fabric port */
Bundle BundleOf(PortId port, const Topology& topology)
{
    const DeviceId source = topology.OwnerOf(port);
    const DeviceId destination = topology.NeighborOf(port);
    const DeviceRole from = topology.GetDevice(source).role;
    const DeviceRole to = topology.GetDevice(destination).role;
    const bool up = from < to;
    const DeviceId end = up ? source : destination;
    Bundle bundle{uint64_t{end.Get()} * 2 + (up ? 0 : 1), 0};
    for (const PortId own : topology.GetPorts(end))
    {
        // Links have the same rate in both directions: what comes down goes over the ports up.
        if (topology.GetDevice(topology.NeighborOf(own)).role == (up ? to : from))
        {
            bundle.rate += static_cast<double>(topology.RateOf(own).GetBitRate());
        }
    }
    return bundle;
}

} // namespace

Footprint MakeFootprint(const CollectivePlan& plan,
                        const CollectiveAlgorithm& algorithm,
                        const Router& router)
{
    const Topology& topology = *router.GetTopology();
    std::map<PortId, uint64_t> bytes;
    std::map<PortId, double> demand;
    std::map<DeviceId, uint32_t> leaving;
    std::map<DeviceId, uint32_t> entering;
    std::vector<Way> ways; // inter-host only
    Way way;
    for (const auto& connection : algorithm.GetConnections(plan))
    {
        const ConnectionEndpoints ends = MapConnection(plan, connection);
        if (!router.FindPath(ends.source, ends.destination, ends.label, way.path))
        {
            throw UnsupportedError("no path from " + topology.GetDevice(ends.source).name + " to " +
                                   topology.GetDevice(ends.destination).name);
        }
        uint64_t least = topology.RateOf(way.path.front()).GetBitRate();
        for (const PortId port : way.path)
        {
            bytes[port] += connection.bytes;
            least = std::min(least, topology.RateOf(port).GetBitRate());
        }
        if (ends.interHost)
        {
            way.rate = static_cast<double>(least);
            way.source = ends.source;
            way.destination = ends.destination;
            ++leaving[way.source];
            ++entering[way.destination];
            ways.push_back(way);
        }
    }
    AddDemand(ways, leaving, entering, topology, demand);
    Footprint footprint;
    footprint.bytes.assign(bytes.begin(), bytes.end());
    footprint.demand.assign(demand.begin(), demand.end());
    std::map<uint64_t, double> bundles;
    for (const auto& [port, asked] : demand)
    {
        const Bundle bundle = BundleOf(port, topology);
        const auto rate = static_cast<double>(topology.RateOf(port).GetBitRate());
        bundles[bundle.key] += bundle.rate > 0 ? asked * rate / bundle.rate : 0;
    }
    footprint.bundles.assign(bundles.begin(), bundles.end());
    return footprint;
}

double PeakUtilization(const Footprint& footprint,
                       const Topology& topology,
                       double scale,
                       Time duration)
{
    if (!duration.IsStrictlyPositive())
    {
        return 0;
    }
    double peak = 0;
    for (const auto& [port, bytes] : footprint.bytes)
    {
        const double seconds =
            static_cast<double>(bytes) * scale / BytesPerSecond(topology.RateOf(port));
        peak = std::max(peak, seconds);
    }
    return peak / (static_cast<double>(duration.GetPicoSeconds()) * 1e-12);
}

void FootprintCache::Prepare(Ptr<Router> router)
{
    m_router = router;
}

FootprintCache::Key FootprintCache::KeyOf(const CollectivePlan& plan)
{
    const CommGroup& group = *plan.layout->group;
    const bool pair = plan.spec.kind == CollectiveKind::SEND_RECV;
    return {group.GetId(),
            plan.spec.kind,
            plan.choice.algorithm,
            plan.choice.channels,
            plan.spec.root,
            pair ? group.GetRank(0) : RankId(),
            pair ? group.GetRank(group.GetSize() - 1) : RankId()};
}

FootprintPtr FootprintCache::Get(const CollectivePlan& plan)
{
    // What one run may hold, some 100 MB; past it the cache starts anew.
    constexpr uint64_t MOST_ENTRIES = 4000000;
    const Key key = KeyOf(plan);
    if (const auto it = m_footprints.find(key); it != m_footprints.end())
    {
        return it->second;
    }
    CollectivePlan nominal;
    nominal.spec = plan.spec;
    nominal.choice = plan.choice;
    nominal.layout = plan.layout;
    nominal.spec.bytes = NominalBytes(plan);
    if (nominal.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        nominal.spec.kind = CollectiveKind::ALL_TO_ALL;
    }
    Ptr<CollectiveAlgorithm>& algorithm = m_algorithms[plan.choice.algorithm];
    if (!algorithm)
    {
        algorithm = CreateCollectiveAlgorithm(plan.choice.algorithm);
    }
    auto footprint =
        std::make_shared<const Footprint>(MakeFootprint(nominal, *algorithm, *m_router));
    m_entries += footprint->bytes.size() + footprint->demand.size();
    if (m_entries > MOST_ENTRIES)
    {
        m_footprints.clear();
        m_entries = footprint->bytes.size() + footprint->demand.size();
    }
    m_footprints[key] = footprint;
    return footprint;
}

double FootprintCache::GetScale(const CollectivePlan& plan)
{
    if (plan.spec.kind == CollectiveKind::BARRIER)
    {
        return 1; // has its own, fixed bytes
    }
    if (plan.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        const double others = plan.layout->GetRanks() - 1;
        return static_cast<double>(PayloadBytes(plan)) / others / NominalBytes(plan);
    }
    return static_cast<double>(plan.spec.bytes) / NominalBytes(plan);
}

double FootprintCache::GetPeakUtilization(const CollectivePlan& plan, Time duration)
{
    return PeakUtilization(*Get(plan), *m_router->GetTopology(), GetScale(plan), duration);
}

void FootprintCache::AddLoad(const CollectivePlan& plan)
{
    Load& load = m_loads[KeyOf(plan)];
    if (!load.footprint)
    {
        load.footprint = Get(plan);
    }
    load.scale += GetScale(plan);
}

void FootprintCache::ReportLoad(RecordSink& sink) const
{
    const Topology& topology = *m_router->GetTopology();
    std::map<PortId, double> bytesOn;
    for (const auto& [key, load] : m_loads)
    {
        for (const auto& [port, bytes] : load.footprint->bytes)
        {
            bytesOn[port] += static_cast<double>(bytes) * load.scale;
        }
    }
    for (const auto& [port, bytes] : bytesOn)
    {
        LinkRecord record = topology.DescribeLink(port);
        record.payloadBytes = record.wireBytes = static_cast<uint64_t>(bytes + 0.5);
        record.busy = TxTime(record.wireBytes, record.rate);
        sink.OnLink(record);
    }
}

double FootprintCache::GetFabricBytes(const CollectivePlan& plan)
{
    double bytes = 0;
    for (const auto& [port, nominal] : Get(plan)->bytes)
    {
        if (m_router->GetTopology()->IsFabricLink(Topology::LinkOf(port)))
        {
            bytes += static_cast<double>(nominal);
        }
    }
    return bytes * GetScale(plan);
}

} // namespace echo
} // namespace ns3
