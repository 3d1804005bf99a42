// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NETWORK_MODEL_H
#define ECHO_NETWORK_MODEL_H

#include "ns3/echo-records.h"
#include "ns3/echo-router.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ns3
{
namespace echo
{

/** Bytes to move between two NICs, or between two GPUs of one host. */
struct Message
{
    DeviceId source;
    DeviceId destination;
    uint64_t bytes{0}; //!< payload, above zero
    uint64_t label{0}; //!< equal labels of a pair share path and queue pair, and stay in order
    uint8_t trafficClass{0};  //!< from 0; models without classes serve all alike
    CollectiveId collective;  //!< for records only
    bool isBackground{false}; //!< nobody waits for it: out of reach, it ends no run
    uint32_t parts{1};        //!< of a message that is spread: in all, which share links as one
    uint32_t part{0};         //!< which one, from 0
};

/** Totals over a run, for the summary. */
struct NetworkTotals
{
    uint64_t packets{0};
    uint64_t packetHops{0};
    uint64_t drops{0};
    uint64_t pauses{0};
    uint64_t ecnMarks{0};
    uint64_t cnps{0};              //!< that reached their senders
    uint64_t liveFlows{0};         //!< not delivered yet
    std::string lostBackground;    //!< what background traffic had no way at last; empty: none
    std::string congestionControl; //!< "none", "dcqcn"; empty if the model has none
    /** Why a counter is zero, by its name in summary.json; empty if the model has no packets. */
    std::map<std::string, std::string> zeroCounters;
};

/**
 * Lower seam: moves bytes between devices; knows nothing of collectives or NCCL.
 *
 * Contract across models (tested): one message on an idle path of h links at rate R with delays
 * d takes d + B/R (fluid) or d + wire bytes/R + one packet's store-and-forward a further hop
 * (packet), to the picosecond at fixed rate.
 */
class NetworkModel : public Object
{
  public:
    using DeliveredCallback = std::function<void()>;
    /** Signature of the trace source Delivered. */
    using DeliveredTracedCallback = void (*)(const FlowRecord& record);

    static TypeId GetTypeId();
    /** To be called once, before time zero. @p sink may be null and outlives this object. */
    virtual void Prepare(Ptr<Router> router, RecordSink* sink) = 0;
    /**
     * @p delivered fires once, when the last byte is at the destination, never from inside Send.
     * @throws UnsupportedError if no path joins the two
     */
    virtual void Send(const Message& message, DeliveredCallback delivered) = 0;
    virtual Fidelity GetFidelity() const = 0;
    /** One LinkRecord for each direction of each link that it serves and that carried bytes. */
    virtual void ReportLinks(RecordSink& sink, Time duration) const = 0;
    virtual NetworkTotals GetTotals() const = 0;

    /** @return after a run that left messages undelivered: why, in lines, if the model knows */
    virtual std::string DescribeTrouble() const;

  protected:
    TracedCallback<const FlowRecord&> m_deliveredTrace; //!< trace source "Delivered"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NETWORK_MODEL_H */
