// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_FABRIC_H
#define ECHO_ROCE_FABRIC_H

#include "echo-roce-device.h"
#include "echo-roce-port.h"

#include "ns3/echo-network-model.h"
#include "ns3/echo-router.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceNic;

/** The most that was held at a time. */
struct FabricPeaks
{
    uint64_t heldBytes{0};   //!< in the packet memory of a switch
    uint64_t bufferBytes{0}; //!< that memory's size
    uint64_t queueBytes{0};  //!< at a port
};

/**
 * The topology's fabric in ns-3's terms: a node with a RoceNic or RoceSwitch for each NIC and
 * switch, a RocePort for each end of a fabric link, a RoceChannel for each such link.
 */
class RoceFabric
{
  public:
    /** @p parameters and @p pool outlive it; random stream of device d is @p firstStream + d. */
    RoceFabric(Ptr<Router> router,
               const RoceParameters* parameters,
               RocePacketPool* pool,
               int64_t firstStream);
    /** Disposes of devices and nodes: events that are still to come do nothing. */
    ~RoceFabric();
    RoceFabric(const RoceFabric&) = delete;
    RoceFabric& operator=(const RoceFabric&) = delete;

    /**
     * Switches choose ways, instead of taking those that packets bring. Before Seal.
     * @param balancer TypeId of a LoadBalancer; empty: each flow takes the Router's way
     * @throws InputError if there is no such load balancer
     */
    void UseForwarding(const std::string& balancer);
    /** Switches look ways up anew. */
    void ForgetWays();

    /**
     * To be called once NICs have their policies.
     * @throws InputError if a switch's buffer cannot hold its headrooms
     */
    void Seal();

    /**
     * @return ports by which a flow on @p path leaves each device, then null; all but the first
     * null if switches choose ways
     */
    std::vector<RocePort*> MakeRoute(const std::vector<PortId>& path) const;

    /** One record for each direction of each link that carried packets. */
    void ReportLinks(RecordSink& sink) const;
    /** Adds what the ports counted. */
    void AddTotals(NetworkTotals& totals) const;
    FabricPeaks GetPeaks() const;

    const std::vector<RoceNic*>& GetNics() const
    {
        return m_nics;
    }

    /** @return null if the port's link is not of the fabric */
    Ptr<RocePort> GetPort(PortId port) const
    {
        return m_ports.at(port.Get());
    }

    /** @return numbers of ports, of which some have no RocePort */
    uint32_t GetPortCount() const
    {
        return static_cast<uint32_t>(m_ports.size());
    }

    /** @return the topology's number of a port */
    PortId NumberOf(const RocePort& port) const;

    const Topology& GetTopology() const
    {
        return *m_topology;
    }

    /** @return null if the device is neither NIC nor switch */
    Ptr<RoceDevice> GetDevice(DeviceId device) const
    {
        return m_devices.at(device.Get());
    }

  private:
    void MakeDevices(const RoceParameters* parameters, RocePacketPool* pool, int64_t firstStream);
    void MakeLinks(const RoceParameters& parameters);

    Ptr<Router> m_router;                   //!< paths
    TopologyPtr m_topology;                 //!< the router's
    std::vector<Ptr<RoceDevice>> m_devices; //!< by DeviceId; may be null
    std::vector<RoceNic*> m_nics;           //!< NICs among them
    std::vector<Ptr<RocePort>> m_ports;     //!< by PortId; may be null
    int64_t m_firstStream;                  //!< random stream of device 0
    bool m_forwards{false};                 //!< switches choose ways
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_FABRIC_H */
