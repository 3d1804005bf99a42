// SPDX-License-Identifier: GPL-2.0-only
// What a NIC does with packets that arrive.
#include "echo-roce-nic.h"

#include "ns3/boolean.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

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
    ++m_notices;
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
        if (m_canLose && GetParameters().selectiveRepeat)
        {
            SendReply(queuePair, RocePacketKind::ACK, *packet, now);
            return;
        }
        break;
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
    RocePort& port = *queuePair.GetBack()[0];
    if (GetParameters().failures && !port.IsUp())
    {
        port.CountDrop(*reply, now);
        GetPool().Give(reply);
        return;
    }
    if (GetParameters().telemetry)
    {
        RocePacketPool::GetExtension(*reply) = RocePacketPool::GetExtension(cause);
    }
    if (GetParameters().selectiveRepeat)
    {
        RocePacketPool::GetExtension(*reply).selective = cause.sequence;
    }
    port.SendControl(reply, now);
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
    const bool selective = GetParameters().selectiveRepeat;
    if (gap)
    {
        queuePair.OnNack(selective ? RocePacketPool::GetExtension(*packet).selective
                                   : packet->sequence);
    }
    else if (selective && GetParameters().reorder)
    {
        queuePair.NoteArrived(RocePacketPool::GetExtension(*packet).selective);
    }
    if (!gap && m_measuresRtt)
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

} // namespace echo
} // namespace ns3
