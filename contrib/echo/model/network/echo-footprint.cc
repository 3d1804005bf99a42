// SPDX-License-Identifier: GPL-2.0-only
#include "echo-footprint.h"

#include "ns3/echo-error.h"
#include "ns3/echo-plan-geometry.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <cmath>
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

/** @return time that the busiest link takes for its bytes; @p atEnds: of NICs and hosts alone */
double PeakSeconds(const Footprint& footprint, const Topology& topology, bool atEnds = false)
{
    double peak = 0;
    for (const auto& [port, bytes] : footprint.bytes)
    {
        const LinkId link = Topology::LinkOf(port);
        if (atEnds && topology.IsFabricLink(link) && !IsNicLink(topology, topology.GetLink(link)))
        {
            continue;
        }
        peak = std::max(peak, static_cast<double>(bytes) / BytesPerSecond(topology.RateOf(port)));
    }
    return peak;
}

double ShareOf(double seconds, Time duration)
{
    return duration.IsStrictlyPositive()
               ? seconds / (static_cast<double>(duration.GetPicoSeconds()) * 1e-12)
               : 0;
}

/**
 * @return what part of a connection's bytes inside hosts its links carry: NVLink SHARP has each
 *         link carry all of the sums and one share, S (k + 1) / k of k members, where the ring or
 *         chain whose connections stand for it carries S 2 (k - 1) / k or 2 S
 */
double PartOfBytes(const CollectivePlan& plan)
{
    const double local = plan.layout->maxLocal;
    switch (plan.choice.algorithm)
    {
    case CollectiveAlgorithmKind::NVLS:
        return local > 1 ? (local + 1) / (2 * (local - 1)) : 1;
    case CollectiveAlgorithmKind::NVLS_TREE:
        return (local + 1) / (2 * local);
    default:
        return 1;
    }
}

/**
 * @return the plan whose connections stand for @p plan's. NVLink SHARP's sums leave a host by the
 *         NICs of all GPUs however many channels there are (NCCL src/transport/nvls.cc: a tree of
 *         each GPU's own), rings and trees by one a channel.
 */
CollectivePlan StandIn(const CollectivePlan& plan)
{
    CollectivePlan standIn = plan;
    const uint32_t nics = std::max(plan.layout->nicsPerHost, 1u);
    if (plan.choice.algorithm == CollectiveAlgorithmKind::NVLS_TREE &&
        plan.choice.channels % nics != 0)
    {
        standIn.choice.channels = nics;
    }
    return standIn;
}

/** One connection on its way through the network. */
struct Way
{
    std::vector<PathPart> path;
    double rate{0}; //!< that its links leave it at least, bit/s
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
        for (const PathPart& hop : way.path)
        {
            const auto rate = static_cast<double>(topology.RateOf(hop.port).GetBitRate());
            demand[hop.port] += way.rate / sharing / rate * hop.part;
        }
    }
}

