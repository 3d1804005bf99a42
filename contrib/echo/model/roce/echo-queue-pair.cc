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
    : m_key(std::move(key)),
      m_number(number),
      m_settings(settings),
      m_forth(std::move(forth)),
      m_back(std::move(back)),
      m_rate(std::move(rate)),
      m_sending(m_messages.end()),
      m_receiving(m_messages.end())
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

uint32_t QueuePair::WireBytesOf(const RoceMessage& message, uint64_t sequence) const
{
    const RoceOverhead& overhead = m_settings.overhead;
    return PayloadOf(message, sequence) + overhead.data +
           (sequence == message.firstSequence ? overhead.first : 0);
}

uint32_t QueuePair::GetNextWireBytes()
{
    return HasRepair() ? WireBytesOf(*FindMessage(m_repair), m_repair)
                       : WireBytesOf(*m_sending, m_next);
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
    packet.wireBytes = WireBytesOf(message, sequence);
    packet.kind = RocePacketKind::DATA;
    packet.startOfMessage = sequence == message.firstSequence;
    packet.endOfMessage = last;
    packet.ackRequest = last || (sequence + 1) % m_settings.ackInterval == 0 ||
                        sequence - m_acknowledged + 1 >= m_windowPackets;
    m_asked = packet.ackRequest ? std::max(m_asked, sequence + 1) : m_asked;
    packet.congestion = false;
    const bool again = sequence < m_highest;
    message.retransmitted += again ? 1 : 0;
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
    if (!m_arrived.empty())
    {
        const uint64_t known = std::min<uint64_t>(news, m_arrived.size());
        m_arrived.erase(m_arrived.begin(), m_arrived.begin() + static_cast<int64_t>(known));
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
    SkipArrived();
    return news;
}

void QueuePair::SkipArrived()
{
    m_repair = std::max(m_repair, m_acknowledged);
    while (m_repair < m_repairEnd && m_repair - m_acknowledged < m_arrived.size() &&
           m_arrived[m_repair - m_acknowledged])
    {
        ++m_repair;
    }
}

void QueuePair::OnNack(uint64_t selective)
{
    if (!m_settings.selective)
    {
        Restart();
        return;
    }
    if (selective < m_acknowledged)
    {
        return; // an old one, overtaken
    }
    const uint64_t index = selective - m_acknowledged;
    if (index >= m_arrived.size())
    {
        m_arrived.resize(index + 1);
    }
    m_arrived[index] = true;
    m_repairEnd = std::max(m_repairEnd, selective);
    SkipArrived();
}

void QueuePair::Restart()
{
    m_probes.clear(); // what comes may answer either packet of a number (Karn's rule)
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
    m_probes.push_back({sequence, now});
}

int64_t QueuePair::EndProbe(uint64_t expected, int64_t now)
{
    int64_t rtt = -1;
    const auto open = std::find_if(m_probes.begin(), m_probes.end(), [&](const Probe& probe) {
        return probe.sequence >= expected;
    });
    if (open != m_probes.begin() && std::prev(open)->sequence + 1 == expected)
    {
        rtt = now - std::prev(open)->time;
    }
    m_probes.erase(m_probes.begin(), open);
    return rtt;
}

QueuePair::Arrival QueuePair::AcceptEarly(uint64_t sequence)
{
    const uint64_t index = sequence - m_expected;
    if (index >= m_early.size())
    {
        m_early.resize(index + 1);
    }
    else if (m_early[index])
    {
        return Arrival::DUPLICATE;
    }
    m_early[index] = true;
    if (index > 0)
    {
        return index > m_settings.reorder ? Arrival::GAP : Arrival::EARLY;
    }
    const auto missing = std::find(m_early.begin(), m_early.end(), false);
    m_expected += static_cast<uint64_t>(missing - m_early.begin());
    m_early.erase(m_early.begin(), missing);
    return Arrival::FILLED;
}

RoceMessage& QueuePair::FinishMessage()
{
    NS_ASSERT_MSG(m_receiving != m_messages.end(), "an arrival without a message");
    return *m_receiving++;
}

} // namespace echo
} // namespace ns3
