// SPDX-License-Identifier: GPL-2.0-only
#include "echo-load-balancer.h"

#include "echo-queue-pair.h"
#include "echo-roce-port.h"

#include "ns3/echo-error.h"
#include "ns3/object-factory.h"

#include <utility>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(LoadBalancer);
NS_OBJECT_ENSURE_REGISTERED(SprayBalancer);
NS_OBJECT_ENSURE_REGISTERED(FlowletBalancer);
NS_OBJECT_ENSURE_REGISTERED(AdaptiveBalancer);

TypeId LoadBalancer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::LoadBalancer").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

LoadBalancer::LoadBalancer() : m_random(CreateObject<UniformRandomVariable>())
{
}

Ptr<LoadBalancer> LoadBalancer::Make(const std::string& type)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(type, &tid) || !tid.HasConstructor() ||
        !tid.IsChildOf(LoadBalancer::GetTypeId()))
    {
        throw InputError({"", 0, "ns3::echo::PacketNetwork::LoadBalancer"},
                         "'" + type + "'",
                         "the TypeId of a load balancer such as ns3::echo::SprayBalancer");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<LoadBalancer>();
}

void LoadBalancer::AssignStream(int64_t stream)
{
    m_random->SetStream(stream);
}

uint32_t LoadBalancer::Draw(uint32_t count)
{
    return m_random->GetInteger(0, count - 1);
}

TypeId SprayBalancer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SprayBalancer")
                            .SetParent<LoadBalancer>()
                            .SetGroupName("Echo")
                            .AddConstructor<SprayBalancer>();
    return tid;
}

RocePort* SprayBalancer::Choose(const RocePacket&, const PortGroup& group, int64_t)
{
    if (group.number >= m_rounds.size())
    {
        m_rounds.resize(group.number + 1);
    }
    Round& round = m_rounds[group.number];
    if (round.order.empty())
    {
        round.order = group.ports;
    }
    // A step of a Fisher-Yates shuffle each packet.
    const auto left = static_cast<uint32_t>(round.order.size()) - round.next;
    std::swap(round.order[round.next], round.order[round.next + Draw(left)]);
    RocePort* port = round.order[round.next];
    round.next = left == 1 ? 0 : round.next + 1;
    return port;
}

bool SprayBalancer::Reorders() const
{
    return true;
}

void SprayBalancer::ForgetGroups()
{
    m_rounds.clear();
}

TypeId FlowletBalancer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::FlowletBalancer")
            .SetParent<LoadBalancer>()
            .SetGroupName("Echo")
            .AddConstructor<FlowletBalancer>()
            .AddAttribute("Gap",
                          "Time without a packet at the switch after which a flow may take another "
                          "port; more than ways of equal length differ in delay.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&FlowletBalancer::m_gap),
                          MakeTimeChecker(Time(0)));
    return tid;
}

RocePort* FlowletBalancer::Choose(const RocePacket& packet, const PortGroup& group, int64_t now)
{
    Flowlet& flowlet = m_flowlets[packet.queuePair->GetNumber()];
    if (!flowlet.port || now - flowlet.last > m_gap.GetPicoSeconds())
    {
        flowlet.port = group.ports[Draw(static_cast<uint32_t>(group.ports.size()))];
    }
    flowlet.last = now;
    return flowlet.port;
}

bool FlowletBalancer::Reorders() const
{
    return false;
}

void FlowletBalancer::ForgetGroups()
{
    m_flowlets.clear();
}

TypeId AdaptiveBalancer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::AdaptiveBalancer")
                            .SetParent<LoadBalancer>()
                            .SetGroupName("Echo")
                            .AddConstructor<AdaptiveBalancer>();
    return tid;
}

RocePort* AdaptiveBalancer::Choose(const RocePacket& packet, const PortGroup& group, int64_t now)
{
    if (group.number >= m_turns.size())
    {
        m_turns.resize(group.number + 1);
    }
    const auto count = static_cast<uint32_t>(group.ports.size());
    uint32_t& turn = m_turns[group.number];
    uint32_t best = 0;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0, p = turn % count; i < count; ++i, p = p + 1 == count ? 0 : p + 1)
    {
        const int64_t backlog = group.ports[p]->GetBacklog(packet.trafficClass, now);
        if (backlog < least)
        {
            least = backlog;
            best = p;
        }
    }
    turn = best + 1;
    return group.ports[best];
}

bool AdaptiveBalancer::Reorders() const
{
    return true;
}

void AdaptiveBalancer::ForgetGroups()
{
    m_turns.clear();
}

} // namespace echo
} // namespace ns3
