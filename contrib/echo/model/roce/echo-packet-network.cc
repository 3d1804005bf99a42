// SPDX-License-Identifier: GPL-2.0-only
#include "echo-packet-network.h"

#include "echo-load-balancer.h"
#include "echo-roce-nic.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-transfers.h"
#include "ns3/echo-units.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoPacketNetwork");
NS_OBJECT_ENSURE_REGISTERED(PacketNetwork);

TypeId PacketNetwork::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::PacketNetwork")
            .SetParent<NetworkModel>()
            .SetGroupName("Echo")
            .AddConstructor<PacketNetwork>()
            .AddAttribute("Mtu",
                          "Payload bytes of a full packet (RDMA path MTU).",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&PacketNetwork::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(64, 65280))
            .AddAttribute("AckInterval",
                          "Packets between two requests for acknowledgement; the last packet of "
                          "a message always asks.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&PacketNetwork::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("WindowBytes",
                          "Payload that a queue pair may have unacknowledged. 0: no limit, as "
                          "RDMA NICs send: at their rate until paused.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_windowBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("WindowBdps",
                          "The same, as a multiple of what the NIC's rate carries in the "
                          "round-trip time of the queue pair's idle path (1: BDP-FC of IRN). 0: no "
                          "limit. Of two limits the smaller holds.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&PacketNetwork::m_windowBdps),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("DataHeaderBytes",
                          "Wire bytes of a data packet beside its payload: preamble 8, Ethernet "
                          "14, IPv4 20, UDP 8, BTH 12, ICRC 4, frame check 4, gap 12.",
                          UintegerValue(RoceWire::DATA),
                          MakeUintegerAccessor(&PacketNetwork::m_dataHeaderBytes),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute("FirstHeaderBytes",
                          "Wire bytes more of the first packet of a message: RETH of an RDMA "
                          "write. 0: messages are sends.",
                          UintegerValue(RoceWire::RETH),
                          MakeUintegerAccessor(&PacketNetwork::m_firstHeaderBytes),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute("AckBytes",
                          "Wire bytes of an ACK or NACK.",
                          UintegerValue(RoceWire::ACK),
                          MakeUintegerAccessor(&PacketNetwork::m_ackBytes),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute("CnpBytes",
                          "Wire bytes of a CNP.",
                          UintegerValue(RoceWire::CNP),
                          MakeUintegerAccessor(&PacketNetwork::m_cnpBytes),
                          MakeUintegerChecker<uint32_t>(1, 4096))
            .AddAttribute("Retransmission",
                          "How lost packets are repaired, see QueuePair: go-back-n or "
                          "selective-repeat.",
                          StringValue("go-back-n"),
                          MakeStringAccessor(&PacketNetwork::m_retransmission),
                          MakeStringChecker())
            .AddAttribute("RetransmitTimeout",
                          "Time without news of the receiver after which a sender goes back; used "
                          "only where packets can get lost.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&PacketNetwork::m_retransmitTimeout),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("LossRate",
                          "Chance that a data packet is lost on a link.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&PacketNetwork::m_lossRate),
                          MakeDoubleChecker<double>(0, 0.5))
            .AddAttribute("Lossless",
                          "Priority flow control: full buffers pause links and drop nothing.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_lossless),
                          MakeBooleanChecker())
            .AddAttribute("Lazy",
                          "See RocePort.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_lazy),
                          MakeBooleanChecker())
            .AddAttribute("RunAhead",
                          "Let a switch handle in one event all that it knows will happen to it "
                          "within the delay of its shortest link (same results). False: an event "
                          "for each instant, in which Simulator::Now() is the time of what a "
                          "switch traces.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PacketNetwork::m_runAhead),
                          MakeBooleanChecker())
            .AddAttribute("CongestionControl",
                          "Congestion control of all queue pairs: a TypeId, or its name in lower "
                          "case without the namespace.",
                          StringValue("none"),
                          MakeStringAccessor(&PacketNetwork::m_controlType),
                          MakeStringChecker())
            .AddAttribute("LoadBalancer",
                          "TypeId of what chooses a way for each packet, such as "
                          "ns3::echo::SprayBalancer. Empty: each flow has one way "
                          "(ns3::echo::Router::PathChoice).",
                          StringValue(""),
                          MakeStringAccessor(&PacketNetwork::m_balancerType),
                          MakeStringChecker())
            .AddAttribute("ReorderBytes",
                          "Where packets overtake one another and may get lost: a receiver reports "
                          "a packet missing when one so many bytes later has come.",
                          UintegerValue(1048576),
                          MakeUintegerAccessor(&PacketNetwork::m_reorderBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("RerouteDelay",
                          "Time from the failure or return of a link to ways that heed it.",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&PacketNetwork::m_rerouteDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("WatchForDeadlock",
                          "Search for circles of paused ports during the run. Otherwise only where "
                          "packets can get lost; a run without other events ends by itself.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&PacketNetwork::m_watches),
                          MakeBooleanChecker())
            .AddAttribute("DeadlockInterval",
                          "Time between two searches for circles of paused ports, where "
                          "retransmission timers would hide that nothing moves.",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&PacketNetwork::m_deadlockInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Stream",
                          "Random stream of device d is this plus d; of its load balancer this "
                          "plus the number of devices plus d.",
                          IntegerValue(1000000),
                          MakeIntegerAccessor(&PacketNetwork::m_firstStream),
                          MakeIntegerChecker<int64_t>(0));
    return tid;
}

PacketNetwork::PacketNetwork()
{
}

PacketNetwork::~PacketNetwork()
{
}

void PacketNetwork::Prepare(Ptr<Router> router, RecordSink* sink)
{
    if (Time::GetResolution() != Time::PS)
    {
        throw std::logic_error("PacketNetwork counts in picoseconds: call UsePicoseconds() first");
    }
    m_router = router;
    m_topology = router->GetTopology();
    m_sink = sink;

    CreateControl();
    FillParameters();
    m_fabric = std::make_unique<RoceFabric>(m_router, &m_parameters, &m_pool, m_firstStream);
    PrepareForwarding();
    for (RoceNic* nic : m_fabric->GetNics())
    {
        nic->SetPolicy(m_control, [this](QueuePair& pair, int64_t now) { OnDelivered(pair, now); });
    }
    m_fabric->Seal();
}

void PacketNetwork::SetLinkEvents(std::vector<LinkEvent> events)
{
    m_linkEvents = std::move(events);
}

void PacketNetwork::SetTrafficClasses(std::vector<TrafficClass> classes)
{
    m_classes = std::move(classes);
}

QueuePair& PacketNetwork::GetQueuePair(const Message& message)
{
    // Classes of a pair and label have flows of their own.
    const uint64_t trafficClass = std::min<uint64_t>(message.trafficClass, m_classes.size() - 1);
    const uint64_t label = message.label ^ (trafficClass << 61);
    const QueuePair::Key key{message.source, message.destination, label};
    const auto found = m_queuePairs.find(key);
    if (found != m_queuePairs.end())
    {
        return *found->second;
    }
    RefuseEnds(message);
    std::unique_ptr<QueuePair> pair = MakeQueuePair(key);
    pair->trafficClass = static_cast<uint8_t>(trafficClass);
    return *m_queuePairs.emplace(key, std::move(pair)).first->second;
}

RoceNic& PacketNetwork::GetNic(const QueuePair& queuePair) const
{
    return static_cast<RoceNic&>(*m_fabric->GetDevice(std::get<0>(queuePair.GetKey())));
}

void PacketNetwork::Send(const Message& message, DeliveredCallback delivered)
{
    if (message.bytes == 0)
    {
        throw std::logic_error("a message without bytes");
    }
    QueuePair& pair = GetQueuePair(message);
    if (message.isBackground && m_failures)
    {
        m_background.insert(pair.GetKey());
    }
    RoceMessage entry;
    entry.message = message;
    entry.delivered = std::move(delivered);
    entry.id = m_messages++;
    entry.start = Simulator::Now();
    ++m_live;
    if (m_lossless && (m_watches || m_parameters.CanLose()) && m_watch.IsExpired())
    {
        m_watch = Simulator::Schedule(m_deadlockInterval, &PacketNetwork::WatchForDeadlock, this);
    }
    m_entries.push_back({&pair, std::move(entry)});
    FlushSoon();
}

void PacketNetwork::OnDelivered(QueuePair& queuePair, int64_t now)
{
    RoceMessage& message = queuePair.FinishMessage();
    Delivery delivery;
    delivery.queuePair = &queuePair;
    delivery.callback = std::move(message.delivered);
    FlowRecord& record = delivery.record;
    record = DescribeFlow(
        message.message, message.id, message.start, TimeStep(static_cast<uint64_t>(now)));
    record.packets = message.packets;
    record.retransmitted = message.retransmitted;
    record.hops = queuePair.GetHops();
    m_deliveries.push_back(std::move(delivery));
    FlushSoon();
}

void PacketNetwork::FlushSoon()
{
    if (!m_flushing)
    {
        m_flushing = true;
        Simulator::ScheduleNow(&PacketNetwork::Flush, Ptr<PacketNetwork>(this));
    }
}

void PacketNetwork::Flush()
{
    // Callbacks may call Send; what they send enters below, still in this instant.
    std::vector<Delivery> deliveries = std::move(m_deliveries);
    m_deliveries.clear();
    std::sort(deliveries.begin(), deliveries.end(), [](const Delivery& a, const Delivery& b) {
        return std::tie(a.queuePair->GetKey(), a.record.id) <
               std::tie(b.queuePair->GetKey(), b.record.id);
    });
    for (Delivery& delivery : deliveries)
    {
        --m_live;
        m_deliveredTrace(delivery.record);
        if (m_sink)
        {
            m_sink->OnFlow(delivery.record);
        }
        if (delivery.callback)
        {
            delivery.callback();
        }
    }
    m_flushing = false;
    if (m_live == 0)
    {
        m_watch.Cancel();
    }
    std::vector<Entry> entries = std::move(m_entries);
    m_entries.clear();
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.queuePair->GetKey() < b.queuePair->GetKey();
    });
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (Entry& entry : entries)
    {
        QueuePair& pair = *entry.queuePair;
        if (!pair.IsAbandoned())
        {
            pair.Append(std::move(entry.message));
            GetNic(pair).Activate(pair, now);
        }
    }
    for (Entry& entry : entries)
    {
        GetNic(*entry.queuePair).Wake(*entry.queuePair, now);
    }
    if (m_failures && std::any_of(entries.begin(), entries.end(), [this](const Entry& entry) {
            return m_failures->IsAnyDown() && !entry.queuePair->IsAbandoned() &&
                   !CanArrive(*entry.queuePair);
        }))
    {
        CheckReachability();
    }
}

Fidelity PacketNetwork::GetFidelity() const
{
    return Fidelity::PACKET;
}

void PacketNetwork::ReportLinks(RecordSink& sink, Time) const
{
    m_fabric->ReportLinks(sink);
}

NetworkTotals PacketNetwork::GetTotals() const
{
    NetworkTotals totals;
    m_fabric->AddTotals(totals);
    totals.liveFlows = m_live;
    totals.lostBackground = m_lostBackground;
    totals.congestionControl = m_control->GetName();
    ExplainZeros(totals);
    return totals;
}

Ptr<RocePort> PacketNetwork::GetPort(PortId port) const
{
    return m_fabric->GetPort(port);
}

Ptr<RoceDevice> PacketNetwork::GetDevice(DeviceId device) const
{
    return m_fabric->GetDevice(device);
}

void PacketNetwork::DoDispose()
{
    m_deliveries.clear();
    m_entries.clear();
    m_watch.Cancel();
    m_failures.reset();
    m_queuePairs.clear();
    m_fabric.reset();
    m_control = nullptr;
    m_router = nullptr;
    m_idleRouter = nullptr;
    NetworkModel::DoDispose();
}

} // namespace echo
} // namespace ns3
