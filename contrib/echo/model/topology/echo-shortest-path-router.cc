// SPDX-License-Identifier: GPL-2.0-only
#include "echo-shortest-path-router.h"

#include "ns3/log.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoShortestPathRouter");
NS_OBJECT_ENSURE_REGISTERED(ShortestPathRouter);

namespace
{

constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();
/** Inside a host a link costs this and a forwarding GPU 1: links decide, GPUs break ties. */
constexpr uint32_t HOST_LINK_COST = 1 << 12;

bool IsFabricSwitchRole(DeviceRole role)
{
    return role == DeviceRole::LEAF || role == DeviceRole::SPINE || role == DeviceRole::CORE;
}

} // namespace

TypeId ShortestPathRouter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::ShortestPathRouter")
                            .SetParent<Router>()
                            .SetGroupName("Echo")
                            .AddConstructor<ShortestPathRouter>();
    return tid;
}

void ShortestPathRouter::Prepare(TopologyPtr topology)
{
    if (m_topology)
    {
        throw std::logic_error("a router is prepared once");
    }
    m_topology = std::move(topology);
    MakePathChoice();
    m_number.assign(m_topology->GetDeviceCount(), 0);
    ListId({});
    NumberSwitches();
    PrepareFabric();
    PrepareHosts();
}

void ShortestPathRouter::OnLinksChanged()
{
    m_fabricTables.clear();
    m_groups.clear();
    PrepareFabric();
}

void ShortestPathRouter::NumberSwitches()
{
    for (uint32_t i = 0; i < m_topology->GetDeviceCount(); ++i)
    {
        if (IsSwitch(DeviceId(i)))
        {
            m_number[i] = static_cast<uint32_t>(m_switches.size());
            m_switches.push_back(DeviceId(i));
        }
    }
}

void ShortestPathRouter::PrepareFabric()
{
    std::map<std::vector<DeviceId>, uint32_t> groups;
    m_groupOf.assign(m_topology->GetDeviceCount(), 0);
    for (const DeviceId nic : m_topology->GetDevices(DeviceRole::NIC))
    {
        std::vector<DeviceId> attached;
        for (const PortId port : m_topology->GetPorts(nic))
        {
            const DeviceId neighbor = m_topology->NeighborOf(port);
            if (IsSwitch(neighbor) && IsLinkUp(Topology::LinkOf(port)))
            {
                attached.push_back(neighbor);
            }
        }
        std::sort(attached.begin(), attached.end());
        attached.erase(std::unique(attached.begin(), attached.end()), attached.end());
        const auto [found, isNew] =
            groups.emplace(attached, static_cast<uint32_t>(m_groups.size()));
        if (isNew)
        {
            m_groups.push_back(attached);
        }
        m_groupOf[nic.Get()] = found->second;
    }
    m_fabricTables.resize(m_groups.size());
}

void ShortestPathRouter::PrepareHosts()
{
    m_inHosts.resize(m_topology->GetHostCount());
    for (uint32_t i = 0; i < m_topology->GetDeviceCount(); ++i)
    {
        const Device& device = m_topology->GetDevice(DeviceId(i));
        if (device.host.IsValid() && device.role != DeviceRole::NIC)
        {
            auto& inHost = m_inHosts[device.host.Get()];
            m_number[i] = static_cast<uint32_t>(inHost.size());
            inHost.push_back(DeviceId(i));
        }
    }
    m_hostTables.resize(m_topology->GetDeviceCount());
}

bool ShortestPathRouter::IsSwitch(DeviceId device) const
{
    return IsFabricSwitchRole(m_topology->GetDevice(device).role);
}

uint32_t ShortestPathRouter::ListId(const PortList& ports) const
{
    const auto [found, isNew] = m_listIds.emplace(ports, static_cast<uint32_t>(m_lists.size()));
    if (isNew)
    {
        m_lists.push_back(ports);
    }
    return found->second;
}

const ShortestPathRouter::Table& ShortestPathRouter::FabricTable(uint32_t group) const
{
    Table& table = m_fabricTables[group];
    if (!table.distance.empty() || m_switches.empty())
    {
        return table;
    }
    NS_LOG_DEBUG("table of attachment group " << group);
    ++m_tableCount;
    table.distance.assign(m_switches.size(), FAR);
    table.list.assign(m_switches.size(), 0);
    std::deque<DeviceId> queue;
    for (const DeviceId attached : m_groups[group])
    {
        table.distance[m_number[attached.Get()]] = 1;
        queue.push_back(attached);
    }
    while (!queue.empty())
    {
        const DeviceId at = queue.front();
        queue.pop_front();
        const uint32_t distance = table.distance[m_number[at.Get()]];
        PortList closer;
        for (const PortId port : m_topology->GetPorts(at))
        {
            const DeviceId neighbor = m_topology->NeighborOf(port);
            if (!IsSwitch(neighbor) || !IsLinkUp(Topology::LinkOf(port)))
            {
                continue;
            }
            uint32_t& other = table.distance[m_number[neighbor.Get()]];
            if (other == FAR)
            {
                other = distance + 1;
                queue.push_back(neighbor);
            }
            else if (other + 1 == distance)
            {
                closer.push_back(port);
            }
        }
        table.list[m_number[at.Get()]] = ListId(closer);
    }
    return table;
}

