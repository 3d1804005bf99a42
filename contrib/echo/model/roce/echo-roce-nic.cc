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
    m_rounds.assign(GetPortCount(), QueuePairRound{});
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

bool RoceNic::Reconsider(QueuePair& queuePair, int64_t now)
{
    if (queuePair.MaySend(now))
    {
        RocePort& port = *queuePair.GetForth()[0];
        QueuePairRound& round = m_rounds[port.GetIndex()];
        if (m_byteFair && queuePair.credit >= queuePair.GetNextWireBytes())
        {
            round.PushFront(queuePair);
        }
        else
        {
            queuePair.credit += GetParameters().GetFullWireBytes();
            round.PushBack(queuePair);
        }
        port.SetWaiting(round.GetCount());
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
    QueuePairRound& round = m_rounds[port.GetIndex()];
    RocePacket* packet = nullptr;
    while (!packet && round.GetCount() > 0)
    {
        QueuePair& queuePair = round.Pop();
        int64_t next = now;
        if (queuePair.MaySend(now))
        {
            packet = GetPool().Take();
            if (GetParameters().telemetry)
            {
                RocePacketPool::GetExtension(*packet).telemetry.hops = 0;
            }
            const bool again = queuePair.MakePacket(*packet);
            OnSent(queuePair, *packet, again, now);
            queuePair.credit -= packet->wireBytes;
            next += port.TxPicoseconds(packet->wireBytes);
        }
        Reconsider(queuePair, next);
    }
    port.SetWaiting(round.GetCount());
    return packet;
}

void RoceNic::OnSent(QueuePair& queuePair, const RocePacket& packet, bool again, int64_t now)
{
    if (m_canLose && !queuePair.timeoutSet)
    {
        queuePair.timeoutSet = true;
        queuePair.lastProgress = now;
        AddTimer({now + GetParameters().retransmitTimeout, true, &queuePair});
    }
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
    if (again)
    {
        queuePair.lastProgress = now; // a timeout counts from here
        if (m_traced)
        {
            m_retransmissionTrace(ToTime(now), queuePair, packet.sequence);
        }
    }
}

void RoceNic::Receive(uint32_t, RocePacket* packet, int64_t now)
{
    switch (packet->kind)
    {
    case RocePacketKind::DATA:
        ReceiveData(packet, now);
        break;
    case RocePacketKind::CNP:
        ReceiveNotice(*packet->queuePair, now);
        break;
    default:
        ReceiveAcknowledgement(packet, now);
        break;
    }
    GetPool().Give(packet);
}

void RoceNic::ReceiveNotice(QueuePair& queuePair, int64_t now)
{
    RateState& state = queuePair.GetRate();
    const Setting before{state.rate, state.windowBytes};
    if (m_traced)
    {
        m_noticeTrace(ToTime(now), queuePair);
    }
    m_control->OnNotice(state, now);
    OnControlled(queuePair, before, now);
}

void RoceNic::ReceiveData(RocePacket* packet, int64_t now)
{
    QueuePair& queuePair = *packet->queuePair;
    if (packet->congestion && now - queuePair.lastNotice >= GetParameters().noticeInterval)
    {
        queuePair.lastNotice = now;
        SendReply(queuePair, RocePacketKind::CNP, *packet, now);
    }
    const QueuePair::Arrival arrival = queuePair.Accept(packet->sequence);
    switch (arrival)
    {
    case QueuePair::Arrival::IN_ORDER:
        if (packet->endOfMessage)
        {
            m_delivered(queuePair, now);
        }
        break;
    case QueuePair::Arrival::FILLED:
        while (queuePair.HasFinished())
        {
            m_delivered(queuePair, now);
        }
        break;
    case QueuePair::Arrival::GAP:
        NS_LOG_LOGIC("packet " << queuePair.GetExpected() << " missing before "
                               << packet->sequence);
        SendReply(queuePair, RocePacketKind::NACK, *packet, now);
        return;
    case QueuePair::Arrival::GAP_REPORTED:
        return;
    case QueuePair::Arrival::EARLY:
    case QueuePair::Arrival::DUPLICATE:
        break;
    }
    // What came early may have asked: its answer is due with the packet that fills the gap.
    if (packet->ackRequest || arrival == QueuePair::Arrival::FILLED)
    {
        SendReply(queuePair, RocePacketKind::ACK, *packet, now);
    }
}

void RoceNic::SendReply(QueuePair& queuePair, RocePacketKind kind, RocePacket& cause, int64_t now)
{
    RocePacket* reply = GetPool().Take();
    queuePair.MakeReply(*reply, kind);
    if (GetParameters().telemetry)
    {
        RocePacketPool::GetExtension(*reply) = RocePacketPool::GetExtension(cause);
    }
    if (GetParameters().selectiveRepeat)
    {
        RocePacketPool::GetExtension(*reply).selective = cause.sequence;
    }
    queuePair.GetBack()[0]->SendControl(reply, now);
}

void RoceNic::ReceiveAcknowledgement(RocePacket* packet, int64_t now)
{
    QueuePair& queuePair = *packet->queuePair;
    Acknowledgement news;
    news.now = now;
    news.sequence = packet->sequence;
    news.newPackets = queuePair.Acknowledge(packet->sequence);
    if (news.newPackets > 0)
    {
        queuePair.lastProgress = now;
    }
    const bool gap = packet->kind == RocePacketKind::NACK;
    if (gap)
    {
        queuePair.OnNack(GetParameters().selectiveRepeat
                             ? RocePacketPool::GetExtension(*packet).selective
                             : packet->sequence);
    }
    else if (m_measuresRtt)
    {
        news.rtt = queuePair.EndProbe(packet->sequence, now);
        if (m_traced && news.rtt >= 0)
        {
            m_rttTrace(ToTime(now), queuePair, ToTime(news.rtt));
        }
    }
    if (m_usesAcknowledgements || gap)
    {
        RateState& state = queuePair.GetRate();
        const Setting before{state.rate, state.windowBytes};
        news.nextSequence = queuePair.GetNextSequence();
        if (GetParameters().telemetry)
        {
            news.telemetry = &RocePacketPool::GetExtension(*packet).telemetry;
        }
        if (gap)
        {
            m_control->OnLoss(state, false, now);
        }
        m_control->OnAcknowledgement(state, news);
        OnControlled(queuePair, before, now);
    }
    if (queuePair.state == QueuePair::State::BLOCKED ||
        (queuePair.state == QueuePair::State::IDLE && queuePair.HasPacket()))
    {
        Resume(queuePair, now);
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
    if (queuePair.GetOutstanding() == 0)
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
