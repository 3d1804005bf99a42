// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONGESTION_CONTROL_H
#define ECHO_CONGESTION_CONTROL_H

#include "ns3/object.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{
namespace echo
{

/** What a congestion control keeps of one queue pair; policies derive from it. Bits per second. */
struct RateState
{
    virtual ~RateState() = default;

    double lineRate{0};  //!< of the NIC's port
    double rate{0};      //!< packets leave no faster than this
    bool limited{false}; //!< rate is below the line rate; else the policy is not asked at all
};

/**
 * How a queue pair adapts its rate: a policy shared by all queue pairs of a network, acting on the
 * RateState of one (as ns-3's TcpCongestionOps act on TcpSocketState).
 *
 * While a queue pair is not limited its packets cost no call, and no policy may set events of its
 * own: what depends on time is brought up to date when a packet is about to leave.
 */
class CongestionControl : public Object
{
  public:
    static TypeId GetTypeId();

    /** @return the scheme as outputs name it, e.g. "dcqcn" */
    virtual std::string GetName() const = 0;
    /** @return the state of a new queue pair on a port of @p lineRate bits per second */
    virtual std::unique_ptr<RateState> MakeState(double lineRate) const = 0;

    /** @return true if switches are to mark packets and receivers to send CNPs */
    virtual bool UsesNotices() const
    {
        return false;
    }

    /** @return the least time between two CNPs of a queue pair, ps */
    virtual int64_t GetNoticeInterval() const
    {
        return 0;
    }

    /** A CNP has come to the sender. */
    virtual void OnNotice(RateState& state, int64_t now) const;
    /** A limited queue pair is about to send @p wireBytes: brings its rate up to date. */
    virtual void OnSend(RateState& state, uint32_t wireBytes, int64_t now) const;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONGESTION_CONTROL_H */
