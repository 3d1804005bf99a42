// SPDX-License-Identifier: GPL-2.0-only
#include "echo-queue-pair.h"

#include "ns3/assert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{
namespace echo
{

QueuePair::QueuePair(Key key,
                     uint32_t number,
                     const QueuePairSettings& settings,
                     std::vector<RocePort*> forth,
                     std::vector<RocePort*> back,
                     std::unique_ptr<RateState> rate)
    : m_sending(m_messages.end()),
      m_rate(std::move(rate)),
      m_settings(settings),
      m_forth(std::move(forth)),
      m_receiving(m_messages.end()),
      m_back(std::move(back)),
      m_key(std::move(key)),
      m_number(number)
{
    UpdateWindow();
}

void QueuePair::UpdateWindow()
{
    const double mtu = m_settings.mtuBytes;
    m_windowPackets = UNLIMITED;
    if (m_settings.windowBytes > 0)
    {
        m_windowPackets = (m_settings.windowBytes + m_settings.mtuBytes - 1) / m_settings.mtuBytes;
    }
    if (m_rate->windowBytes > 0)
    {
        // Of coalesced acknowledgements so many packets may have arrived and not be told of.
        const uint64_t untold = m_settings.ackInterval - 1;
        const uint64_t packets = static_cast<uint64_t>(std::ceil(m_rate->windowBytes / mtu));
        m_windowPackets = std::min(m_windowPackets, packets + untold);
    }
}

void QueuePair::Append(RoceMessage message)
{
    const uint64_t mtu = m_settings.mtuBytes;
    message.firstSequence = m_end;
    message.packets = (message.message.bytes + mtu - 1) / mtu;
    m_end += message.packets;
    m_messages.push_back(std::move(message));
    const auto added = std::prev(m_messages.end());
    if (m_sending == m_messages.end())
    {
        m_sending = added;
    }
    if (m_receiving == m_messages.end())
    {
        m_receiving = added;
    }
}

QueuePair::Messages::iterator QueuePair::FindMessage(uint64_t sequence)
{
    return std::find_if(m_messages.begin(), m_messages.end(), [=](const RoceMessage& message) {
        return sequence < message.firstSequence + message.packets;
    });
}

uint32_t QueuePair::GetMessageBytes(uint64_t sequence) const
{
    for (const RoceMessage& message : m_messages)
    {
        if (sequence < message.firstSequence + message.packets)
        {
            return static_cast<uint32_t>(message.message.bytes); // a field of 32 bits
        }
    }
    return 0;
}

uint32_t QueuePair::PayloadOf(const RoceMessage& message, uint64_t sequence) const
{
    const uint64_t before = (sequence - message.firstSequence) * m_settings.mtuBytes;
    return static_cast<uint32_t>(
        std::min<uint64_t>(m_settings.mtuBytes, message.message.bytes - before));
}

uint32_t QueuePair::GetNextWireBytes()
{
    const uint64_t sequence = HasRepair() ? m_repair : m_next;
    const RoceMessage& message = HasRepair() ? *FindMessage(sequence) : *m_sending;
    const RoceOverhead& overhead = m_settings.overhead;
    return PayloadOf(message, sequence) + overhead.data +
           (sequence == message.firstSequence ? overhead.first : 0);
}

bool QueuePair::MakePacket(RocePacket& packet)
{
    const bool repair = HasRepair();
    const uint64_t sequence = repair ? m_repair : m_next;
    RoceMessage& message = repair ? *FindMessage(sequence) : *m_sending;
    const bool last = sequence + 1 == message.firstSequence + message.packets;
    packet.queuePair = this;
    packet.route = m_forth.data() + 1;
    packet.out = *packet.route;
    packet.sequence = sequence;
    packet.payloadBytes = PayloadOf(message, sequence);
    packet.wireBytes = packet.payloadBytes + m_settings.overhead.data;
    packet.kind = RocePacketKind::DATA;
    packet.startOfMessage = sequence == message.firstSequence;
    if (packet.startOfMessage)
    {
        packet.wireBytes += m_settings.overhead.first;
    }
    packet.endOfMessage = last;
    const bool again = sequence < m_highest;
    packet.ackRequest = last || (sequence + 1) % m_settings.ackInterval == 0 ||
                        sequence - m_acknowledged + 1 >= m_windowPackets ||
                        (again && sequence == m_acknowledged);
    m_asked = packet.ackRequest ? std::max(m_asked, sequence + 1) : m_asked;
    packet.congestion = false;
    if (again)
    {
        ++message.retransmitted;
    }
    if (repair)
    {
        ++m_repair;
        SkipArrived();
        return again;
    }
    ++m_next;
    m_highest = std::max(m_highest, m_next);
    if (last)
    {
        ++m_sending;
    }
    return again;
}

void QueuePair::MakeReply(RocePacket& packet, RocePacketKind kind)
{
    const RoceOverhead& overhead = m_settings.overhead;
    packet.queuePair = this;
    packet.route = m_back.data() + 1;
    packet.out = *packet.route;
    packet.sequence = m_expected;
    packet.payloadBytes = 0;
    packet.wireBytes = kind == RocePacketKind::CNP ? overhead.cnp : overhead.ack;
    packet.kind = kind;
    packet.startOfMessage = false;
    packet.endOfMessage = false;
    packet.ackRequest = false;
    packet.congestion = false;
}

uint64_t QueuePair::Acknowledge(uint64_t expected)
{
    if (expected <= m_acknowledged)
    {
        return 0;
    }
    const uint64_t news = expected - m_acknowledged;
    m_acknowledged = expected;
    if (m_next < expected)
    {
        // Went back, and then heard that these had arrived after all.
        Restart();
    }
    if (m_repairEnd > 0 || (m_rare && !m_rare->arrived.empty()))
    {
        std::vector<bool>& arrived = GetRare().arrived;
        const uint64_t known = std::min<uint64_t>(news, arrived.size());
        arrived.erase(arrived.begin(), arrived.begin() + static_cast<int64_t>(known));
        SkipArrived();
    }
    while (!m_messages.empty() &&
           m_messages.front().firstSequence + m_messages.front().packets <= expected)
    {
        if (m_sending == m_messages.begin())
        {
            ++m_sending;
        }
        m_messages.pop_front();
    }
    return news;
}

QueuePair::Rare& QueuePair::GetRare()
{
    if (!m_rare)
    {
        m_rare = std::make_unique<Rare>();
    }
    return *m_rare;
}

void QueuePair::SkipArrived()
{
    const std::vector<bool>& arrived = GetRare().arrived;
    m_repair = std::max(m_repair, m_acknowledged);
    while (m_repair < m_repairEnd && m_repair - m_acknowledged < arrived.size() &&
           arrived[m_repair - m_acknowledged])
    {
        ++m_repair;
    }
}

void QueuePair::OnNack(uint64_t selective)
{
    if (m_isAbandoned)
    {
        return;
    }
    if (!m_settings.selective)
    {
        Restart();
        return;
    }
    if (selective < m_acknowledged)
    {
        return; // an old one, overtaken
    }
    GetRare().probes.clear(); // what is behind the gap is acknowledged no sooner than it is filled
    NoteArrived(selective);
    m_repairEnd =
        std::max(m_repairEnd, selective - std::min<uint64_t>(selective, m_settings.reorder));
    SkipArrived();
}

void QueuePair::NoteArrived(uint64_t sequence)
{
    if (sequence < m_acknowledged)
    {
        return;
    }
    std::vector<bool>& arrived = GetRare().arrived;
    const uint64_t index = sequence - m_acknowledged;
    arrived.resize(std::max<size_t>(arrived.size(), index + 1));
    arrived[index] = true;
}

void QueuePair::Abandon()
{
    m_isAbandoned = true;
    m_sending = m_messages.end();
    m_repairEnd = m_repair;
    m_next = m_highest;
    m_asked = m_acknowledged; // no timeout
}

void QueuePair::Restart()
{
    if (m_isAbandoned)
    {
        return;
    }
    GetRare().probes.clear(); // what comes may answer either packet of a number (Karn's rule)
    if (m_settings.selective)
    {
        m_repair = m_acknowledged;
        m_repairEnd = m_next;
        SkipArrived();
        return;
    }
    m_next = m_acknowledged;
    m_asked = m_acknowledged;
    m_sending = FindMessage(m_next);
}

void QueuePair::StartProbe(uint64_t sequence, int64_t now)
{
    GetRare().probes.push_back({sequence, now});
}

int64_t QueuePair::EndProbe(uint64_t expected, int64_t now)
{
    int64_t rtt = -1;
    std::vector<Probe>& probes = GetRare().probes;
    const auto open = std::find_if(probes.begin(), probes.end(), [&](const Probe& probe) {
        return probe.sequence >= expected;
    });
    if (open != probes.begin() && std::prev(open)->sequence + 1 == expected)
    {
        rtt = now - std::prev(open)->time;
    }
    probes.erase(probes.begin(), open);
    return rtt;
}

QueuePair::Arrival QueuePair::AcceptAndKeep(uint64_t sequence)
{
    ReorderWindow& early = GetRare().early;
    if (sequence > m_expected)
    {
        if (!early.Insert(sequence, m_expected))
        {
            return Arrival::DUPLICATE;
        }
        if (sequence - m_expected <= m_settings.reorder)
        {
            return Arrival::EARLY;
        }
        return m_settings.selective ? Arrival::GAP : ReportGap();
    }
    m_gapReported = false;
    const uint64_t next = m_expected + 1;
    m_expected = early.TakeFrom(next);
    return m_expected > next ? Arrival::FILLED : Arrival::IN_ORDER;
}

RoceMessage& QueuePair::FinishMessage()
{
    NS_ASSERT_MSG(m_receiving != m_messages.end(), "an arrival without a message");
    return *m_receiving++;
}

} // namespace echo
} // namespace ns3
