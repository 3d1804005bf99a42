// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology.h"

#include "ns3/echo-error.h"

#include <array>
#include <stdexcept>
#include <unordered_map>

#include <boost/graph/adjacency_list.hpp>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t ROLES = static_cast<size_t>(DeviceRole::CORE) + 1;

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, Device, Link>;

bool IsFabricSwitch(DeviceRole role)
{
    return role == DeviceRole::LEAF || role == DeviceRole::SPINE || role == DeviceRole::CORE;
}

bool IsInsideHost(DeviceRole role)
{
    return role == DeviceRole::GPU || role == DeviceRole::NV_SWITCH ||
           role == DeviceRole::PCIE_SWITCH;
}

} // namespace

/** The graph, and what is looked up often beside it in flat vectors. */
struct Topology::Impl
{
    struct Host
    {
        std::vector<DeviceId> gpus; //!< by index
        std::vector<DeviceId> nics; //!< by index
        bool hasNvSwitch{false};
    };

    Graph graph;
    std::vector<Graph::edge_descriptor> edges; //!< by link
    std::vector<DeviceId> owners;              //!< by port
    std::vector<std::vector<PortId>> ports;    //!< by device
    std::vector<DeviceId> nicOf;               //!< by device; for GPUs, after Seal
    std::array<std::vector<DeviceId>, ROLES> byRole;
    std::vector<Host> hosts;
    std::unordered_map<std::string, DeviceId> byName; //!< looked up, never iterated
    bool sealed{false};

    void RequireOpen() const
    {
        if (sealed)
        {
            throw std::logic_error("a sealed topology cannot be changed");
        }
    }

    Host& HostOf(HostId id)
    {
        if (hosts.size() <= id.Get())
        {
            hosts.resize(id.Get() + 1);
        }
        return hosts[id.Get()];
    }

    void CollectHosts();
    void AssignNics();
};

void Topology::Impl::CollectHosts()
{
    for (const DeviceRole role : {DeviceRole::GPU, DeviceRole::NIC})
    {
        for (const DeviceId id : byRole[static_cast<size_t>(role)])
        {
            const Device& device = graph[id.Get()];
            Host& host = HostOf(device.host);
            auto& list = role == DeviceRole::GPU ? host.gpus : host.nics;
            if (device.index != list.size())
            {
                throw InputError({"", 0, device.name},
                                 std::string(ToString(role)) + " number " +
                                     std::to_string(device.index),
                                 "number " + std::to_string(list.size()) +
                                     " (numbers of a host run from 0 in order)");
            }
            list.push_back(id);
        }
    }
    for (const DeviceRole role : {DeviceRole::NV_SWITCH, DeviceRole::PCIE_SWITCH})
    {
        for (const DeviceId id : byRole[static_cast<size_t>(role)])
        {
            HostOf(graph[id.Get()].host).hasNvSwitch |= role == DeviceRole::NV_SWITCH;
        }
    }
    for (size_t i = 0; i < hosts.size(); ++i)
    {
        if (hosts[i].gpus.empty())
        {
            throw InputError({"", 0, "host " + std::to_string(i)}, "no GPU", "at least one");
        }
    }
}

void Topology::Impl::AssignNics()
{
    nicOf.resize(boost::num_vertices(graph));
    for (const auto& host : hosts)
    {
        for (const DeviceId gpu : host.gpus)
        {
            DeviceId nic;
            for (const PortId port : ports[gpu.Get()])
            {
                const DeviceId neighbor = owners[PeerOf(port).Get()];
                if (graph[neighbor.Get()].role == DeviceRole::NIC)
                {
                    nic = neighbor;
                    break;
                }
            }
            if (!nic.IsValid() && !host.nics.empty())
            {
                nic =
                    host.nics[size_t{graph[gpu.Get()].index} * host.nics.size() / host.gpus.size()];
            }
            nicOf[gpu.Get()] = nic;
        }
    }
}

Topology::Topology() : m_impl(std::make_unique<Impl>())
{
}

Topology::~Topology() = default;

DeviceId Topology::AddDevice(DeviceRole role, const std::string& name, HostId host, uint32_t index)
{
    m_impl->RequireOpen();
    if (IsFabricSwitch(role) == host.IsValid())
    {
        throw std::logic_error(name + ": a switch of the fabric belongs to no host, all else does");
    }
    const DeviceId id(GetDeviceCount());
    if (id.Get() >= MAX_DEVICES)
    {
        throw InputError({"", 0, "cluster"},
                         "more than " + std::to_string(MAX_DEVICES) + " devices",
                         "a smaller cluster");
    }
    if (!m_impl->byName.emplace(name, id).second)
    {
        throw InputError({"", 0, name}, "a second device of this name", "names used once");
    }
    if (host.IsValid() && id.Get() > 0 && IsFabricSwitch(m_impl->graph[id.Get() - 1].role))
    {
        throw std::logic_error(name + ": hosts are added before the fabric");
    }
    boost::add_vertex(Device{role, name, host, index}, m_impl->graph);
    m_impl->ports.emplace_back();
    m_impl->byRole[static_cast<size_t>(role)].push_back(id);
    return id;
}

