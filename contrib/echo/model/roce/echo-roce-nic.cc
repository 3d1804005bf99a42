// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-nic.h"

#include "ns3/log.h"

#include <cmath>
#include <tuple>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRoceNic");
NS_OBJECT_ENSURE_REGISTERED(RoceNic);

namespace
{

constexpr double BIT_PS = 8e12; //!< ps of a byte at 1 b/s

} // namespace

TypeId RoceNic::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RoceNic")
                            .SetParent<RoceDevice>()
                            .SetGroupName("Echo")
                            .AddConstructor<RoceNic>();
    return tid;
}

bool RoceNic::Timer::operator<(const Timer& other) const
{
    return std::tie(time, timeout, queuePair->GetKey()) >
           std::tie(other.time, other.timeout, other.queuePair->GetKey());
}

void RoceNic::SetPolicy(Ptr<CongestionControl> control, DeliveredFunction delivered)
{
    m_control = control;
    m_delivered = std::move(delivered);
}

void RoceNic::DoSeal()
{
    m_rounds.assign(GetPortCount() * GetParameters().classes.size(), Round{});
    m_canLose = GetParameters().CanLose();
    const uint64_t window = GetParameters().windowBytes;
    const uint32_t mtu = GetParameters().mtuBytes;
    m_windowPackets = (window + mtu - 1) / mtu;
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

RoceNic::Round& RoceNic::RoundOf(RocePort& port, uint32_t trafficClass)
{
    return m_rounds[port.GetIndex() * GetParameters().classes.size() + trafficClass];
}

bool RoceNic::IsWindowFull(const QueuePair& queuePair) const
{
    return m_windowPackets > 0 && queuePair.GetOutstanding() >= m_windowPackets;
}

void RoceNic::Append(Round& round, QueuePair& queuePair)
{
    queuePair.state = QueuePair::State::READY;
    queuePair.nextReady = nullptr;
    (round.count == 0 ? round.first : round.last->nextReady) = &queuePair;
    round.last = &queuePair;
    ++round.count;
}

bool RoceNic::Reconsider(QueuePair& queuePair, int64_t now)
{
    if (!queuePair.HasPacket())
    {
        queuePair.state = QueuePair::State::IDLE;
    }
    else if (IsWindowFull(queuePair))
    {
        queuePair.state = QueuePair::State::BLOCKED;
    }
    else if (queuePair.GetRate().limited && queuePair.nextSend > now)
    {
        queuePair.state = QueuePair::State::PACED;
        AddTimer({queuePair.nextSend, false, &queuePair});
    }
    else
    {
        RocePort& port = *queuePair.GetForth()[0];
        Append(RoundOf(port, queuePair.trafficClass), queuePair);
        port.SetWaiting(queuePair.trafficClass, true);
        return true;
    }
    return false;
}

RocePacket* RoceNic::PullData(RocePort& port, int64_t now)
{
    const uint32_t trafficClass = port.HasClasses() ? port.PickClass() : 0;
    Round& round = RoundOf(port, trafficClass);
    while (round.count > 0 && !round.first->HasPacket())
    {
        // Acknowledged after all while it was about to send again.
        round.first->state = QueuePair::State::IDLE;
        round.first = round.first->nextReady;
        --round.count;
    }
    if (round.count == 0)
    {
        port.SetWaiting(trafficClass, false);
        return port.GetEligible() != 0 ? PullData(port, now) : nullptr;
    }
    QueuePair& queuePair = *round.first;
    round.first = queuePair.nextReady;
    --round.count;

    RocePacket* packet = GetPool().Take();
    queuePair.MakePacket(*packet);
    packet->trafficClass = static_cast<uint8_t>(trafficClass);
    if (port.HasClasses())
    {
        port.ChargeClass(trafficClass, packet->wireBytes);
    }
    if (m_canLose && !queuePair.timeoutSet)
    {
        queuePair.timeoutSet = true;
        queuePair.lastProgress = now;
        AddTimer({now + GetParameters().retransmitTimeout, true, &queuePair});
    }
    int64_t mayFollow = 0;
    RateState& rate = queuePair.GetRate();
    if (rate.limited)
    {
        m_control->OnSend(rate, packet->wireBytes, now);
        const double gap = std::ceil(packet->wireBytes * BIT_PS / rate.rate);
        queuePair.nextSend = now + static_cast<int64_t>(gap);
        mayFollow = queuePair.nextSend;
    }
    if (!queuePair.HasPacket())
    {
        queuePair.state = QueuePair::State::IDLE;
    }
    else if (IsWindowFull(queuePair))
    {
        queuePair.state = QueuePair::State::BLOCKED;
    }
    else if (mayFollow > now + port.TxPicoseconds(packet->wireBytes))
    {
        queuePair.state = QueuePair::State::PACED;
        AddTimer({mayFollow, false, &queuePair});
    }
    else
    {
        Append(round, queuePair);
    }
    port.SetWaiting(trafficClass, round.count > 0);
    return packet;
}

void RoceNic::Receive(uint32_t, RocePacket* packet, int64_t now)
{
    switch (packet->kind)
    {
    case RocePacketKind::DATA:
        ReceiveData(packet, now);
        break;
    case RocePacketKind::CNP:
        m_control->OnNotice(packet->queuePair->GetRate(), now);
        break;
    default:
        ReceiveAcknowledgement(packet, now);
        break;
    }
    GetPool().Give(packet);
}

void RoceNic::ReceiveData(RocePacket* packet, int64_t now)
{
    QueuePair& queuePair = *packet->queuePair;
    if (packet->congestion && now - queuePair.lastNotice >= GetParameters().noticeInterval)
    {
        queuePair.lastNotice = now;
        SendReply(queuePair, RocePacketKind::CNP, now);
    }
    if (queuePair.reorder)
    {
        ReceiveAnyOrder(packet, now);
        return;
    }
    switch (queuePair.Accept(packet->sequence))
    {
    case QueuePair::Arrival::IN_ORDER:
        if (packet->endOfMessage)
        {
            m_delivered(queuePair, now);
        }
        break;
    case QueuePair::Arrival::GAP:
        NS_LOG_LOGIC("packet " << queuePair.GetExpected() << " missing before "
                               << packet->sequence);
        SendReply(queuePair, RocePacketKind::NACK, now);
        return;
    case QueuePair::Arrival::GAP_REPORTED:
        return;
    case QueuePair::Arrival::DUPLICATE:
        break;
    }
    if (packet->ackRequest)
    {
        SendReply(queuePair, RocePacketKind::ACK, now);
    }
}

void RoceNic::ReceiveAnyOrder(RocePacket* packet, int64_t now)
{
    QueuePair& queuePair = *packet->queuePair;
    const ReorderWindow::Arrival arrival = queuePair.AcceptAnyOrder(packet->sequence);
    while (queuePair.IsMessageComplete())
    {
        m_delivered(queuePair, now);
    }
    if (arrival == ReorderWindow::Arrival::EARLY && m_canLose &&
        packet->sequence - queuePair.GetExpected() >= GetParameters().reorderPackets)
    {
        if (queuePair.reorder->ReportOnce(queuePair.GetExpected()))
        {
            SendReply(queuePair, RocePacketKind::NACK, now);
        }
        return;
    }
    if (packet->ackRequest || arrival == ReorderWindow::Arrival::FILLS_GAP)
    {
        SendReply(queuePair, RocePacketKind::ACK, now);
    }
}

void RoceNic::SendReply(QueuePair& queuePair, RocePacketKind kind, int64_t now)
{
    RocePacket* reply = GetPool().Take();
    reply->queuePair = &queuePair;
    reply->route = queuePair.GetBack() + 1;
    reply->out = *reply->route;
    reply->sequence = queuePair.GetExpected();
    reply->payloadBytes = 0;
    reply->wireBytes = kind == RocePacketKind::CNP ? RoceWire::CNP : RoceWire::ACK;
    reply->kind = kind;
    reply->trafficClass = 0;
    reply->startOfMessage = false;
    reply->endOfMessage = false;
    reply->ackRequest = false;
    reply->congestion = false;
    queuePair.GetBack()[0]->SendControl(reply, now);
}

void RoceNic::ReceiveAcknowledgement(RocePacket* packet, int64_t now)
{
    QueuePair& queuePair = *packet->queuePair;
    if (queuePair.Acknowledge(packet->sequence))
    {
        queuePair.lastProgress = now;
    }
    if (packet->kind == RocePacketKind::NACK)
    {
        queuePair.GoBack();
    }
    if (queuePair.state == QueuePair::State::BLOCKED ||
        (queuePair.state == QueuePair::State::IDLE && queuePair.HasPacket()))
    {
        Resume(queuePair, now);
    }
}

void RoceNic::AddTimer(const Timer& timer)
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
        const Timer timer = m_timers.top();
        m_timers.pop();
        if (timer.timeout)
        {
            OnTimeout(*timer.queuePair, now);
        }
        else
        {
            Resume(*timer.queuePair, now);
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
    queuePair.timeoutSet = true;
    const int64_t timeout = GetParameters().retransmitTimeout;
    if (queuePair.lastProgress + timeout > now)
    {
        AddTimer({queuePair.lastProgress + timeout, true, &queuePair});
        return;
    }
    NS_LOG_LOGIC("timeout after " << timeout << " ps");
    queuePair.lastProgress = now;
    AddTimer({now + timeout, true, &queuePair});
    queuePair.GoBack();
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
