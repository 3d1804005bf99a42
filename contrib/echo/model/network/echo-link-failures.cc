// SPDX-License-Identifier: GPL-2.0-only
#include "echo-link-failures.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoLinkFailures");

LinkFailures::LinkFailures(std::vector<LinkEvent> events, Time rerouteDelay, Ptr<Router> router)
    : m_events(std::move(events)), m_router(router)
{
    std::stable_sort(m_events.begin(), m_events.end(), [](const LinkEvent& a, const LinkEvent& b) {
        return a.time < b.time;
    });
    for (size_t i = 0; i < m_events.size(); ++i)
    {
        const LinkEvent& event = m_events[i];
        m_scheduled.push_back(Simulator::Schedule(event.time, &LinkFailures::Apply, this, i));
        m_pending += event.kind == LinkEvent::Kind::UP ? 1 : 0;
        if (event.kind == LinkEvent::Kind::UP || event.kind == LinkEvent::Kind::DOWN)
        {
            ++m_pending;
            m_scheduled.push_back(
                Simulator::Schedule(event.time + rerouteDelay, &LinkFailures::Reroute, this, i));
        }
    }
}

LinkFailures::~LinkFailures()
{
    for (EventId& event : m_scheduled)
    {
        event.Cancel();
    }
}

bool LinkFailures::MayRecover() const
{
    return m_pending > 0;
}

std::string LinkFailures::DescribeDown() const
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

std::string LinkFailures::DescribeUnreachable(const std::vector<Pair>& flows) const
{
    constexpr size_t MOST_NAMED = 4;
    std::set<std::string> pairs;
    for (const auto& [source, destination] : flows)
    {
        const Topology& topology = *m_router->GetTopology();
        pairs.insert(topology.GetDevice(source).name + " to " +
                     topology.GetDevice(destination).name);
    }
    std::string named;
    size_t place = 0;
    for (const std::string& pair : pairs)
    {
        if (place == MOST_NAMED)
        {
            named += "; " + std::to_string(pairs.size() - MOST_NAMED) + " more pairs";
            break;
        }
        named += (place++ == 0 ? "" : "; ") + pair;
    }
    return "no way is left for " + std::to_string(flows.size()) + " flows (" + named + ") with " +
           DescribeDown() + " down\n";
}

void LinkFailures::Apply(size_t number)
{
    const LinkEvent& event = m_events[number];
    NS_LOG_INFO("event of " << event.subject << " at " << event.time);
    for (const LinkId link : event.links)
    {
        ApplyTo(link, event);
    }
    m_pending -= event.kind == LinkEvent::Kind::UP ? 1 : 0;
}

void LinkFailures::ApplyTo(LinkId link, const LinkEvent& event)
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
        ChangeRate(link, event.rate);
        break;
    case LinkEvent::Kind::LOSS:
        SetLoss(link, event.loss);
        break;
    }
}

void LinkFailures::Reroute(size_t number)
{
    std::vector<LinkId> down;
    std::vector<LinkId> up;
    for (const LinkId link : m_events[number].links)
    {
        (m_causes.count(link) > 0 ? down : up).push_back(link);
    }
    m_router->SetLinksUp(down, false);
    m_router->SetLinksUp(up, true);
    --m_pending;
    OnRerouted();
}

} // namespace echo
} // namespace ns3
