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
            .AddTraceSource("Enqueue",
                            "A data packet has to wait in this port's queue.",
                            MakeTraceSourceAccessor(&RocePort::m_enqueueTrace),
                            "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource(
                "Dequeue",
                "A data packet leaves the queue, to be sent next or lost with the link.",
                MakeTraceSourceAccessor(&RocePort::m_dequeueTrace),
                "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource("Mark",
                            "A data packet is marked with ECN at this port.",
                            MakeTraceSourceAccessor(&RocePort::m_markTrace),
                            "ns3::echo::RocePort::PacketTracedCallback")
            .AddTraceSource("Pause",
                            "The other end stops this traffic class.",
                            MakeTraceSourceAccessor(&RocePort::m_pauseTrace),
                            "ns3::echo::RocePort::PauseTracedCallback")
            .AddTraceSource("Resume",
                            "The other end restarts this traffic class.",
                            MakeTraceSourceAccessor(&RocePort::m_resumeTrace),
                            "ns3::echo::RocePort::PauseTracedCallback");
    return tid;
}

RocePort::RocePort()
    : m_transmitTrace(this),
      m_receiveTrace(this),
      m_dropTrace(this),
      m_queueTrace(this),
      m_enqueueTrace(this),
      m_dequeueTrace(this),
      m_markTrace(this),
      m_pauseTrace(this),
      m_resumeTrace(this)
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
    ChangeRate(m_rate);
}

void RocePort::ChangeRate(DataRate rate)
{
    m_rate = rate;
    const uint64_t bits = m_rate.GetBitRate();
    constexpr uint64_t BIT_PS = 8000000000000; // ps of a byte at 1 b/s
    m_psPerByte = BIT_PS % bits == 0 ? static_cast<int64_t>(BIT_PS / bits) : 0;
    m_psOfByte = static_cast<double>(BIT_PS) / static_cast<double>(bits);
    m_cachedBytes = 0;
    m_cachedTime = 0;
}

uint32_t RocePort::PickClass()
{
    return m_data.GetScheduler().Pick(GetEligible());
}

void RocePort::ChargeClass(uint32_t trafficClass, uint32_t bytes)
{
    m_data.GetScheduler().Charge(trafficClass, bytes);
}

void RocePort::SetLossRate(double rate)
{
    m_lossRate = rate;
}

void RocePort::SetClasses(const std::vector<TrafficClass>& classes, uint32_t quantum)
{
    m_data.SetClasses(classes, quantum);
}

void RocePort::Connect(RoceChannel* channel, RocePort* peer)
{
    SetChannel(channel);
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
    return GetEligible() != 0 ? m_device->PullData(*this, now) : nullptr;
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

RocePacket* RocePort::TakePause(uint32_t trafficClass)
{
    // Pause frames are at the front, one a class at most.
    RocePacketQueue others;
    RocePacket* found = nullptr;
    while (!found && !m_control.IsEmpty() && m_control.Front()->kind >= RocePacketKind::PAUSE)
    {
        RocePacket* frame = m_control.Pop();
        if (frame->trafficClass == trafficClass)
        {
            found = frame;
        }
        else
        {
            others.Push(frame);
        }
    }
    while (!others.IsEmpty())
    {
        m_control.PushFront(others.Pop());
    }
    return found;
}

RocePacket* RocePort::SendPause(RocePacket* packet, int64_t now)
{
    // A transmission may end at this very instant and its event, armed as something waits, be still
    // to come: this frame must not overtake an opposite one.
    if (!IsBusy(now) && !m_armed)
    {
        Start(packet, now);
        return nullptr;
    }
    if (RocePacket* waiting = TakePause(packet->trafficClass))
    {
        return waiting;
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

void RocePort::OnPause(bool pause, uint32_t trafficClass, int64_t now)
{
    NS_LOG_LOGIC((pause ? "XOFF" : "XON")
                 << " of class " << trafficClass << " at " << now << " ps");
    if (pause)
    {
        ++m_statistics.pauses;
    }
    if (pause == IsPaused(trafficClass))
    {
        return;
    }
    const bool wasPaused = m_pausedClasses != 0;
    m_pausedClasses ^= static_cast<uint8_t>(1u << trafficClass);
    (pause ? m_pauseTrace : m_resumeTrace)(TimeStep(static_cast<uint64_t>(now)), trafficClass);
    if (pause)
    {
        m_pausedSince = wasPaused ? m_pausedSince : now;
        return;
    }
    if (m_pausedClasses == 0)
    {
        m_statistics.paused += now - m_pausedSince;
    }
    Wake(now);
}

void RocePort::GoDown(int64_t now, RocePacketQueue& onWire, RocePacketQueue& waiting)
{
    while (!m_wire.IsEmpty())
    {
        onWire.Push(m_wire.Pop());
    }
    m_peerAgenda->Set(m_peerSlot, RoceAgenda::NEVER);
    while (!m_control.IsEmpty())
    {
        waiting.Push(m_control.Pop());
    }
    if (m_pausedClasses != 0)
    {
        m_statistics.paused += now - m_pausedSince;
        m_pausedClasses = 0;
    }
    while (m_data.GetBytes() > 0)
    {
        waiting.Push(DequeueData(now));
    }
    // Busy for ever: nothing starts, and no test on the way of a packet is needed for that.
    m_freeAtDown = std::min(m_freeAt, now);
    m_freeAt = RoceAgenda::NEVER;
    m_busy = true;
    m_armed = true;
    m_agenda->Set(m_index, RoceAgenda::NEVER);
    m_up = false;
}

void RocePort::GoUp(int64_t now)
{
    m_up = true;
    m_freeAt = now;
    m_busy = false;
    m_armed = false;
    NotifyLinkChange();
    Wake(now);
}

int64_t RocePort::GetBacklog(uint32_t trafficClass, int64_t now) const
{
    if (IsPaused(trafficClass) || !m_up)
    {
        return INT64_MAX / 2 + static_cast<int64_t>(m_data.GetBytes());
    }
    return std::max<int64_t>(m_freeAt - now, 0) +
           static_cast<int64_t>(static_cast<double>(m_data.GetBytes()) * m_psOfByte);
}

void RocePort::SetTraced()
{
    m_traced = true;
    if (m_peer)
    {
        m_peer->m_traced = true;
    }
}

void RocePort::TraceQueue(bool enqueued, const RocePacket& packet, int64_t now)
{
    const auto& trace = enqueued ? m_enqueueTrace : m_dequeueTrace;
    m_queueTrace(TimeStep(static_cast<uint64_t>(now)), m_data.GetBytes());
    if (!trace.IsEmpty())
    {
        trace(TimeStep(static_cast<uint64_t>(now)), MakeFrame(packet, *this));
    }
}

void RocePort::TraceMark(const RocePacket& packet, int64_t now)
{
    if (!m_markTrace.IsEmpty())
    {
        m_markTrace(TimeStep(static_cast<uint64_t>(now)), MakeFrame(packet, *this));
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
            telemetry.hop[telemetry.hops++] = {now, before, m_data.GetBytes(), GetBitRate()};
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
    if (m_pausedClasses != 0)
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

bool RocePort::IsLinkUp() const
{
    return m_peer != nullptr && m_up;
}

int64_t RocePort::GetPausedSince() const
{
    return m_pausedSince;
}

bool RocePort::IsUp() const
{
    return m_up;
}

double RocePort::GetLossRate() const
{
    return m_lossRate;
}

int64_t RocePort::GetFreeAt() const
{
    return m_up ? m_freeAt : m_freeAtDown;
}

} // namespace echo
} // namespace ns3
