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

/** @return the largest rate of the search's ladder inside hosts that is not above @p rate */
double HostLadderRate(double rate)
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

/**
 * Packs rings through all GPUs into their links: by trying, most links left first, until no GPU
 * has links for another ring or the tries are used up. A ring is counted in both directions.
 */
class RingSearch
{
  public:
    RingSearch(const std::vector<std::vector<uint32_t>>& mesh, uint32_t gpus, bool passOn)
        : m_left(mesh), m_gpus(gpus), m_passOn(passOn), m_bound(~0u)
    {
        for (uint32_t gpu = 0; gpu < gpus; ++gpu)
        {
            uint32_t links = 0;
            for (uint32_t peer = 0; peer < gpus; ++peer)
            {
                links += mesh[gpu][peer];
            }
            m_bound = std::min(m_bound, links / 2);
        }
    }

    /** @return the most rings found, both directions counted as one */
    uint32_t Run()
    {
        if (m_bound > 0)
        {
            Begin();
        }
        return m_best;
    }

  private:
    bool Begin()
    {
        std::vector<bool> visited(m_gpus, false);
        visited[0] = true;
        return Extend(0, 1, visited);
    }

    /** Goes on from @p at with @p count GPUs visited. @return whether the bound is reached */
    bool Extend(uint32_t at, uint32_t count, std::vector<bool>& visited)
    {
        if (m_budget == 0)
        {
            return true;
        }
        --m_budget;
        if (count == m_gpus)
        {
            return Cross(at, 0, [this] {
                m_best = std::max(m_best, ++m_rings);
                const bool done = m_best >= m_bound || Begin();
                --m_rings;
                return done;
            });
        }
        std::vector<uint32_t> next;
        for (uint32_t gpu = 0; gpu < m_gpus; ++gpu)
        {
            if (!visited[gpu])
            {
                next.push_back(gpu);
            }
        }
        std::stable_sort(next.begin(), next.end(), [this, at](uint32_t a, uint32_t b) {
            return m_left[at][a] > m_left[at][b];
        });
        for (const uint32_t gpu : next)
        {
            visited[gpu] = true;
            if (Cross(at, gpu, [&] { return Extend(gpu, count + 1, visited); }))
            {
                return true;
            }
            visited[gpu] = false;
        }
        return false;
    }

    void Take(uint32_t a, uint32_t b, int32_t links)
    {
        m_left[a][b] += static_cast<uint32_t>(links);
        m_left[b][a] += static_cast<uint32_t>(links);
    }

    /** Takes a link, or two over a GPU between, while @p rest goes on. */
    template <typename Rest>
    bool Cross(uint32_t from, uint32_t to, const Rest& rest)
    {
        if (m_left[from][to] > 0)
        {
            Take(from, to, -1);
            const bool done = rest();
            Take(from, to, 1);
            return done;
        }
        for (uint32_t via = 0; m_passOn && via < m_gpus; ++via)
        {
            if (m_left[from][via] > 0 && m_left[via][to] > 0)
            {
                Take(from, via, -1);
                Take(via, to, -1);
                const bool done = rest();
                Take(from, via, 1);
                Take(via, to, 1);
                if (done)
                {
                    return true;
                }
            }
        }
        return false;
    }

    std::vector<std::vector<uint32_t>> m_left; //!< links, either direction
    uint32_t m_gpus;
    bool m_passOn;             //!< GPUs may pass on between two others
    uint32_t m_bound;          //!< no more than that, by the GPU with fewest links
    uint32_t m_budget{200000}; //!< tries left
    uint32_t m_rings{0};       //!< taken now
    uint32_t m_best{0};        //!< most so far
};

/**
 * Rate of a ring whose data some GPU passes on, over one that needs none: the GPU behind it reads
 * (NCCL's indirect peers, src/transport/p2p.cc), and over the link that brings a ring's 9 flits of
 * 16 B for each 128 B go the requests, a flit each, of the ring the other way round.
 */
constexpr double READ_THROUGH = 9.0 / 10;

} // namespace

double CountRings(const std::vector<std::vector<uint32_t>>& mesh, uint32_t gpus)
{
    if (gpus < 2)
    {
        return 1;
    }
    if (gpus == 2)
    {
        return std::max(mesh[0][1], 1u); // to and back over the same links
    }
    if (const uint32_t direct = RingSearch(mesh, gpus, false).Run(); direct > 0)
    {
        return 2 * direct;
    }
    // NCCL takes longer ways only where there is no direct one.
    const uint32_t rings = RingSearch(mesh, gpus, true).Run();
    return rings > 0 ? 2 * rings * READ_THROUGH : 1;
}

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
        nccl.hostRings.push_back(CountRings(links.mesh, gpus));
    }
    if (hopper && links.hasSwitch)
    {
        nccl.nvlsPathGBps = HostLadderRate(inside / links.gpusPerHost);
        nccl.nvlsChannels = gpu == GpuGeneration::BLACKWELL ? 24 : 16;
    }
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
