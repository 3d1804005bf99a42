// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PACKET_H
#define ECHO_ROCE_PACKET_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

class QueuePair;
class RocePort;

/** What a packet is; from PAUSE on it ends at the other end of the link. */
enum class RocePacketKind : uint8_t
{
    DATA,
    ACK,
    NACK,
    CNP,
    PAUSE,
    RESUME,
};

/**
 * Bytes on the wire beside the payload. Each frame: preamble 8, Ethernet header 14, frame check 4,
 * gap 12; a RoCEv2 packet further IPv4 20, UDP 8, base transport header (BTH) 12, invariant
 * check 4 (InfiniBand Architecture Specification, annex A17). The 16 B of the RDMA header (RETH)
 * of a message's first packet are not counted: at most 0.4 % of a 4 KiB packet once a message.
 */
struct RoceWire
{
    static constexpr uint32_t FRAME = 8 + 14 + 4 + 12;
    static constexpr uint32_t DATA = FRAME + 20 + 8 + 12 + 4;     //!< 82
    static constexpr uint32_t ACK = FRAME + 20 + 8 + 12 + 4 + 4;  //!< AETH 4 more; NACK alike
    static constexpr uint32_t CNP = FRAME + 20 + 8 + 12 + 16 + 4; //!< 16 reserved bytes (A17.9.3)
    static constexpr uint32_t PAUSE = 8 + 64 + 12;                //!< 802.1Qbb, a smallest frame
};

/**
 * A packet on its way: what the model needs of it and no more. It is in one queue or on one link
 * at a time, so one `next` serves all lists. Times are picoseconds.
 */
struct RocePacket
{
    RocePacket* next;
    int64_t arrival;        //!< last bit at the end of the present link
    QueuePair* queuePair;   //!< null: pause frames
    RocePort* out;          //!< port to leave the next device by; null: it decides, or is the last
    RocePort* const* route; //!< where `out` stands in the way, read ahead of need
    uint64_t sequence;      //!< DATA: packet number in its queue pair; ACK, NACK: next one expected
    uint32_t wireBytes;
    uint32_t payloadBytes;
    uint32_t ingress; //!< port of the present switch that it came in by
    RocePacketKind kind;
    uint8_t trafficClass; //!< of data packets and of what a pause frame stops, from 0
    bool startOfMessage : 1;
    bool endOfMessage : 1;
    bool ackRequest : 1;
    bool congestion : 1; //!< ECN congestion experienced
};

static_assert(sizeof(RocePacket) <= 64, "a packet should fit a cache line");

/** First-in first-out list of packets, linked through them. */
class RocePacketQueue
{
  public:
    /** Walks over the packets, oldest first. */
    template <typename Visitor>
    void ForEach(const Visitor& visit) const
    {
        for (const RocePacket* packet = m_head; packet;
             packet = packet == m_tail ? nullptr : packet->next)
        {
            visit(*packet);
        }
    }

    bool IsEmpty() const
    {
        return m_head == nullptr;
    }

    RocePacket* Front() const
    {
        return m_head;
    }

    void Push(RocePacket* packet)
    {
        packet->next = nullptr;
        (m_head ? m_tail->next : m_head) = packet;
        m_tail = packet;
    }

    void PushFront(RocePacket* packet)
    {
        packet->next = m_head;
        if (!m_head)
        {
            m_tail = packet;
        }
        m_head = packet;
    }

    /** The queue must not be empty. */
    RocePacket* Pop()
    {
        RocePacket* packet = m_head;
        m_head = packet->next;
        if (m_head)
        {
            // When its turn comes, the next but one will have left the processor's caches.
            __builtin_prefetch(m_head->next);
        }
        return packet;
    }

  private:
    RocePacket* m_head{nullptr}; //!< oldest
    RocePacket* m_tail{nullptr}; //!< youngest; meaningless while empty
};

/** Where packets come from and go back to; memory is the largest number alive at a time. */
class RocePacketPool
{
  public:
    RocePacket* Take()
    {
        if (!m_free)
        {
            Grow();
        }
        RocePacket* packet = m_free;
        m_free = packet->next;
        ++m_alive;
        return packet;
    }

    void Give(RocePacket* packet)
    {
        packet->next = m_free;
        m_free = packet;
        --m_alive;
    }

    uint64_t GetAlive() const
    {
        return m_alive;
    }

    uint64_t GetCapacity() const
    {
        return m_chunks.size() * CHUNK;
    }

  private:
    static constexpr size_t CHUNK = 1024;

    /** A packet with a cache line of its own. */
    struct alignas(64) Slot
    {
        RocePacket packet;
    };

    void Grow()
    {
        m_chunks.push_back(std::make_unique<Slot[]>(CHUNK));
        for (size_t i = CHUNK; i-- > 0;)
        {
            m_chunks.back()[i].packet.next = m_free;
            m_free = &m_chunks.back()[i].packet;
        }
    }

    RocePacket* m_free{nullptr};                   //!< last given back first
    uint64_t m_alive{0};                           //!< taken and not given back
    std::vector<std::unique_ptr<Slot[]>> m_chunks; //!< all memory
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PACKET_H */
