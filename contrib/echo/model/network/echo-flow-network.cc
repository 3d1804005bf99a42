// SPDX-License-Identifier: GPL-2.0-only
#include "echo-flow-network.h"

#include "ns3/assert.h"
#include "ns3/double.h"
#include "ns3/echo-time-limit.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoFlowNetwork");
NS_OBJECT_ENSURE_REGISTERED(FlowNetwork);

namespace
{

/** Streams that depend on one another, from which on all at once are found faster than a few. */
constexpr size_t LARGE_SET = 128;

constexpr double BYTE_PS = 8e12;    //!< ps of a byte at 1 bit/s
constexpr double LONGEST_PS = 1e15; //!< for which anything is put off

int64_t NowPs()
{
    return Simulator::Now().GetPicoSeconds();
}

} // namespace

TypeId FlowNetwork::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::FlowNetwork")
                            .SetParent<NetworkModel>()
                            .SetGroupName("Echo")
                            .AddConstructor<FlowNetwork>()
                            .AddAttribute("RateTolerance",
                                          "Changes of less than this part of a rate are not passed "
                                          "on to other messages; 0: exact max-min shares",
                                          DoubleValue(0),
                                          MakeDoubleAccessor(&FlowNetwork::m_tolerance),
                                          MakeDoubleChecker<double>(0, 0.1))
                            .AddAttribute("UpdateShare",
                                          "Where more than BatchStreams streams are active and a "
                                          "change of rates ran through many, changes are gathered "
                                          "for this part of the time that a message takes on "
                                          "average: one that comes meanwhile has what others "
                                          "leave on its path, what one that ends leaves is free. "
                                          "No message waits for its rate longer than an eighth of "
                                          "its own time. 0: rates change at once, exact",
                                          DoubleValue(0.05),
                                          MakeDoubleAccessor(&FlowNetwork::m_updateShare),
                                          MakeDoubleChecker<double>(0, 0.5))
                            .AddAttribute("BatchStreams",
                                          "See UpdateShare.",
                                          UintegerValue(256),
                                          MakeUintegerAccessor(&FlowNetwork::m_batchStreams),
                                          MakeUintegerChecker<uint32_t>())
                            .AddAttribute("RerouteDelay",
                                          "Time from the failure or return of a link to ways that "
                                          "heed it.",
                                          TimeValue(MilliSeconds(1)),
                                          MakeTimeAccessor(&FlowNetwork::m_rerouteDelay),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

FlowNetwork::FlowNetwork() = default;
FlowNetwork::~FlowNetwork() = default;

void FlowNetwork::DoDispose()
{
    m_wake.Cancel();
    m_update.Cancel();
    m_failures.reset();
    m_transfers.Clear();
    m_router = nullptr;
    NetworkModel::DoDispose();
}

void FlowNetwork::Prepare(Ptr<Router> router, RecordSink* sink)
{
    NS_LOG_FUNCTION(this);
    m_router = router;
    m_transfers.SetSink(sink);
    m_streams.Prepare(router);
    m_rates.SetTolerance(m_tolerance);
    m_rates.SetLargeSet(LARGE_SET);
    StartFailures();
}

Fidelity FlowNetwork::GetFidelity() const
{
    return Fidelity::FLOW;
}

void FlowNetwork::Send(const Message& message, DeliveredCallback delivered)
{
    NS_ASSERT_MSG(message.bytes > 0, "a message needs bytes");
    const uint32_t number = m_streams.FindOrAdd(message.source, message.destination, message.label);
    const uint32_t transfer =
        m_transfers.Add(message, m_streams.CountHops(number), std::move(delivered));
    FlowStream& stream = m_streams.Get(number);
    m_transfers.Append(stream.queue, transfer);
    if (stream.active)
    {
        return;
    }
    Activate(number);
    if (m_streams.CountHops(number) == 0)
    {
        CheckReachability();
    }
}

void FlowNetwork::Activate(uint32_t number)
{
    FlowStream& stream = m_streams.Get(number);
    const Message& head = m_transfers.Get(stream.queue.first);
    const uint64_t bytes = head.bytes;
    stream.parts = head.parts;
    stream.unbooked = bytes;
    stream.progress.Start(bytes, NowPs());
    m_streams.Enter(number, NowPs());
    m_activeBytes += bytes;
    int64_t due = NowPs();
    if (IsGathering() && m_streams.CountHops(number) > 0)
    {
        const uint64_t fair = TakeLeftover(number);
        due = stream.progress.GetRate() >= fair / 2 ? m_nextUpdate : DueAfter(bytes, fair);
    }
    TouchPath(number, due);
}

bool FlowNetwork::IsGathering() const
{
    return m_nextUpdate > NowPs();
}

uint64_t FlowNetwork::TakeLeftover(uint32_t number)
{
    uint64_t left = std::numeric_limits<uint64_t>::max();
    uint64_t fair = left;
    for (const PortId port : m_streams.GetPath(number))
    {
        const FlowLink& link = m_streams.GetLink(port);
        left = std::min(left, link.capacity - std::min(link.capacity, link.allocated));
        fair = std::min(fair, FlowWeight::GetShare(link.capacity, link.weight));
    }
    fair /= m_streams.Get(number).parts;
    m_streams.SetRate(number, std::min(left, fair), NowPs());
    Expect(number);
    return fair;
}

void FlowNetwork::TouchPath(uint32_t number, int64_t due)
{
    for (const PortId port : m_streams.GetPath(number))
    {
        m_rates.Touch(port);
    }
    if (m_rates.HasWork())
    {
        ScheduleUpdate(due);
    }
}

void FlowNetwork::ScheduleUpdate(int64_t due)
{
    if (m_update.IsExpired() || due < m_updateTime)
    {
        m_update.Cancel();
        m_updateTime = due;
        m_update = Simulator::Schedule(PicoSeconds(due - NowPs()), &FlowNetwork::FindRates, this);
    }
}

void FlowNetwork::FindRates()
{
    const std::vector<uint32_t>& found = m_rates.Update(NowPs());
    m_nextUpdate = 0;
    if (m_rates.WasForAll())
    {
        const int64_t interval = FindInterval();
        m_nextUpdate = NowPs() + interval;
        m_horizonLength = 2 * interval;
        m_horizon = interval > 0 ? NowPs() + m_horizonLength : FOREVER;
    }
    for (const uint32_t stream : found)
    {
        Expect(stream);
    }
    ScheduleWake();
}

int64_t FlowNetwork::FindInterval() const
{
    if (m_streams.GetActive().size() <= m_batchStreams || m_rates.GetTotalRate() == 0)
    {
        return 0;
    }
    const double average =
        static_cast<double>(m_activeBytes) * BYTE_PS / static_cast<double>(m_rates.GetTotalRate());
    return static_cast<int64_t>(std::min(m_updateShare * average, LONGEST_PS));
}

void FlowNetwork::Expect(uint32_t number)
{
    FlowStream& stream = m_streams.Get(number);
    if (stream.expected || stream.progress.GetRate() == 0 ||
        (m_horizon != FOREVER && !stream.progress.EndsBy(m_horizon)))
    {
        return;
    }
    stream.expected = true;
    m_completions.push_back({stream.progress.GetEnd(), number, stream.version});
    std::push_heap(m_completions.begin(), m_completions.end(), std::greater<Completion>());
    if (m_completions.size() > 4 * m_streams.GetActive().size() + 1024)
    {
        DropOutdatedCompletions();
    }
}

void FlowNetwork::ExtendHorizon()
{
    m_horizonLength *= 2;
    m_horizon = NowPs() + m_horizonLength;
    bool isAnyLater = false;
    for (const uint32_t number : m_streams.GetActive())
    {
        Expect(number);
        const FlowStream& stream = m_streams.Get(number);
        isAnyLater = isAnyLater || (!stream.expected && stream.progress.GetRate() > 0);
    }
    if (!isAnyLater)
    {
        m_horizon = FOREVER;
    }
}

int64_t FlowNetwork::DueAfter(uint64_t bytes, uint64_t rate) const
{
    const double own =
        static_cast<double>(bytes) * BYTE_PS / static_cast<double>(std::max<uint64_t>(rate, 1));
    return std::min(m_nextUpdate, NowPs() + static_cast<int64_t>(std::min(own / 8, LONGEST_PS)));
}

bool FlowNetwork::IsOutdated(const Completion& completion)
{
    const FlowStream& stream = m_streams.Get(completion.stream);
    return !stream.active || stream.version != completion.version;
}

void FlowNetwork::DropOutdatedCompletions()
{
    m_completions.erase(
        std::remove_if(m_completions.begin(),
                       m_completions.end(),
                       [this](const Completion& entry) { return IsOutdated(entry); }),
        m_completions.end());
    std::make_heap(m_completions.begin(), m_completions.end(), std::greater<Completion>());
}

void FlowNetwork::ScheduleWake()
{
    while (!m_completions.empty() && IsOutdated(m_completions.front()))
    {
        std::pop_heap(m_completions.begin(), m_completions.end(), std::greater<Completion>());
        m_completions.pop_back();
    }
    const int64_t time =
        m_completions.empty() ? m_horizon : std::min(m_horizon, m_completions.front().time);
    if (time == FOREVER)
    {
        return;
    }
    if (!m_wake.IsExpired() && m_wakeTime <= time)
    {
        return; // an early wake finds nothing to do and asks again
    }
    WithinClock(PicoSeconds(time));
    m_wake.Cancel();
    m_wakeTime = time;
    m_wake = Simulator::Schedule(PicoSeconds(time - NowPs()), &FlowNetwork::Wake, this);
}

void FlowNetwork::Wake()
{
    const int64_t now = NowPs();
    while (!m_completions.empty() && m_completions.front().time <= now)
    {
        const Completion due = m_completions.front();
        std::pop_heap(m_completions.begin(), m_completions.end(), std::greater<Completion>());
        m_completions.pop_back();
        if (!IsOutdated(due))
        {
            CompleteHead(due.stream);
        }
    }
    if (m_horizon <= now)
    {
        ExtendHorizon();
    }
    ScheduleWake();
}

void FlowNetwork::CompleteHead(uint32_t number)
{
    const int64_t now = NowPs();
    FlowStream& stream = m_streams.Get(number);
    const uint32_t done = m_transfers.PopFirst(stream.queue);
    const uint64_t bytes = m_transfers.Get(done).bytes;
    m_streams.Book(number, stream.unbooked);
    const auto [arrivals, isNew] = m_arrivals.try_emplace(now + stream.delay);
    arrivals->second.push_back(done);
    if (isNew)
    {
        Simulator::Schedule(
            PicoSeconds(stream.delay), &FlowNetwork::DeliverAll, this, arrivals->first);
    }
    m_activeBytes -= bytes;
    stream.expected = false;
    ++stream.version;
    if (!stream.queue.IsEmpty())
    {
        stream.unbooked = m_transfers.Get(stream.queue.first).bytes;
        m_activeBytes += stream.unbooked;
        stream.progress.Continue(stream.unbooked, now);
        Expect(number);
        return;
    }
    m_streams.Leave(number, now);
    TouchPath(number, IsGathering() ? DueAfter(bytes, stream.progress.GetRate()) : now);
}

void FlowNetwork::DeliverAll(int64_t time)
{
    const auto node = m_arrivals.extract(time);
    for (const uint32_t transfer : node.mapped())
    {
        m_transfers.Deliver(transfer);
    }
}

void FlowNetwork::ReportLinks(RecordSink& sink, Time) const
{
    const Topology& topology = m_streams.GetTopology();
    const auto& links = m_streams.GetLinks();
    for (uint32_t number = 0; number < links.size(); ++number)
    {
        const FlowLink& link = links[number];
        if (link.bytes == 0)
        {
            continue;
        }
        LinkRecord record = topology.DescribeLink(PortId(number));
        record.payloadBytes = record.wireBytes = link.bytes;
        record.busy = PicoSeconds(link.busy);
        record.lastBusy = PicoSeconds(link.lastBusy);
        record.peakRate = link.GetPeakShare();
        sink.OnLink(record);
    }
}

NetworkTotals FlowNetwork::GetTotals() const
{
    NetworkTotals totals;
    totals.liveFlows = m_transfers.GetCount();
    totals.lostBackground = m_lostBackground;
    return totals;
}

uint64_t FlowNetwork::GetSolveCount() const
{
    return m_rates.GetUpdateCount();
}

} // namespace echo
} // namespace ns3
