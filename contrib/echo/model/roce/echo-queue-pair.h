// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_QUEUE_PAIR_H
#define ECHO_QUEUE_PAIR_H

#include "echo-congestion-control.h"
#include "echo-reorder-window.h"
#include "echo-roce-packet.h"

#include "ns3/echo-network-model.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <list>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** A message in a queue pair, until its last packet is acknowledged. */
struct RoceMessage
{
    Message message;
    NetworkModel::DeliveredCallback delivered; //!< moved out at delivery
    uint64_t id{0};                            //!< number of the message in its network
    Time start;                                //!< when it was given to the queue pair
    uint64_t firstSequence{0};                 //!< number of its first packet
    uint64_t packets{0};                       //!< how many
    uint64_t retransmitted{0};                 //!< packets sent again
};

/** How the packets of a queue pair are sent and acknowledged. */
struct QueuePairSettings
{
    uint32_t mtuBytes{4096}; //!< payload of a full packet
    uint32_t ackInterval{4}; //!< packets between requests for acknowledgement
    uint64_t windowBytes{0}; //!< payload that may be unacknowledged; 0: no limit
    RoceOverhead overhead;   //!< bytes beside the payload
    bool selective{false};   //!< selective repeat; else go-back-N
    bool keepsEarly{false};  //!< the receiver keeps what follows a gap; selective repeat does
    uint32_t reorder{0};     //!< a gap is one once a packet more than so many later has come
};

/**
 * A reliable connection between two NICs: messages in order, cut into packets of one MTU, numbered
 * through; cumulative acknowledgements. Both ends are kept here, as one process simulates both.
 * The NICs drive it; it knows no ports.
 *
 * Lost packets are repaired in one of two ways:
 * - go-back-N, as RoCE NICs have it: the receiver drops what follows a gap and reports the gap
 *   once (NACK); the sender sends all again from there;
 * - selective repeat, as in IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM
 *   2018, section 3.1): the receiver keeps what follows and names it in a NACK each; the sender
 *   sends once again each packet before one so named that is not known to have arrived.
 * What both leave is found by a timeout: then everything not known to have arrived is sent again.
 * It counts for packets that asked for an acknowledgement, as those of others are not awaited; the
 * oldest packet not acknowledged asks when it is sent again, so that whatever share of the packets
 * is lost and however slow they are paced, each that arrives brings the sender on.
 *
 * Where packets take several ways and overtake one another, both receivers keep what comes early,
 * and a gap is one only once it is passed by more than `reorder` packets. With selective repeat the
 * receiver names what it keeps in ACKs until then.
 *
 * Messages complete in order, each once, whatever the order that packets arrive in.
 * Packet numbers are 64-bit (24-bit PSN on the wire never wraps here within a window).
 */
class alignas(64) QueuePair
{
  public:
    /** Where the sender stands. */
    enum class State : uint8_t
    {
        IDLE,    //!< nothing to send
        READY,   //!< in its port's round
        PACED,   //!< waits for its rate
        BLOCKED, //!< waits for acknowledgements (window)
    };

    static constexpr uint64_t UNLIMITED = UINT64_MAX; //!< no window

    /** Orders queue pairs whatever the order they were made in. */
    using Key = std::tuple<DeviceId, DeviceId, uint64_t>;

    /** Routes: the ports to leave each device by, null at the end; forth and back. */
    QueuePair(Key key,
              uint32_t number,
              const QueuePairSettings& settings,
              std::vector<RocePort*> forth,
              std::vector<RocePort*> back,
              std::unique_ptr<RateState> rate);

    // Sender.

    void Append(RoceMessage message);

    /** @return true if a packet is left that selective repeat sends again */
    bool HasRepair() const
    {
        return m_repair < m_repairEnd;
    }

    /** @return true if a packet is left to send (for the first time or again) */
    bool HasPacket() const
    {
        return m_sending != m_messages.end() || HasRepair();
    }

    /**
     * @return true if the window holds back what is left to send. A window never holds back
     * without an acknowledgement to come: one that shrinks below what is under way, none of which
     * asked for any, lets one more packet out, which asks.
     */
    bool IsWindowFull() const
    {
        return GetOutstanding() >= m_windowPackets && !HasRepair() && AwaitsAcknowledgement();
    }

