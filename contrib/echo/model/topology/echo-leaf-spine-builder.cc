// SPDX-License-Identifier: GPL-2.0-only
#include "echo-leaf-spine-builder.h"

#include "ns3/echo-error.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(LeafSpineBuilder);

TypeId LeafSpineBuilder::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::LeafSpineBuilder")
                            .SetParent<ClosBuilder>()
                            .SetGroupName("Echo")
                            .AddConstructor<LeafSpineBuilder>()
                            .AddAttribute("HostsPerLeaf",
                                          "Hosts of a full leaf; 0: the hosts shared over Leaves.",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&LeafSpineBuilder::m_hostsPerLeaf),
                                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
                            .AddAttribute("Leaves",
                                          "Leaves; 0: as many as the hosts need.",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&LeafSpineBuilder::m_leaves),
                                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
                            .AddAttribute("Spines",
                                          "Spines; 0: one for each uplink of a leaf.",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&LeafSpineBuilder::m_spines),
                                          MakeUintegerChecker<uint32_t>(0, 1u << 16));
    return tid;
}

void LeafSpineBuilder::DoBuildFabric(Topology& topology, const NicTable& nics) const
{
    if (m_hostsPerLeaf == 0 && m_leaves == 0)
    {
        throw InputError(
            {"", 0, "HostsPerLeaf"}, "neither hosts per leaf nor leaves", "at least one of them");
    }
    const uint32_t perLeaf =
        m_hostsPerLeaf > 0 ? m_hostsPerLeaf : (GetHosts() + m_leaves - 1) / m_leaves;
    const uint32_t needed = (GetHosts() + perLeaf - 1) / perLeaf;
    const uint32_t leaves = m_leaves > 0 ? m_leaves : needed;
    if (leaves < needed)
    {
        throw InputError({"", 0, "Hosts"},
                         std::to_string(GetHosts()) + " hosts",
                         "at most " + std::to_string(leaves * perLeaf) + " (" +
                             std::to_string(leaves) + " leaves of " + std::to_string(perLeaf) +
                             ")");
    }
    const uint32_t uplinks = GetLeafUplinks(perLeaf * GetHost().GetNicCount());
    RequireFewLinks(leaves, uplinks, "Uplinks");
    const auto leafIds = AddSwitches(topology, DeviceRole::LEAF, leaves);
    const auto spineIds =
        AddSwitches(topology, DeviceRole::SPINE, m_spines > 0 ? m_spines : uplinks);
    for (uint32_t host = 0; host < nics.size(); ++host)
    {
        for (const DeviceId nic : nics[host])
        {
            JoinNic(topology, nic, leafIds[host / perLeaf]);
        }
    }
    for (const DeviceId leaf : leafIds)
    {
        JoinUp(topology, leaf, spineIds, uplinks, GetLinkRate(), GetLinkDelay(), "Spines");
    }
}

} // namespace echo
} // namespace ns3
