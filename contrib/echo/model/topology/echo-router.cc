// SPDX-License-Identifier: GPL-2.0-only
#include "echo-router.h"

#include "ns3/log.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

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
                          MakeStringChecker());
    return tid;
}

void Router::MakePathChoice()
{
    m_choice = PathChoice::Make(m_choiceType, m_topology, m_seed);
}

Ptr<Router> Router::CopyWithAllLinksUp() const
{
    ObjectFactory factory;
    factory.SetTypeId(GetInstanceTypeId());
    factory.Set("Seed", UintegerValue(m_seed));
    factory.Set("PathChoice", StringValue(m_choiceType));
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
    GetNextHops(at, destination, m_candidates);
    if (m_candidates.size() < 2)
    {
        return m_candidates.empty() ? PortId() : m_candidates.front();
    }
    return m_candidates[ChooseAmong({at, source, destination, label}, m_candidates.size())];
}

bool Router::FindPath(DeviceId source,
                      DeviceId destination,
                      uint64_t label,
                      std::vector<PortId>& path) const
{
    path.clear();
    DeviceId at = source;
    while (at != destination)
    {
        const PortId port = ChooseNextHop(at, source, destination, label);
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

} // namespace echo
} // namespace ns3
