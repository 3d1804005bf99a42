// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-device.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRoceDevice");
NS_OBJECT_ENSURE_REGISTERED(RoceDevice);

TypeId RoceDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RoceDevice").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

RoceDevice::RoceDevice() : m_random(CreateObject<UniformRandomVariable>())
{
}

RoceDevice::~RoceDevice()
{
    if (m_agenda)
    {
        m_agenda->Detach();
        m_agenda->Unref();
    }
}

void RoceDevice::Prepare(Ptr<Node> node, const RoceParameters* parameters, RocePacketPool* pool)
{
    m_parameters = parameters;
    m_pool = pool;
    m_agenda = new RoceAgenda(this, node->GetId());
    node->AggregateObject(this);
}

void RoceDevice::AddPort(Ptr<RocePort> port)
{
    m_ports.push_back(PeekPointer(port));
}

void RoceDevice::Seal()
{
    m_agenda->Configure(2 * GetPortCount() + (HasTimer() ? 1 : 0), GetLookahead());
    for (uint32_t i = 0; i < GetPortCount(); ++i)
    {
        m_ports[i]->Install(this, m_agenda, i, GetPortCount() + i);
        m_peers.push_back(m_ports[i]->GetPeer());
    }
    DoSeal();
}

void RoceDevice::DoSeal()
{
}

void RoceDevice::AssignStream(int64_t stream)
{
    m_random->SetStream(stream);
}

void RoceDevice::Handle(uint32_t slot, int64_t now)
{
    const uint32_t ports = GetPortCount();
    if (slot < ports)
    {
        m_ports[slot]->OnTransmitDone(now);
        return;
    }
    if (slot == 2 * ports)
    {
        SetTimer(RoceAgenda::NEVER);
        OnTimer(now);
        return;
    }
    RocePort* from = m_peers[slot - ports];
    RocePacket* packet = from->TakeArrival();
    int64_t nextArrival = RoceAgenda::NEVER;
    if (const RocePacket* next = from->PeekArrival())
    {
        nextArrival = next->arrival;
        __builtin_prefetch(next->route + 1);
    }
    m_agenda->Set(slot, nextArrival);
    from->NoteArrival(*packet, now);
    if (packet->kind >= RocePacketKind::PAUSE)
    {
        m_ports[slot - ports]->OnPause(
            packet->kind == RocePacketKind::PAUSE, packet->trafficClass, now);
        m_pool->Give(packet);
        return;
    }
    if (m_parameters->randomLoss && packet->kind == RocePacketKind::DATA &&
        from->GetLossRate() > 0 && GetRandom() < from->GetLossRate())
    {
        NS_LOG_LOGIC("packet " << packet->sequence << " lost at random");
        ++m_randomDrops;
        from->CountDrop(*packet, now);
        m_pool->Give(packet);
        return;
    }
    Receive(slot - ports, packet, now);
}

void RoceDevice::Prefetch(const int64_t* times, int64_t end) const
{
    constexpr uint32_t MOST = 32;
    const RocePacket* due[MOST];
    const RocePort* done[MOST];
    uint32_t arrivals = 0;
    uint32_t transmissions = 0;
    const uint32_t ports = std::min(GetPortCount(), MOST);
    for (uint32_t p = 0; p < ports; ++p)
    {
        if (times[GetPortCount() + p] < end)
        {
            due[arrivals++] = m_peers[p]->PeekArrival();
        }
        if (times[p] < end)
        {
            done[transmissions++] = m_ports[p];
            m_ports[p]->Prefetch();
        }
    }
    for (uint32_t i = 0; i < arrivals; ++i)
    {
        __builtin_prefetch(due[i]);
    }
    for (uint32_t i = 0; i < transmissions; ++i)
    {
        PrefetchData(*done[i]);
    }
    for (uint32_t i = 0; i < arrivals; ++i)
    {
        __builtin_prefetch(due[i]->next);
        __builtin_prefetch(due[i]->route + 1);
        if (due[i]->out)
        {
            due[i]->out->Prefetch();
        }
    }
    for (uint32_t i = 0; i < transmissions; ++i)
    {
        if (const RocePacket* packet = done[i]->GetData().Peek())
        {
            __builtin_prefetch(packet->next);
        }
    }
}

void RoceDevice::PrefetchData(const RocePort& port) const
{
    __builtin_prefetch(port.GetData().Peek());
}

void RoceDevice::CutLink(uint32_t port, int64_t now)
{
    RocePacketQueue onWire;
    RocePacketQueue waiting;
    m_ports[port]->GoDown(now, onWire, waiting);
    for (RocePacketQueue* lost : {&onWire, &waiting})
    {
        while (!lost->IsEmpty())
        {
            RocePacket* packet = lost->Pop();
            if (packet->kind < RocePacketKind::PAUSE)
            {
                m_ports[port]->CountDrop(*packet, now);
            }
            if (lost == &waiting && packet->kind == RocePacketKind::DATA)
            {
                OnLost(*packet, now);
            }
            m_pool->Give(packet);
        }
    }
}

void RoceDevice::RestoreLink(uint32_t port, int64_t now)
{
    m_ports[port]->GoUp(now);
}

void RoceDevice::OnLost(const RocePacket&, int64_t)
{
}

int64_t RoceDevice::GetLookahead() const
{
    return 0;
}

bool RoceDevice::HasTimer() const
{
    return false;
}

void RoceDevice::OnTimer(int64_t)
{
}

void RoceDevice::DoDispose()
{
    if (m_agenda)
    {
        m_agenda->Detach();
    }
    m_ports.clear();
    Object::DoDispose();
}

} // namespace echo
} // namespace ns3
