// SPDX-License-Identifier: GPL-2.0-only
// The clusters that ship in scenarios/clusters/.

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-shortest-path-router.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

using namespace ns3;
using namespace ns3::echo;

namespace
{

const std::string CLUSTERS = std::string(ECHO_SOURCE_DIR) + "/scenarios/clusters/";

/** What a shipped cluster holds. */
struct Shipped
{
    std::string file;
    uint32_t hosts;
    uint32_t gpus;
    uint32_t nics;
    uint32_t leaves;
    uint32_t spines;
    uint32_t cores;
};

class ShippedCluster : public ::testing::TestWithParam<Shipped>
{
};

TEST_P(ShippedCluster, Loads)
{
    const Shipped& expected = GetParam();
    const Cluster cluster = ReadClusterFile(CLUSTERS + expected.file + ".yaml");
    const Topology& topology = *cluster.topology;
    EXPECT_EQ(cluster.name, expected.file);
    EXPECT_EQ(topology.GetHostCount(), expected.hosts);
    EXPECT_EQ(topology.GetDevices(DeviceRole::GPU).size(), expected.gpus);
    EXPECT_EQ(topology.GetDevices(DeviceRole::NIC).size(), expected.nics);
    EXPECT_EQ(topology.GetDevices(DeviceRole::LEAF).size(), expected.leaves);
    EXPECT_EQ(topology.GetDevices(DeviceRole::SPINE).size(), expected.spines);
    EXPECT_EQ(topology.GetDevices(DeviceRole::CORE).size(), expected.cores);
    EXPECT_GT(cluster.gpu.peakFlops.size(), 0u);
    // Every GPU reaches every other of its host, the first host the last.
    auto router = CreateObject<ShortestPathRouter>();
    router->Prepare(cluster.topology);
    std::vector<PortId> path;
    for (const DeviceId a : topology.GetGpus(HostId(0)))
    {
        for (const DeviceId b : topology.GetGpus(HostId(0)))
        {
            EXPECT_TRUE(router->FindPath(a, b, 0, path));
        }
    }
    const Placement placement = Placement::Linear(cluster.topology, expected.gpus);
    if (expected.hosts > 1)
    {
        const auto [from, to] = placement.GetNicPair(RankId(0), RankId(expected.gpus - 1));
        EXPECT_TRUE(router->FindPath(from, to, 0, path));
        // A regular cluster can be resized.
        if (expected.file.rfind("fat-tree-k", 0) != 0)
        {
            const Cluster larger =
                ReadClusterFile(CLUSTERS + expected.file + ".yaml", 2 * expected.hosts);
            EXPECT_EQ(larger.topology->GetHostCount(), 2 * expected.hosts);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    ShippedCluster,
    ::testing::Values(
        // 2 hosts = 16 NICs a leaf, so 16 uplinks and 16 spines; one pod, no cores.
        Shipped{"azure-ndv4", 4, 32, 32, 2, 16, 0},
        // Rails: 8 leaves a pod; as many spines as hosts of a full pod.
        Shipped{"dgx-a100", 4, 32, 32, 8, 20, 0},
        Shipped{"dgx-h100", 4, 32, 32, 8, 32, 0},
        Shipped{"h800", 12, 96, 96, 8, 16, 0},
        Shipped{"b200", 2, 16, 16, 8, 32, 0},
        Shipped{"b300", 2, 16, 16, 8, 32, 0},
        Shipped{"a100-40gb", 4, 32, 32, 8, 20, 0},
        Shipped{"a100-4xhdr", 8, 64, 32, 4, 32, 0},
        Shipped{"a800", 4, 32, 32, 8, 20, 0},
        Shipped{"dgx-h200", 4, 32, 32, 8, 32, 0},
        Shipped{"grand-teton", 4, 32, 32, 8, 32, 0},
        Shipped{"mi300x", 4, 32, 32, 8, 32, 0},
        // Racks of 64 GPUs, 16 NICs on each of 4 rails.
        Shipped{"gb200", 1, 64, 64, 4, 512, 0},
        Shipped{"gb300", 1, 64, 64, 4, 512, 0},
        Shipped{"rail-64xh100", 8, 64, 64, 16, 4, 0},
        // 4 hosts x 4 NICs a leaf; 8 hosts x 2 NICs a leaf.
        Shipped{"alps", 4, 16, 16, 1, 16, 0},
        Shipped{"polaris", 2, 8, 4, 1, 16, 0},
        Shipped{"leonardo", 2, 8, 8, 1, 32, 0},
        Shipped{"jean-zay", 2, 16, 8, 1, 32, 0},
        Shipped{"dgx1-v100", 1, 8, 4, 1, 0, 0},
        Shipped{"a100-pcie", 2, 4, 2, 1, 0, 0},
        Shipped{"single-switch-8x100g", 8, 8, 8, 1, 0, 0},
        Shipped{"leaf-spine-16x100g", 16, 16, 16, 4, 4, 0},
        Shipped{"fat-tree-k4-16x100g", 16, 16, 16, 8, 8, 4},
        Shipped{"fat-tree-k8-128x400g", 128, 128, 128, 32, 32, 16}),
    [](const ::testing::TestParamInfo<Shipped>& info) {
        std::string name = info.param.file;
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

TEST(ShippedClusters, AllAreTested)
{
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(CLUSTERS))
    {
        files += entry.path().extension() == ".yaml" ? 1 : 0;
    }
    EXPECT_EQ(files, 25u);
}

TEST(ShippedClusters, Dgx1HasSixNvLinksAGpu)
{
    // Six NVLinks of 25 GB/s = 150 GB/s a GPU; pairs across the cube's body have none.
    const Cluster cluster = ReadClusterFile(CLUSTERS + "dgx1-v100.yaml");
    const Topology& topology = *cluster.topology;
    for (const DeviceId gpu : topology.GetGpus(HostId(0)))
    {
        uint64_t rate = 0;
        uint32_t peers = 0;
        for (const PortId port : topology.GetPorts(gpu))
        {
            if (topology.GetDevice(topology.NeighborOf(port)).role == DeviceRole::GPU)
            {
                rate += topology.RateOf(port).GetBitRate();
                ++peers;
            }
        }
        EXPECT_EQ(rate, 1200000000000u);
        EXPECT_EQ(peers, 4u);
        // Two GPUs share a NIC.
        EXPECT_EQ(topology.GetDevice(topology.GetNicOf(gpu)).index,
                  topology.GetDevice(gpu).index / 2);
    }
}

} // namespace
