// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_NIC_H
#define ECHO_ROCE_NIC_H

#include "echo-queue-pair-round.h"
#include "echo-roce-device.h"
#include "echo-roce-port-trace.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A NIC: lets its queue pairs send in turn on each port (a packet each, round robin; or equal
 * bytes, deficit round robin, Shreedhar and Varghese, SIGCOMM 1995), each at its rate and within
 * its window; receives, acknowledges, reports gaps and congestion. It drains what arrives at line
 * rate, so it never pauses its link; it obeys pauses.
 *
 * Trace sources tell of the queue pairs that send by this NIC. Unconnected ones cost nothing:
 * rates and CNPs are rare, and for the rest one flag is tested.
 */
class RoceNic : public RoceDevice
{
  public:
    /** A message of @p queuePair is complete at this NIC. */
    using DeliveredFunction = std::function<void(QueuePair& queuePair, int64_t now)>;

    using NoticeTracedCallback = void (*)(Time at, const QueuePair& queuePair);
    using RateTracedCallback = void (*)(Time at,
                                        const QueuePair& queuePair,
                                        double bitsPerSecond,
                                        double windowBytes);
    using RetransmissionTracedCallback = void (*)(Time at,
                                                  const QueuePair& queuePair,
                                                  uint64_t sequence);
    using RttTracedCallback = void (*)(Time at, const QueuePair& queuePair, Time rtt);

    static TypeId GetTypeId();
    RoceNic();

    /** To be called once, before Seal. */
    void SetPolicy(Ptr<CongestionControl> control, DeliveredFunction delivered);

    /** The queue pair, which leaves by this NIC, has a new message. Wake is to follow. */
    void Activate(QueuePair& queuePair, int64_t now);
    /** Starts the port of a queue pair, after all that were given messages were activated. */
    void Wake(QueuePair& queuePair, int64_t now);

    /** Ways have changed: the queue pair is to leave by another port, and its answers too. */
    void Move(QueuePair& queuePair, RocePort* forth, RocePort* back, int64_t now);

    RocePacket* PullData(RocePort& port, int64_t now) override;

    /** CNPs that have come to queue pairs that send by this NIC. */
    uint64_t GetNotices() const
    {
        return m_notices;
    }

    /** Called by a trace source of this NIC when someone connects. */
    void SetTraced();

  protected:
    void DoDispose() override;
    void DoSeal() override;
    void Receive(uint32_t port, RocePacket* packet, int64_t now) override;
    bool HasTimer() const override;
    void OnTimer(int64_t now) override;
    void PrefetchData(const RocePort& port) const override;

  private:
    /** What a congestion control had set before it was called. */
    struct Setting
    {
        double rate;
        double windowBytes;
    };

    void ReceiveData(RocePacket* packet, int64_t now);
    void ReceiveAcknowledgement(RocePacket* packet, int64_t now);
    void ReceiveNotice(QueuePair& queuePair, int64_t now);
    /** @param cause the data packet that is answered */
    void SendReply(QueuePair& queuePair, RocePacketKind kind, RocePacket& cause, int64_t now);
    /**
     * Decides what the queue pair waits for; puts it into its round or sets a timer.
     * @return true if its port is to be woken
     */
    bool Reconsider(QueuePair& queuePair, int64_t now);
    /** Makes the queue pair wait for its rate. */
    void Pace(QueuePair& queuePair);
    /** Reconsider and wake. */
    void Resume(QueuePair& queuePair, int64_t now);
    /** A packet starts that asks for an acknowledgement. @param isNew time counts from here */
    void SetTimeout(QueuePair& queuePair, bool isNew, int64_t now);
    /** A packet of the queue pair starts: pacing, probes, traces. */
    void OnSent(QueuePair& queuePair, const RocePacket& packet, bool again, int64_t now);
    /** The congestion control has changed rate or window: applies them to what waits. */
    void OnControlled(QueuePair& queuePair, const Setting& before, int64_t now);
    void TraceRate(const QueuePair& queuePair, int64_t now);
    QueuePairRound& RoundOf(RocePort& port, uint32_t trafficClass);
    void AddTimer(const QueuePairTimer& timer);
    void OnTimeout(QueuePair& queuePair, int64_t now);

    Ptr<CongestionControl> m_control;             //!< of the network
    DeliveredFunction m_delivered;                //!< tells the network
    std::vector<QueuePairRound> m_rounds;         //!< by port, then traffic class
    std::priority_queue<QueuePairTimer> m_timers; //!< earliest on top
    uint64_t m_notices{0};                        //!< CNPs that came
    bool m_byteFair{false};                       //!< attribute ByteFair
    bool m_canLose{false};                        //!< gaps and timeouts can occur
    bool m_usesAcknowledgements{false};           //!< the congestion control does
    bool m_measuresRtt{false};                    //!< the congestion control or a trace needs it
    bool m_traced{false};                         //!< a trace is connected

    RocePortTrace<RoceNic, Time, const QueuePair&> m_noticeTrace;               //!< "Cnp"
    RocePortTrace<RoceNic, Time, const QueuePair&, double, double> m_rateTrace; //!< "Rate"
    RocePortTrace<RoceNic, Time, const QueuePair&, uint64_t> m_retransmissionTrace;
    RocePortTrace<RoceNic, Time, const QueuePair&, Time> m_rttTrace; //!< "Rtt"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_NIC_H */