    /** @return true if a packet is left to send that neither window nor rate holds back */
    bool MaySend(int64_t now) const
    {
        return HasPacket() && !IsWindowFull() && !(m_rate->limited && nextSend > now);
    }

    /**
     * Brings what the next packet takes into the processor's caches, and the queue pair after this
     * one in the port's round, whose turn follows.
     */
    void Prefetch() const
    {
        __builtin_prefetch(m_rate.get());
        if (m_sending != m_messages.end())
        {
            __builtin_prefetch(&*m_sending);
        }
        __builtin_prefetch(m_forth.data());
        const auto* bytes = reinterpret_cast<const unsigned char*>(nextReady);
        for (size_t i = 0; i < 3; ++i)
        {
            __builtin_prefetch(bytes + 64 * i);
        }
    }

    /** @return wire bytes of the next packet to send; HasPacket() holds */
    uint32_t GetNextWireBytes();

    /** Fills in the next packet to send; HasPacket() holds. @return true if it is sent again */
    bool MakePacket(RocePacket& packet);

    /** All packets before @p expected have arrived. @return how many of them that is news of */
    uint64_t Acknowledge(uint64_t expected);

    /** A gap: packet @p selective has arrived (selective repeat), the one expected has not. */
    void OnNack(uint64_t selective);

    /** Packet @p sequence has arrived (selective repeat). */
    void NoteArrived(uint64_t sequence);

    /** Sends again all packets that are not known to have arrived. */
    void Restart();

    /** Sends nothing any more: no way will ever be there again. */
    void Abandon();

    bool IsAbandoned() const
    {
        return m_isAbandoned;
    }

    /** @return packets sent and not acknowledged */
    uint64_t GetOutstanding() const
    {
        return m_next - m_acknowledged;
    }

    /** @return true if an acknowledgement that was asked for has not come */
    bool AwaitsAcknowledgement() const
    {
        return m_asked > m_acknowledged;
    }

    /** @return number of the next packet to be sent for the first time */
    uint64_t GetNextSequence() const
    {
        return m_highest;
    }

    /** Takes over the window of the congestion control. */
    void UpdateWindow();

    /** Packet @p sequence leaves and asks for an acknowledgement: it will tell the RTT. */
    void StartProbe(uint64_t sequence, int64_t now);
    /** @return round-trip time that an acknowledgement up to @p expected tells, ps; < 0: none */
    int64_t EndProbe(uint64_t expected, int64_t now);

    // Receiver.

    /** What a data packet means to the receiver. */
    enum class Arrival
    {
        IN_ORDER,
        FILLED, //!< in order, and what had come early follows: to be acknowledged now
        EARLY,  //!< kept; no gap to report yet
        DUPLICATE,
        GAP,          //!< an earlier packet is missing: to be reported
        GAP_REPORTED, //!< and was
    };

    Arrival Accept(uint64_t sequence)
    {
        if (sequence == m_expected && !HasEarly())
        {
            ++m_expected;
            m_gapReported = false;
            return Arrival::IN_ORDER;
        }
        if (sequence < m_expected)
        {
            return Arrival::DUPLICATE;
        }
        return m_settings.keepsEarly ? AcceptAndKeep(sequence) : ReportGap();
    }

    /** Fills in an acknowledgement or notice. */
    void MakeReply(RocePacket& packet, RocePacketKind kind);

    uint64_t GetExpected() const
    {
        return m_expected;
    }

    /** @return true if all packets of the oldest unfinished message have arrived */
    bool HasFinished() const
    {
        return m_receiving != m_messages.end() &&
               m_receiving->firstSequence + m_receiving->packets <= m_expected;
    }

    /** @return true if packets of messages given to it have not arrived */
    bool IsUnfinished() const
    {
        return m_expected < m_end;
    }

    /** @return that message, which is finished now */
    RoceMessage& FinishMessage();

    /** @return length of the message that packet @p sequence, not acknowledged yet, is part of */
    uint32_t GetMessageBytes(uint64_t sequence) const;

    /** @return number in its network, from 0; stands for the queue pair in frames */
    uint32_t GetNumber() const
    {
        return m_number;
    }

    const Key& GetKey() const
    {
        return m_key;
    }

