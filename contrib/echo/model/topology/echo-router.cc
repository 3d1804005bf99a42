// SPDX-License-Identifier: GPL-2.0-only
#include "echo-router.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRouter");
NS_OBJECT_ENSURE_REGISTERED(Router);

TypeId Router::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::Router")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddAttribute("Seed",
                          "Seed of the hash that spreads flows over paths of equal length; each "
                          "device hashes with a seed of its own, made from this and its id.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Router::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("PathChoice",
                          "TypeId of the policy that spreads flows over ways of equal length.",
                          StringValue("ns3::echo::EcmpPathChoice"),
                          MakeStringAccessor(&Router::m_choiceType),
                          MakeStringChecker())
            .AddAttribute("Spread",
                          "Whether flows between NICs are taken to use all ways of equal length "
                          "evenly, as packets do that choose theirs one by one: FindParts, "
                          "CountWays.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Router::m_spreads),
                          MakeBooleanChecker());
    return tid;
}

void Router::MakePathChoice()
{
    m_choice = PathChoice::Make(m_choiceType, m_topology, m_seed);
}

size_t Router::ChooseWay(FlowHop hop, size_t candidates, uint64_t before) const
{
    constexpr uint64_t MASK = uint64_t{MOST_WAYS - 1} << WAY_SHIFT;
    const uint64_t way = (hop.label & MASK) >> WAY_SHIFT;
    hop.label &= ~MASK;
    // Parts of one flow take the ports of the first hop in turn, then those of the next.
    return (ChooseAmong(hop, candidates) + way / before) % candidates;
}

Ptr<Router> Router::CopyWithAllLinksUp() const
{
    ObjectFactory factory;
    factory.SetTypeId(GetInstanceTypeId());
    factory.Set("Seed", UintegerValue(m_seed));
    factory.Set("PathChoice", StringValue(m_choiceType));
    factory.Set("Spread", BooleanValue(m_spreads));
    Ptr<Router> copy = factory.Create<Router>();
    copy->Prepare(m_topology);
    return copy;
}

void Router::SetLinksUp(const std::vector<LinkId>& links, bool up)
{
    if (m_down.empty())
    {
        m_down.assign(m_topology->GetLinkCount(), false);
    }
    for (const LinkId link : links)
    {
        m_down[link.Get()] = !up;
    }
    ++m_changes;
    OnLinksChanged();
}

void Router::DoDispose()
{
    m_choice = nullptr;
    Object::DoDispose();
}

PortId Router::ChooseNextHop(DeviceId at,
                             DeviceId source,
                             DeviceId destination,
                             uint64_t label) const
{
    uint64_t before = 1;
    return ChooseNextHop({at, source, destination, label}, before);
}

PortId Router::ChooseNextHop(const FlowHop& hop, uint64_t& before) const
{
    GetNextHops(hop.at, hop.destination, m_candidates);
    const size_t candidates = m_candidates.size();
    if (candidates < 2)
    {
        return m_candidates.empty() ? PortId() : m_candidates.front();
    }
    const size_t chosen =
        m_spreads ? ChooseWay(hop, candidates, before) : ChooseAmong(hop, candidates);
    before = std::min<uint64_t>(before * candidates, MOST_WAYS);
    return m_candidates[chosen];
}

bool Router::FindPath(DeviceId source,
                      DeviceId destination,
                      uint64_t label,
                      std::vector<PortId>& path) const
{
    path.clear();
    uint64_t before = 1;
    DeviceId at = source;
    while (at != destination)
    {
        const PortId port = ChooseNextHop({at, source, destination, label}, before);
        // A way longer than the number of devices runs in a circle.
        if (!port.IsValid() || path.size() >= m_topology->GetDeviceCount())
        {
            NS_LOG_DEBUG("no way from device " << source << " to " << destination);
            path.clear();
            return false;
        }
        path.push_back(port);
        at = m_topology->NeighborOf(port);
    }
    return true;
}

bool Router::FindParts(DeviceId source,
                       DeviceId destination,
                       uint64_t label,
                       std::vector<PathPart>& parts) const
{
    parts.clear();
    if (!m_spreads || m_topology->GetDevice(source).role != DeviceRole::NIC)
    {
        std::vector<PortId> path;
        const bool found = FindPath(source, destination, label, path);
        for (const PortId port : path)
        {
            parts.push_back({port, 1});
        }
        return found;
    }
    std::map<DeviceId, double> at{{source, 1}}; // as far from the source as one another
    for (uint32_t hops = 0; at.size() != 1 || at.begin()->first != destination; ++hops)
    {
        std::map<DeviceId, double> next;
        for (const auto& [device, part] : at)
        {
            GetNextHops(device, destination, m_candidates);
            if (m_candidates.empty() || hops > m_topology->GetDeviceCount())
            {
                parts.clear();
                return false;
            }
            const double each = part / static_cast<double>(m_candidates.size());
            for (const PortId port : m_candidates)
            {
                parts.push_back({port, each});
                next[m_topology->NeighborOf(port)] += each;
            }
        }
        at = std::move(next);
    }
    return true;
}

uint32_t Router::CountWays(DeviceId source, DeviceId destination) const
{
    if (!m_spreads || m_topology->GetDevice(source).role != DeviceRole::NIC)
    {
        return 1;
    }
    uint64_t ways = 1;
    DeviceId at = source;
    for (uint32_t hops = 0; at != destination && hops <= m_topology->GetDeviceCount(); ++hops)
    {
        GetNextHops(at, destination, m_candidates);
        if (m_candidates.empty())
        {
            return 1;
        }
        ways *= m_candidates.size();
        at = m_topology->NeighborOf(m_candidates.front());
    }
    return static_cast<uint32_t>(std::min<uint64_t>(ways, MOST_WAYS));
}

} // namespace echo
} // namespace ns3
