// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DCQCN_H
#define ECHO_DCQCN_H

#include "echo-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{
namespace echo
{

/** DCQCN's state of one sender (reaction point). Rates in bits per second, times in ps. */
struct DcqcnState : RateState
{
    double targetRate{0};            //!< R_T
    double fullWindow{0};            //!< window at line rate, bytes; 0: none
    double alpha{1};                 //!< estimate of congestion
    int64_t alphaSince{-1};          //!< alpha is up to date until here; below 0: no CNP yet
    int64_t timerSince{0};           //!< the rate timer started
    int64_t cutSince{INT64_MIN / 2}; //!< last cut
    uint64_t bytesSince{0};          //!< sent since the byte counter started
    uint32_t timerStage{0};          //!< T: expirations of the timer since the last cut
    uint32_t byteStage{0};           //!< BC: expirations of the byte counter since the last cut
};

/**
 * DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015),
 * section 3.1:
 *
 *     on a CNP:             R_T = R_C;  R_C = R_C (1 - alpha / 2);  alpha = (1 - g) alpha + g
 *     no CNP for K:         alpha = (1 - g) alpha
 *     each T or B bytes:    fast recovery  while max(T, BC) < F:  R_C = (R_T + R_C) / 2
 *                           hyper increase if min(T, BC) > F:     R_T = R_T + (min - F) R_HAI, then
 * so else additive increase:               R_T = R_T + R_AI, then so
 *
 * with T and BC the expirations of timer and byte counter before this one (without a byte counter
 * T alone, and hyper increase adds R_HAI each time). A receiver that gets marked packets sends a
 * CNP at most each N. R_HAI's growing factor is IEEE 802.1Qau's (QCN), which the paper builds on.
 *
 * The paper's parameters (g 1/256, F 5, K and T 55 us, B 10 MB, R_AI 40 Mb/s, N 50 us, for links of
 * 40 Gb/s) cut too deep where flows collide at line rate: a queue that has built up keeps marking
 * while it drains, each CNP halves R_C and takes R_T down with it, and R_T then climbs by R_AI each
 * T only. What is deployed differs, and is the default here:
 *
 * - R_T stays where it is in a series of cuts (ClampTargetRate false; CLAMP_TGT_RATE 0 and
 *   CLAMP_TGT_RATE_AFTER_TIME_INC 1 of ConnectX NICs), so that a flow finds back in F steps; alpha
 *   ages each microsecond (DCE_TCP_RTT 1), a cut each 4 us at most (RATE_REDUCE_MONITOR_PERIOD 4,
 *   min_time_between_cnps 4), a step of increase each 300 us (RPG_TIME_RESET 300), F 1
 *   (RPG_THRESHOLD 1): NVIDIA, "DCQCN CC Parameters", and the default column of table 2 of Barre
 *   (a congestion control for AI clusters that compares itself with it);
 * - R_AI 50 Mb/s, R_HAI 100 Mb/s, no byte counter, a window of one bandwidth-delay product that
 *   shrinks with the rate: the configuration published with HPCC (Li et al., SIGCOMM 2019,
 *   simulation/mix/config.txt: RATE_AI, RATE_HAI, HAS_WIN 1, VAR_WIN 1), which the packet levels
 *   of ASTRA-sim and SimAI took over.
 *
 * No event is ever set: timers are brought up to date when the sender is about to send or hears of
 * congestion. A sender within 0.1 % of the line rate is no longer limited. It then keeps its alpha,
 * which goes on decaying.
 */
class Dcqcn : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    std::unique_ptr<RateState> MakeState(const PathProperties& path) const override;
    bool UsesNotices() const override;
    int64_t GetNoticeInterval() const override;
    void OnNotice(RateState& state, int64_t now) const override;
    void OnSend(RateState& state, uint32_t wireBytes, int64_t now) const override;
    int64_t GetGap(const RateState& state, uint32_t wireBytes, int64_t now) const override;

  private:
    void DecayAlpha(DcqcnState& state, int64_t now) const;
    /** Applies what the rate timer did up to @p now. */
    void RunTimer(DcqcnState& state, int64_t now) const;
    void Increase(DcqcnState& state) const;
    /** @return factor from the paper's link rate to this one, or 1 */
    double GetScale(const RateState& state) const;

    double m_g{1.0 / 256};    //!< attribute G
    uint32_t m_f{1};          //!< attribute F
    Time m_k;                 //!< attribute K
    Time m_t;                 //!< attribute T
    uint64_t m_b{0};          //!< attribute B
    Time m_n;                 //!< attribute N
    Time m_cutInterval;       //!< attribute CutInterval
    double m_largestCut{0.5}; //!< attribute LargestCut
    bool m_clamp{false};      //!< attribute ClampTargetRate
    DataRate m_rai;           //!< attribute Rai
    DataRate m_rhai;          //!< attribute Rhai
    DataRate m_minRate;       //!< attribute MinRate
    double m_initialAlpha{1}; //!< attribute InitialAlpha
    DataRate m_referenceRate; //!< attribute ReferenceRate
    double m_windowBdps{1};   //!< attribute WindowBdps
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_DCQCN_H */
