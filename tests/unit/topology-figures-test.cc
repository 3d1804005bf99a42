// SPDX-License-Identifier: GPL-2.0-only
// Figures of a fabric's shape: paths, bisection, oversubscription.

#include "topology-fixtures.h"

#include "ns3/echo-graph-builder.h"
#include "ns3/echo-topology-figures.h"

#include <gtest/gtest.h>

#include <functional>

using namespace ns3;
using namespace ns3::echo;
using ns3::echo::fixtures::Build;
using ns3::echo::fixtures::MakeHost;
using ns3::echo::fixtures::MakeRouter;

namespace
{

TopologyFigures Measure(TopologyPtr topology)
{
    return MeasureTopology(*MakeRouter(std::move(topology)));
}

TEST(TopologyFigures, FatTree)
{
    // k = 4: from each host, 1 other on the leaf (1 way), 2 in the pod (2 ways), 12 outside (4):
    // mean 53 / 15. Half the hosts are two pods: 8 NICs, and 8 spine-core links leave them.
    const TopologyFigures figures = Measure(Build("FatTree", 16, {}, {{"K", "4"}}));
    EXPECT_EQ(figures.nicPairs, 240u);
    EXPECT_EQ(figures.minPaths, 1u);
    EXPECT_NEAR(figures.meanPaths, 53.0 / 15, 1e-12);
    EXPECT_EQ(figures.minLinks, 2u);
    EXPECT_EQ(figures.diameter, 6u);
    EXPECT_EQ(figures.unreached, 0u);
    EXPECT_EQ(figures.halfHosts, 8u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 800e9);
    EXPECT_DOUBLE_EQ(figures.halfNicBitsPerSecond, 800e9);
    ASSERT_EQ(figures.tiers.size(), 3u);
    EXPECT_EQ(figures.tiers[2].role, DeviceRole::CORE);
    EXPECT_EQ(figures.tiers[2].switches, 4u);
    EXPECT_DOUBLE_EQ(figures.tiers[0].oversubscription, 1);
    EXPECT_DOUBLE_EQ(figures.tiers[1].oversubscription, 1);
    EXPECT_DOUBLE_EQ(figures.tiers[2].oversubscription, 0);
    EXPECT_DOUBLE_EQ(figures.tiers[2].downBitsPerSecond, 1600e9);
}

TEST(TopologyFigures, CountsFollowFromTheRouter)
{
    // Every pair asked one by one gives the same mean: the classes of NICs are no approximation.
    auto topology = Build("FatTree",
                          13,
                          {2, 2, "nvswitch", "100Gbps"},
                          {{"HostsPerLeaf", "2"}, {"LeavesPerPod", "2"}, {"SpinesPerPod", "2"}});
    auto router = MakeRouter(topology);
    double ways = 0;
    uint64_t pairs = 0;
    std::vector<PortId> ports;
    const std::function<uint64_t(DeviceId, DeviceId)> count = [&](DeviceId at, DeviceId to) {
        if (at == to)
        {
            return uint64_t{1};
        }
        router->GetNextHops(at, to, ports);
        uint64_t sum = 0;
        for (const PortId port : std::vector<PortId>(ports))
        {
            sum += count(topology->NeighborOf(port), to);
        }
        return sum;
    };
    for (uint32_t a = 0; a < 13; ++a)
    {
        for (uint32_t b = 0; b < 13; ++b)
        {
            for (uint32_t nic = 0; nic < 2 && a != b; ++nic)
            {
                ways += static_cast<double>(
                    count(topology->GetNics(HostId(a))[nic], topology->GetNics(HostId(b))[nic]));
                ++pairs;
            }
        }
    }
    const TopologyFigures figures = MeasureTopology(*router);
    EXPECT_EQ(figures.nicPairs, pairs);
    EXPECT_NEAR(figures.meanPaths, ways / static_cast<double>(pairs), 1e-9);
}

TEST(TopologyFigures, OversubscribedLeaves)
{
    // Case 5b: two leaves of four, one 100 Gb/s uplink each: 4:1, bisection a quarter of 400 Gb/s.
    const TopologyFigures figures = Measure(
        Build("LeafSpine", 8, {}, {{"HostsPerLeaf", "4"}, {"Spines", "1"}, {"Uplinks", "1"}}));
    EXPECT_DOUBLE_EQ(figures.tiers[0].oversubscription, 4);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 100e9);
    EXPECT_DOUBLE_EQ(figures.halfNicBitsPerSecond, 400e9);
    EXPECT_EQ(figures.diameter, 4u);
    EXPECT_DOUBLE_EQ(figures.meanPaths, 1);
}

