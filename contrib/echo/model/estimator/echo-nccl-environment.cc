// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-environment.h"

#include "ns3/echo-error.h"
#include "ns3/echo-host-rings.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/** @return the largest rate of the search's ladder between hosts that is not above @p rate */
double LadderRate(double rate)
{
    constexpr double LADDER[] = {
        96, 48, 45, 42, 40, 30, 28, 24, 22, 20, 18, 15, 12, 10, 9, 7, 6, 5};
    for (const double step : LADDER)
    {
        if (step <= rate)
        {
            return step;
        }
    }
    return rate;
}

/** GPUs and NICs of a host that rates are deduced for: NVLink domains hold groups of all sizes. */
constexpr uint32_t MOST = 8;

std::vector<std::vector<uint32_t>> ReadMesh(const Topology& topology,
                                            const std::vector<DeviceId>& gpus)
{
    constexpr double LINK_GBPS = 25;
    std::vector<std::vector<uint32_t>> mesh(gpus.size(), std::vector<uint32_t>(gpus.size(), 0));
    for (size_t i = 0; i < gpus.size(); ++i)
    {
        for (const PortId port : topology.GetPorts(gpus[i]))
        {
            const auto it = std::find(gpus.begin(), gpus.end(), topology.NeighborOf(port));
            if (it != gpus.end())
            {
                const double links = GigabytesPerSecond(topology.RateOf(port)) / LINK_GBPS;
                mesh[i][static_cast<size_t>(it - gpus.begin())] +=
                    static_cast<uint32_t>(std::max(1.0, std::round(links)));
            }
        }
    }
    return mesh;
}

} // namespace

HostLinks ReadHostLinks(const Topology& topology)
{
    return ReadHostLinks(topology,
                         topology.GetDevice(topology.GetDevices(DeviceRole::GPU).front()).host);
}

HostLinks ReadHostLinks(const Topology& topology, HostId host)
{
    HostLinks links;
    links.hasNvlink = false;
    links.gpusPerHost = static_cast<uint32_t>(topology.GetGpus(host).size());
    links.nicsPerHost = static_cast<uint32_t>(topology.GetNics(host).size());
    const std::vector<DeviceId> gpus = topology.GetGpus(host);
    double slow = 0; // PCIe, where GPUs have no other way
    for (const PortId port : topology.GetPorts(gpus.front()))
    {
        const DeviceRole role = topology.GetDevice(topology.NeighborOf(port)).role;
        const double rate = GigabytesPerSecond(topology.RateOf(port));
        if (role == DeviceRole::GPU || role == DeviceRole::NV_SWITCH)
        {
            links.gpuGBps += rate;
            links.hasNvlink = true;
            links.hasSwitch = links.hasSwitch || role == DeviceRole::NV_SWITCH;
        }
        else if (role == DeviceRole::PCIE_SWITCH)
        {
            slow = std::max(slow, rate);
        }
    }
    links.gpuGBps = links.gpuGBps > 0 ? links.gpuGBps : slow;
    if (links.hasNvlink && !links.hasSwitch)
    {
        links.mesh = ReadMesh(topology, gpus);
    }
    if (links.nicsPerHost > 0)
    {
        for (const PortId port : topology.GetPorts(topology.GetNics(host).front()))
        {
            if (topology.IsFabricLink(Topology::LinkOf(port)))
            {
                links.nicGBps += GigabytesPerSecond(topology.RateOf(port));
            }
        }
    }
    return links;
}

