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
    double targetRate{0};   //!< R_T
    double alpha{1};        //!< estimate of congestion
    int64_t alphaSince{-1}; //!< alpha is up to date until here; below 0: no CNP yet
    int64_t timerSince{0};  //!< the rate timer started
    int64_t cutSince{INT64_MIN / 2}; //!< last cut
    uint64_t bytesSince{0}; //!< sent since the byte counter started
    uint32_t timerStage{0}; //!< T: expirations of the timer since the last cut
    uint32_t byteStage{0};  //!< BC: expirations of the byte counter since the last cut
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
 * with T and BC the expirations of timer and byte counter before this one. A receiver that gets
 * marked packets sends a CNP at most each N.
 *
 * Attributes have the paper's names and values (g 1/256, F 5, K and T 55 us, B 10 MB, R_AI 40 Mb/s,
 * N 50 us). R_HAI is not in the paper: ten times R_AI as in IEEE 802.1Qau (QCN), which also has
 * the growing factor. R_AI and R_HAI are the paper's for its 40 Gb/s links and scale with the line
 * rate (attribute ScaleWithRate).
 *
 * No event is ever set: timers are brought up to date when the sender is about to send or hears of
 * congestion, so a packet that already waits for its time keeps it. A sender within 0.1 % of the
 * line rate is no longer limited. It then keeps its alpha, which goes on decaying.
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
    uint32_t m_f{5};          //!< attribute F
    Time m_k;                 //!< attribute K
    Time m_t;                 //!< attribute T
    uint64_t m_b{10000000};   //!< attribute B
    Time m_n;                 //!< attribute N
    Time m_cutInterval;       //!< attribute CutInterval
    bool m_clamp{true};       //!< attribute ClampTargetRate
    DataRate m_rai;           //!< attribute Rai
    DataRate m_rhai;          //!< attribute Rhai
    DataRate m_minRate;       //!< attribute MinRate
    double m_initialAlpha{1}; //!< attribute InitialAlpha
    bool m_scale{true};       //!< attribute ScaleWithRate
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_DCQCN_H */
