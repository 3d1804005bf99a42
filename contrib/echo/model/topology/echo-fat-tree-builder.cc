// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fat-tree-builder.h"

#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(FatTreeBuilder);

TypeId FatTreeBuilder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::FatTreeBuilder")
            .SetParent<ClosBuilder>()
            .SetGroupName("Echo")
            .AddConstructor<FatTreeBuilder>()
            .AddAttribute("K",
                          "Ports of a switch, even; gives all counts. 0: they are given singly.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_k),
                          MakeUintegerChecker<uint32_t>(0, 256))
            .AddAttribute("HostsPerLeaf",
                          "Hosts of a full leaf.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_hostsPerLeaf),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("LeavesPerPod",
                          "Leaves of a full pod.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_leavesPerPod),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("Pods",
                          "Pods; 0: K, or as many as the hosts need.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_pods),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("SpinesPerPod",
                          "Spines of a pod; 0: one for each uplink of a leaf.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_spinesPerPod),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("Cores",
                          "Cores, a multiple of SpinesPerPod; 0: one for each uplink of a pod's "
                          "spines.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_cores),
                          MakeUintegerChecker<uint32_t>(0, 1u << 16))
            .AddAttribute("SpineUplinks",
                          "Links of a spine to cores; 0: from SpineOversubscription.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FatTreeBuilder::m_spineUplinks),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute("SpineOversubscription",
                          "Rate of a spine's links to leaves over the rate of its uplinks; 0: 1 if "
                          "SpineUplinks is 0, else whatever they make.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FatTreeBuilder::m_spineOversubscription),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("CoreLinkRate",
                          "Rate of a link between spine and core, per direction; 0: LinkRate.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&FatTreeBuilder::m_coreLinkRate),
                          MakeDataRateChecker())
            .AddAttribute("CoreLinkDelay",
                          "Delay of a link between spine and core.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&FatTreeBuilder::m_coreLinkDelay),
                          MakeTimeChecker(Time(0)));
    return tid;
}

DataRate FatTreeBuilder::GetCoreLinkRate() const
{
    return m_coreLinkRate.GetBitRate() > 0 ? m_coreLinkRate : GetLinkRate();
}

FatTreeBuilder::Shape FatTreeBuilder::ShapeOfK() const
{
    const std::pair<const char*, bool> others[] = {
        {"HostsPerLeaf", m_hostsPerLeaf > 0},
        {"LeavesPerPod", m_leavesPerPod > 0},
        {"SpinesPerPod", m_spinesPerPod > 0},
        {"Cores", m_cores > 0},
        {"Uplinks", m_uplinks > 0},
        {"Oversubscription", m_oversubscription > 0},
        {"SpineUplinks", m_spineUplinks > 0},
        {"SpineOversubscription", m_spineOversubscription > 0},
    };
    for (const auto& [name, isGiven] : others)
    {
        if (isGiven)
        {
            throw InputError({"", 0, name}, "a count beside k", "k alone, which gives all counts");
        }
    }
    if (m_k % 2 != 0)
    {
        throw InputError({"", 0, "K"}, std::to_string(m_k), "an even number of ports");
    }
    const uint32_t pods = m_pods > 0 ? m_pods : m_k;
    if (pods > m_k)
    {
        throw InputError(
            {"", 0, "Pods"}, std::to_string(pods) + " pods", "at most k = " + std::to_string(m_k));
    }
    const uint32_t half = m_k / 2;
    return {half, pods, pods * half, half, half, half * half, half, half};
}

