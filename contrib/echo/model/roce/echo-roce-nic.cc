// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-nic.h"

#include "ns3/boolean.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRoceNic");
NS_OBJECT_ENSURE_REGISTERED(RoceNic);

TypeId RoceNic::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::RoceNic")
            .SetParent<RoceDevice>()
            .SetGroupName("Echo")
            .AddConstructor<RoceNic>()
            .AddAttribute(
                "ByteFair",
                "Queue pairs take turns by bytes (deficit round robin). False: by packets.",
                BooleanValue(false),
                MakeBooleanAccessor(&RoceNic::m_byteFair),
                MakeBooleanChecker())
            .AddTraceSource("Cnp",
                            "A CNP has come to a queue pair that sends by this NIC.",
                            MakeTraceSourceAccessor(&RoceNic::m_noticeTrace),
                            "ns3::echo::RoceNic::NoticeTracedCallback")
            .AddTraceSource("Rate",
                            "Congestion control has changed a queue pair's rate (bits per second; "
                            "the line rate if it is not limited) or window (bytes; 0: no limit).",
                            MakeTraceSourceAccessor(&RoceNic::m_rateTrace),
                            "ns3::echo::RoceNic::RateTracedCallback")
            .AddTraceSource("Retransmission",
                            "A queue pair sends a packet again.",
                            MakeTraceSourceAccessor(&RoceNic::m_retransmissionTrace),
                            "ns3::echo::RoceNic::RetransmissionTracedCallback")
            .AddTraceSource("Rtt",
                            "From the start of a packet to the acknowledgement it asked for.",
                            MakeTraceSourceAccessor(&RoceNic::m_rttTrace),
                            "ns3::echo::RoceNic::RttTracedCallback");
    return tid;
}

RoceNic::RoceNic()
    : m_noticeTrace(this), m_rateTrace(this), m_retransmissionTrace(this), m_rttTrace(this)
{
}

void RoceNic::SetTraced()
{
    m_traced = true;
    m_measuresRtt = m_measuresRtt || !m_rttTrace.IsEmpty();
}

void RoceNic::SetPolicy(Ptr<CongestionControl> control, DeliveredFunction delivered)
{
    m_control = control;
    m_delivered = std::move(delivered);
}

void RoceNic::DoSeal()
{
    m_rounds.assign(GetPortCount() * GetParameters().classes.size(), QueuePairRound{});
    m_canLose = GetParameters().CanLose();
    m_usesAcknowledgements = m_control->UsesAcknowledgements();
    m_measuresRtt = m_control->UsesRtt();
}

void RoceNic::Activate(QueuePair& queuePair, int64_t now)
{
    if (queuePair.GetOutstanding() == 0)
    {
        queuePair.lastProgress = now;
    }
    if (queuePair.state == QueuePair::State::IDLE)
    {
        Reconsider(queuePair, now);
    }
}

void RoceNic::Wake(QueuePair& queuePair, int64_t now)
{
    queuePair.GetForth()[0]->Wake(now);
}

void RoceNic::Resume(QueuePair& queuePair, int64_t now)
{
    if (Reconsider(queuePair, now))
    {
        Wake(queuePair, now);
    }
}

void RoceNic::Move(QueuePair& queuePair, RocePort* forth, RocePort* back, int64_t now)
{
    const bool ready = queuePair.state == QueuePair::State::READY;
    if (ready)
    {
        RocePort& port = *queuePair.GetForth()[0];
        QueuePairRound& round = RoundOf(port, queuePair.trafficClass);
        round.Remove(queuePair);
        port.SetWaiting(queuePair.trafficClass, round.GetCount() > 0);
    }
    queuePair.SetFirstPorts(forth, back);
    if (ready)
    {
        Resume(queuePair, now);
    }
}

QueuePairRound& RoceNic::RoundOf(RocePort& port, uint32_t trafficClass)
{
    return m_rounds[port.GetIndex() * GetParameters().classes.size() + trafficClass];
}

void RoceNic::PrefetchData(const RocePort& port) const
{
    const QueuePairRound& round = m_rounds[port.GetIndex() * GetParameters().classes.size()];
    if (const QueuePair* queuePair = round.Peek())
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(queuePair);
        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
    }
}

bool RoceNic::Reconsider(QueuePair& queuePair, int64_t now)
{
    if (queuePair.MaySend(now))
    {
        RocePort& port = *queuePair.GetForth()[0];
        QueuePairRound& round = RoundOf(port, queuePair.trafficClass);
        if (m_byteFair && queuePair.credit >= queuePair.GetNextWireBytes())
        {
            round.PushFront(queuePair);
        }
        else
        {
            queuePair.credit += GetParameters().GetFullWireBytes();
            round.PushBack(queuePair);
        }
        port.SetWaiting(queuePair.trafficClass, true);
        return true;
    }
    queuePair.credit = 0;
    if (!queuePair.HasPacket())
    {
        queuePair.state = QueuePair::State::IDLE;
    }
    else if (queuePair.IsWindowFull())
    {
        queuePair.state = QueuePair::State::BLOCKED;
    }
    else
    {
        Pace(queuePair);
    }
    return false;
}

void RoceNic::Pace(QueuePair& queuePair)
{
    queuePair.state = QueuePair::State::PACED;
    if (queuePair.nextSend < queuePair.paceTimer)
    {
        queuePair.paceTimer = queuePair.nextSend;
        AddTimer({queuePair.nextSend, false, &queuePair});
    }
}

