// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_H
#define ECHO_TOPOLOGY_H

#include "ns3/data-rate.h"
#include "ns3/echo-enums.h"
#include "ns3/echo-ids.h"
#include "ns3/echo-records.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A vertex of the cluster graph. */
struct Device
{
    DeviceRole role{DeviceRole::GPU};
    std::string name;  //!< unique, e.g. "host3/gpu0", "leaf1"
    HostId host;       //!< invalid for leaf, spine, core
    uint32_t index{0}; //!< GPU or NIC number in its host; number among its role in the fabric
};

/** An edge of the cluster graph: a full-duplex link; each direction has the whole rate. */
struct Link
{
    DeviceId a;
    DeviceId b;
    DataRate rate; //!< per direction
    Time delay;    //!< propagation, one way
};

/**
 * The cluster as a sealed multigraph of typed devices (Boost.Graph behind a pimpl).
 *
 * Link l has two ports: 2l at device a, 2l + 1 at device b. A port also names the direction of the
 * link in which it transmits. Parallel links are separate links. GPU-to-NIC links (PCIe) say which
 * NIC serves which GPU; NIC rates are already capped by them.
 *
 * Every host's GPUs and NICs come before the fabric; ids are dense and in order of adding.
 */
class Topology
{
  public:
    /** What a typing error in a count may cost at most; real clusters are far smaller. */
    static constexpr uint32_t MAX_DEVICES = 1u << 22;
    static constexpr uint32_t MAX_LINKS = 1u << 22;

    Topology();
    ~Topology();
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    // Building; all throw std::logic_error after Seal().

    /** @throws InputError if the name is taken or there are MAX_DEVICES */
    DeviceId AddDevice(DeviceRole role, const std::string& name, HostId host, uint32_t index);
    /**
     * @throws InputError if a == b, the rate is zero, the delay is negative, a device other than a
     * NIC would be joined to something outside its host, or there are MAX_LINKS
     */
    LinkId AddLink(DeviceId a, DeviceId b, DataRate rate, Time delay);
    /**
     * Ends building and checks: at least one GPU; hosts, GPU and NIC numbers dense from 0.
     * @throws InputError naming the device otherwise
     */
    void Seal();

    uint32_t GetDeviceCount() const;
    uint32_t GetLinkCount() const;
    uint32_t GetHostCount() const;
    const Device& GetDevice(DeviceId id) const;
    const Link& GetLink(LinkId id) const;
    /** @return ports of the device, in order of its links */
    const std::vector<PortId>& GetPorts(DeviceId id) const;
    /** @return the device of that name, or an invalid id */
    DeviceId FindDevice(const std::string& name) const;
    /** @return all devices of a role, in id order */
    const std::vector<DeviceId>& GetDevices(DeviceRole role) const;
    /** @return GPUs of a host in index order */
    const std::vector<DeviceId>& GetGpus(HostId host) const;
    /** @return NICs of a host in index order */
    const std::vector<DeviceId>& GetNics(HostId host) const;
    /** @return true if GPUs of the host are joined by an NVSwitch */
    bool HasNvSwitch(HostId host) const;
    /** @return the NIC that serves a GPU: linked to it, else index * nics / gpus; invalid if none
     */
    DeviceId GetNicOf(DeviceId gpu) const;

    static LinkId LinkOf(PortId port)
    {
        return LinkId(port.Get() / 2);
    }

    static PortId PeerOf(PortId port)
    {
        return PortId(port.Get() ^ 1u);
    }

    /** @return the device that transmits through the port */
    DeviceId OwnerOf(PortId port) const;

    /** @return the device that the port transmits to */
    DeviceId NeighborOf(PortId port) const
    {
        return OwnerOf(PeerOf(port));
    }

    DataRate RateOf(PortId port) const
    {
        return GetLink(LinkOf(port)).rate;
    }

    Time DelayOf(PortId port) const
    {
        return GetLink(LinkOf(port)).delay;
    }

    /** @return a record of the link's direction with its names, roles and rate; counters zero */
    LinkRecord DescribeLink(PortId port) const;

    /** @return true for links between NICs and fabric switches and among these */
    bool IsFabricLink(LinkId link) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl; //!< the graph and its indices
};

using TopologyPtr = std::shared_ptr<const Topology>;

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_H */
