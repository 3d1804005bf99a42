// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-fabric.h"

#include "echo-roce-channel.h"
#include "echo-roce-nic.h"
#include "echo-roce-switch.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

RoceFabric::RoceFabric(Ptr<Router> router,
                       const RoceParameters* parameters,
                       RocePacketPool* pool,
                       int64_t firstStream)
    : m_router(router), m_topology(router->GetTopology()), m_firstStream(firstStream)
{
    MakeDevices(parameters, pool, firstStream);
    MakeLinks(*parameters);
}

void RoceFabric::MakeDevices(const RoceParameters* parameters,
                             RocePacketPool* pool,
                             int64_t firstStream)
{
    m_devices.resize(m_topology->GetDeviceCount());
    for (uint32_t i = 0; i < m_devices.size(); ++i)
    {
        const DeviceRole role = m_topology->GetDevice(DeviceId(i)).role;
        if (role == DeviceRole::NIC)
        {
            m_devices[i] = CreateObject<RoceNic>();
            m_nics.push_back(static_cast<RoceNic*>(PeekPointer(m_devices[i])));
        }
        else if (role == DeviceRole::LEAF || role == DeviceRole::SPINE || role == DeviceRole::CORE)
        {
            m_devices[i] = CreateObject<RoceSwitch>();
        }
        else
        {
            continue;
        }
        m_devices[i]->Prepare(CreateObject<Node>(), parameters, pool);
        m_devices[i]->AssignStream(firstStream + i);
    }
}

void RoceFabric::MakeLinks(const RoceParameters& parameters)
{
    m_ports.resize(2 * m_topology->GetLinkCount());
    for (uint32_t l = 0; l < m_topology->GetLinkCount(); ++l)
    {
        if (!m_topology->IsFabricLink(LinkId(l)))
        {
            continue;
        }
        const Link& link = m_topology->GetLink(LinkId(l));
        for (uint32_t side = 0; side < 2; ++side)
        {
            Ptr<RocePort> port = CreateObjectWithAttributes<RocePort>(
                "DataRate", DataRateValue(link.rate), "Lazy", BooleanValue(parameters.lazy));
            port->SetMtu(static_cast<uint16_t>(parameters.mtuBytes));
            if (parameters.classes.size() > 1)
            {
                port->SetClasses(parameters.classes, parameters.GetFullWireBytes());
            }
            m_ports[2 * l + side] = port;
            const Ptr<RoceDevice>& device = m_devices[(side == 0 ? link.a : link.b).Get()];
            device->GetObject<Node>()->AddDevice(port);
            device->AddPort(port);
        }
        CreateObjectWithAttributes<RoceChannel>("Delay", TimeValue(link.delay))
            ->Connect(m_ports[2 * l], m_ports[2 * l + 1]);
    }
}

std::vector<RocePort*> RoceFabric::MakeRoute(const std::vector<PortId>& path) const
{
    std::vector<RocePort*> route;
    for (const PortId port : path)
    {
        route.push_back(PeekPointer(m_ports[port.Get()]));
    }
    route.push_back(nullptr);
    if (m_forwards)
    {
        std::fill(route.begin() + 1, route.end(), nullptr);
    }
    return route;
}

void RoceFabric::UseForwarding(const std::string& balancer)
{
    m_forwards = true;
    for (uint32_t i = 0; i < m_devices.size(); ++i)
    {
        Ptr<RoceSwitch> device = DynamicCast<RoceSwitch>(m_devices[i]);
        if (!device)
        {
            continue;
        }
        Ptr<LoadBalancer> own;
        if (!balancer.empty())
        {
            own = LoadBalancer::Make(balancer);
            own->AssignStream(m_firstStream + static_cast<int64_t>(m_devices.size() + i));
        }
        device->SetForwarding(
            std::make_unique<SwitchForwarding>(m_router, DeviceId(i), own, [this](PortId port) {
                return PeekPointer(m_ports[port.Get()]);
            }));
    }
}

void RoceFabric::ForgetWays()
{
    for (const Ptr<RoceDevice>& device : m_devices)
    {
        if (const Ptr<RoceSwitch> forwarder = DynamicCast<RoceSwitch>(device))
        {
            forwarder->GetForwarding()->Forget();
        }
    }
}

PortId RoceFabric::NumberOf(const RocePort& port) const
{
    for (uint32_t i = 0; i < m_ports.size(); ++i)
    {
        if (PeekPointer(m_ports[i]) == &port)
        {
            return PortId(i);
        }
    }
    return PortId();
}

FabricPeaks RoceFabric::GetPeaks() const
{
    FabricPeaks peaks;
    for (const Ptr<RoceDevice>& device : m_devices)
    {
        const Ptr<RoceSwitch> owner = DynamicCast<RoceSwitch>(device);
        if (owner && owner->GetBuffer().GetMaxHeld() >= peaks.heldBytes)
        {
            peaks.heldBytes = owner->GetBuffer().GetMaxHeld();
            peaks.bufferBytes = owner->GetBuffer().GetCapacity();
        }
    }
    for (const Ptr<RocePort>& port : m_ports)
    {
        peaks.queueBytes = std::max(peaks.queueBytes, port ? port->GetCounters().maxQueueBytes : 0);
    }
    return peaks;
}

void RoceFabric::ReportLinks(RecordSink& sink) const
{
    const int64_t now = Simulator::Now().GetPicoSeconds();
    for (uint32_t i = 0; i < m_ports.size(); ++i)
    {
        if (!m_ports[i])
        {
            continue;
        }
        const RocePortStatistics s = m_ports[i]->GetStatistics(now);
        if (s.packets == 0)
        {
            continue;
        }
        LinkRecord record = m_topology->DescribeLink(PortId(i));
        record.wireBytes = s.wireBytes;
        record.payloadBytes = s.payloadBytes;
        record.packets = s.packets;
        record.busy = TimeStep(static_cast<uint64_t>(s.busy));
        record.lastBusy = TimeStep(static_cast<uint64_t>(m_ports[i]->GetFreeAt()));
        record.peakRate = s.peakRate;
        record.maxQueueBytes = s.maxQueueBytes;
        record.ecnMarks = s.marks;
        record.pauses = s.pauses;
        record.paused = TimeStep(static_cast<uint64_t>(s.paused));
        record.drops = s.drops;
        sink.OnLink(record);
    }
}

void RoceFabric::AddTotals(NetworkTotals& totals) const
{
    for (const RoceNic* nic : m_nics)
    {
        totals.cnps += nic->GetNotices();
    }
    for (uint32_t i = 0; i < m_ports.size(); ++i)
    {
        if (!m_ports[i])
        {
            continue;
        }
        const RocePortStatistics& s = m_ports[i]->GetCounters();
        totals.packetHops += s.packets;
        totals.drops += s.drops;
        totals.pauses += s.pauses;
        totals.ecnMarks += s.marks;
        if (m_topology->GetDevice(m_topology->OwnerOf(PortId(i))).role == DeviceRole::NIC)
        {
            totals.packets += s.packets;
        }
    }
}

void RoceFabric::Seal()
{
    for (const Ptr<RoceDevice>& device : m_devices)
    {
        if (device)
        {
            device->Seal();
        }
    }
}

RoceFabric::~RoceFabric()
{
    for (const Ptr<RoceDevice>& device : m_devices)
    {
        if (device)
        {
            device->Dispose();
        }
    }
}

} // namespace echo
} // namespace ns3
