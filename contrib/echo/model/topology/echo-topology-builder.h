// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_BUILDER_H
#define ECHO_TOPOLOGY_BUILDER_H

#include "echo-host-builder.h"
#include "echo-topology.h"

#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Makes a cluster: equal hosts, and a fabric that joins their NICs. A subclass is a kind of fabric;
 * its attributes are the keys of `fabric:` in a cluster file (HostsPerLeaf is hosts_per_leaf), and
 * its name is the type (LeafSpineBuilder is leaf-spine), so a new kind needs no change elsewhere.
 *
 * An InputError of a builder carries the attribute's name as its item, so that a reader can say
 * where it was set.
 */
class TopologyBuilder : public Object
{
  public:
    static TypeId GetTypeId();

    /** The inside of every host; to be set before Build. */
    void SetHost(Ptr<HostBuilder> host);

    /**
     * @return the sealed cluster
     * @throws InputError if the attributes describe no cluster, or not every host reaches every
     *         other through the fabric
     */
    TopologyPtr Build() const;

  protected:
    /** NICs by host and number in the host. */
    using NicTable = std::vector<std::vector<DeviceId>>;

    uint32_t GetHosts() const
    {
        return m_hosts;
    }

    const HostBuilder& GetHost() const
    {
        return *m_host;
    }

    /** Joins a NIC to a switch at the NIC's rate and delay. */
    void JoinNic(Topology& topology, DeviceId nic, DeviceId device) const;
    /** Adds switches named after their role and numbered from 0. */
    static std::vector<DeviceId> AddSwitches(Topology& topology, DeviceRole role, uint64_t count);

  private:
    /** Adds the fabric; every host has at least one NIC. */
    virtual void DoBuildFabric(Topology& topology, const NicTable& nics) const = 0;

    uint32_t m_hosts{1};     //!< attribute Hosts
    uint32_t m_radix{0};     //!< attribute Radix
    Ptr<HostBuilder> m_host; //!< the inside of a host
};

/**
 * @throws InputError naming two hosts if some NIC of one reaches no NIC of the other, or a NIC that
 *         has no link. NICs do not forward.
 */
void RequireHostsReachEachOther(const Topology& topology);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_BUILDER_H */
