// SPDX-License-Identifier: GPL-2.0-only
// Ways through the cluster.

#include "topology-fixtures.h"

#include "ns3/echo-graph-builder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::echo;
using ns3::echo::fixtures::Build;
using ns3::echo::fixtures::HostShape;
using ns3::echo::fixtures::MakeHost;
using ns3::echo::fixtures::MakeRouter;

namespace
{

DeviceId Nic(const Topology& topology, uint32_t host, uint32_t number = 0)
{
    return topology.GetNics(HostId(host))[number];
}

DeviceId Gpu(const Topology& topology, uint32_t host, uint32_t number = 0)
{
    return topology.GetGpus(HostId(host))[number];
}

/** Checks that a path starts, hangs together and ends as it should. @return devices on the way */
std::vector<DeviceId> Follow(const Topology& topology,
                             DeviceId source,
                             DeviceId destination,
                             const std::vector<PortId>& path)
{
    std::vector<DeviceId> way{source};
    for (const PortId port : path)
    {
        EXPECT_EQ(topology.OwnerOf(port), way.back());
        way.push_back(topology.NeighborOf(port));
    }
    EXPECT_EQ(way.back(), destination);
    return way;
}

TEST(Router, PathsOfAFatTreeHaveTwoFourOrSixLinks)
{
    auto topology = Build("FatTree", 16, {}, {{"K", "4"}});
    auto router = MakeRouter(topology);
    for (uint32_t a = 0; a < 16; ++a)
    {
        for (uint32_t b = 0; b < 16; ++b)
        {
            std::vector<PortId> path{PortId(1)};
            ASSERT_TRUE(router->FindPath(Nic(*topology, a), Nic(*topology, b), 5, path));
            // k = 4: two hosts a leaf, four a pod.
            const size_t links = a == b ? 0 : a / 2 == b / 2 ? 2 : a / 4 == b / 4 ? 4 : 6;
            EXPECT_EQ(path.size(), links) << a << " to " << b;
            const auto way = Follow(*topology, Nic(*topology, a), Nic(*topology, b), path);
            // Up and then down, never up again.
            EXPECT_EQ(std::set<DeviceId>(way.begin(), way.end()).size(), way.size());
            std::vector<PortId> back;
            ASSERT_TRUE(router->FindPath(Nic(*topology, b), Nic(*topology, a), 5, back));
            EXPECT_EQ(back.size(), path.size());
        }
    }
}

TEST(Router, NextHopsAreAllShortestAndInPortOrder)
{
    auto topology = Build("FatTree", 16, {}, {{"K", "4"}});
    auto router = MakeRouter(topology);
    std::vector<PortId> ports;
    const DeviceId leaf = topology->FindDevice("leaf0");
    router->GetNextHops(leaf, Nic(*topology, 15), ports);
    EXPECT_EQ(ports.size(), 2u); // both spines of the pod
    EXPECT_TRUE(std::is_sorted(ports.begin(), ports.end()));
    router->GetNextHops(leaf, Nic(*topology, 0), ports);
    ASSERT_EQ(ports.size(), 1u);
    EXPECT_EQ(topology->NeighborOf(ports[0]), Nic(*topology, 0));
    router->GetNextHops(topology->FindDevice("spine0"), Nic(*topology, 15), ports);
    EXPECT_EQ(ports.size(), 2u); // its group of cores
    router->GetNextHops(topology->FindDevice("core0"), Nic(*topology, 15), ports);
    ASSERT_EQ(ports.size(), 1u);
    EXPECT_EQ(topology->NeighborOf(ports[0]), topology->FindDevice("spine6"));
    // At the goal, and what no plane offers.
    router->GetNextHops(Nic(*topology, 3), Nic(*topology, 3), ports);
    EXPECT_TRUE(ports.empty());
    router->GetNextHops(Gpu(*topology, 0), Gpu(*topology, 1), ports);
    EXPECT_TRUE(ports.empty());
    router->GetNextHops(Gpu(*topology, 0), Nic(*topology, 1), ports);
    EXPECT_TRUE(ports.empty());
    router->GetNextHops(leaf, topology->FindDevice("leaf1"), ports);
    EXPECT_TRUE(ports.empty());
    std::vector<PortId> path{PortId(0)};
    EXPECT_FALSE(router->FindPath(Gpu(*topology, 0), Gpu(*topology, 1), 0, path));
    EXPECT_TRUE(path.empty());
    EXPECT_FALSE(router->ChooseNextHop(leaf, Nic(*topology, 0), leaf, 0).IsValid());
}

TEST(Router, EcmpSpreadsFlowsOverAllCores)
{
    // Case 7: k = 4, 256 flows between pods, each core takes 17 to 33 %. Many seeds, because one
    // could be luck: the count on a core is binomial(256, 1/4), deviation 6.9 flows = 2.7 %, so
    // 8 % is three deviations and about one seed in a hundred may miss it for some core.
    auto topology = Build("FatTree", 16, {}, {{"K", "4"}});
    uint32_t misses = 0;
    for (uint64_t seed = 1; seed <= 50; ++seed)
    {
        auto router = MakeRouter(topology, seed);
        std::map<DeviceId, uint32_t> flows;
        for (uint64_t label = 0; label < 256; ++label)
        {
            const auto source = static_cast<uint32_t>(label % 16);
            std::vector<PortId> path;
            ASSERT_TRUE(
                router->FindPath(Nic(*topology, source),
                                 Nic(*topology, (source / 4 * 4 + 4 + label / 16 % 12) % 16),
                                 label,
                                 path));
            ASSERT_EQ(path.size(), 6u);
            ++flows[topology->NeighborOf(path[2])];
        }
        ASSERT_EQ(flows.size(), 4u) << "seed " << seed;
        for (const auto& [core, count] : flows)
        {
            misses += count < 0.17 * 256 || count > 0.33 * 256 ? 1 : 0;
            if (seed == 1)
            {
                EXPECT_GE(count, 0.17 * 256);
                EXPECT_LE(count, 0.33 * 256);
            }
        }
    }
    EXPECT_LE(misses, 4u);
}

TEST(Router, ChoicesOfTwoTiersAreIndependent)
{
    // Without seeds of their own, switches of the second tier would repeat the first's choice
    // (polarisation): then the spine would fix the core. Here all 16 of (leaf's choice, spine's
    // choice) of k = 8 must take about 1/16 of 4096 flows = 256, deviation 15.5; five of them: 78.
    auto topology = Build("FatTree", 128, {}, {{"K", "8"}});
    auto router = MakeRouter(topology);
    std::map<std::pair<DeviceId, DeviceId>, uint32_t> flows;
    for (uint64_t label = 0; label < 4096; ++label)
    {
        std::vector<PortId> path;
        ASSERT_TRUE(router->FindPath(Nic(*topology, 0), Nic(*topology, 127), label, path));
        ++flows[{topology->NeighborOf(path[1]), topology->NeighborOf(path[2])}];
    }
    ASSERT_EQ(flows.size(), 16u);
    for (const auto& [choice, count] : flows)
    {
        EXPECT_NEAR(count, 256, 78);
    }
}

TEST(Router, SameSeedSamePathsOtherSeedOtherPaths)
{
    auto topology = Build("FatTree", 16, {}, {{"K", "4"}});
    auto first = MakeRouter(topology, 7);
    auto again = MakeRouter(topology, 7);
    auto other = MakeRouter(topology, 8);
    uint32_t differs = 0;
    // Asked in another order: tables are made lazily, which must not matter.
    std::vector<std::vector<PortId>> backwards(64);
    for (uint64_t label = 64; label-- > 0;)
    {
        again->FindPath(
            Nic(*topology, label % 4), Nic(*topology, 8 + label % 8), label, backwards[label]);
    }
    for (uint64_t label = 0; label < 64; ++label)
    {
        std::vector<PortId> path;
        first->FindPath(Nic(*topology, label % 4), Nic(*topology, 8 + label % 8), label, path);
        EXPECT_EQ(path, backwards[label]);
        std::vector<PortId> otherPath;
        other->FindPath(Nic(*topology, label % 4), Nic(*topology, 8 + label % 8), label, otherPath);
        differs += path != otherPath ? 1 : 0;
    }
    EXPECT_GT(differs, 32u);
}

TEST(Router, ParallelLinksAreNextHopsOfTheirOwn)
{
    auto topology =
        Build("LeafSpine", 2, {}, {{"HostsPerLeaf", "1"}, {"Spines", "1"}, {"Uplinks", "4"}});
    auto router = MakeRouter(topology);
    std::vector<PortId> ports;
    router->GetNextHops(topology->FindDevice("leaf0"), Nic(*topology, 1), ports);
    EXPECT_EQ(ports.size(), 4u);
    std::set<PortId> up;
    std::set<PortId> down;
    for (uint64_t label = 0; label < 64; ++label)
    {
        std::vector<PortId> path;
        router->FindPath(Nic(*topology, 0), Nic(*topology, 1), label, path);
        ASSERT_EQ(path.size(), 4u);
        up.insert(path[1]);
        down.insert(path[2]);
    }
    EXPECT_EQ(up.size(), 4u);
    EXPECT_EQ(down.size(), 4u);
}

TEST(Router, RailsKeepEqualNumbersOnOneLeaf)
{
    auto topology =
        Build("RailOptimised", 4, {4, 4, "nvswitch", "400Gbps"}, {{"HostsPerPod", "2"}});
    auto router = MakeRouter(topology);
    std::vector<PortId> path;
    router->FindPath(Nic(*topology, 0, 3), Nic(*topology, 1, 3), 0, path);
    EXPECT_EQ(path.size(), 2u);
    router->FindPath(Nic(*topology, 0, 3), Nic(*topology, 1, 2), 0, path);
    EXPECT_EQ(path.size(), 4u);
    router->FindPath(Nic(*topology, 0, 3), Nic(*topology, 3, 3), 0, path);
    EXPECT_EQ(path.size(), 4u);
}

TEST(Router, NicsWithTwoLeavesAndNicsJoinedDirectly)
{
    auto graph = CreateObject<GraphBuilder>();
    graph->SetAttribute("Hosts", UintegerValue(3));
    graph->SetHost(MakeHost({}));
    for (const char* name : {"leaf0", "leaf1", "leaf2"})
    {
        graph->AddNode(name, DeviceRole::LEAF);
    }
    const DataRate rate(100000000000);
    graph->AddLink({"host0/nic0", "leaf0", {}, {}, 1, {}});
    graph->AddLink({"host0/nic0", "leaf1", {}, {}, 1, {}});
    graph->AddLink({"host1/nic0", "leaf1", {}, {}, 1, {}});
    graph->AddLink({"host2/nic0", "leaf2", {}, {}, 1, {}});
    graph->AddLink({"leaf0", "leaf2", rate, Time(0), 1, {}});
    graph->AddLink({"leaf1", "leaf2", rate, Time(0), 1, {}});
    graph->AddLink({"host1/nic0", "host2/nic0", {}, {}, 1, {}});
    auto topology = graph->Build();
    auto router = MakeRouter(topology);
    std::vector<PortId> ports;
    // host0 -> host1: only leaf1 is near; host0 -> host2: both leaves are two links away.
    router->GetNextHops(Nic(*topology, 0), Nic(*topology, 1), ports);
    ASSERT_EQ(ports.size(), 1u);
    EXPECT_EQ(topology->NeighborOf(ports[0]), topology->FindDevice("leaf1"));
    router->GetNextHops(Nic(*topology, 0), Nic(*topology, 2), ports);
    EXPECT_EQ(ports.size(), 2u);
    // Joined directly: one link, not through the leaves.
    std::vector<PortId> path;
    ASSERT_TRUE(router->FindPath(Nic(*topology, 1), Nic(*topology, 2), 0, path));
    EXPECT_EQ(path.size(), 1u);
    // leaf2 -> host0 can go back by two leaves.
    router->GetNextHops(topology->FindDevice("leaf2"), Nic(*topology, 0), ports);
    EXPECT_EQ(ports.size(), 2u);
}

TEST(Router, NvSwitchesJoinGpusOfAHost)
{
    auto topology = Build("SingleSwitch", 2, {4, 4, "nvswitch", "400Gbps"});
    auto router = MakeRouter(topology);
    std::vector<PortId> path;
    ASSERT_TRUE(router->FindPath(Gpu(*topology, 1, 0), Gpu(*topology, 1, 3), 0, path));
    const auto way = Follow(*topology, Gpu(*topology, 1, 0), Gpu(*topology, 1, 3), path);
    ASSERT_EQ(way.size(), 3u);
    EXPECT_EQ(topology->GetDevice(way[1]).role, DeviceRole::NV_SWITCH);
    EXPECT_FALSE(router->FindPath(Gpu(*topology, 0, 0), Gpu(*topology, 1, 0), 0, path));
}

/** The DGX-1's mesh: faces 0-3 and 4-7 fully joined, i to i + 4. */
Ptr<HostBuilder> MakeCubeMesh()
{
    auto host = MakeHost({8, 4, "links", "100Gbps"});
    const DataRate rate(200000000000);
    for (uint32_t i = 0; i < 4; ++i)
    {
        host->AddGpuLink(i, i + 4, rate);
        for (uint32_t j = 0; j < i; ++j)
        {
            host->AddGpuLink(j, i, rate);
            host->AddGpuLink(j + 4, i + 4, rate);
        }
    }
    return host;
}

TEST(Router, GpusForwardOnlyWhereNothingElseIsAsShort)
{
    Topology mesh;
    MakeCubeMesh()->AddTo(mesh, HostId(0));
    mesh.Seal();
    auto topology = std::shared_ptr<Topology>(&mesh, [](Topology*) {});
    auto router = MakeRouter(topology);
    std::vector<PortId> ports;
    std::vector<PortId> path;
    // Joined: one link. Not joined: 0 to 5 by GPU 1 or GPU 4, two links.
    ASSERT_TRUE(router->FindPath(Gpu(mesh, 0, 0), Gpu(mesh, 0, 4), 0, path));
    EXPECT_EQ(path.size(), 1u);
    router->GetNextHops(Gpu(mesh, 0, 0), Gpu(mesh, 0, 5), ports);
    std::set<DeviceId> via;
    for (const PortId port : ports)
    {
        via.insert(mesh.NeighborOf(port));
    }
    EXPECT_EQ(via, (std::set<DeviceId>{Gpu(mesh, 0, 1), Gpu(mesh, 0, 4)}));
    ASSERT_TRUE(router->FindPath(Gpu(mesh, 0, 0), Gpu(mesh, 0, 5), 0, path));
    EXPECT_EQ(path.size(), 2u);

    // With a PCIe switch beside the mesh, two links over the switch are as short: no GPU forwards.
    Topology both;
    auto host = MakeCubeMesh();
    host->SetAttribute("PeerPcieRate", StringValue("128Gbps"));
    host->AddTo(both, HostId(0));
    both.Seal();
    auto beside = MakeRouter(std::shared_ptr<Topology>(&both, [](Topology*) {}));
    beside->GetNextHops(Gpu(both, 0, 0), Gpu(both, 0, 5), ports);
    ASSERT_EQ(ports.size(), 1u);
    EXPECT_EQ(both.GetDevice(both.NeighborOf(ports[0])).role, DeviceRole::PCIE_SWITCH);
    beside->GetNextHops(Gpu(both, 0, 0), Gpu(both, 0, 4), ports);
    ASSERT_EQ(ports.size(), 1u);
    EXPECT_EQ(both.NeighborOf(ports[0]), Gpu(both, 0, 4));
}

TEST(Router, TablesGrowWithLeavesNotWithHostPairs)
{
    // 128 hosts, 32 leaves: asking for every pair makes a table a leaf.
    auto topology = Build("FatTree", 128, {}, {{"K", "8"}});
    auto router = MakeRouter(topology);
    EXPECT_EQ(router->GetTableCount(), 0u);
    std::vector<PortId> ports;
    for (uint32_t host = 0; host < 128; ++host)
    {
        router->GetNextHops(topology->FindDevice("core0"), Nic(*topology, host), ports);
        ASSERT_EQ(ports.size(), 1u);
    }
    EXPECT_EQ(router->GetTableCount(), 32u);
    // 32 tables of 80 switches, 8 B an entry, and the port lists.
    EXPECT_LT(router->GetTableBytes(), 100000u);
}

TEST(Router, PreparedOnce)
{
    auto topology = Build("SingleSwitch", 2);
    auto router = MakeRouter(topology);
    EXPECT_EQ(router->GetTopology(), topology);
    EXPECT_THROW(router->Prepare(topology), std::logic_error);
}

TEST(Router, LargeClustersAreBuiltAndRoutedQuickly)
{
    // 2,048 hosts of 8 GPUs and 8 NICs: 16,384 GPUs in a tree of 512 leaves. Generous bounds: they
    // catch a step that is quadratic in hosts, not a slow machine.
    const auto start = std::chrono::steady_clock::now();
    auto topology = Build("FatTree",
                          2048,
                          {8, 8, "nvswitch", "400Gbps"},
                          {{"HostsPerLeaf", "4"}, {"LeavesPerPod", "32"}});
    EXPECT_EQ(topology->GetDevices(DeviceRole::GPU).size(), 16384u);
    auto router = MakeRouter(topology);
    std::vector<PortId> path;
    for (uint32_t host = 0; host < 2048; ++host)
    {
        ASSERT_TRUE(router->FindPath(
            Nic(*topology, host), Nic(*topology, (host + 1024) % 2048), host, path));
        ASSERT_EQ(path.size(), 6u);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    RecordProperty("seconds", std::to_string(took.count()));
    RecordProperty("table_bytes", std::to_string(router->GetTableBytes()));
    EXPECT_LT(took.count(), 20);
    EXPECT_LT(router->GetTableBytes(), 64u << 20);
}

} // namespace
