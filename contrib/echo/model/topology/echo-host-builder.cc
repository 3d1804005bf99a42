// SPDX-License-Identifier: GPL-2.0-only
#include "echo-host-builder.h"

#include "ns3/echo-error.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoHostBuilder");
NS_OBJECT_ENSURE_REGISTERED(HostBuilder);

TypeId HostBuilder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::HostBuilder")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddConstructor<HostBuilder>()
            .AddAttribute("Gpus",
                          "GPUs of a host.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&HostBuilder::m_gpus),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("Nics",
                          "NICs of a host.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&HostBuilder::m_nics),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("Interconnect",
                          "How GPUs of a host are joined: nvswitch, links, pcie or none.",
                          StringValue("nvswitch"),
                          MakeStringAccessor(&HostBuilder::m_interconnect),
                          MakeStringChecker())
            .AddAttribute("GpuRate",
                          "Rate of a GPU into nvswitch or pcie, per direction.",
                          DataRateValue(DataRate(2400000000000)),
                          MakeDataRateAccessor(&HostBuilder::m_gpuRate),
                          MakeDataRateChecker())
            .AddAttribute("GpuDelay",
                          "Delay of a link between a GPU and a switch or another GPU.",
                          TimeValue(NanoSeconds(300)),
                          MakeTimeAccessor(&HostBuilder::m_gpuDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("NvSwitches",
                          "NVSwitches of a host; the rate of a GPU is split over them.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&HostBuilder::m_nvSwitches),
                          MakeUintegerChecker<uint32_t>(1, 64))
            .AddAttribute("PeerPcieRate",
                          "Rate of a GPU into a PCIe switch beside direct links; 0: there is none.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&HostBuilder::m_peerPcieRate),
                          MakeDataRateChecker())
            .AddAttribute("PeerPcieDelay",
                          "Delay of a link between a GPU and that PCIe switch.",
                          TimeValue(NanoSeconds(500)),
                          MakeTimeAccessor(&HostBuilder::m_peerPcieDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("NicRate",
                          "Rate of a NIC, per direction.",
                          DataRateValue(DataRate(100000000000)),
                          MakeDataRateAccessor(&HostBuilder::m_nicRate),
                          MakeDataRateChecker())
            .AddAttribute("NicDelay",
                          "Delay of the link between a NIC and its switch.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&HostBuilder::m_nicDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PcieRate",
                          "Rate between a GPU and its NIC, which caps the NIC; 0: no such link.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&HostBuilder::m_pcieRate),
                          MakeDataRateChecker())
            .AddAttribute("PcieDelay",
                          "Delay between a GPU and its NIC.",
                          TimeValue(NanoSeconds(500)),
                          MakeTimeAccessor(&HostBuilder::m_pcieDelay),
                          MakeTimeChecker(Time(0)));
    return tid;
}

void HostBuilder::AddGpuLink(uint32_t a, uint32_t b, DataRate rate)
{
    m_links.push_back({a, b, rate});
}

DataRate HostBuilder::GetNicRate() const
{
    return m_pcieRate.GetBitRate() > 0 ? std::min(m_nicRate, m_pcieRate) : m_nicRate;
}

void HostBuilder::Check() const
{
    const bool isSwitched = m_interconnect == "nvswitch" || m_interconnect == "pcie";
    if (!isSwitched && m_interconnect != "links" && m_interconnect != "none")
    {
        throw InputError(
            {"", 0, "Interconnect"}, "'" + m_interconnect + "'", "nvswitch, links, pcie or none");
    }
    if (m_interconnect == "none" && m_gpus > 1)
    {
        throw InputError({"", 0, "Interconnect"},
                         std::to_string(m_gpus) + " GPUs that nothing joins",
                         "nvswitch, links or pcie");
    }
    if (isSwitched && m_gpuRate.GetBitRate() < m_nvSwitches)
    {
        throw InputError({"", 0, "GpuRate"}, "rate 0", "a rate above zero");
    }
    if (m_nics > 0 && m_nicRate.GetBitRate() == 0)
    {
        throw InputError({"", 0, "NicRate"}, "rate 0", "a rate above zero");
    }
    if (m_nics == 0 && m_pcieRate.GetBitRate() > 0)
    {
        throw InputError({"", 0, "PcieRate"}, "a link from GPUs to NICs without a NIC", "NICs");
    }
    if (m_interconnect == "links")
    {
        CheckGpuLinks();
    }
}

void HostBuilder::CheckGpuLinks() const
{
    std::vector<bool> reached(m_gpus, false);
    for (const GpuLink& link : m_links)
    {
        const std::string name = std::to_string(link.a) + "-" + std::to_string(link.b);
        if (link.a >= m_gpus || link.b >= m_gpus)
        {
            throw InputError(
                {"", 0, "links"}, "link " + name, "GPU numbers below " + std::to_string(m_gpus));
        }
        if (link.a == link.b)
        {
            throw InputError(
                {"", 0, "links"}, "link " + name + " from a GPU to itself", "two GPUs");
        }
    }
    if (m_peerPcieRate.GetBitRate() > 0)
    {
        return;
    }
    reached[0] = true;
    for (uint32_t round = 0; round < m_gpus; ++round)
    {
        for (const GpuLink& link : m_links)
        {
            if (reached[link.a] || reached[link.b])
            {
                reached[link.a] = reached[link.b] = true;
            }
        }
    }
    const auto missing = std::find(reached.begin(), reached.end(), false);
    if (missing != reached.end())
    {
        throw InputError({"", 0, "links"},
                         "no way between GPU 0 and GPU " +
                             std::to_string(missing - reached.begin()),
                         "links, or a PCIe switch beside them, that join all GPUs");
    }
}

std::vector<DeviceId> HostBuilder::AddTo(Topology& topology, HostId host) const
{
    Check();
    const std::string prefix = "host" + std::to_string(host.Get()) + "/";
    std::vector<DeviceId> gpus;
    for (uint32_t i = 0; i < m_gpus; ++i)
    {
        gpus.push_back(
            topology.AddDevice(DeviceRole::GPU, prefix + "gpu" + std::to_string(i), host, i));
    }
    std::vector<DeviceId> nics;
    for (uint32_t i = 0; i < m_nics; ++i)
    {
        nics.push_back(
            topology.AddDevice(DeviceRole::NIC, prefix + "nic" + std::to_string(i), host, i));
    }
    if (m_gpus > 1)
    {
        JoinGpus(topology, host, gpus);
    }
    if (m_pcieRate.GetBitRate() > 0)
    {
        JoinNics(topology, gpus, nics);
    }
    return nics;
}

void HostBuilder::JoinGpus(Topology& topology, HostId host, const std::vector<DeviceId>& gpus) const
{
    const std::string prefix = "host" + std::to_string(host.Get()) + "/";
    const auto addSwitch = [&](DeviceRole role, const std::string& name, uint32_t index) {
        return topology.AddDevice(role, prefix + name + std::to_string(index), host, index);
    };
    if (m_interconnect == "nvswitch")
    {
        const DataRate share(m_gpuRate.GetBitRate() / m_nvSwitches);
        for (uint32_t i = 0; i < m_nvSwitches; ++i)
        {
            JoinThrough(
                topology, addSwitch(DeviceRole::NV_SWITCH, "nvswitch", i), gpus, share, m_gpuDelay);
        }
    }
    else if (m_interconnect == "pcie")
    {
        JoinThrough(
            topology, addSwitch(DeviceRole::PCIE_SWITCH, "pcie", 0), gpus, m_gpuRate, m_gpuDelay);
    }
    else
    {
        for (const GpuLink& link : m_links)
        {
            topology.AddLink(gpus[link.a], gpus[link.b], link.rate, m_gpuDelay);
        }
        if (m_peerPcieRate.GetBitRate() > 0)
        {
            JoinThrough(topology,
                        addSwitch(DeviceRole::PCIE_SWITCH, "pcie", 0),
                        gpus,
                        m_peerPcieRate,
                        m_peerPcieDelay);
        }
    }
}

void HostBuilder::JoinThrough(Topology& topology,
                              DeviceId hub,
                              const std::vector<DeviceId>& gpus,
                              DataRate rate,
                              Time delay) const
{
    for (const DeviceId gpu : gpus)
    {
        topology.AddLink(gpu, hub, rate, delay);
    }
}

void HostBuilder::JoinNics(Topology& topology,
                           const std::vector<DeviceId>& gpus,
                           const std::vector<DeviceId>& nics) const
{
    const size_t links = std::max(gpus.size(), nics.size());
    for (size_t i = 0; i < links; ++i)
    {
        topology.AddLink(
            gpus[i * gpus.size() / links], nics[i * nics.size() / links], m_pcieRate, m_pcieDelay);
    }
}

} // namespace echo
} // namespace ns3