const ShortestPathRouter::Table& ShortestPathRouter::HostTable(DeviceId gpu) const
{
    Table& table = m_hostTables[gpu.Get()];
    if (!table.distance.empty())
    {
        return table;
    }
    ++m_tableCount;
    const auto& devices = m_inHosts[m_topology->GetDevice(gpu).host.Get()];
    table.distance.assign(devices.size(), FAR);
    table.list.assign(devices.size(), 0);
    table.distance[m_number[gpu.Get()]] = 0;
    const auto costThrough = [&](DeviceId via) {
        const bool forwards = via != gpu && m_topology->GetDevice(via).role == DeviceRole::GPU;
        return table.distance[m_number[via.Get()]] + HOST_LINK_COST + (forwards ? 1 : 0);
    };
    // Costs differ little and hosts are small: relax until nothing changes.
    std::deque<DeviceId> queue{gpu};
    while (!queue.empty())
    {
        const DeviceId via = queue.front();
        queue.pop_front();
        for (const PortId port : m_topology->GetPorts(via))
        {
            const DeviceId at = m_topology->NeighborOf(port);
            if (m_topology->GetDevice(at).role == DeviceRole::NIC)
            {
                continue;
            }
            uint32_t& cost = table.distance[m_number[at.Get()]];
            if (costThrough(via) < cost)
            {
                cost = costThrough(via);
                queue.push_back(at);
            }
        }
    }
    for (const DeviceId at : devices)
    {
        PortList closer;
        const uint32_t cost = table.distance[m_number[at.Get()]];
        for (const PortId port : m_topology->GetPorts(at))
        {
            const DeviceId via = m_topology->NeighborOf(port);
            if (at != gpu && cost != FAR && m_topology->GetDevice(via).role != DeviceRole::NIC &&
                costThrough(via) == cost)
            {
                closer.push_back(port);
            }
        }
        table.list[m_number[at.Get()]] = ListId(closer);
    }
    return table;
}

void ShortestPathRouter::NextHopsFromNic(DeviceId nic, DeviceId destination, PortList& ports) const
{
    uint32_t best = FAR;
    const Table& table = FabricTable(m_groupOf[destination.Get()]);
    for (const PortId port : m_topology->GetPorts(nic))
    {
        const DeviceId neighbor = m_topology->NeighborOf(port);
        uint32_t distance = FAR;
        if (!IsLinkUp(Topology::LinkOf(port)))
        {
            continue;
        }
        if (neighbor == destination)
        {
            distance = 0;
        }
        else if (IsSwitch(neighbor))
        {
            distance = table.distance[m_number[neighbor.Get()]];
        }
        if (distance < best)
        {
            best = distance;
            ports.clear();
        }
        if (distance == best && distance != FAR)
        {
            ports.push_back(port);
        }
    }
}

void ShortestPathRouter::GetNextHops(DeviceId at, DeviceId destination, PortList& ports) const
{
    ports.clear();
    if (at == destination)
    {
        return;
    }
    const Device& from = m_topology->GetDevice(at);
    const Device& to = m_topology->GetDevice(destination);
    if (to.role == DeviceRole::GPU)
    {
        if (from.host == to.host && from.role != DeviceRole::NIC)
        {
            ports = m_lists[HostTable(destination).list[m_number[at.Get()]]];
        }
        return;
    }
    if (to.role != DeviceRole::NIC)
    {
        return;
    }
    if (from.role == DeviceRole::NIC)
    {
        NextHopsFromNic(at, destination, ports);
    }
    else if (IsFabricSwitchRole(from.role))
    {
        const Table& table = FabricTable(m_groupOf[destination.Get()]);
        const uint32_t number = m_number[at.Get()];
        if (table.distance[number] != 1)
        {
            ports = m_lists[table.list[number]];
            return;
        }
        for (const PortId port : m_topology->GetPorts(destination))
        {
            if (m_topology->NeighborOf(port) == at && IsLinkUp(Topology::LinkOf(port)))
            {
                ports.push_back(Topology::PeerOf(port));
            }
        }
    }
}

uint32_t ShortestPathRouter::GetTableCount() const
{
    return m_tableCount;
}

uint64_t ShortestPathRouter::GetTableBytes() const
{
    uint64_t bytes = 0;
    for (const auto* tables : {&m_fabricTables, &m_hostTables})
    {
        for (const Table& table : *tables)
        {
            bytes += sizeof(Table) + (table.distance.size() + table.list.size()) * sizeof(uint32_t);
        }
    }
    for (const PortList& list : m_lists)
    {
        bytes += 2 * (sizeof(PortList) + list.size() * sizeof(PortId));
    }
    return bytes;
}

} // namespace echo
} // namespace ns3