    RocePort* const* GetForth() const
    {
        return m_forth.data();
    }

    RocePort* const* GetBack() const
    {
        return m_back.data();
    }

    /** What is sent from now on leaves its sender, and what answers it its receiver, by these. */
    void SetFirstPorts(RocePort* forth, RocePort* back)
    {
        m_forth.front() = forth;
        m_back.front() = back;
    }

    /** @return links of the way forth */
    uint32_t GetHops() const
    {
        return static_cast<uint32_t>(m_forth.size() - 1);
    }

    RateState& GetRate()
    {
        return *m_rate;
    }

    const RateState& GetRate() const
    {
        return *m_rate;
    }

    const QueuePairSettings& GetSettings() const
    {
        return m_settings;
    }

  private:
    using Messages = std::list<RoceMessage>;

    /** A packet that asked for an acknowledgement, and when. */
    struct Probe
    {
        uint64_t sequence;
        int64_t time;
    };

    /** What queue pairs without losses, reordering and RTT measurement do without. */
    struct Rare
    {
        std::vector<bool> arrived; //!< sender, from m_acknowledged on: known to have arrived
        ReorderWindow early;       //!< receiver: has come before its turn
        std::vector<Probe> probes; //!< oldest first
    };

    Rare& GetRare();

    bool HasEarly() const
    {
        return m_rare && m_rare->early.GetWaiting() > 0;
    }

    Arrival ReportGap()
    {
        return std::exchange(m_gapReported, true) ? Arrival::GAP_REPORTED : Arrival::GAP;
    }

    /** Moves m_repair on to a packet not known to have arrived. */
    void SkipArrived();
    Messages::iterator FindMessage(uint64_t sequence);
    uint32_t PayloadOf(const RoceMessage& message, uint64_t sequence) const;
    Arrival AcceptAndKeep(uint64_t sequence);

    // What each packet touches comes first, the sender's together in two lines of the caches.
  public:
    // Kept here for the NICs, which alone use them. Times in ps.
    State state{State::IDLE};      //!< sender
    bool timeoutSet{false};        //!< a retransmission timer is set
    uint8_t trafficClass{0};       //!< of its data packets
    uint32_t lastWireBytes{0};     //!< of the packet of lastSend
    QueuePair* nextReady{nullptr}; //!< next in the port's round
    int64_t nextSend{0};           //!< a limited sender sends no earlier

  private:
    uint64_t m_next{0};                //!< next packet to send
    uint64_t m_acknowledged{0};        //!< first packet not acknowledged
    uint64_t m_asked{0};               //!< after the last packet that asked for acknowledgement
    uint64_t m_windowPackets{0};       //!< that may be outstanding
    uint64_t m_repair{0};              //!< next packet to send again, if before m_repairEnd
    uint64_t m_repairEnd{0};           //!< first packet not to be sent again yet
    Messages m_messages;               //!< not acknowledged, oldest first
    Messages::iterator m_sending;      //!< of packet m_next; end: all sent
    std::unique_ptr<RateState> m_rate; //!< congestion control
    uint64_t m_highest{0};             //!< first packet never sent

  public:
    int64_t lastProgress{0}; //!< last news of the receiver, or start after rest
    int64_t credit{0};       //!< wire bytes left of its turn (deficit round robin)

  private:
    QueuePairSettings m_settings;   //!< of this one
    std::vector<RocePort*> m_forth; //!< way of data

    uint64_t m_expected{0};         //!< next packet that the receiver expects
    Messages::iterator m_receiving; //!< of packet m_expected; end: none under way
    std::vector<RocePort*> m_back;  //!< way of acknowledgements
    std::unique_ptr<Rare> m_rare;   //!< made when needed
    bool m_gapReported{false};      //!< NACK sent for m_expected
    bool m_isAbandoned{false};

  public:
    int64_t lastNotice{INT64_MIN / 2}; //!< last CNP that the receiver sent
    int64_t paceTimer{INT64_MAX};      //!< the timer that waits for nextSend; NEVER: none
    int64_t lastSend{0};               //!< start of the last packet of a limited sender

  private:
    Key m_key;         //!< source, destination, label
    uint32_t m_number; //!< in its network
    uint64_t m_end{0}; //!< number after the last packet of the last message
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_QUEUE_PAIR_H */
