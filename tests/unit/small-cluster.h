// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_SMALL_CLUSTER_H
#define ECHO_TESTS_SMALL_CLUSTER_H

#include "ns3/echo-collective-algorithm.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-topology.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Small clusters for tests, made by hand so that every rate and delay is seen here. */
struct SmallCluster
{
    uint32_t hosts{8};
    uint32_t gpusPerHost{1}; //!< joined by an NVSwitch if there are several
    uint32_t gpusPerNic{1};
    uint32_t hostsPerLeaf{0}; //!< 0: one switch for all
    std::string nicRate{"100Gbps"};
    std::string uplinkRate{"100Gbps"}; //!< leaf to the one spine
    std::string nvlinkRate{"3600Gbps"};
    Time nicDelay{MicroSeconds(1)};
    Time nvlinkDelay{NanoSeconds(300)};

    TopologyPtr Build() const
    {
        auto topology = std::make_shared<Topology>();
        std::vector<DeviceId> nics;
        for (uint32_t host = 0; host < hosts; ++host)
        {
            AddHost(*topology, host, nics);
        }
        const uint32_t leaves = hostsPerLeaf == 0 ? 1 : (hosts + hostsPerLeaf - 1) / hostsPerLeaf;
        std::vector<DeviceId> leaf;
        for (uint32_t i = 0; i < leaves; ++i)
        {
            leaf.push_back(
                topology->AddDevice(DeviceRole::LEAF, "leaf" + std::to_string(i), HostId(), i));
        }
        for (uint32_t nic = 0; nic < nics.size(); ++nic)
        {
            const uint32_t host = nic * gpusPerNic / gpusPerHost;
            topology->AddLink(nics[nic],
                              leaf[hostsPerLeaf == 0 ? 0 : host / hostsPerLeaf],
                              DataRate(nicRate),
                              nicDelay);
        }
        if (leaves > 1)
        {
            const DeviceId spine = topology->AddDevice(DeviceRole::SPINE, "spine0", HostId(), 0);
            for (const DeviceId device : leaf)
            {
                topology->AddLink(device, spine, DataRate(uplinkRate), nicDelay);
            }
        }
        topology->Seal();
        return topology;
    }

    void AddHost(Topology& topology, uint32_t host, std::vector<DeviceId>& nics) const
    {
        const std::string name = "host" + std::to_string(host);
        std::vector<DeviceId> gpus;
        for (uint32_t gpu = 0; gpu < gpusPerHost; ++gpu)
        {
            gpus.push_back(topology.AddDevice(
                DeviceRole::GPU, name + "/gpu" + std::to_string(gpu), HostId(host), gpu));
        }
        for (uint32_t nic = 0; nic < gpusPerHost / gpusPerNic; ++nic)
        {
            nics.push_back(topology.AddDevice(
                DeviceRole::NIC, name + "/nic" + std::to_string(nic), HostId(host), nic));
        }
        if (gpusPerHost > 1)
        {
            const DeviceId nvSwitch =
                topology.AddDevice(DeviceRole::NV_SWITCH, name + "/nvswitch0", HostId(host), 0);
            for (const DeviceId gpu : gpus)
            {
                topology.AddLink(gpu, nvSwitch, DataRate(nvlinkRate), nvlinkDelay);
            }
        }
    }
};

/** All ranks of a placement, in order. */
inline CommGroupPtr WorldGroup(const Placement& placement, uint32_t id = 0)
{
    std::vector<RankId> ranks;
    for (uint32_t rank = 0; rank < placement.GetRankCount(); ++rank)
    {
        ranks.emplace_back(rank);
    }
    return std::make_shared<const CommGroup>(GroupId(id), GroupKind::WORLD, "world", ranks);
}

/** A plan that needs no selector. */
inline CollectivePlan MakePlan(GroupLayoutPtr layout,
                               CollectiveKind kind,
                               uint64_t bytes,
                               CollectiveAlgorithmKind algorithm,
                               uint32_t channels = 1,
                               uint64_t chunkBytes = 0)
{
    CollectivePlan plan;
    plan.spec.kind = kind;
    plan.spec.bytes = bytes;
    plan.choice.algorithm = algorithm;
    plan.choice.channels = channels;
    plan.choice.chunkBytes = chunkBytes;
    plan.layout = std::move(layout);
    return plan;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_SMALL_CLUSTER_H */
