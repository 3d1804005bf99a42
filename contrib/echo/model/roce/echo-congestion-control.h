// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONGESTION_CONTROL_H
#define ECHO_CONGESTION_CONTROL_H

#include "echo-roce-packet.h"

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{
namespace echo
{

/** What a congestion control may know of a queue pair before its first packet. */
struct PathProperties
{
    double lineRate{0};      //!< of the NIC's port, bits per second
    int64_t baseRtt{0};      //!< full packet there and acknowledgement back on idle links, ps
    uint32_t hops{1};        //!< links of the way there
    uint32_t mtuBytes{4096}; //!< payload of a full packet
};

/** What a congestion control keeps of one queue pair; policies derive from it. Bits per second. */
struct RateState
{
    virtual ~RateState() = default;

    double lineRate{0};    //!< of the NIC's port
    double rate{0};        //!< packets leave no faster than this, if limited
    double windowBytes{0}; //!< payload that may be on its way; 0: no limit
    bool limited{false};   //!< packets are paced at `rate`; else OnSend and GetGap are not called
};

/** What an acknowledgement (positive or negative) tells the sender. */
struct Acknowledgement
{
    int64_t now{0};                          //!< ps
    uint64_t sequence{0};                    //!< first packet not acknowledged
    uint64_t nextSequence{0};                //!< next packet to be sent for the first time
    uint64_t newPackets{0};                  //!< that this one is the first to acknowledge
    int64_t rtt{-1};                         //!< ps, if UsesRtt and measured; else negative
    const RoceTelemetry* telemetry{nullptr}; //!< of the packet it answers, if UsesTelemetry
};

/**
 * How a queue pair adapts its rate and window: a policy shared by all queue pairs of a network,
 * acting on the RateState of one (as ns-3's TcpCongestionOps act on TcpSocketState).
 *
 * A policy tells what it needs (notices, acknowledgements, round-trip times, telemetry); what it
 * does not need costs nothing. No policy may set events of its own: what depends on time is
 * brought up to date when a packet is about to leave or news comes in.
 *
 * A class of its own is chosen by TypeId; scenarios may also use the name of its TypeId in lower
 * case without the namespace ("dcqcn" for ns3::echo::Dcqcn).
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();

    /** @return the scheme as outputs name it, e.g. "dcqcn" */
    virtual std::string GetName() const = 0;
    /** @return the state of a new queue pair */
    virtual std::unique_ptr<RateState> MakeState(const PathProperties& path) const = 0;

    /** @return true if switches are to mark packets and receivers to send CNPs */
    virtual bool UsesNotices() const;
    /** @return the least time between two CNPs of a queue pair, ps */
    virtual int64_t GetNoticeInterval() const;
    /** @return true if OnAcknowledgement is to be called */
    virtual bool UsesAcknowledgements() const;
    /** @return true if round-trip times are to be measured */
    virtual bool UsesRtt() const;
    /** @return true if switches are to write their state into packets (RoceTelemetry) */
    virtual bool UsesTelemetry() const;
    /** @return bytes that telemetry of @p switches adds to a packet and to an acknowledgement */
    virtual uint32_t GetTelemetryBytes(uint32_t switches) const;

    /** A CNP has come to the sender. */
    virtual void OnNotice(RateState& state, int64_t now) const;
    /** An acknowledgement has come to the sender. */
    virtual void OnAcknowledgement(RateState& state, const Acknowledgement& news) const;
    /** A NACK or a timeout has told the sender of a loss. */
    virtual void OnLoss(RateState& state, bool timeout, int64_t now) const;
    /** A limited queue pair is about to send @p wireBytes: brings its rate up to date. */
    virtual void OnSend(RateState& state, uint32_t wireBytes, int64_t now) const;
    /**
     * @return ps from the start of a packet of @p wireBytes that leaves @p now to the start of the
     * next, if nothing else happens; called after OnSend
     */
    virtual int64_t GetGap(const RateState& state, uint32_t wireBytes, int64_t now) const;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONGESTION_CONTROL_H */
