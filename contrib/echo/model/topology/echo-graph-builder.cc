// SPDX-License-Identifier: GPL-2.0-only
#include "echo-graph-builder.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(GraphBuilder);

TypeId GraphBuilder::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::GraphBuilder")
                            .SetParent<TopologyBuilder>()
                            .SetGroupName("Echo")
                            .AddConstructor<GraphBuilder>();
    return tid;
}

void GraphBuilder::AddNode(const std::string& name, DeviceRole role, SourceLocation where)
{
    if (role != DeviceRole::LEAF && role != DeviceRole::SPINE && role != DeviceRole::CORE)
    {
        throw InputError(
            where, std::string("a node of role ") + ToString(role), "leaf, spine or core");
    }
    m_nodes.push_back({name, role, std::move(where)});
}

void GraphBuilder::AddLink(LinkEntry link)
{
    m_links.push_back(std::move(link));
}

void GraphBuilder::DoBuildFabric(Topology& topology, const NicTable&) const
{
    std::map<DeviceRole, uint32_t> numbers;
    for (const Node& node : m_nodes)
    {
        try
        {
            topology.AddDevice(node.role, node.name, HostId(), numbers[node.role]++);
        }
        catch (const InputError& error)
        {
            throw error.At(node.where);
        }
    }
    for (const LinkEntry& link : m_links)
    {
        AddLinkTo(topology, link);
    }
}

void GraphBuilder::AddLinkTo(Topology& topology, const LinkEntry& link) const
{
    DeviceId ends[2];
    bool hasNic = false;
    for (int side = 0; side < 2; ++side)
    {
        const std::string& name = side == 0 ? link.a : link.b;
        ends[side] = topology.FindDevice(name);
        if (!ends[side].IsValid())
        {
            throw InputError(link.where,
                             "unknown node '" + name + "'",
                             "a name listed under nodes, or a NIC such as host0/nic0");
        }
        hasNic = hasNic || topology.GetDevice(ends[side]).role == DeviceRole::NIC;
    }
    if (!hasNic && (!link.rate || !link.delay))
    {
        throw InputError(link.where,
                         std::string("no ") + (link.rate ? "delay" : "rate"),
                         "one for a link between switches");
    }
    const DataRate nicRate = GetHost().GetNicRate();
    DataRate rate = link.rate.value_or(nicRate);
    if (hasNic)
    {
        rate = std::min(rate, nicRate);
    }
    const Time delay = link.delay.value_or(GetHost().GetNicDelay());
    for (uint32_t i = 0; i < link.count; ++i)
    {
        try
        {
            topology.AddLink(ends[0], ends[1], rate, delay);
        }
        catch (const InputError& error)
        {
            throw error.At(link.where);
        }
    }
}

} // namespace echo
} // namespace ns3
