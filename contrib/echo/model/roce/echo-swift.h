// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SWIFT_H
#define ECHO_SWIFT_H

#include "echo-congestion-control.h"

#include "ns3/nstime.h"

namespace ns3
{
namespace echo
{

/** Swift's state of one sender. Times in ps, windows in packets. */
struct SwiftState : RateState
{
    double packetBytes{0};   //!< payload of a full packet
    double baseTarget{0};    //!< target delay without flow scaling
    double flowRange{0};     //!< largest addition of flow scaling
    double window{1};        //!< cwnd
    double largestWindow{1}; //!< max_cwnd
    int64_t pacingDelay{0};  //!< between packets while cwnd is below 1
    int64_t lastDecrease{0}; //!< t_last_decrease
    int64_t rtt{0};          //!< last measured
    uint32_t timeouts{0};    //!< since the last acknowledgement: retransmit_cnt
};

/**
 * Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020), algorithm 1 and section 3.1, of its two windows that for the fabric
 * (hosts here drain at line rate). Each acknowledgement of num packets with the delay it measures:
 *
 *     delay < target:   cwnd += ai num / cwnd  (ai num if cwnd < 1)
 *     else, once an RTT:  cwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)
 *     target = base_target + hops h + max(0, min(a / sqrt(cwnd) + b, fs_range))
 *     a = fs_range / (1 / sqrt(fs_min_cwnd) - 1 / sqrt(fs_max_cwnd)),  b = -a / sqrt(fs_max_cwnd)
 *
 * A gap: cwnd *= 1 - max_mdf, once an RTT; so a timeout, and several in a row lead to min_cwnd.
 * Below one packet, packets are paced RTT / cwnd apart.
 *
 * The paper leaves constants to the operator. ai 1, beta 0.8, max_mdf 0.5, fs_min_cwnd 0.1 and
 * fs_max_cwnd 100 packets are those of htsim, so is fs_range of five base targets. The base target
 * is by default twice the idle round-trip time of the queue pair's path, which makes room for as
 * much in queues as on the way, whatever the rate, and includes what each hop adds (h = 0).
 * A sender starts at line rate with one bandwidth-delay product; max_cwnd is line rate times the
 * base target.
 */
class Swift : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    std::unique_ptr<RateState> MakeState(const PathProperties& path) const override;
    bool UsesAcknowledgements() const override;
    bool UsesRtt() const override;
    void OnAcknowledgement(RateState& state, const Acknowledgement& news) const override;
    void OnLoss(RateState& state, bool timeout, int64_t now) const override;
    int64_t GetGap(const RateState& state, uint32_t wireBytes, int64_t now) const override;

    /** @return the delay that a sender with this state aims at, ps */
    double GetTarget(const SwiftState& state) const;

  private:
    /** Bounds the window; derives rate and window in bytes from it. */
    void SetWindow(SwiftState& state, double window, int64_t now) const;

    Time m_baseTarget;           //!< attribute BaseTarget
    Time m_hopTarget;            //!< attribute HopTarget
    double m_flowRange{5};       //!< attribute FsRange
    double m_leastScaled{0.1};   //!< attribute FsMinCwnd
    double m_largestScaled{100}; //!< attribute FsMaxCwnd
    double m_ai{1};              //!< attribute Ai
    double m_beta{0.8};          //!< attribute Beta
    double m_largestCut{0.5};    //!< attribute MaxMdf
    double m_leastWindow{0.001}; //!< attribute MinCwnd
    uint32_t m_timeoutLimit{5};  //!< attribute RetxResetThreshold
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SWIFT_H */