GpuGeneration GenerationOf(const std::string& gpuName)
{
    struct Model
    {
        const char* text;
        GpuGeneration generation;
    };

    constexpr Model MODELS[] = {{"V100", GpuGeneration::VOLTA},
                                {"A100", GpuGeneration::AMPERE},
                                {"A800", GpuGeneration::AMPERE},
                                {"H100", GpuGeneration::HOPPER},
                                {"H800", GpuGeneration::HOPPER},
                                {"H200", GpuGeneration::HOPPER},
                                {"H20", GpuGeneration::HOPPER},
                                {"B200", GpuGeneration::BLACKWELL},
                                {"B300", GpuGeneration::BLACKWELL}};
    for (const Model& model : MODELS)
    {
        if (gpuName.find(model.text) != std::string::npos)
        {
            return model.generation;
        }
    }
    throw InputError({"", 0, "gpu.name"},
                     "'" + gpuName + "'",
                     "the name of a V100, A100, A800, H100, H800, H200, H20, B200 or B300");
}

double NcclHostLadderRate(double rate)
{
    constexpr double LADDER[] = {90, 80, 70, 60, 50, 40, 30, 24, 20, 15, 12};
    for (const double step : LADDER)
    {
        if (step <= rate)
        {
            return step;
        }
    }
    return rate;
}

NcclEnvironment DeduceNcclEnvironment(const HostLinks& links, GpuGeneration gpu)
{
    NcclEnvironment nccl;
    nccl.gpu = gpu;
    const bool hopper = gpu >= GpuGeneration::HOPPER;
    nccl.nvlink = links.hasNvlink || links.gpusPerHost == 1;
    // NCCL takes 24 GB/s for PCIe 4.0 x16 of 31.5.
    const double part = !nccl.nvlink ? 24.0 / 31.5 : (hopper ? 20.6 : 20.0) / 25;
    const double inside = links.gpuGBps * part;
    const double path = gpu == GpuGeneration::BLACKWELL ? 45 : hopper ? 30 : 20;
    nccl.hostPaths = static_cast<uint32_t>(std::max(1.0, std::round(inside / path)));
    nccl.hostPathGBps = std::max(inside, 0.001) / nccl.hostPaths;
    nccl.hostChannels = std::min(2 * nccl.hostPaths, nccl.largestChannelCount);
    for (uint32_t gpus = 2; gpus <= links.mesh.size(); ++gpus)
    {
        LinkUnits first(links.mesh.begin(), links.mesh.begin() + gpus);
        for (auto& row : first)
        {
            row.resize(gpus);
        }
        nccl.hostRings.push_back(CountRings(first));
    }
    if (hopper && links.hasSwitch)
    {
        // Groups of more GPUs have less for each: the tuner's matter.
        nccl.nvlsPathGBps = NcclHostLadderRate(inside / std::min(links.gpusPerHost, MOST));
        nccl.nvlsChannels = gpu == GpuGeneration::BLACKWELL ? 24 : 16;
    }
    if (links.nicsPerHost == 0)
    {
        return nccl;
    }
    // A host of one GPU has no links inside that could hold the tree back.
    const double share =
        links.gpusPerHost > 1 && inside > 0 ? inside / std::min(links.nicsPerHost, MOST) : INFINITY;
    nccl.pathsPerNic = 1;
    nccl.netPathGBps = LadderRate(std::min(links.nicGBps, share));
    nccl.netTreeIntraGBps = std::min(2 * nccl.netPathGBps, share);
    nccl.channelsPerNic = 2;
    return nccl;
}

bool HasProcessorEach(const std::string& gpuName, const HostLinks& links)
{
    return gpuName.find("GH200") != std::string::npos && links.nicsPerHost == links.gpusPerHost;
}

void ReturnByOwnNic(const std::string& gpuName, const HostLinks& links, NcclEnvironment& nccl)
{
    constexpr double ARM_GBPS = 6;
    if (!HasProcessorEach(gpuName, links))
    {
        throw InputError({"", 0, "--cross-nic"},
                         "off with hosts of " + std::to_string(links.gpusPerHost) + " " + gpuName +
                             " and " + std::to_string(links.nicsPerHost) + " NICs",
                         "hosts of GH200 with a NIC each: for others no rule is known");
    }
    nccl.returnPathGBps = ARM_GBPS;
}

} // namespace echo
} // namespace ns3
