// SPDX-License-Identifier: GPL-2.0-only
#include "echo-switch-forwarding.h"

#include "echo-queue-pair.h"

#include <utility>

namespace ns3
{
namespace echo
{

SwitchForwarding::SwitchForwarding(Ptr<Router> router,
                                   DeviceId self,
                                   Ptr<LoadBalancer> balancer,
                                   PortFunction getPort)
    : m_router(router),
      m_self(self),
      m_balancer(balancer),
      m_getPort(std::move(getPort)),
      m_byDestination(router->GetTopology()->GetDeviceCount(), nullptr)
{
}

RocePort* SwitchForwarding::Choose(const RocePacket& packet, int64_t now)
{
    const bool data = packet.kind == RocePacketKind::DATA;
    const auto& [sender, receiver, label] = packet.queuePair->GetKey();
    const DeviceId source = data ? sender : receiver;
    const DeviceId destination = data ? receiver : sender;
    const PortGroup* group = m_byDestination[destination.Get()];
    if (!group)
    {
        group = &FindGroup(destination);
    }
    if (group->ports.size() < 2)
    {
        return group->ports.empty() ? nullptr : group->ports.front();
    }
    if (data && m_balancer)
    {
        return m_balancer->Choose(packet, *group, now);
    }
    const FlowHop hop{m_self, source, destination, label};
    return group->ports[m_router->ChooseAmong(hop, group->ports.size())];
}

const PortGroup& SwitchForwarding::FindGroup(DeviceId destination)
{
    std::vector<PortId> ports;
    m_router->GetNextHops(m_self, destination, ports);
    std::unique_ptr<PortGroup>& group = m_groups[ports];
    if (!group)
    {
        group = std::make_unique<PortGroup>();
        group->number = static_cast<uint32_t>(m_groups.size()) - 1;
        for (const PortId port : ports)
        {
            group->ports.push_back(m_getPort(port));
        }
    }
    m_byDestination[destination.Get()] = group.get();
    return *group;
}

void SwitchForwarding::Forget()
{
    m_byDestination.assign(m_byDestination.size(), nullptr);
    m_groups.clear();
    if (m_balancer)
    {
        m_balancer->ForgetGroups();
    }
}

} // namespace echo
} // namespace ns3
