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
                            .AddAttribute("UpdateInterval",
                                          "Where more than BatchStreams streams are active and a "
                                          "change of rates ran through many, the next one comes no "
                                          "sooner than this; a message that comes meanwhile waits, "
                                          "what one that ends leaves is free then; neither for "
                                          "longer than a quarter of what the message takes alone. "
                                          "0: at once, exact",
                                          TimeValue(MicroSeconds(10)),
                                          MakeTimeAccessor(&FlowNetwork::m_updateInterval),
                                          MakeTimeChecker(Time(0)))
                            .AddAttribute("BatchStreams",
                                          "See UpdateInterval.",
                                          UintegerValue(512),
                                          MakeUintegerAccessor(&FlowNetwork::m_batchStreams),
                                          MakeUintegerChecker<uint32_t>())
                            .AddTraceSource("Delivered",
                                            "A message has arrived",
                                            MakeTraceSourceAccessor(&FlowNetwork::m_delivered),
                                            "ns3::echo::FlowRecord::TracedCallback");
    return tid;
}

FlowNetwork::FlowNetwork() = default;
FlowNetwork::~FlowNetwork() = default;

void FlowNetwork::DoDispose()
{
    m_wake.Cancel();
    m_update.Cancel();
    m_transfers.clear();
    m_router = nullptr;
    NetworkModel::DoDispose();
}

void FlowNetwork::Prepare(Ptr<Router> router, RecordSink* sink)
{
    NS_LOG_FUNCTION(this);
    m_router = router;
    m_sink = sink;
    m_streams.Prepare(router);
    m_rates.SetTolerance(m_tolerance);
    m_rates.SetLargeSet(LARGE_SET);
}

Fidelity FlowNetwork::GetFidelity() const
{
    return Fidelity::FLOW;
}

uint32_t FlowNetwork::NewTransfer(const Message& message, DeliveredCallback delivered)
{
    uint32_t number = m_free;
    if (number == NONE)
    {
        number = static_cast<uint32_t>(m_transfers.size());
        m_transfers.emplace_back();
    }
    else
    {
        m_free = m_transfers[number].next;
    }
    Transfer& transfer = m_transfers[number];
    transfer.message = message;
    transfer.delivered = std::move(delivered);
    transfer.id = m_nextId++;
    transfer.start = NowPs();
    transfer.next = NONE;
    return number;
}

void FlowNetwork::Send(const Message& message, DeliveredCallback delivered)
{
    NS_ASSERT_MSG(message.bytes > 0, "a message needs bytes");
    const uint32_t number = m_streams.FindOrAdd(message.source, message.destination, message.label);
    const uint32_t transfer = NewTransfer(message, std::move(delivered));
    ++m_live;
    FlowStream& stream = m_streams.Get(number);
    m_transfers[transfer].hops = stream.hops;
    if (stream.active)
    {
        m_transfers[stream.tail].next = transfer;
        stream.tail = transfer;
        return;
    }
    Activate(number, transfer);
}

void FlowNetwork::Activate(uint32_t number, uint32_t transfer)
{
    FlowStream& stream = m_streams.Get(number);
    stream.head = stream.tail = transfer;
    stream.progress.Start(m_transfers[transfer].message.bytes, NowPs());
    m_streams.Enter(number, NowPs());
    ++m_activeStreams;
    TouchPath(number, m_transfers[transfer].message.bytes);
}

void FlowNetwork::TouchPath(uint32_t number, uint64_t bytes)
{
    const PortId* path = m_streams.GetPath(number);
    for (uint32_t hop = 0; hop < m_streams.Get(number).hops; ++hop)
    {
        m_rates.Touch(path[hop]);
    }
    if (!m_rates.HasWork())
    {
        return;
    }
    int64_t due = NowPs();
    if (m_nextUpdate > due)
    {
        due = std::min(m_nextUpdate, due + MostDelay(number, bytes));
    }
    if (m_update.IsExpired() || due < m_updateTime)
    {
        m_update.Cancel();
        m_updateTime = due;
        m_update = Simulator::Schedule(PicoSeconds(due - NowPs()), &FlowNetwork::FindRates, this);
    }
}

