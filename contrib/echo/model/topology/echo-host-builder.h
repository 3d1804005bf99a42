// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HOST_BUILDER_H
#define ECHO_HOST_BUILDER_H

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
 * The inside of a host: GPUs, how they are joined, NICs and which GPU each NIC serves. All hosts of
 * a cluster are alike.
 *
 * Interconnect:
 *  - "nvswitch": every GPU joined to every NVSwitch; the rate of a GPU is split evenly over them;
 *  - "links": direct links as given by AddGpuLink, and, if PeerPcieRate is not 0, a PCIe switch
 *    beside them for pairs without a shorter way;
 *  - "pcie": every GPU joined to one PCIe switch;
 *  - "none": for a single GPU.
 *
 * With PcieRate above 0, each GPU is linked to the NIC that serves it (GPU g of G to NIC
 * floor(g * N / G) of N; with more NICs than GPUs, NIC n to GPU floor(n * G / N)), and the rate of
 * a NIC is at most PcieRate.
 *
 * An InputError of this class carries the attribute's name as its item.
 */
class HostBuilder : public Object
{
  public:
    static TypeId GetTypeId();

    /** A direct link between two GPUs, for Interconnect "links". Delay is GpuDelay. */
    void AddGpuLink(uint32_t a, uint32_t b, DataRate rate);

    /**
     * Adds one host named "host<id>" to a topology.
     * @return its NICs in index order
     * @throws InputError if the attributes describe no host
     */
    std::vector<DeviceId> AddTo(Topology& topology, HostId host) const;

    uint32_t GetGpuCount() const
    {
        return m_gpus;
    }

    uint32_t GetNicCount() const
    {
        return m_nics;
    }

    /** @return rate of a NIC, capped by PCIe */
    DataRate GetNicRate() const;

    /** @return delay of the link from a NIC to its switch */
    Time GetNicDelay() const
    {
        return m_nicDelay;
    }

  private:
    struct GpuLink
    {
        uint32_t a;
        uint32_t b;
        DataRate rate;
    };

    void Check() const;
    void CheckGpuLinks() const;
    void JoinGpus(Topology& topology, HostId host, const std::vector<DeviceId>& gpus) const;
    void JoinThrough(Topology& topology,
                     DeviceId hub,
                     const std::vector<DeviceId>& gpus,
                     DataRate rate,
                     Time delay) const;
    void JoinNics(Topology& topology,
                  const std::vector<DeviceId>& gpus,
                  const std::vector<DeviceId>& nics) const;

    uint32_t m_gpus{8};           //!< attribute Gpus
    uint32_t m_nics{8};           //!< attribute Nics
    std::string m_interconnect;   //!< attribute Interconnect
    DataRate m_gpuRate;           //!< attribute GpuRate
    Time m_gpuDelay;              //!< attribute GpuDelay
    uint32_t m_nvSwitches{1};     //!< attribute NvSwitches
    DataRate m_peerPcieRate;      //!< attribute PeerPcieRate
    Time m_peerPcieDelay;         //!< attribute PeerPcieDelay
    DataRate m_nicRate;           //!< attribute NicRate
    Time m_nicDelay;              //!< attribute NicDelay
    DataRate m_pcieRate;          //!< attribute PcieRate
    Time m_pcieDelay;             //!< attribute PcieDelay
    std::vector<GpuLink> m_links; //!< for Interconnect "links"
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_HOST_BUILDER_H */
