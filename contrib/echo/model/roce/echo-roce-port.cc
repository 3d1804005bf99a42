// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-port.h"

#include "echo-roce-device.h"
#include "echo-roce-header.h"

#include "ns3/boolean.h"
#include "ns3/echo-units.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRocePort");
NS_OBJECT_ENSURE_REGISTERED(RocePort);

TypeId RocePort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::RocePort")
            .SetParent<NetDevice>()
            .SetGroupName("Echo")
            .AddConstructor<RocePort>()
            .AddAttribute("DataRate",
                          "Rate of the link, each way.",
                          DataRateValue(DataRate("100Gb/s")),
                          MakeDataRateAccessor(&RocePort::m_rate),
                          MakeDataRateChecker())
            .AddAttribute("Lazy",
                          "Make the end of a transmission an event only if something waits for "
                          "it. False: always (slower, same results).",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RocePort::m_lazy),
                          MakeBooleanChecker())
            .AddTraceSource("Transmit",
                            "A packet starts; its first bit leaves at the time given.",
                            MakeTraceSourceAccessor(&RocePort::m_transmitTrace),
                            "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource("Receive",
                            "A packet has arrived with its last bit.",
                            MakeTraceSourceAccessor(&RocePort::m_receiveTrace),
                            "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource("Drop",
                            "A packet that came in by this port is lost: at random or because the "
                            "buffer is full.",
                            MakeTraceSourceAccessor(&RocePort::m_dropTrace),
                            "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource("Queue",
                            "The data queue has changed to so many wire bytes.",
                            MakeTraceSourceAccessor(&RocePort::m_queueTrace),
                            "ns3::echo::RocePort::QueueTracedCallback")
            .AddTraceSource("Pause",
                            "The data class is stopped (true) or restarted by the other end.",
                            MakeTraceSourceAccessor(&RocePort::m_pauseTrace),
                            "ns3::echo::RocePort::PauseTracedCallback");
    return tid;
}

RocePort::RocePort()
    : m_address(Mac48Address::Allocate()),
      m_transmitTrace(this),
      m_receiveTrace(this),
      m_dropTrace(this),
      m_queueTrace(this),
      m_pauseTrace(this)
{
}

void RocePort::Install(RoceDevice* device, RoceAgenda* agenda, uint32_t index, uint32_t arrivalSlot)
{
    m_device = device;
    m_agenda = agenda;
    m_index = index;
    m_arrivalSlot = arrivalSlot;
    if (m_peer)
    {
        m_peer->m_peerAgenda = agenda;
        m_peer->m_peerSlot = arrivalSlot;
    }
    const uint64_t bits = m_rate.GetBitRate();
    constexpr uint64_t BIT_PS = 8000000000000; // ps of a byte at 1 b/s
    m_psPerByte = BIT_PS % bits == 0 ? static_cast<int64_t>(BIT_PS / bits) : 0;
}

void RocePort::Connect(RoceChannel* channel, RocePort* peer)
{
    m_channel = channel;
    m_peer = peer;
    m_delay = channel->GetDelay().GetPicoSeconds();
    m_peerAgenda = peer->m_agenda;
    m_peerSlot = peer->m_arrivalSlot;
}

int64_t RocePort::ComputeTx(uint32_t bytes)
{
    m_cachedBytes = bytes;
    m_cachedTime = TxTime(bytes, m_rate).GetPicoSeconds();
    return m_cachedTime;
}

RocePacket* RocePort::Next(int64_t now)
{
    if (!m_control.IsEmpty())
    {
        return m_control.Pop();
    }
    return m_waiting > 0 && !m_paused ? m_device->PullData(*this, now) : nullptr;
}

void RocePort::OnTransmitDone(int64_t now)
{
    m_busy = false;
    RocePacket* packet = Next(now);
    m_armed = false;
    if (packet)
    {
        Transmit(packet, now);
        if (!m_lazy || HasWaiting())
        {
            Arm();
            return;
        }
    }
    m_agenda->Set(m_index, RoceAgenda::NEVER);
}

RocePacket* RocePort::SendPause(RocePacket* packet, int64_t now)
{
    if (!IsBusy(now))
    {
        Start(packet, now);
        return nullptr;
    }
    if (!m_control.IsEmpty() && m_control.Front()->kind >= RocePacketKind::PAUSE)
    {
        return m_control.Pop();
    }
    m_control.PushFront(packet);
    ArmOnce(now);
    return nullptr;
}

void RocePort::Wake(int64_t now)
{
    if (!HasWaiting())
    {
        return;
    }
    if (IsBusy(now))
    {
        ArmOnce(now);
    }
    else if (RocePacket* packet = Next(now))
    {
        Start(packet, now);
    }
}

