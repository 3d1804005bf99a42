// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROUTER_H
#define ECHO_ROUTER_H

#include "echo-topology.h"

#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Finds ways through the topology.
 *
 * Two planes that never mix: between NICs a path uses leaf, spine and core switches only; between
 * GPUs of one host it uses NVLink, NVSwitch and PCIe switches (and, where GPUs are not all joined,
 * other GPUs of that host).
 */
class Router : public Object
{
  public:
    static TypeId GetTypeId();

    /** Binds to a topology; to be called once, before anything else. */
    virtual void Prepare(TopologyPtr topology) = 0;

    /**
     * @param at the device that forwards
     * @param destination a NIC (fabric plane) or a GPU (host plane)
     * @param[out] ports all ports of @p at on shortest paths, in port order; empty: unreachable
     */
    virtual void GetNextHops(DeviceId at,
                             DeviceId destination,
                             std::vector<PortId>& ports) const = 0;

    /**
     * Per-flow ECMP: the port of @p at that a flow takes, by a hash of (source, destination, label)
     * and the seed of @p at. The same flow takes the same port always.
     * @return invalid if unreachable
     */
    PortId ChooseNextHop(DeviceId at, DeviceId source, DeviceId destination, uint64_t label) const;

    /**
     * @param[out] path transmitting ports from source to destination, cleared first
     * @return false if unreachable
     */
    bool FindPath(DeviceId source,
                  DeviceId destination,
                  uint64_t label,
                  std::vector<PortId>& path) const;

    TopologyPtr GetTopology() const
    {
        return m_topology;
    }

  protected:
    TopologyPtr m_topology; //!< set by Prepare
    uint64_t m_seed{1};     //!< attribute Seed: switch s hashes with a seed derived from (Seed, s)

  private:
    mutable std::vector<PortId> m_candidates; //!< of the last choice; kept for its memory
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROUTER_H */