LinkId Topology::AddLink(DeviceId a, DeviceId b, DataRate rate, Time delay)
{
    m_impl->RequireOpen();
    const Device& from = GetDevice(a);
    const Device& to = GetDevice(b);
    const SourceLocation where{"", 0, "link " + from.name + " - " + to.name};
    if (a == b)
    {
        throw InputError(where, "a link from a device to itself", "two devices");
    }
    if (rate.GetBitRate() == 0)
    {
        throw InputError(where, "rate 0", "a rate above zero");
    }
    if (delay.IsStrictlyNegative())
    {
        throw InputError(where, "a negative delay", "zero or more");
    }
    if ((IsInsideHost(from.role) || IsInsideHost(to.role)) && from.host != to.host)
    {
        throw InputError(where,
                         "a link out of a host that does not start at a NIC",
                         "links between hosts and switches to start at NICs");
    }
    const LinkId id(GetLinkCount());
    if (id.Get() >= MAX_LINKS)
    {
        throw InputError({"", 0, "cluster"},
                         "more than " + std::to_string(MAX_LINKS) + " links",
                         "a smaller cluster");
    }
    m_impl->edges.push_back(
        boost::add_edge(a.Get(), b.Get(), Link{a, b, rate, delay}, m_impl->graph).first);
    m_impl->owners.push_back(a);
    m_impl->owners.push_back(b);
    m_impl->ports[a.Get()].push_back(PortId(2 * id.Get()));
    m_impl->ports[b.Get()].push_back(PortId(2 * id.Get() + 1));
    return id;
}

void Topology::Seal()
{
    m_impl->RequireOpen();
    if (GetDevices(DeviceRole::GPU).empty())
    {
        throw InputError({"", 0, "cluster"}, "no GPU", "at least one");
    }
    m_impl->CollectHosts();
    m_impl->AssignNics();
    m_impl->sealed = true;
}

uint32_t Topology::GetDeviceCount() const
{
    return static_cast<uint32_t>(boost::num_vertices(m_impl->graph));
}

uint32_t Topology::GetLinkCount() const
{
    return static_cast<uint32_t>(m_impl->edges.size());
}

uint32_t Topology::GetHostCount() const
{
    return static_cast<uint32_t>(m_impl->hosts.size());
}

const Device& Topology::GetDevice(DeviceId id) const
{
    if (id.Get() >= GetDeviceCount())
    {
        throw std::out_of_range("no device of this id in the topology");
    }
    return m_impl->graph[id.Get()];
}

const Link& Topology::GetLink(LinkId id) const
{
    return m_impl->graph[m_impl->edges.at(id.Get())];
}

const std::vector<PortId>& Topology::GetPorts(DeviceId id) const
{
    return m_impl->ports.at(id.Get());
}

DeviceId Topology::FindDevice(const std::string& name) const
{
    const auto found = m_impl->byName.find(name);
    return found == m_impl->byName.end() ? DeviceId() : found->second;
}

const std::vector<DeviceId>& Topology::GetDevices(DeviceRole role) const
{
    return m_impl->byRole.at(static_cast<size_t>(role));
}

const std::vector<DeviceId>& Topology::GetGpus(HostId host) const
{
    return m_impl->hosts.at(host.Get()).gpus;
}

const std::vector<DeviceId>& Topology::GetNics(HostId host) const
{
    return m_impl->hosts.at(host.Get()).nics;
}

bool Topology::HasNvSwitch(HostId host) const
{
    return m_impl->hosts.at(host.Get()).hasNvSwitch;
}

DeviceId Topology::GetNicOf(DeviceId gpu) const
{
    return m_impl->nicOf.at(gpu.Get());
}

DeviceId Topology::OwnerOf(PortId port) const
{
    return m_impl->owners.at(port.Get());
}

LinkRecord Topology::DescribeLink(PortId port) const
{
    const Device& from = GetDevice(OwnerOf(port));
    const Device& to = GetDevice(NeighborOf(port));
    LinkRecord record;
    record.link = LinkOf(port);
    record.port = port;
    record.from = from.name;
    record.to = to.name;
    record.fromRole = from.role;
    record.toRole = to.role;
    record.rate = RateOf(port);
    return record;
}

bool Topology::IsFabricLink(LinkId link) const
{
    const Link& ends = GetLink(link);
    return !IsInsideHost(GetDevice(ends.a).role) && !IsInsideHost(GetDevice(ends.b).role);
}

} // namespace echo
} // namespace ns3