TEST(TopologyFigures, ParallelLinksAreWays)
{
    // Two uplinks to one spine: 2 x 2 ways between leaves.
    const TopologyFigures figures = Measure(
        Build("LeafSpine", 2, {}, {{"HostsPerLeaf", "1"}, {"Spines", "1"}, {"Uplinks", "2"}}));
    EXPECT_EQ(figures.minPaths, 4u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 100e9);
    EXPECT_DOUBLE_EQ(figures.tiers[0].oversubscription, 0.5);
}

TEST(TopologyFigures, RailsCountByEqualNumbers)
{
    // One pod: NICs of equal number meet on their leaf.
    const TopologyFigures figures =
        Measure(Build("RailOptimised", 4, {4, 4, "nvswitch", "400Gbps"}));
    EXPECT_EQ(figures.nicPairs, 48u);
    EXPECT_EQ(figures.diameter, 2u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 2 * 4 * 400e9);
}

TEST(TopologyFigures, OddHostsLeaveTheMiddleOneOut)
{
    const TopologyFigures figures = Measure(Build("SingleSwitch", 5));
    EXPECT_EQ(figures.halfHosts, 2u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 200e9);
}

TEST(TopologyFigures, OneHostHasNone)
{
    const TopologyFigures figures = Measure(Build("SingleSwitch", 1));
    EXPECT_EQ(figures.nicPairs, 0u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 0);
    EXPECT_EQ(figures.tiers.size(), 1u);
}

TEST(TopologyFigures, PlanesWithoutAWay)
{
    // Two planes that do not meet: nic0 on red, nic1 on blue for host 0, swapped for host 1. Each
    // host reaches the other, but not by NICs of equal number.
    auto graph = CreateObject<GraphBuilder>();
    graph->SetAttribute("Hosts", UintegerValue(2));
    graph->SetHost(MakeHost({1, 2, "none", "100Gbps"}));
    graph->AddNode("red", DeviceRole::LEAF);
    graph->AddNode("blue", DeviceRole::LEAF);
    graph->AddLink({"host0/nic0", "red", {}, {}, 1, {}});
    graph->AddLink({"host0/nic1", "blue", {}, {}, 1, {}});
    graph->AddLink({"host1/nic1", "red", {}, {}, 1, {}});
    graph->AddLink({"host1/nic0", "blue", {}, {}, 1, {}});
    const TopologyFigures figures = Measure(graph->Build());
    EXPECT_EQ(figures.nicPairs, 4u);
    EXPECT_EQ(figures.unreached, 4u);
    EXPECT_EQ(figures.minPaths, 0u);
    // The rate is there all the same.
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 200e9);
}

TEST(TopologyFigures, NicsJoinedDirectly)
{
    auto pair = CreateObject<GraphBuilder>();
    pair->SetAttribute("Hosts", UintegerValue(2));
    pair->SetHost(MakeHost({}));
    pair->AddLink({"host0/nic0", "host1/nic0", {}, {}, 2, {}});
    const TopologyFigures figures = Measure(pair->Build());
    EXPECT_EQ(figures.diameter, 1u);
    EXPECT_EQ(figures.minPaths, 2u);
    EXPECT_DOUBLE_EQ(figures.bisectionBitsPerSecond, 200e9);
}

TEST(TopologyFigures, ALongChainOfSwitches)
{
    // 20,000 switches in a row: deep, but no deep calls.
    auto graph = CreateObject<GraphBuilder>();
    graph->SetAttribute("Hosts", UintegerValue(2));
    graph->SetHost(MakeHost({}));
    constexpr uint32_t SWITCHES = 20000;
    for (uint32_t i = 0; i < SWITCHES; ++i)
    {
        graph->AddNode("s" + std::to_string(i), DeviceRole::LEAF);
    }
    for (uint32_t i = 1; i < SWITCHES; ++i)
    {
        graph->AddLink({"s" + std::to_string(i - 1),
                        "s" + std::to_string(i),
                        DataRate(100000000000),
                        Time(0),
                        1,
                        {}});
    }
    graph->AddLink({"host0/nic0", "s0", {}, {}, 1, {}});
    graph->AddLink({"host1/nic0", "s" + std::to_string(SWITCHES - 1), {}, {}, 1, {}});
    const TopologyFigures figures = Measure(graph->Build());
    EXPECT_EQ(figures.diameter, SWITCHES + 1);
    EXPECT_EQ(figures.minPaths, 1u);
}

} // namespace