FatTreeBuilder::Shape FatTreeBuilder::GeneralShape() const
{
    if (m_hostsPerLeaf == 0 || m_leavesPerPod == 0)
    {
        throw InputError({"", 0, m_hostsPerLeaf == 0 ? "HostsPerLeaf" : "LeavesPerPod"},
                         "neither k nor this count",
                         "k, or both hosts per leaf and leaves per pod");
    }
    Shape shape{};
    shape.nicsPerLeaf = m_hostsPerLeaf * GetHost().GetNicCount();
    shape.leavesPerPod = m_leavesPerPod;
    const uint64_t hostsPerPod = uint64_t{m_hostsPerLeaf} * m_leavesPerPod;
    shape.pods =
        m_pods > 0 ? m_pods : static_cast<uint32_t>((GetHosts() + hostsPerPod - 1) / hostsPerPod);
    const uint64_t leaves = m_pods > 0 ? uint64_t{m_pods} * m_leavesPerPod
                                       : (GetHosts() + m_hostsPerLeaf - 1) / m_hostsPerLeaf;
    if (leaves > Topology::MAX_DEVICES)
    {
        throw InputError({"", 0, "Pods"}, std::to_string(leaves) + " leaves", "a smaller tree");
    }
    shape.leaves = static_cast<uint32_t>(leaves);
    shape.uplinks = GetLeafUplinks(shape.nicsPerLeaf);
    shape.spinesPerPod = m_spinesPerPod > 0 ? m_spinesPerPod : shape.uplinks;
    if (shape.uplinks % shape.spinesPerPod != 0)
    {
        throw InputError({"", 0, "SpinesPerPod"},
                         std::to_string(shape.uplinks) + " uplinks to " +
                             std::to_string(shape.spinesPerPod) + " switches",
                         "the same number of uplinks to each");
    }
    const uint64_t linksBelow = uint64_t{shape.leavesPerPod} * shape.uplinks / shape.spinesPerPod;
    shape.spineUplinks = ResolveUplinks({m_spineUplinks,
                                         m_spineOversubscription,
                                         "SpineUplinks",
                                         "SpineOversubscription",
                                         linksBelow * GetLinkRate().GetBitRate(),
                                         GetCoreLinkRate()});
    // Nothing lies above a single pod, unless asked for.
    const bool hasCores = shape.pods > 1 || m_cores > 0;
    shape.cores = m_cores > 0 ? m_cores : hasCores ? shape.spinesPerPod * shape.spineUplinks : 0;
    if (shape.cores % shape.spinesPerPod != 0)
    {
        throw InputError({"", 0, "Cores"},
                         std::to_string(shape.cores) + " cores",
                         "a multiple of the " + std::to_string(shape.spinesPerPod) +
                             " spines of a pod");
    }
    return shape;
}

void FatTreeBuilder::DoBuildFabric(Topology& topology, const NicTable& nics) const
{
    const Shape shape = m_k > 0 ? ShapeOfK() : GeneralShape();
    const uint64_t places = uint64_t{shape.leaves} * shape.nicsPerLeaf;
    const uint32_t nicsPerHost = GetHost().GetNicCount();
    if (uint64_t{GetHosts()} * nicsPerHost > places)
    {
        throw InputError({"", 0, "Hosts"},
                         std::to_string(GetHosts()) + " hosts",
                         "at most " + std::to_string(places / nicsPerHost) + " (the tree has " +
                             std::to_string(places) + " ports for NICs, " +
                             std::to_string(nicsPerHost) + " for each host)");
    }
    RequireFewLinks(shape.leaves, shape.uplinks, "Uplinks");
    RequireFewLinks(uint64_t{shape.pods} * shape.spinesPerPod, shape.spineUplinks, "SpineUplinks");
    const auto leaves = AddSwitches(topology, DeviceRole::LEAF, shape.leaves);
    const auto spines =
        AddSwitches(topology, DeviceRole::SPINE, uint64_t{shape.pods} * shape.spinesPerPod);
    const auto cores = AddSwitches(topology, DeviceRole::CORE, shape.cores);
    uint32_t next = 0;
    for (const auto& ofHost : nics)
    {
        for (const DeviceId nic : ofHost)
        {
            JoinNic(topology, nic, leaves[next / shape.nicsPerLeaf]);
            ++next;
        }
    }
    for (uint32_t i = 0; i < leaves.size(); ++i)
    {
        const auto first = spines.begin() + i / shape.leavesPerPod * shape.spinesPerPod;
        JoinUp(topology,
               leaves[i],
               {first, first + shape.spinesPerPod},
               shape.uplinks,
               GetLinkRate(),
               GetLinkDelay(),
               "SpinesPerPod");
    }
    const uint32_t coresPerSpine = shape.cores / shape.spinesPerPod;
    for (uint32_t i = 0; i < spines.size() && coresPerSpine > 0; ++i)
    {
        const auto first = cores.begin() + i % shape.spinesPerPod * coresPerSpine;
        JoinUp(topology,
               spines[i],
               {first, first + coresPerSpine},
               shape.spineUplinks,
               GetCoreLinkRate(),
               m_coreLinkDelay,
               "Cores");
    }
}

} // namespace echo
} // namespace ns3
