// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-failures.h"

#include "echo-roce-fabric.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRoceFailures");

RoceFailures::RoceFailures(std::vector<LinkEvent> events,
                           Time rerouteDelay,
                           RoceFabric& fabric,
                           Ptr<Router> router,
                           std::function<void()> onRerouted)
    : m_events(std::move(events)),
      m_fabric(fabric),
      m_router(router),
      m_onRerouted(std::move(onRerouted))
{
    std::stable_sort(m_events.begin(), m_events.end(), [](const LinkEvent& a, const LinkEvent& b) {
        return a.time < b.time;
    });
    for (size_t i = 0; i < m_events.size(); ++i)
    {
        const LinkEvent& event = m_events[i];
        m_scheduled.push_back(Simulator::Schedule(event.time, &RoceFailures::Apply, this, i));
        m_pending += event.kind == LinkEvent::Kind::UP ? 1 : 0;
        if (event.kind == LinkEvent::Kind::UP || event.kind == LinkEvent::Kind::DOWN)
        {
            ++m_pending;
            m_scheduled.push_back(
                Simulator::Schedule(event.time + rerouteDelay, &RoceFailures::Reroute, this, i));
        }
    }
}

RoceFailures::~RoceFailures()
{
    for (EventId& event : m_scheduled)
    {
        event.Cancel();
    }
}

bool RoceFailures::MayRecover() const
{
    return m_pending > 0;
}

std::string RoceFailures::DescribeDown() const
{
    std::set<std::string> subjects;
    for (const auto& [link, causes] : m_causes)
    {
        subjects.insert(causes.begin(), causes.end());
    }
    std::string text;
    for (const std::string& subject : subjects)
    {
        text += (text.empty() ? "" : ", ") + subject;
    }
    return text;
}

void RoceFailures::Apply(size_t number)
{
    const LinkEvent& event = m_events[number];
    NS_LOG_INFO("event of " << event.subject << " at " << event.time);
    for (const LinkId link : event.links)
    {
        switch (event.kind)
        {
        case LinkEvent::Kind::DOWN:
            if (m_causes[link].empty())
            {
                Cut(link);
            }
            m_causes[link].insert(event.subject);
            break;
        case LinkEvent::Kind::UP:
            if (const auto found = m_causes.find(link); found != m_causes.end())
            {
                found->second.erase(event.subject);
                if (found->second.empty())
                {
                    m_causes.erase(found);
                    Restore(link);
                }
            }
            break;
        case LinkEvent::Kind::RATE:
        case LinkEvent::Kind::LOSS:
            for (const uint32_t side : {0u, 1u})
            {
                RocePort& port = *m_fabric.GetPort(PortId(2 * link.Get() + side));
                if (event.kind == LinkEvent::Kind::RATE)
                {
                    port.ChangeRate(event.rate);
                }
                else
                {
                    port.SetLossRate(event.loss);
                }
            }
            break;
        }
    }
    m_pending -= event.kind == LinkEvent::Kind::UP ? 1 : 0;
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

void RoceFailures::Reroute(size_t number)
{
    std::vector<LinkId> down;
    std::vector<LinkId> up;
    for (const LinkId link : m_events[number].links)
    {
        (m_causes.count(link) > 0 ? down : up).push_back(link);
    }
    m_router->SetLinksUp(down, false);
    m_router->SetLinksUp(up, true);
    m_fabric.ForgetWays();
    --m_pending;
    m_onRerouted();
}

} // namespace echo
} // namespace ns3
