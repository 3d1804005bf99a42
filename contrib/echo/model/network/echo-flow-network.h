// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLOW_NETWORK_H
#define ECHO_FLOW_NETWORK_H

#include "echo-flow-rates.h"
#include "echo-flow-streams.h"
#include "echo-link-failures.h"
#include "echo-network-model.h"
#include "echo-transfers.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Messages as fluid: those of one (source, destination, label) follow one another on one path, and
 * the paths in use share the links max-min fairly at every instant. No queues, no packets, no
 * headers; a message is delivered one path delay after its last byte left.
 *
 * Rates are whole bits per second and progress is counted exactly (no floating point), so an idle
 * path takes its delay and bytes / rate, rounded up to a picosecond, and runs repeat on every
 * compiler. Rates are found again once an instant, and only for those streams whose share changes
 * (FlowRates); where that is very many, changes are gathered for a time (attribute UpdateShare).
 *
 * Serves both planes: NIC to NIC and GPU to GPU of one host.
 */
class FlowNetwork : public NetworkModel
{
  public:
    static TypeId GetTypeId();
    FlowNetwork();
    ~FlowNetwork() override;

    void Prepare(Ptr<Router> router, RecordSink* sink) override;
    void Send(const Message& message, DeliveredCallback delivered) override;
    Fidelity GetFidelity() const override;
    void ReportLinks(RecordSink& sink, Time duration) const override;
    NetworkTotals GetTotals() const override;
    std::string DescribeTrouble() const override;

    /**
     * Before Prepare: what happens to links. What is on a link that is cut is not lost, but waits
     * for the new way. @p events are no losses: there are no packets to lose
     */
    void SetLinkEvents(std::vector<LinkEvent> events);

    /** @return times that rates were found, for tests of the cost */
    uint64_t GetSolveCount() const;

  protected:
    void DoDispose() override;

  private:
    /** When the head of a stream is through, unless its rate changes before. */
    struct Completion
    {
        int64_t time; //!< ps
        uint32_t stream;
        uint32_t version; //!< of the stream's rate

        bool operator>(const Completion& other) const
        {
            return time != other.time ? time > other.time : stream > other.stream;
        }
    };

    /** The stream has a head, its first one or the first after a while. */
    void Activate(uint32_t stream);
    /** @return true while changes of rates are gathered */
    bool IsGathering() const;
    /**
     * The stream has what others leave on its path until rates are found.
     * @return bit/s it may expect at most
     */
    uint64_t TakeLeftover(uint32_t stream);
    /** @return ps: next update, or sooner for a message of @p bytes that moves at @p rate (bit/s)
     */
    int64_t DueAfter(uint64_t bytes, uint64_t rate) const;
    /**
     * Rates will be found again for what shares the stream's path.
     * @param due ps, or sooner
     */
    void TouchPath(uint32_t stream, int64_t due);
    void FindRates();
    /** @return ps for which changes are gathered after an update for all streams; 0: not at all */
    int64_t FindInterval() const;
    /** Notes when the stream's head will be through, if that is before the horizon. */
    void Expect(uint32_t stream);
    /** Notes ends of more streams. */
    void ExtendHorizon();
    void DropOutdatedCompletions();
    void ScheduleUpdate(int64_t due);
    void ScheduleWake();
    void Wake();
    void CompleteHead(uint32_t stream);
    void DeliverAll(int64_t time);
    bool IsOutdated(const Completion& completion);

    class Failures;
    void StartFailures();
    /** Changes rates at once, after links have changed. */
    void OnLinksChanged();
    /** Ways have changed. */
    void Reroute();
    /** Stops the simulation if messages can never arrive. */
    void CheckReachability();

    static constexpr int64_t FOREVER = std::numeric_limits<int64_t>::max();

    Ptr<Router> m_router;
    std::vector<LinkEvent> m_linkEvents;
    Time m_rerouteDelay;                      //!< attribute RerouteDelay
    std::unique_ptr<LinkFailures> m_failures; //!< null: none
    std::string m_trouble;                    //!< what stopped the simulation
    std::string m_lostBackground;             //!< what of background traffic has no way
    FlowStreams m_streams;                    //!< paths and progress
    FlowRates m_rates{m_streams};
    double m_tolerance{0};      //!< attribute RateTolerance
    double m_updateShare{0};    //!< attribute UpdateShare
    uint32_t m_batchStreams{0}; //!< attribute BatchStreams
    int64_t m_nextUpdate{0};    //!< ps: rates are found no sooner
    Transfers m_transfers{m_deliveredTrace};

    std::vector<Completion> m_completions; //!< heap, earliest on top; may hold outdated ones
    uint64_t m_activeBytes{0};             //!< of the heads of active streams
    int64_t m_horizon{FOREVER};            //!< ps: ends that come later are not noted yet
    int64_t m_horizonLength{0};            //!< ps: from when it was set
    EventId m_wake;
    int64_t m_wakeTime{0};
    EventId m_update;                                    //!< FindRates
    int64_t m_updateTime{0};                             //!< ps
    std::map<int64_t, std::vector<uint32_t>> m_arrivals; //!< transfers by time of delivery
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLOW_NETWORK_H */
