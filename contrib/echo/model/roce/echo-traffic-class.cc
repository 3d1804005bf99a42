// SPDX-License-Identifier: GPL-2.0-only
#include "echo-traffic-class.h"

#include "ns3/assert.h"

namespace ns3
{
namespace echo
{

ClassScheduler::ClassScheduler(const std::vector<TrafficClass>& classes, uint32_t quantum)
    : m_count(static_cast<uint32_t>(classes.size()))
{
    NS_ASSERT_MSG(m_count > 0 && m_count <= TrafficClass::MOST, "1 to 8 classes");
    for (uint32_t c = 0; c < m_count; ++c)
    {
        m_strict |= (classes[c].strict ? 1u : 0u) << c;
        m_quantum[c] = int64_t{classes[c].weight} * quantum;
    }
}

uint32_t ClassScheduler::Pick(uint32_t eligible)
{
    if (const uint32_t strict = eligible & m_strict)
    {
        return static_cast<uint32_t>(__builtin_ctz(strict));
    }
    while (true)
    {
        const bool may = ((eligible >> m_turn) & 1) != 0;
        if (may && m_credit[m_turn] > 0)
        {
            return m_turn;
        }
        if (!may)
        {
            // Who has nothing to send saves nothing up.
            m_credit[m_turn] = std::min<int64_t>(m_credit[m_turn], 0);
        }
        m_turn = (m_turn + 1) % m_count;
        if (((eligible >> m_turn) & 1) != 0)
        {
            m_credit[m_turn] += m_quantum[m_turn];
        }
    }
}

RocePacket* DataQueues::PopClass(uint32_t eligible)
{
    const uint32_t c = m_classes->scheduler.Pick(eligible);
    RocePacket* packet = m_classes->queues[c].Pop();
    m_classes->scheduler.Charge(c, packet->wireBytes);
    m_classes->bytes[c] -= packet->wireBytes;
    return packet;
}

uint64_t DataQueues::CountFrom(uint32_t ingress, uint32_t trafficClass) const
{
    uint64_t bytes = 0;
    const RocePacketQueue& queue = m_classes ? m_classes->queues[trafficClass] : m_single;
    queue.ForEach([&](const RocePacket& packet) {
        bytes += packet.ingress == ingress ? packet.wireBytes : 0;
    });
    return bytes;
}

} // namespace echo
} // namespace ns3