RocePacket* RoceNic::PullData(RocePort& port, int64_t now)
{
    const uint32_t trafficClass = port.HasClasses() ? port.PickClass() : 0;
    QueuePairRound& round = RoundOf(port, trafficClass);
    RocePacket* packet = nullptr;
    while (!packet && round.GetCount() > 0)
    {
        QueuePair& queuePair = round.Pop();
        if (const QueuePair* next = round.Peek())
        {
            next->Prefetch();
        }
        int64_t next = now;
        if (queuePair.MaySend(now))
        {
            packet = GetPool().Take();
            if (GetParameters().telemetry)
            {
                RocePacketPool::GetExtension(*packet).telemetry.hops = 0;
            }
            const bool awaited = queuePair.AwaitsAcknowledgement();
            const bool again = queuePair.MakePacket(*packet);
            packet->trafficClass = static_cast<uint8_t>(trafficClass);
            if (port.HasClasses())
            {
                port.ChargeClass(trafficClass, packet->wireBytes);
            }
            if (m_canLose && packet->ackRequest)
            {
                SetTimeout(queuePair, !awaited || again, now);
            }
            OnSent(queuePair, *packet, again, now);
            queuePair.credit -= packet->wireBytes;
            next += port.TxPicoseconds(packet->wireBytes);
        }
        Reconsider(queuePair, next);
    }
    port.SetWaiting(trafficClass, round.GetCount() > 0);
    if (!packet && port.GetEligible() != 0)
    {
        return PullData(port, now);
    }
    return packet;
}

void RoceNic::OnSent(QueuePair& queuePair, const RocePacket& packet, bool again, int64_t now)
{
    RateState& state = queuePair.GetRate();
    if (state.limited)
    {
        const double rate = state.rate;
        m_control->OnSend(state, packet.wireBytes, now);
        queuePair.lastSend = now;
        queuePair.lastWireBytes = packet.wireBytes;
        queuePair.nextSend = now + m_control->GetGap(state, packet.wireBytes, now);
        if (state.rate != rate)
        {
            queuePair.UpdateWindow();
            if (m_traced)
            {
                TraceRate(queuePair, now);
            }
        }
    }
    if (m_measuresRtt && packet.ackRequest && !again)
    {
        queuePair.StartProbe(packet.sequence, now);
    }
    if (again && m_traced)
    {
        m_retransmissionTrace(ToTime(now), queuePair, packet.sequence);
    }
}

void RoceNic::SetTimeout(QueuePair& queuePair, bool isNew, int64_t now)
{
    queuePair.lastProgress = isNew ? now : queuePair.lastProgress;
    if (!queuePair.timeoutSet)
    {
        queuePair.timeoutSet = true;
        AddTimer({now + GetParameters().retransmitTimeout, true, &queuePair});
    }
}

void RoceNic::OnControlled(QueuePair& queuePair, const Setting& before, int64_t now)
{
    const RateState& state = queuePair.GetRate();
    if (state.rate == before.rate && state.windowBytes == before.windowBytes)
    {
        return;
    }
    if (m_traced)
    {
        TraceRate(queuePair, now);
    }
    queuePair.UpdateWindow();
    // What waits is paced at the new rate, from the start of the packet before it.
    queuePair.nextSend = queuePair.lastSend;
    if (state.limited)
    {
        queuePair.nextSend += m_control->GetGap(state, queuePair.lastWireBytes, queuePair.lastSend);
    }
    if (queuePair.state == QueuePair::State::PACED)
    {
        Resume(queuePair, now);
    }
}

void RoceNic::TraceRate(const QueuePair& queuePair, int64_t now)
{
    const RateState& state = queuePair.GetRate();
    m_rateTrace(ToTime(now), queuePair, state.rate, state.windowBytes);
}

void RoceNic::AddTimer(const QueuePairTimer& timer)
{
    const bool earliest = m_timers.empty() || timer.time < m_timers.top().time;
    m_timers.push(timer);
    if (earliest)
    {
        SetTimer(timer.time);
    }
}

bool RoceNic::HasTimer() const
{
    return true;
}

void RoceNic::OnTimer(int64_t now)
{
    while (!m_timers.empty() && m_timers.top().time <= now)
    {
        const QueuePairTimer timer = m_timers.top();
        m_timers.pop();
        if (timer.timeout)
        {
            OnTimeout(*timer.queuePair, now);
        }
        else if (timer.time == timer.queuePair->paceTimer)
        {
            timer.queuePair->paceTimer = RoceAgenda::NEVER;
            if (timer.queuePair->state == QueuePair::State::PACED)
            {
                Resume(*timer.queuePair, now);
            }
        }
    }
    SetTimer(m_timers.empty() ? RoceAgenda::NEVER : m_timers.top().time);
}

void RoceNic::OnTimeout(QueuePair& queuePair, int64_t now)
{
    queuePair.timeoutSet = false;
    if (!queuePair.AwaitsAcknowledgement())
    {
        return;
    }
    if (queuePair.HasRepair())
    {
        queuePair.lastProgress = now; // what is missing has yet to be sent again
    }
    const int64_t timeout = GetParameters().retransmitTimeout;
    queuePair.timeoutSet = true;
    if (queuePair.lastProgress + timeout > now)
    {
        AddTimer({queuePair.lastProgress + timeout, true, &queuePair});
        return;
    }
    queuePair.lastProgress = now;
    AddTimer({now + timeout, true, &queuePair});
    queuePair.Restart();
    RateState& state = queuePair.GetRate();
    const Setting before{state.rate, state.windowBytes};
    m_control->OnLoss(state, true, now);
    OnControlled(queuePair, before, now);
    if (queuePair.state == QueuePair::State::IDLE || queuePair.state == QueuePair::State::BLOCKED)
    {
        Resume(queuePair, now);
    }
}

void RoceNic::DoDispose()
{
    m_delivered = nullptr;
    m_control = nullptr;
    m_timers = {};
    RoceDevice::DoDispose();
}

} // namespace echo
} // namespace ns3