int64_t FlowNetwork::MostDelay(uint32_t number, uint64_t bytes)
{
    uint64_t capacity = UINT64_MAX;
    const PortId* path = m_streams.GetPath(number);
    for (uint32_t hop = 0; hop < m_streams.Get(number).hops; ++hop)
    {
        capacity = std::min(capacity, m_streams.GetLink(path[hop]).capacity);
    }
    constexpr double BIT_PS = 8e12; // ps of a byte at 1 b/s
    const double alone = static_cast<double>(bytes) * BIT_PS / static_cast<double>(capacity);
    return static_cast<int64_t>(std::min(alone / 4, 1e15));
}

void FlowNetwork::FindRates()
{
    for (const uint32_t stream : m_rates.Update(NowPs()))
    {
        PushCompletion(stream);
    }
    m_nextUpdate = 0;
    if (m_activeStreams > m_batchStreams && m_rates.GetLastSize() > LARGE_SET)
    {
        m_nextUpdate = NowPs() + m_updateInterval.GetPicoSeconds();
    }
    ScheduleWake();
}

void FlowNetwork::PushCompletion(uint32_t number)
{
    const FlowStream& stream = m_streams.Get(number);
    m_completions.push_back({stream.progress.GetEnd(), number, stream.version});
    std::push_heap(m_completions.begin(), m_completions.end(), std::greater<Completion>());
    if (m_completions.size() > 4 * m_activeStreams + 1024)
    {
        DropOutdatedCompletions();
    }
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
    if (m_completions.empty())
    {
        return;
    }
    const int64_t time = m_completions.front().time;
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
    ScheduleWake();
}

void FlowNetwork::CompleteHead(uint32_t number)
{
    const int64_t now = NowPs();
    FlowStream& stream = m_streams.Get(number);
    const uint32_t done = stream.head;
    const Transfer& transfer = m_transfers[done];
    const PortId* path = m_streams.GetPath(number);
    for (uint32_t hop = 0; hop < stream.hops; ++hop)
    {
        m_streams.GetLink(path[hop]).bytes += transfer.message.bytes;
    }
    const auto [arrivals, isNew] = m_arrivals.try_emplace(now + stream.delay);
    arrivals->second.push_back(done);
    if (isNew)
    {
        Simulator::Schedule(
            PicoSeconds(stream.delay), &FlowNetwork::DeliverAll, this, arrivals->first);
    }
    stream.head = transfer.next;
    ++stream.version;
    if (stream.head != NONE)
    {
        stream.progress.Continue(m_transfers[stream.head].message.bytes, now);
        PushCompletion(number);
        return;
    }
    m_streams.Leave(number, now);
    --m_activeStreams;
    TouchPath(number, transfer.message.bytes);
}

void FlowNetwork::DeliverAll(int64_t time)
{
    const auto node = m_arrivals.extract(time);
    for (const uint32_t transfer : node.mapped())
    {
        Deliver(transfer);
    }
}

void FlowNetwork::Deliver(uint32_t number)
{
    Transfer& transfer = m_transfers[number];
    if (m_sink || !m_delivered.IsEmpty())
    {
        FlowRecord record;
        record.id = transfer.id;
        record.collective = transfer.message.collective;
        record.source = transfer.message.source;
        record.destination = transfer.message.destination;
        record.label = transfer.message.label;
        record.bytes = transfer.message.bytes;
        record.start = PicoSeconds(transfer.start);
        record.end = Simulator::Now();
        record.hops = transfer.hops;
        m_delivered(record);
        if (m_sink)
        {
            m_sink->OnFlow(record);
        }
    }
    const DeliveredCallback delivered = std::move(transfer.delivered);
    transfer.delivered = nullptr;
    transfer.next = m_free;
    m_free = number;
    --m_live;
    delivered();
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
        record.peakRate = link.peakRate;
        sink.OnLink(record);
    }
}

NetworkTotals FlowNetwork::GetTotals() const
{
    NetworkTotals totals;
    totals.liveFlows = m_live;
    return totals;
}

uint64_t FlowNetwork::GetSolveCount() const
{
    return m_rates.GetUpdateCount();
}

} // namespace echo
} // namespace ns3
