// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nccl-environment.h"

#include "ns3/echo-error.h"
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

} // namespace

HostLinks ReadHostLinks(const Topology& topology)
{
    HostLinks links;
    const DeviceId gpu = topology.GetDevices(DeviceRole::GPU).front();
    const HostId host = topology.GetDevice(gpu).host;
    links.gpusPerHost = static_cast<uint32_t>(topology.GetGpus(host).size());
    links.nicsPerHost = static_cast<uint32_t>(topology.GetNics(host).size());
    double slow = 0; // PCIe, where GPUs have no other way
    for (const PortId port : topology.GetPorts(gpu))
    {
        const DeviceRole role = topology.GetDevice(topology.NeighborOf(port)).role;
        const double rate = GigabytesPerSecond(topology.RateOf(port));
        if (role == DeviceRole::GPU || role == DeviceRole::NV_SWITCH)
        {
            links.gpuGBps += rate;
            links.hasSwitch = links.hasSwitch || role == DeviceRole::NV_SWITCH;
        }
        else if (role == DeviceRole::PCIE_SWITCH)
        {
            slow = std::max(slow, rate);
        }
    }
    links.gpuGBps = links.gpuGBps > 0 ? links.gpuGBps : slow;
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

NcclEnvironment DeduceNcclEnvironment(const HostLinks& links, GpuGeneration gpu)
{
    NcclEnvironment nccl;
    nccl.gpu = gpu;
    const bool hopper = gpu >= GpuGeneration::HOPPER;
    const double inside = links.gpuGBps * (hopper ? 20.6 : 20.0) / 25;
    const double path = gpu == GpuGeneration::BLACKWELL ? 45 : hopper ? 30 : 20;
    nccl.hostPaths = static_cast<uint32_t>(std::max(1.0, std::round(inside / path)));
    nccl.hostPathGBps = std::max(inside, 0.001) / nccl.hostPaths;
    nccl.hostChannels = std::min(2 * nccl.hostPaths, nccl.largestChannelCount);
    if (links.nicsPerHost == 0)
    {
        return nccl;
    }
    // A host of one GPU has no links inside that could hold the tree back.
    const double share =
        links.gpusPerHost > 1 && inside > 0 ? inside / links.nicsPerHost : INFINITY;
    nccl.pathsPerNic = 1;
    nccl.netPathGBps = LadderRate(std::min(links.nicGBps, share));
    nccl.netTreeIntraGBps = std::min(2 * nccl.netPathGBps, share);
    nccl.channelsPerNic = 2;
    return nccl;
}

} // namespace echo
} // namespace ns3
