// SPDX-License-Identifier: GPL-2.0-only
#include "echo-queue-pair.h"

#include "ns3/assert.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

QueuePair::QueuePair(Key key,
                     uint32_t number,
                     uint32_t mtuBytes,
                     uint32_t ackInterval,
                     std::vector<RocePort*> forth,
                     std::vector<RocePort*> back,
                     std::unique_ptr<RateState> rate)
    : m_key(std::move(key)),
      m_number(number),
      m_mtuBytes(mtuBytes),
      m_ackInterval(ackInterval),
      m_forth(std::move(forth)),
      m_back(std::move(back)),
      m_rate(std::move(rate)),
      m_sending(m_messages.end()),
      m_receiving(m_messages.end())
{
}

void QueuePair::Append(RoceMessage message)
{
    message.firstSequence = m_end;
    message.packets = (message.message.bytes + m_mtuBytes - 1) / m_mtuBytes;
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

void QueuePair::MakePacket(RocePacket& packet)
{
    RoceMessage& message = *m_sending;
    const uint64_t index = m_next - message.firstSequence;
    const bool last = index + 1 == message.packets;
    packet.queuePair = this;
    packet.route = m_forth.data() + 1;
    packet.out = *packet.route;
    packet.sequence = m_next;
    packet.payloadBytes =
        last ? static_cast<uint32_t>(message.message.bytes - index * m_mtuBytes) : m_mtuBytes;
    packet.wireBytes = packet.payloadBytes + RoceWire::DATA;
    packet.kind = RocePacketKind::DATA;
    packet.startOfMessage = index == 0;
    packet.endOfMessage = last;
    packet.ackRequest = last || (m_next + 1) % m_ackInterval == 0;
    packet.congestion = false;
    if (m_next < m_highest)
    {
        ++message.retransmitted;
    }
    ++m_next;
    m_highest = std::max(m_highest, m_next);
    if (last)
    {
        ++m_sending;
    }
}

bool QueuePair::Acknowledge(uint64_t expected)
{
    if (expected <= m_acknowledged)
    {
        return false;
    }
    m_acknowledged = expected;
    if (m_next < expected)
    {
        // Went back, and then heard that these had arrived after all.
        GoBack();
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
    return true;
}

void QueuePair::GoBack()
{
    m_next = m_acknowledged;
    m_sending = m_messages.begin();
    while (m_sending != m_messages.end() && m_sending->firstSequence + m_sending->packets <= m_next)
    {
        ++m_sending;
    }
}

RoceMessage& QueuePair::FinishMessage()
{
    NS_ASSERT_MSG(m_receiving != m_messages.end(), "an arrival without a message");
    return *m_receiving++;
}

} // namespace echo
} // namespace ns3
