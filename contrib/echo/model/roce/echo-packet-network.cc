// SPDX-License-Identifier: GPL-2.0-only
#include "echo-packet-network.h"

#include "echo-roce-nic.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/echo-policy.h"
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

namespace
{

constexpr double BITS_PS = 8e12; //!< bits per second times ps over this are bytes

} // namespace

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
            .AddAttribute("ReorderPackets",
                          "Selective repeat: a missing packet is reported once one more than this "
                          "many places after it has arrived (packets of a queue pair that take "
                          "several paths overtake each other).",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PacketNetwork::m_reorder),
                          MakeUintegerChecker<uint32_t>())
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
            .AddAttribute("Stream",
                          "Random stream of device d is this plus d.",
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
    SetParameters();
    m_fabric = std::make_unique<RoceFabric>(m_router, &m_parameters, &m_pool, m_firstStream);
    for (RoceNic* nic : m_fabric->GetNics())
    {
        nic->SetPolicy(m_control, [this](QueuePair& pair, int64_t now) { OnDelivered(pair, now); });
    }
    m_fabric->Seal();
}

void PacketNetwork::CreateControl()
{
    const TypeId parent = CongestionControl::GetTypeId();
    const std::optional<TypeId> control = LookupPolicy(m_controlType, parent, "");
    if (!control)
    {
        throw InputError(SourceLocation{"", 0, "ns3::echo::PacketNetwork::CongestionControl"},
                         "'" + m_controlType + "'",
                         ListPolicies(parent, ""));
    }
    ObjectFactory factory;
    factory.SetTypeId(*control);
    m_control = factory.Create<CongestionControl>();
}

void PacketNetwork::SetParameters()
{
    if (m_retransmission != "go-back-n" && m_retransmission != "selective-repeat")
    {
        throw InputError(SourceLocation{"", 0, "ns3::echo::PacketNetwork::Retransmission"},
                         "'" + m_retransmission + "'",
                         "go-back-n or selective-repeat");
    }
    m_parameters.mtuBytes = m_mtuBytes;
    m_parameters.overhead = {m_dataHeaderBytes, m_firstHeaderBytes, m_ackBytes, m_cnpBytes};
    m_parameters.telemetry = m_control->UsesTelemetry();
    m_parameters.telemetryBytes = m_control->GetTelemetryBytes(RoceTelemetry::MAX_HOPS);
    m_parameters.selectiveRepeat = m_retransmission == "selective-repeat";
    m_parameters.retransmitTimeout = m_retransmitTimeout.GetPicoSeconds();
    m_parameters.lossRate = m_lossRate;
    m_parameters.lossless = m_lossless;
    m_parameters.runAhead = m_runAhead;
    m_parameters.congestionNotices = m_control->UsesNotices();
    m_parameters.noticeInterval = m_control->GetNoticeInterval();
    m_parameters.lazy = m_lazy;
    if (m_parameters.telemetry || m_parameters.selectiveRepeat)
    {
        m_pool.Extend();
    }
}

QueuePair& PacketNetwork::GetQueuePair(const Message& message)
{
    const QueuePair::Key key{message.source, message.destination, message.label};
    const auto found = m_queuePairs.find(key);
    if (found != m_queuePairs.end())
    {
        return *found->second;
    }
    for (const DeviceId end : {message.source, message.destination})
    {
        if (m_topology->GetDevice(end).role != DeviceRole::NIC)
        {
            throw UnsupportedError("the packet network joins NICs; " +
                                   m_topology->GetDevice(end).name + " is none");
        }
    }
    if (message.source == message.destination)
    {
        throw UnsupportedError("a message from " + m_topology->GetDevice(message.source).name +
                               " to itself");
    }
    return *m_queuePairs.emplace(key, MakeQueuePair(key)).first->second;
}

std::unique_ptr<QueuePair> PacketNetwork::MakeQueuePair(const QueuePair::Key& key)
{
    const auto& [source, destination, label] = key;
    std::vector<RocePort*> forth = m_fabric->MakeRoute(source, destination, label);
    std::vector<RocePort*> back = m_fabric->MakeRoute(destination, source, label);
    PathProperties path;
    path.hops = static_cast<uint32_t>(forth.size() - 1);
    path.mtuBytes = m_mtuBytes;
    path.lineRate = forth.front()->GetBitRate();
    const uint32_t switches = path.hops - 1;
    if (m_parameters.telemetry && switches > RoceTelemetry::MAX_HOPS)
    {
        throw UnsupportedError("telemetry of " + std::to_string(switches) +
                               " switches on one path; at most " +
                               std::to_string(RoceTelemetry::MAX_HOPS));
    }
    QueuePairSettings settings;
    settings.mtuBytes = m_mtuBytes;
    settings.ackInterval = m_ackInterval;
    settings.overhead = m_parameters.overhead;
    settings.overhead.data += m_control->GetTelemetryBytes(switches);
    settings.overhead.ack += m_control->GetTelemetryBytes(switches);
    settings.selective = m_parameters.selectiveRepeat;
    settings.reorder = m_reorder;
    const std::pair<const std::vector<RocePort*>&, uint32_t> ways[] = {
        {forth, m_mtuBytes + settings.overhead.data + settings.overhead.first},
        {back, settings.overhead.ack}};
    for (const auto& [ports, bytes] : ways)
    {
        for (size_t i = 0; i + 1 < ports.size(); ++i)
        {
            // Where switches choose the ways, a link that is not known counts as the first.
            RocePort& port = *(ports[i] ? ports[i] : ports.front());
            path.baseRtt += port.TxPicoseconds(bytes) + port.GetDelayPicoseconds();
        }
    }
    settings.windowBytes = m_windowBytes;
    if (m_windowBdps > 0)
    {
        const double bdp = path.lineRate * static_cast<double>(path.baseRtt) / BITS_PS;
        // Of coalesced acknowledgements so much may have arrived and not be told of.
        const uint64_t untold = uint64_t{m_ackInterval - 1} * m_mtuBytes;
        const uint64_t bytes = static_cast<uint64_t>(m_windowBdps * bdp) + untold + 1;
        settings.windowBytes =
            settings.windowBytes > 0 ? std::min(settings.windowBytes, bytes) : bytes;
    }
    return std::make_unique<QueuePair>(key,
                                       static_cast<uint32_t>(m_queuePairs.size()),
                                       settings,
                                       std::move(forth),
                                       std::move(back),
                                       m_control->MakeState(path));
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
    RoceMessage entry;
    entry.message = message;
    entry.delivered = std::move(delivered);
    entry.id = m_messages++;
    entry.start = Simulator::Now();
    ++m_live;
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
    record.id = message.id;
    record.collective = message.message.collective;
    record.source = message.message.source;
    record.destination = message.message.destination;
    record.label = message.message.label;
    record.bytes = message.message.bytes;
    record.start = message.start;
    record.end = TimeStep(static_cast<uint64_t>(now));
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
    std::vector<Entry> entries = std::move(m_entries);
    m_entries.clear();
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.queuePair->GetKey() < b.queuePair->GetKey();
    });
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (Entry& entry : entries)
    {
        QueuePair& pair = *entry.queuePair;
        pair.Append(std::move(entry.message));
        GetNic(pair).Activate(pair, now);
    }
    for (Entry& entry : entries)
    {
        GetNic(*entry.queuePair).Wake(*entry.queuePair, now);
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
    totals.congestionControl = m_control->GetName();
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
    m_queuePairs.clear();
    m_fabric.reset();
    m_control = nullptr;
    m_router = nullptr;
    NetworkModel::DoDispose();
}

} // namespace echo
} // namespace ns3
