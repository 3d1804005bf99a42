// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-failures.h"

#include "echo-roce-fabric.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

RoceFailures::RoceFailures(std::vector<LinkEvent> events,
                           Time rerouteDelay,
                           RoceFabric& fabric,
                           Ptr<Router> router,
                           std::function<void()> onRerouted)
    : LinkFailures(std::move(events), rerouteDelay, router),
      m_fabric(fabric),
      m_onRerouted(std::move(onRerouted))
{
}

void RoceFailures::Cut(LinkId link)
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (const uint32_t side : {0u, 1u})
    {
        const Ptr<RocePort> port = m_fabric.GetPort(PortId(2 * link.Get() + side));
        port->GetOwner()->CutLink(port->GetIndex(), now);
    }
}

void RoceFailures::Restore(LinkId link)
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (const uint32_t side : {0u, 1u})
    {
        const Ptr<RocePort> port = m_fabric.GetPort(PortId(2 * link.Get() + side));
        port->GetOwner()->RestoreLink(port->GetIndex(), now);
    }
}

void RoceFailures::ChangeRate(LinkId link, DataRate rate)
{
    for (const uint32_t side : {0u, 1u})
    {
        m_fabric.GetPort(PortId(2 * link.Get() + side))->ChangeRate(rate);
    }
}

void RoceFailures::SetLoss(LinkId link, double loss)
{
    for (const uint32_t side : {0u, 1u})
    {
        m_fabric.GetPort(PortId(2 * link.Get() + side))->SetLossRate(loss);
    }
}

void RoceFailures::OnRerouted()
{
    m_fabric.ForgetWays();
    m_onRerouted();
}

} // namespace echo
} // namespace ns3