void AddDemandInside(const std::map<PortId, uint64_t>& bytes,
                     const Topology& topology,
                     std::map<PortId, double>& demand)
{
    const auto secondsOn = [&topology](PortId port, uint64_t sent) {
        return static_cast<double>(sent) / BytesPerSecond(topology.RateOf(port));
    };
    double longest = 0;
    for (const auto& [port, sent] : bytes)
    {
        longest = std::max(longest, secondsOn(port, sent));
    }
    for (const auto& [port, sent] : bytes)
    {
        if (!topology.IsFabricLink(Topology::LinkOf(port)) && sent > 0)
        {
            demand[port] = secondsOn(port, sent) / longest;
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

Footprint MakeFootprint(const CollectivePlan& carriedOut,
                        const CollectiveAlgorithm& algorithm,
                        const Router& router)
{
    const CollectivePlan plan = StandIn(carriedOut);
    const Topology& topology = *router.GetTopology();
    std::map<PortId, uint64_t> bytes;
    std::map<PortId, double> demand;
    std::map<DeviceId, uint32_t> leaving;
    std::map<DeviceId, uint32_t> entering;
    std::vector<Way> ways; // inter-host only
    Way way;
    const double part = PartOfBytes(plan);
    for (const auto& connection : algorithm.GetConnections(plan))
    {
        const ConnectionEndpoints ends = MapConnection(plan, connection);
        if (!router.FindParts(ends.source, ends.destination, ends.label, way.path))
        {
            throw UnsupportedError("no path from " + topology.GetDevice(ends.source).name + " to " +
                                   topology.GetDevice(ends.destination).name);
        }
        const auto sent = ends.interHost
                              ? connection.bytes
                              : static_cast<uint64_t>(part * static_cast<double>(connection.bytes));
        auto least = static_cast<double>(topology.RateOf(way.path.front().port).GetBitRate());
        for (const PathPart& hop : way.path)
        {
            bytes[hop.port] +=
                hop.part == 1
                    ? sent
                    : static_cast<uint64_t>(std::llround(static_cast<double>(sent) * hop.part));
            const auto rate = static_cast<double>(topology.RateOf(hop.port).GetBitRate());
            least = std::min(least, rate / hop.part);
        }
        if (ends.interHost)
        {
            way.rate = least;
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
    std::map<uint64_t, BundleUse> bundles;
    for (const auto& [port, asked] : demand)
    {
        const Bundle bundle = BundleOf(port, topology);
        const auto rate = static_cast<double>(topology.RateOf(port).GetBitRate());
        BundleUse& use = bundles[bundle.key];
        use.key = bundle.key;
        use.demand += bundle.rate > 0 ? asked * rate / bundle.rate : 0;
        use.seconds += bundle.rate > 0 ? static_cast<double>(bytes.at(port)) * 8 / bundle.rate : 0;
    }
    for (const auto& [key, use] : bundles)
    {
        footprint.bundles.push_back(use);
    }
    AddDemandInside(bytes, topology, demand);
    footprint.demand.assign(demand.begin(), demand.end());
    return footprint;
}

double PeakUtilization(const Footprint& footprint,
                       const Topology& topology,
                       double scale,
                       Time duration)
{
    return ShareOf(PeakSeconds(footprint, topology) * scale, duration);
}

void FootprintCache::Prepare(Ptr<Router> router, bool fixedWays)
{
    m_router = router;
    m_fixedWays = fixedWays;
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

LinkUse& FootprintCache::Find(const CollectivePlan& plan,
                              const std::vector<GroupLayoutPtr>* replicas)
{
    LinkUse& use = m_uses[KeyOf(plan)];
    if (!use.plans.empty())
    {
        return use;
    }
    use.number = static_cast<uint32_t>(m_uses.size() - 1);
    CollectivePlan nominal;
    nominal.spec = plan.spec;
    nominal.choice = plan.choice;
    nominal.layout = plan.layout;
    nominal.spec.bytes = NominalBytes(plan);
    if (nominal.spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        nominal.spec.kind = CollectiveKind::ALL_TO_ALL;
    }
    use.plans.assign(replicas ? replicas->size() : 1, nominal);
    for (size_t i = 0; replicas && i < replicas->size(); ++i)
    {
        use.plans[i].layout = (*replicas)[i];
    }
    for (const FootprintPtr& footprint : Get(use))
    {
        use.peakSeconds =
            std::max(use.peakSeconds, PeakSeconds(*footprint, GetTopology(), !m_fixedWays));
    }
    return use;
}

const std::vector<FootprintPtr>& FootprintCache::Get(LinkUse& use)
{
    // What one run may hold, some 100 MB; past it the footprints are made anew where asked for.
    constexpr uint64_t MOST_ENTRIES = 4000000;
    if (!use.footprints.empty())
    {
        return use.footprints;
    }
    Ptr<CollectiveAlgorithm>& algorithm = m_algorithms[use.plans.front().choice.algorithm];
    if (!algorithm)
    {
        algorithm = CreateCollectiveAlgorithm(use.plans.front().choice.algorithm);
    }
    uint64_t entries = 0;
    std::vector<FootprintPtr> made;
    for (const CollectivePlan& plan : use.plans)
    {
        made.push_back(
            std::make_shared<const Footprint>(MakeFootprint(plan, *algorithm, *m_router)));
        entries += made.back()->bytes.size() + made.back()->demand.size();
    }
    if (m_entries + entries > MOST_ENTRIES)
    {
        for (auto& [key, other] : m_uses)
        {
            other.footprints.clear();
        }
        m_entries = 0;
    }
    m_entries += entries;
    use.footprints = std::move(made);
    return use.footprints;
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

double FootprintCache::GetPeakUtilization(const LinkUse& use,
                                          const CollectivePlan& plan,
                                          Time duration)
{
    return ShareOf(use.peakSeconds * GetScale(plan), duration);
}

void FootprintCache::AddLoad(LinkUse& use, const CollectivePlan& plan)
{
    use.load += GetScale(plan);
}

void FootprintCache::ReportLoad(RecordSink& sink)
{
    // In parts of a byte, as whole numbers: their sum does not depend on the order of groups.
    constexpr double PARTS = 1024;
    const Topology& topology = GetTopology();
    std::vector<uint64_t> partsOn(size_t{topology.GetLinkCount()} * 2);
    for (auto& [key, use] : m_uses)
    {
        if (use.load == 0)
        {
            continue;
        }
        for (const FootprintPtr& footprint : Get(use))
        {
            for (const auto& [port, bytes] : footprint->bytes)
            {
                partsOn[port.Get()] += static_cast<uint64_t>(
                    std::llround(static_cast<double>(bytes) * use.load * PARTS));
            }
        }
    }
    for (uint32_t i = 0; i < partsOn.size(); ++i)
    {
        if (partsOn[i] == 0)
        {
            continue;
        }
        const PortId port(i);
        LinkRecord record = topology.DescribeLink(port);
        record.payloadBytes = record.wireBytes =
            (partsOn[i] + static_cast<uint64_t>(PARTS) / 2) / static_cast<uint64_t>(PARTS);
        record.busy = TxTime(record.wireBytes, record.rate);
        sink.OnLink(record);
    }
}

std::vector<LinkShare> FootprintCache::GetShares(LinkUse& use,
                                                 const CollectivePlan& plan,
                                                 const UseAlone& alone,
                                                 bool fabricKnown)
{
    const Topology& topology = GetTopology();
    const FootprintPtr footprint = Get(use).front();
    const bool insideOnly = plan.layout->GetHosts() == 1;
    const double scale = GetScale(plan) / alone.seconds;
    std::vector<LinkShare> shares;
    double ofNics = 1; // at least: an estimate's terms may leave NICs less time than they take
    auto bytes = footprint->bytes.begin();
    for (const auto& [port, weight] : footprint->demand)
    {
        while (bytes->first < port) // both are sorted; what is asked for has bytes
        {
            ++bytes;
        }
        const bool isFabric = topology.IsFabricLink(Topology::LinkOf(port));
        double demand = weight * alone.busyPart; // inside one host
        if (!insideOnly)
        {
            demand = static_cast<double>(bytes->second) / BytesPerSecond(topology.RateOf(port)) *
                     scale * (isFabric ? alone.wirePart : 1);
        }
        if (isFabric && !fabricKnown)
        {
            ofNics = IsNicLink(topology, topology.GetLink(Topology::LinkOf(port)))
                         ? std::max(ofNics, demand)
                         : ofNics;
            continue;
        }
        shares.push_back({port.Get(), std::min(demand, 1.0), weight});
    }
    if (!fabricKnown)
    {
        const uint64_t ports = uint64_t{topology.GetLinkCount()} * 2;
        for (const BundleUse& bundle : footprint->bundles)
        {
            shares.push_back({ports + bundle.key,
                              bundle.seconds * scale * alone.wirePart / ofNics,
                              bundle.demand});
        }
    }
    return shares;
}

double FootprintCache::GetFabricBytes(LinkUse& use, const CollectivePlan& plan, uint32_t replica)
{
    double bytes = 0;
    for (const auto& [port, nominal] : Get(use)[replica]->bytes)
    {
        if (GetTopology().IsFabricLink(Topology::LinkOf(port)))
        {
            bytes += static_cast<double>(nominal);
        }
    }
    return bytes * GetScale(plan);
}

} // namespace echo
} // namespace ns3
