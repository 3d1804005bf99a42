// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HPCC_H
#define ECHO_HPCC_H

#include "echo-congestion-control.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

namespace ns3
{
namespace echo
{

/** HPCC's state of one sender. Windows in bytes of payload. */
struct HpccState : RateState
{
    double baseRtt{0};         //!< T, ps
    double referenceWindow{0}; //!< W^c
    double utilisation{1};     //!< U, moving average of the most loaded link's
    uint32_t stage{0};         //!< incStage
    uint64_t lastUpdate{0};    //!< lastUpdateSeq, a packet number
    bool started{false};       //!< `links` is filled in
    RoceTelemetry links;       //!< L: of the last acknowledgement
};

/**
 * HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019), algorithm 1. On each
 * acknowledgement, with the telemetry L of the links (switch ports) of the way there:
 *
 *     u' = min(qlen, qlen before) / (B T) + txRate / B      of each link; u the largest of them
 *     U  = (1 - tau / T) U + (tau / T) u                    tau: time between the two L, at most T
 *     W  = W^c / (U / eta) + W_AI      if U >= eta or maxStage steps of increase have passed
 *     W  = W^c + W_AI                  else
 *
 * and once a round trip (when a packet sent after the last such update is acknowledged) W^c = W.
 * Packets are paced at R = W / T. A sender starts with W = B_NIC T, at line rate.
 *
 * Attributes have the paper's names and values (eta 0.95, maxStage 5); W_AI = R_AI T with R_AI
 * 50 Mb/s as published (simulation/mix/config.txt), 80 B at the paper's T. A link's 64 bits of
 * telemetry count time in nanoseconds, bytes sent in 128 B and the queue in 80 B, and the sender
 * reserves 42 B in each packet for five links, as in the published simulator: what is lost by
 * rounding down moves shares and completion times by some percent.
 */
class Hpcc : public CongestionControl
{
  public:
    static TypeId GetTypeId();

    std::string GetName() const override;
    std::unique_ptr<RateState> MakeState(const PathProperties& path) const override;
    bool UsesAcknowledgements() const override;
    bool UsesTelemetry() const override;
    uint32_t GetTelemetryBytes(uint32_t switches) const override;
    void OnAcknowledgement(RateState& state, const Acknowledgement& news) const override;

  private:
    /** @return telemetry as its fields hold it */
    RoceTelemetry Round(const RoceTelemetry& exact) const;
    /** MeasureInflight. */
    void MeasureUtilisation(HpccState& state, const RoceTelemetry& links) const;
    /** ComputeWind. */
    double ComputeWindow(HpccState& state, bool update) const;
    void SetWindow(HpccState& state, double window) const;

    double m_eta{0.95};         //!< attribute Eta
    uint32_t m_maxStage{5};     //!< attribute MaxStage
    DataRate m_rai;             //!< attribute Rai
    DataRate m_minRate;         //!< attribute MinRate
    Time m_baseRtt;             //!< attribute BaseRtt
    Time m_timeUnit;            //!< attribute TimeUnit
    uint32_t m_txUnit{128};     //!< attribute TxBytesUnit
    uint32_t m_queueUnit{80};   //!< attribute QueueUnit
    bool m_fastReact{true};     //!< attribute FastReact
    uint32_t m_fixedBytes{2};   //!< attribute TelemetryBytes
    uint32_t m_hopBytes{8};     //!< attribute HopBytes
    uint32_t m_reservedHops{5}; //!< attribute ReservedHops
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_HPCC_H */
