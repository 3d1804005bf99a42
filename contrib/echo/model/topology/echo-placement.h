// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PLACEMENT_H
#define ECHO_PLACEMENT_H

#include "echo-host-rings.h"
#include "echo-topology.h"

#include "ns3/echo-comm-group.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Where each rank runs: rank -> GPU -> host -> NIC. */
class Placement
{
  public:
    /** Ranks fill GPUs in host order. @throws InputError naming both numbers if too few GPUs */
    static Placement Linear(TopologyPtr topology, uint32_t ranks);
    /** Ranks go round the hosts, one GPU each. @throws InputError as Linear */
    static Placement RoundRobin(TopologyPtr topology, uint32_t ranks);
    /** Rank i runs on gpus[i]. @throws InputError if one is no GPU or is used twice */
    Placement(TopologyPtr topology, std::vector<DeviceId> gpus);

    uint32_t GetRankCount() const
    {
        return static_cast<uint32_t>(m_gpus.size());
    }

    DeviceId GetGpu(RankId rank) const
    {
        return m_gpus.at(rank.Get());
    }

    HostId GetHost(RankId rank) const;
    /** @return the NIC that serves the rank's GPU; invalid if its host has none */
    DeviceId GetNic(RankId rank) const;
    /**
     * NICs of a message between ranks of different hosts. The sender uses its host's NIC with the
     * receiver's NIC index if the host has an NVSwitch and as many NICs (so traffic stays on one
     * rail, as NCCL's PXN does), else its own.
     */
    std::pair<DeviceId, DeviceId> GetNicPair(RankId source, RankId destination) const;
    /** @return hosts in use */
    uint32_t GetUsedHostCount() const;
    /**
     * @return for users: "ranks 0-7 on host0 (gpu0-gpu7), ranks 8-9 on host1 (gpu0-gpu1)"; three
     * hosts and more alike are "ranks 0-63 on host0-host7 (gpu0-gpu7 each)", and of many parts the
     * first and the last are shown
     * @param first,count the ranks to describe
     */
    std::string Describe(RankId first, uint32_t count) const;
    /** @return the same of all ranks */
    std::string Describe() const
    {
        return Describe(RankId(0), GetRankCount());
    }

    TopologyPtr GetTopology() const
    {
        return m_topology;
    }

  private:
    TopologyPtr m_topology;       //!< the cluster
    std::vector<DeviceId> m_gpus; //!< by rank
};

using PlacementPtr = std::shared_ptr<const Placement>;

/**
 * A group as the hardware sees it: members by host. Member = index in the group. Hosts are in
 * HostId order and members of a host in GPU index order, whatever the order of the group, so a
 * relabelling of equal ranks changes nothing.
 */
struct GroupLayout
{
    CommGroupPtr group;
    PlacementPtr placement;
    std::vector<std::vector<uint32_t>> hosts; //!< members by used host
    std::vector<uint32_t> hostOf;             //!< index into hosts, by member
    /**
     * By used host: places in `hosts[h]` in the order in which channels 0, 1, ... enter the host:
     * one member of each NIC, then a second of each, and so on, so that as many channels as a host
     * has NICs use each NIC once.
     */
    std::vector<std::vector<uint32_t>> entries;
    /**
     * By used host: rings of places in `hosts[h]` over links from GPU to GPU, of which channels
     * take one after the other; empty where GPUs are joined by switches: rings pass places in
     * order. In a group of several hosts one of each turn of `entries`, so that channels also leave
     * by all NICs.
     */
    std::vector<std::shared_ptr<const HostRings>> rings;
    uint32_t minLocal{0};    //!< fewest members on a host
    uint32_t maxLocal{0};    //!< most members on a host
    uint32_t nicsPerHost{0}; //!< distinct NICs serving members; min over hosts

    uint32_t GetRanks() const
    {
        return group->GetSize();
    }

    uint32_t GetHosts() const
    {
        return static_cast<uint32_t>(hosts.size());
    }
};

using GroupLayoutPtr = std::shared_ptr<const GroupLayout>;

/** @throws InputError if a member is not placed */
GroupLayoutPtr MakeGroupLayout(CommGroupPtr group, PlacementPtr placement);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PLACEMENT_H */