void RocePort::OnPause(bool pause, int64_t now)
{
    NS_LOG_LOGIC((pause ? "XOFF" : "XON") << " at " << now << " ps");
    if (pause)
    {
        ++m_statistics.pauses;
    }
    if (pause == m_paused)
    {
        return;
    }
    m_paused = pause;
    m_pauseTrace(TimeStep(static_cast<uint64_t>(now)), pause);
    if (pause)
    {
        m_pausedSince = now;
        return;
    }
    m_statistics.paused += now - m_pausedSince;
    Wake(now);
}

void RocePort::SetTraced()
{
    m_traced = true;
    if (m_peer)
    {
        m_peer->m_traced = true;
    }
}

void RocePort::TraceTransmit(RocePacket& packet, int64_t now)
{
    if (m_stamping && packet.kind == RocePacketKind::DATA)
    {
        RoceTelemetry& telemetry = RocePacketPool::GetExtension(packet).telemetry;
        const uint64_t before = m_statistics.wireBytes - packet.wireBytes;
        if (telemetry.hops < RoceTelemetry::MAX_HOPS)
        {
            telemetry.hop[telemetry.hops++] = {now, before, m_queueBytes, GetBitRate()};
        }
    }
    if (!m_transmitTrace.IsEmpty())
    {
        m_transmitTrace(TimeStep(static_cast<uint64_t>(now)), MakeFrame(packet, *this));
    }
}

void RocePort::TraceArrival(const RocePacket& packet, int64_t now)
{
    if (!m_peer->m_receiveTrace.IsEmpty())
    {
        m_peer->m_receiveTrace(TimeStep(static_cast<uint64_t>(now)), MakeFrame(packet, *this));
    }
}

void RocePort::TraceDrop(const RocePacket& packet, int64_t now)
{
    if (!m_peer->m_dropTrace.IsEmpty())
    {
        m_peer->m_dropTrace(TimeStep(static_cast<uint64_t>(now)), MakeFrame(packet, *this));
    }
}

void RocePort::CloseWindow(int64_t now)
{
    const int64_t length = int64_t{1} << WINDOW_SHIFT;
    const double share =
        static_cast<double>(m_statistics.busy - m_windowStartBusy) / static_cast<double>(length);
    // A transmission counts in the window that it starts in: the share may pass 1 by a packet.
    m_statistics.peakRate = std::max(m_statistics.peakRate, std::min(share, 1.0));
    m_windowStartBusy = m_statistics.busy;
    m_window = now >> WINDOW_SHIFT;
}

RocePortStatistics RocePort::GetStatistics(int64_t now) const
{
    RocePortStatistics result = m_statistics;
    if (m_paused)
    {
        result.paused += now - m_pausedSince;
    }
    const int64_t start = m_window << WINDOW_SHIFT;
    const int64_t length = std::max<int64_t>(1, std::min(now - start, int64_t{1} << WINDOW_SHIFT));
    const double share =
        static_cast<double>(m_statistics.busy - m_windowStartBusy) / static_cast<double>(length);
    result.peakRate = std::max(result.peakRate, std::min(share, 1.0));
    return result;
}

void RocePort::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t RocePort::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel> RocePort::GetChannel() const
{
    return m_channel;
}

void RocePort::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address RocePort::GetAddress() const
{
    return m_address;
}

bool RocePort::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t RocePort::GetMtu() const
{
    return static_cast<uint16_t>(m_mtu);
}

bool RocePort::IsLinkUp() const
{
    return m_peer != nullptr;
}

void RocePort::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool RocePort::IsBroadcast() const
{
    return false;
}

Address RocePort::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool RocePort::IsMulticast() const
{
    return false;
}

Address RocePort::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address RocePort::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool RocePort::IsBridge() const
{
    return false;
}

bool RocePort::IsPointToPoint() const
{
    return true;
}

bool RocePort::Send(Ptr<Packet>, const Address&, uint16_t)
{
    return false;
}

bool RocePort::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node> RocePort::GetNode() const
{
    return m_node;
}

void RocePort::SetNode(Ptr<Node> node)
{
    m_node = PeekPointer(node);
}

bool RocePort::NeedsArp() const
{
    return false;
}

void RocePort::SetReceiveCallback(ReceiveCallback)
{
}

void RocePort::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
}

bool RocePort::SupportsSendFrom() const
{
    return false;
}

void RocePort::DoDispose()
{
    m_channel = nullptr;
    m_node = nullptr;
    NetDevice::DoDispose();
}

} // namespace echo
} // namespace ns3
