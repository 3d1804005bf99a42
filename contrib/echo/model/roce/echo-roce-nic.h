// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_NIC_H
#define ECHO_ROCE_NIC_H

#include "echo-queue-pair.h"
#include "echo-roce-device.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A NIC: lets its queue pairs send in turn (a packet each, round robin, on each port), each at its
 * rate; receives, acknowledges, reports gaps and congestion. It drains what arrives at line rate,
 * so it never pauses its link; it obeys pauses.
 */
class RoceNic : public RoceDevice
{
  public:
    /** A message of @p queuePair is complete at this NIC. */
    using DeliveredFunction = std::function<void(QueuePair& queuePair, int64_t now)>;

    static TypeId GetTypeId();

    /** To be called once, before Seal. */
    void SetPolicy(Ptr<CongestionControl> control, DeliveredFunction delivered);

    /** The queue pair, which leaves by this NIC, has a new message. Wake is to follow. */
    void Activate(QueuePair& queuePair, int64_t now);
    /** Starts the port of a queue pair, after all that were given messages were activated. */
    void Wake(QueuePair& queuePair, int64_t now);

    RocePacket* PullData(RocePort& port, int64_t now) override;

  protected:
    void DoDispose() override;
    void DoSeal() override;
    void Receive(uint32_t port, RocePacket* packet, int64_t now) override;
    bool HasTimer() const override;
    void OnTimer(int64_t now) override;

  private:
    /** Queue pairs of one class of a port that may send, in turn. */
    struct Round
    {
        QueuePair* first{nullptr};
        QueuePair* last{nullptr};
        uint32_t count{0};
    };

    /** A queue pair that waits for a time. */
    struct Timer
    {
        int64_t time;
        bool timeout; //!< retransmission timer; else its rate lets it send
        QueuePair* queuePair;

        /** Later first, for a heap whose top is the earliest. */
        bool operator<(const Timer& other) const;
    };

    void ReceiveData(RocePacket* packet, int64_t now);
    /** Packets of a flow take different ways. */
    void ReceiveAnyOrder(RocePacket* packet, int64_t now);
    void ReceiveAcknowledgement(RocePacket* packet, int64_t now);
    void SendReply(QueuePair& queuePair, RocePacketKind kind, int64_t now);
    void Append(Round& round, QueuePair& queuePair);
    /**
     * Decides what the queue pair waits for; puts it into its round or sets a timer.
     * @return true if its port is to be woken
     */
    bool Reconsider(QueuePair& queuePair, int64_t now);
    /** Reconsider and wake. */
    void Resume(QueuePair& queuePair, int64_t now);
    bool IsWindowFull(const QueuePair& queuePair) const;
    Round& RoundOf(RocePort& port, uint32_t trafficClass);
    void AddTimer(const Timer& timer);
    void OnTimeout(QueuePair& queuePair, int64_t now);

    Ptr<CongestionControl> m_control;    //!< of the network
    DeliveredFunction m_delivered;       //!< tells the network
    std::vector<Round> m_rounds;         //!< by port, then traffic class
    std::priority_queue<Timer> m_timers; //!< earliest on top
    bool m_canLose{false};               //!< gaps and timeouts can occur
    uint64_t m_windowPackets{0};         //!< 0: no limit
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_NIC_H */
