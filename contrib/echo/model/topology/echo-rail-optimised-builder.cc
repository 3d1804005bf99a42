// SPDX-License-Identifier: GPL-2.0-only
#include "echo-rail-optimised-builder.h"

#include "ns3/echo-error.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(RailOptimisedBuilder);

TypeId RailOptimisedBuilder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::RailOptimisedBuilder")
            .SetParent<ClosBuilder>()
            .SetGroupName("Echo")
            .AddConstructor<RailOptimisedBuilder>()
            .AddAttribute("HostsPerPod",
                          "Hosts of a full pod; 0: one pod for all.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RailOptimisedBuilder::m_hostsPerPod),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("Rails",
                          "Rails, a divisor of the NICs of a host; 0: one for each NIC.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RailOptimisedBuilder::m_rails),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("Spines",
                          "Spines; 0: one for each uplink of a leaf.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RailOptimisedBuilder::m_spines),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16));
    return tid;
}

void RailOptimisedBuilder::DoBuildFabric(Topology& topology, const NicTable& nics) const
{
    const uint32_t nicsPerHost = GetHost().GetNicCount();
    const uint32_t rails = m_rails > 0 ? m_rails : nicsPerHost;
    if (nicsPerHost % rails != 0)
    {
        throw InputError({"", 0, "Rails"},
                         std::to_string(rails) + " rails for " + std::to_string(nicsPerHost) +
                             " NICs of a host",
                         "a divisor of the NICs of a host");
    }
    const uint32_t nicsPerRail = nicsPerHost / rails;
    const uint32_t perPod = m_hostsPerPod > 0 ? m_hostsPerPod : GetHosts();
    const uint32_t pods = (GetHosts() + perPod - 1) / perPod;
    const uint32_t uplinks = GetLeafUplinks(perPod * nicsPerRail);
    RequireFewLinks(uint64_t{pods} * rails, uplinks, "Uplinks");
    const auto leafIds = AddSwitches(topology, DeviceRole::LEAF, uint64_t{pods} * rails);
    const auto spineIds =
        AddSwitches(topology, DeviceRole::SPINE, m_spines > 0 ? m_spines : uplinks);
    for (uint32_t host = 0; host < nics.size(); ++host)
    {
        for (uint32_t i = 0; i < nicsPerHost; ++i)
        {
            JoinNic(topology, nics[host][i], leafIds[host / perPod * rails + i / nicsPerRail]);
        }
    }
    for (const DeviceId leaf : leafIds)
    {
        JoinUp(topology, leaf, spineIds, uplinks, GetLinkRate(), GetLinkDelay(), "Spines");
    }
}

} // namespace echo
} // namespace ns3
