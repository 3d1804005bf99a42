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

/**
 * A reliable connection between two NICs: messages in order, cut into packets of one MTU, numbered
 * through; cumulative acknowledgements; go-back-N on a gap (NACK) or a timeout. Both ends are kept
 * here, as one process simulates both. The NICs drive it; it knows no ports.
 *
 * Packet numbers are 64-bit (24-bit PSN on the wire never wraps here within a window).
 */
class QueuePair
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

    /** Orders queue pairs whatever the order they were made in. */
    using Key = std::tuple<DeviceId, DeviceId, uint64_t>;

    /** Routes: the ports to leave each device by, null at the end; forth and back. */
    QueuePair(Key key,
              uint32_t number,
              uint32_t mtuBytes,
              uint32_t ackInterval,
              std::vector<RocePort*> forth,
              std::vector<RocePort*> back,
              std::unique_ptr<RateState> rate);

    // Sender.

    void Append(RoceMessage message);

    /** @return true if a packet is left to send (for the first time or again) */
    bool HasPacket() const
    {
        return m_sending != m_messages.end();
    }

    /** Fills in the next packet to send; HasPacket() holds. */
    void MakePacket(RocePacket& packet);

    /** All packets before @p expected have arrived. @return true if that is news */
    bool Acknowledge(uint64_t expected);

    /** Sends again from the oldest packet not acknowledged. */
    void GoBack();

    /** @return packets sent and not acknowledged */
    uint64_t GetOutstanding() const
    {
        return m_next - m_acknowledged;
    }

    // Receiver.

    /** What a data packet means to the receiver. */
    enum class Arrival
    {
        IN_ORDER,
        DUPLICATE,
        GAP,          //!< an earlier packet is missing: to be reported
        GAP_REPORTED, //!< and was
    };

    Arrival Accept(uint64_t sequence)
    {
        if (sequence == m_expected)
        {
            ++m_expected;
            m_gapReported = false;
            return Arrival::IN_ORDER;
        }
        if (sequence < m_expected)
        {
            return Arrival::DUPLICATE;
        }
        const bool reported = m_gapReported;
        m_gapReported = true;
        return reported ? Arrival::GAP_REPORTED : Arrival::GAP;
    }

    uint64_t GetExpected() const
    {
        return m_expected;
    }

    /** As Accept, for a receiver that takes packets in any order. */
    ReorderWindow::Arrival AcceptAnyOrder(uint64_t sequence)
    {
        return reorder->Accept(sequence, m_expected);
    }

    /** @return true if all packets of the message under way have arrived */
    bool IsMessageComplete() const
    {
        return m_receiving != m_messages.end() &&
               m_receiving->firstSequence + m_receiving->packets <= m_expected;
    }

    /** @return true if packets of messages given to it have not arrived */
    bool IsUnfinished() const
    {
        return m_expected < m_end;
    }

    /** The last packet of a message has arrived in order. @return that message */
    RoceMessage& FinishMessage();

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

    /** @return links of the way forth */
    uint32_t GetHops() const
    {
        return static_cast<uint32_t>(m_forth.size() - 1);
    }

    RateState& GetRate()
    {
        return *m_rate;
    }

    // Kept here for the NICs, which alone use them. Times in ps.
    State state{State::IDLE};               //!< sender
    QueuePair* nextReady{nullptr};          //!< next in the port's round
    int64_t nextSend{0};                    //!< a limited sender sends no earlier
    int64_t lastProgress{0};                //!< last news of the receiver, or start after rest
    bool timeoutSet{false};                 //!< a retransmission timer is set
    int64_t lastNotice{INT64_MIN / 2};      //!< last CNP that the receiver sent
    uint8_t trafficClass{0};                //!< of its data packets
    std::unique_ptr<ReorderWindow> reorder; //!< receiver; null: packets arrive in order

  private:
    using Messages = std::list<RoceMessage>;

    Key m_key;                         //!< source, destination, label
    uint32_t m_number;                 //!< in its network
    uint32_t m_mtuBytes;               //!< payload of a full packet
    uint32_t m_ackInterval;            //!< packets between requests for acknowledgement
    std::vector<RocePort*> m_forth;    //!< way of data
    std::vector<RocePort*> m_back;     //!< way of acknowledgements
    std::unique_ptr<RateState> m_rate; //!< congestion control
    Messages m_messages;               //!< not acknowledged, oldest first
    Messages::iterator m_sending;      //!< of packet m_next; end: all sent
    Messages::iterator m_receiving;    //!< of packet m_expected; end: none under way
    uint64_t m_end{0};                 //!< number after the last packet of the last message
    uint64_t m_next{0};                //!< next packet to send
    uint64_t m_highest{0};             //!< first packet never sent
    uint64_t m_acknowledged{0};        //!< first packet not acknowledged
    uint64_t m_expected{0};            //!< next packet that the receiver expects
    bool m_gapReported{false};         //!< NACK sent for m_expected
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_QUEUE_PAIR_H */
