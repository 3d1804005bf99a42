// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_PACKET_H
#define ECHO_ROCE_PACKET_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
 * check 4 (InfiniBand Architecture Specification, annex A17). Messages are RDMA writes: the first
 * packet of each has an RDMA header (RETH) too.
 */
struct RoceWire
{
    static constexpr uint32_t FRAME = 8 + 14 + 4 + 12;
    static constexpr uint32_t DATA = FRAME + 20 + 8 + 12 + 4;     //!< 82
    static constexpr uint32_t RETH = 16;                          //!< first packet of a message
    static constexpr uint32_t ACK = FRAME + 20 + 8 + 12 + 4 + 4;  //!< AETH 4 more; NACK alike
    static constexpr uint32_t CNP = FRAME + 20 + 8 + 12 + 16 + 4; //!< 16 reserved bytes (A17.9.3)
    static constexpr uint32_t PAUSE = 8 + 64 + 12;                //!< 802.1Qbb, a smallest frame
};

/** What the packets of a queue pair have on the wire beside the payload, bytes. */
struct RoceOverhead
{
    uint32_t data{RoceWire::DATA};  //!< each data packet
    uint32_t first{RoceWire::RETH}; //!< more on the first packet of a message
    uint32_t ack{RoceWire::ACK};    //!< an ACK or NACK in all
    uint32_t cnp{RoceWire::CNP};    //!< a CNP in all
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

/** What a switch writes into a data packet as it starts to send it (in-band telemetry, INT). */
struct RoceHopTelemetry
{
    int64_t time{0};        //!< ps
    uint64_t txBytes{0};    //!< wire bytes that the port had sent before this packet
    uint64_t queueBytes{0}; //!< wire bytes of data that wait behind it
    double rate{0};         //!< of the link, bits per second
};

/** The records of the switches that a packet has come through, in order. */
struct RoceTelemetry
{
    static constexpr uint32_t MAX_HOPS = 7;

    uint32_t hops{0};
    RoceHopTelemetry hop[MAX_HOPS];
};

/** What only some settings need of a packet; lies behind it in the pool. */
struct RoceExtension
{
    uint64_t selective{0};   //!< NACK of selective repeat: the packet that arrived out of order
    RoceTelemetry telemetry; //!< DATA: so far; ACK, NACK: of the packet that it answers
};

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
    /** Keeps room for a RoceExtension behind each packet. To be called before the first Take. */
    void Extend()
    {
        m_stride = LINE * (1 + (sizeof(RoceExtension) + LINE - 1) / LINE);
    }

    /** @return what lies behind @p packet, of a pool that keeps room for it */
    static RoceExtension& GetExtension(RocePacket& packet)
    {
        return *reinterpret_cast<RoceExtension*>(reinterpret_cast<unsigned char*>(&packet) + LINE);
    }

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
    static constexpr size_t LINE = 64; //!< bytes of a cache line

    /** Memory for a packet, or for a part of what lies behind one. */
    struct alignas(LINE) Line
    {
        unsigned char bytes[LINE];
    };

    void Grow()
    {
        m_chunks.push_back(std::make_unique<Line[]>(CHUNK * m_stride / LINE));
        unsigned char* chunk = m_chunks.back()[0].bytes;
        for (size_t i = CHUNK; i-- > 0;)
        {
            RocePacket* packet = new (chunk + i * m_stride) RocePacket{};
            if (m_stride > LINE)
            {
                new (chunk + i * m_stride + LINE) RoceExtension{};
            }
            packet->next = m_free;
            m_free = packet;
        }
    }

    RocePacket* m_free{nullptr};                   //!< last given back first
    uint64_t m_alive{0};                           //!< taken and not given back
    size_t m_stride{LINE};                         //!< bytes from packet to packet
    std::vector<std::unique_ptr<Line[]>> m_chunks; //!< all memory
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_PACKET_H */
