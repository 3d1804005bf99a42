// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-builder.h"

#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <set>

#include <boost/pending/disjoint_sets.hpp>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoTopologyBuilder");
NS_OBJECT_ENSURE_REGISTERED(TopologyBuilder);

TypeId TopologyBuilder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::TopologyBuilder")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddAttribute("Hosts",
                          "Hosts of the cluster.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&TopologyBuilder::m_hosts),
                          MakeUintegerChecker<uint32_t>(1, 1u << 20))
            .AddAttribute("Radix",
                          "Ports of a switch; more links than this are refused. 0: no limit.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&TopologyBuilder::m_radix),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

void TopologyBuilder::SetHost(Ptr<HostBuilder> host)
{
    m_host = host;
}

TopologyPtr TopologyBuilder::Build() const
{
    if (!m_host)
    {
        throw std::logic_error("a topology builder needs SetHost first");
    }
    if (m_hosts > 1 && m_host->GetNicCount() == 0)
    {
        throw InputError({"", 0, "Nics"},
                         "no NIC in hosts of a cluster of " + std::to_string(m_hosts),
                         "at least one");
    }
    auto topology = std::make_shared<Topology>();
    NicTable nics;
    for (uint32_t host = 0; host < m_hosts; ++host)
    {
        nics.push_back(m_host->AddTo(*topology, HostId(host)));
    }
    if (m_host->GetNicCount() > 0)
    {
        DoBuildFabric(*topology, nics);
    }
    topology->Seal();
    NS_LOG_INFO(topology->GetDeviceCount() << " devices, " << topology->GetLinkCount() << " links");
    for (const DeviceRole role : {DeviceRole::LEAF, DeviceRole::SPINE, DeviceRole::CORE})
    {
        for (const DeviceId id : topology->GetDevices(role))
        {
            const size_t links = topology->GetPorts(id).size();
            if (m_radix > 0 && links > m_radix)
            {
                throw InputError({"", 0, "Radix"},
                                 topology->GetDevice(id).name + " with " + std::to_string(links) +
                                     " links",
                                 "at most " + std::to_string(m_radix) + ", the ports of a switch");
            }
        }
    }
    RequireHostsReachEachOther(*topology);
    return topology;
}

void TopologyBuilder::JoinNic(Topology& topology, DeviceId nic, DeviceId device) const
{
    topology.AddLink(nic, device, m_host->GetNicRate(), m_host->GetNicDelay());
}

std::vector<DeviceId> TopologyBuilder::AddSwitches(Topology& topology,
                                                   DeviceRole role,
                                                   uint64_t count)
{
    std::vector<DeviceId> switches;
    for (uint32_t i = 0; i < count; ++i)
    {
        switches.push_back(
            topology.AddDevice(role, ToString(role) + std::to_string(i), HostId(), i));
    }
    return switches;
}

namespace
{

/** Names two hosts of different islands. */
void RefuseIslands(HostId a, HostId b)
{
    throw InputError({"", 0, "fabric"},
                     "no way between host" + std::to_string(a.Get()) + " and host" +
                         std::to_string(b.Get()),
                     "a fabric that joins all hosts");
}

} // namespace

void RequireHostsReachEachOther(const Topology& topology)
{
    if (topology.GetHostCount() < 2)
    {
        return;
    }
    // Islands of switches; two NICs joined directly make an island of their own.
    std::vector<uint32_t> rank(topology.GetDeviceCount());
    std::vector<uint32_t> parent(topology.GetDeviceCount());
    boost::disjoint_sets<uint32_t*, uint32_t*> islands(rank.data(), parent.data());
    for (uint32_t i = 0; i < topology.GetDeviceCount(); ++i)
    {
        islands.make_set(i);
    }
    const auto isNic = [&](DeviceId id) { return topology.GetDevice(id).role == DeviceRole::NIC; };
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (topology.IsFabricLink(LinkId(i)) && isNic(link.a) == isNic(link.b))
        {
            islands.union_set(link.a.Get(), link.b.Get());
        }
    }
    // Hosts with the same islands need no second look.
    std::map<std::set<uint32_t>, HostId> kinds;
    for (uint32_t host = 0; host < topology.GetHostCount(); ++host)
    {
        std::set<uint32_t> reached;
        for (const DeviceId nic : topology.GetNics(HostId(host)))
        {
            bool hasLink = false;
            for (const PortId port : topology.GetPorts(nic))
            {
                if (topology.IsFabricLink(Topology::LinkOf(port)))
                {
                    hasLink = true;
                    reached.insert(islands.find_set(topology.NeighborOf(port).Get()));
                }
            }
            if (!hasLink)
            {
                throw InputError({"", 0, "fabric"},
                                 topology.GetDevice(nic).name + " without a link to the fabric",
                                 "a link for every NIC");
            }
        }
        if (reached.empty())
        {
            throw InputError({"", 0, "fabric"},
                             "host" + std::to_string(host) + " without a NIC",
                             "a NIC in every host of a cluster of several");
        }
        if (kinds.count(reached) > 0)
        {
            continue;
        }
        for (const auto& [others, other] : kinds)
        {
            const bool shares = std::any_of(reached.begin(), reached.end(), [&](uint32_t island) {
                return others.count(island) > 0;
            });
            if (!shares)
            {
                RefuseIslands(other, HostId(host));
            }
        }
        kinds.emplace(reached, HostId(host));
    }
}

} // namespace echo
} // namespace ns3
