// SPDX-License-Identifier: GPL-2.0-only
// What a packet network makes before packets flow: settings, forwarding, queue pairs.
#include "echo-load-balancer.h"
#include "echo-packet-network.h"
#include "echo-roce-nic.h"

#include "ns3/echo-error.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-units.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double BITS_PS = 8e12; //!< bits per second times ps over this are bytes

} // namespace

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

void PacketNetwork::FillParameters()
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
    m_parameters.failures = !m_linkEvents.empty();
    m_parameters.randomLoss =
        m_lossRate > 0 ||
        std::any_of(m_linkEvents.begin(), m_linkEvents.end(), [](const LinkEvent& event) {
            return event.kind == LinkEvent::Kind::LOSS;
        });
    m_parameters.lossless = m_lossless;
    // A device that runs ahead would have sent what a failure at this time should stop.
    m_parameters.runAhead = m_runAhead && !m_parameters.failures;
    m_parameters.congestionNotices = m_control->UsesNotices();
    m_parameters.noticeInterval = m_control->GetNoticeInterval();
    m_parameters.lazy = m_lazy;
    m_parameters.classes = m_classes;
    if (m_parameters.telemetry && !m_balancerType.empty())
    {
        throw UnsupportedError("congestion control '" + m_controlType +
                               "' compares what the switches of one way tell, and load balancing "
                               "by packets or flowlets changes ways: take ecmp or static, or "
                               "another congestion control");
    }
    m_parameters.reorder =
        !m_balancerType.empty() && LoadBalancer::Make(m_balancerType)->Reorders();
    // A flow that was paused looks like one that paused, and what follows may overtake it.
    m_parameters.discardsEarly =
        !m_balancerType.empty() && !m_parameters.reorder && !m_parameters.selectiveRepeat;
    if (m_parameters.telemetry || m_parameters.selectiveRepeat)
    {
        m_pool.Extend();
    }
}

void PacketNetwork::PrepareForwarding()
{
    for (uint32_t p = 0; m_lossRate > 0 && p < m_fabric->GetPortCount(); ++p)
    {
        if (const Ptr<RocePort> port = m_fabric->GetPort(PortId(p)))
        {
            port->SetLossRate(m_lossRate);
        }
    }
    if (!m_balancerType.empty() || !m_linkEvents.empty())
    {
        m_fabric->UseForwarding(m_balancerType);
    }
    if (!m_linkEvents.empty())
    {
        m_idleRouter = m_router->CopyWithAllLinksUp();
        m_failures = std::make_unique<RoceFailures>(
            m_linkEvents, m_rerouteDelay, *m_fabric, m_router, [this] {
                MoveQueuePairs();
                CheckReachability();
            });
    }
}

void PacketNetwork::MoveQueuePairs()
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (const auto& [key, pair] : m_queuePairs)
    {
        const auto& [source, destination, label] = key;
        RocePort* forth = PeekPointer(GetPort(FindWay(source, destination, label).front()));
        RocePort* back = PeekPointer(GetPort(FindWay(destination, source, label).front()));
        if (forth != pair->GetForth()[0] || back != pair->GetBack()[0])
        {
            GetNic(*pair).Move(*pair, forth, back, now);
        }
    }
}

void PacketNetwork::RefuseEnds(const Message& message) const
{
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
}

std::vector<PortId> PacketNetwork::FindWay(DeviceId source,
                                           DeviceId destination,
                                           uint64_t label) const
{
    std::vector<PortId> way;
    if (m_router->FindPath(source, destination, label, way) ||
        (m_idleRouter && m_idleRouter->FindPath(source, destination, label, way)))
    {
        return way;
    }
    throw UnsupportedError("no path joins " + m_topology->GetDevice(source).name + " and " +
                           m_topology->GetDevice(destination).name);
}

int64_t PacketNetwork::IdleTime(const std::vector<PortId>& way, uint32_t wireBytes) const
{
    int64_t time = 0;
    for (const PortId port : way)
    {
        const Link& link = m_topology->GetLink(Topology::LinkOf(port));
        time += (TxTime(wireBytes, link.rate) + link.delay).GetPicoSeconds();
    }
    return time;
}

std::unique_ptr<QueuePair> PacketNetwork::MakeQueuePair(const QueuePair::Key& key)
{
    const auto& [source, destination, label] = key;
    const std::vector<PortId> forth = FindWay(source, destination, label);
    const std::vector<PortId> back = FindWay(destination, source, label);
    PathProperties path;
    path.hops = static_cast<uint32_t>(forth.size());
    path.mtuBytes = m_mtuBytes;
    path.lineRate =
        static_cast<double>(m_topology->GetLink(Topology::LinkOf(forth.front())).rate.GetBitRate());
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
    settings.keepsEarly = settings.selective || m_parameters.reorder;
    if (m_parameters.reorder)
    {
        // Where nothing gets lost, what is missing is on its way.
        const uint64_t packets = std::max<uint64_t>(m_reorderBytes / m_mtuBytes, 1) - 1;
        settings.reorder = static_cast<uint32_t>(
            m_parameters.CanLose() ? std::min<uint64_t>(packets, UINT32_MAX) : UINT32_MAX);
    }
    const uint32_t full = m_mtuBytes + settings.overhead.data + settings.overhead.first;
    path.baseRtt = IdleTime(forth, full) + IdleTime(back, settings.overhead.ack);
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
                                       m_fabric->MakeRoute(forth),
                                       m_fabric->MakeRoute(back),
                                       m_control->MakeState(path));
}

} // namespace echo
} // namespace ns3
