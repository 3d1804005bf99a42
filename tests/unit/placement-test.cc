// SPDX-License-Identifier: GPL-2.0-only
// Where ranks run, and how a group lies over hosts.

#include "error-message.h"
#include "topology-fixtures.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-layout-cursor.h"
#include "ns3/echo-placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

using namespace ns3;
using namespace ns3::echo;
using ns3::echo::fixtures::Build;
using ::testing::HasSubstr;

namespace
{

CommGroupPtr MakeGroup(const std::vector<uint32_t>& ranks)
{
    std::vector<RankId> ids;
    for (const uint32_t rank : ranks)
    {
        ids.emplace_back(rank);
    }
    return std::make_shared<CommGroup>(GroupId(0), GroupKind::DATA, "dp0", ids);
}

TEST(Placement, Linear)
{
    auto topology = Build("SingleSwitch", 2, {4, 4, "nvswitch", "100Gbps"});
    const Placement placement = Placement::Linear(topology, 6);
    EXPECT_EQ(placement.GetRankCount(), 6u);
    EXPECT_EQ(placement.GetHost(RankId(3)), HostId(0));
    EXPECT_EQ(placement.GetGpu(RankId(5)), topology->FindDevice("host1/gpu1"));
    EXPECT_EQ(placement.GetNic(RankId(5)), topology->FindDevice("host1/nic1"));
    EXPECT_EQ(placement.GetUsedHostCount(), 2u);
    EXPECT_EQ(placement.Describe(),
              "ranks 0-3 on host0 (gpu0-gpu3), ranks 4-5 on host1 (gpu0-gpu1)");
    EXPECT_EQ(Placement::Linear(topology, 1).Describe(), "rank 0 on host0 (gpu0)");
}

TEST(Placement, RoundRobin)
{
    auto topology = Build("SingleSwitch", 2, {4, 4, "nvswitch", "100Gbps"});
    const Placement placement = Placement::RoundRobin(topology, 5);
    EXPECT_EQ(placement.GetGpu(RankId(0)), topology->FindDevice("host0/gpu0"));
    EXPECT_EQ(placement.GetGpu(RankId(1)), topology->FindDevice("host1/gpu0"));
    EXPECT_EQ(placement.GetGpu(RankId(4)), topology->FindDevice("host0/gpu2"));
}

TEST(Placement, RefusesTooManyRanksWithBothNumbers)
{
    // Case 11: 16 ranks on 8 hosts of one GPU.
    auto topology = Build("SingleSwitch", 8);
    EXPECT_THAT(MessageOf([&] { Placement::Linear(topology, 16); }),
                HasSubstr("found 16 ranks for 8 GPUs"));
    EXPECT_THAT(MessageOf([&] { Placement::RoundRobin(topology, 9); }),
                HasSubstr("found 9 ranks for 8 GPUs"));
    EXPECT_THAT(MessageOf([&] { Placement::Linear(topology, 0); }), HasSubstr("found 0 ranks"));
    // 8 ranks on 16 hosts are fine.
    auto wide = Build("SingleSwitch", 16);
    EXPECT_EQ(Placement::Linear(wide, 8).GetUsedHostCount(), 8u);
}

TEST(Placement, RefusesWhatIsNoGpuOrTaken)
{
    auto topology = Build("SingleSwitch", 2);
    const DeviceId gpu = topology->FindDevice("host0/gpu0");
    EXPECT_THAT(MessageOf([&] { Placement(topology, {topology->FindDevice("leaf0")}); }),
                HasSubstr("placement of rank 0: found leaf0, a leaf, expected a GPU"));
    EXPECT_THAT(MessageOf([&] {
                    Placement(topology, {gpu, gpu});
                }),
                HasSubstr("placement of rank 1: found host0/gpu0 for a second rank"));
    EXPECT_THAT(MessageOf([&] { Placement(topology, {DeviceId()}); }),
                HasSubstr("not in the cluster"));
}

TEST(Placement, NicPairStaysOnTheReceiversRail)
{
    // NVSwitch and equal NICs: the sender's NIC has the receiver's number.
    auto rails = Build("SingleSwitch", 2, {4, 4, "nvswitch", "100Gbps"});
    const Placement placement = Placement::Linear(rails, 8);
    const auto pair = placement.GetNicPair(RankId(1), RankId(6));
    EXPECT_EQ(pair.first, rails->FindDevice("host0/nic2"));
    EXPECT_EQ(pair.second, rails->FindDevice("host1/nic2"));
    // PCIe only: each its own.
    auto pcie = Build("SingleSwitch", 2, {4, 4, "pcie", "100Gbps"});
    const auto own = Placement::Linear(pcie, 8).GetNicPair(RankId(1), RankId(6));
    EXPECT_EQ(own.first, pcie->FindDevice("host0/nic1"));
    EXPECT_EQ(own.second, pcie->FindDevice("host1/nic2"));
    // No NIC.
    auto none = Build("SingleSwitch", 1, {2, 0, "pcie", "100Gbps"});
    EXPECT_FALSE(Placement::Linear(none, 2).GetNicPair(RankId(0), RankId(1)).first.IsValid());
}

TEST(Placement, DescribeFoldsHostsAlike)
{
    auto topology = Build("SingleSwitch", 5, {4, 4, "nvswitch", "100Gbps"});
    EXPECT_EQ(Placement::Linear(topology, 18).Describe(),
              "ranks 0-15 on host0-host3 (gpu0-gpu3 each), ranks 16-17 on host4 (gpu0-gpu1)");
    EXPECT_EQ(Placement::RoundRobin(topology, 7).Describe(),
              "ranks 0-4 on host0-host4 (gpu0 each), rank 5 on host0 (gpu1), rank 6 on host1 "
              "(gpu1)");
}

TEST(Placement, DescribeShortensLongLists)
{
    // Every second host: 50 parts; 16 shown, 33 left out, the last shown.
    auto topology = Build("SingleSwitch", 100);
    std::vector<DeviceId> gpus;
    for (uint32_t host = 0; host < 100; host += 2)
    {
        gpus.push_back(topology->GetGpus(HostId(host))[0]);
    }
    const std::string text = Placement(topology, gpus).Describe();
    EXPECT_THAT(text,
                HasSubstr("rank 15 on host30 (gpu0), ... (33 more), rank 49 on host98 (gpu0)"));
    EXPECT_LT(text.size(), 600u);
}

TEST(GroupLayout, MembersByHost)
{
    auto topology = Build("SingleSwitch", 3, {4, 2, "nvswitch", "100Gbps"});
    auto placement = std::make_shared<Placement>(Placement::Linear(topology, 12));
    // Group order 9, 1, 8, 0, 2: host 0 holds members 3 (gpu0), 1 (gpu1), 4 (gpu2); host 2 holds
    // members 2 (gpu0) and 0 (gpu1). GPUs 0 and 1 share NIC 0, GPU 2 has NIC 1.
    auto layout = MakeGroupLayout(MakeGroup({9, 1, 8, 0, 2}), placement);
    EXPECT_EQ(layout->GetRanks(), 5u);
    EXPECT_EQ(layout->GetHosts(), 2u);
    EXPECT_EQ(layout->hosts[0], (std::vector<uint32_t>{3, 1, 4}));
    EXPECT_EQ(layout->hosts[1], (std::vector<uint32_t>{2, 0}));
    EXPECT_EQ(layout->hostOf, (std::vector<uint32_t>{1, 0, 1, 0, 0}));
    EXPECT_EQ(layout->minLocal, 2u);
    EXPECT_EQ(layout->maxLocal, 3u);
    EXPECT_EQ(layout->nicsPerHost, 1u);
}

TEST(GroupLayout, RelabellingChangesNothing)
{
    // The same GPUs in another group order: the same ranks host by host.
    auto topology = Build("SingleSwitch", 2, {4, 4, "nvswitch", "100Gbps"});
    auto placement = std::make_shared<Placement>(Placement::RoundRobin(topology, 8));
    const auto ranksByHost = [&](const std::vector<uint32_t>& order) {
        auto layout = MakeGroupLayout(MakeGroup(order), placement);
        std::vector<std::vector<uint32_t>> ranks;
        for (const auto& host : layout->hosts)
        {
            ranks.emplace_back();
            for (const uint32_t member : host)
            {
                ranks.back().push_back(layout->group->GetRank(member).Get());
            }
        }
        return ranks;
    };
    // Round robin: host 0 runs even ranks, host 1 odd ones.
    const std::vector<std::vector<uint32_t>> expected{{0, 2, 4, 6}, {1, 3, 5, 7}};
    EXPECT_EQ(ranksByHost({0, 1, 2, 3, 4, 5, 6, 7}), expected);
    EXPECT_EQ(ranksByHost({7, 2, 5, 0, 3, 6, 1, 4}), expected);
}

TEST(GroupLayout, RefusesMembersThatRunNowhere)
{
    auto topology = Build("SingleSwitch", 4);
    auto placement = std::make_shared<Placement>(Placement::Linear(topology, 4));
    EXPECT_THAT(MessageOf([&] {
                    MakeGroupLayout(MakeGroup({0, 4}), placement);
                }),
                HasSubstr("group dp0: found rank 4, which runs on no GPU"));
}

TEST(GroupLayout, HostsWithoutNics)
{
    auto topology = Build("SingleSwitch", 1, {4, 0, "nvswitch", "100Gbps"});
    auto placement = std::make_shared<Placement>(Placement::Linear(topology, 4));
    EXPECT_EQ(MakeGroupLayout(MakeGroup({0, 1}), placement)->nicsPerHost, 0u);
}

// A DGX-1 has four NICs for eight GPUs on a mesh: the first four channels of a ring over two hosts
// enter by one NIC each and leave by the same, the next four likewise.
TEST(GroupLayout, ChannelsOverAMeshUseEachNicAlike)
{
    const Cluster cluster =
        ReadCluster(YamlNode::LoadFile(ECHO_SOURCE_DIR "/scenarios/clusters/dgx1-v100.yaml"), 2);
    auto placement = std::make_shared<Placement>(Placement::Linear(cluster.topology, 16));
    std::vector<uint32_t> all(16);
    std::iota(all.begin(), all.end(), 0);
    const auto layout = MakeGroupLayout(MakeGroup(all), placement);
    for (uint32_t host = 0; host < 2; ++host)
    {
        for (uint32_t first = 0; first < 8; first += 4)
        {
            std::set<DeviceId> nics;
            for (uint32_t channel = first; channel < first + 4; ++channel)
            {
                const auto nicAfter = [&](uint32_t steps) {
                    return placement->GetNic(RankId(MemberInHost(*layout, host, channel, steps)));
                };
                EXPECT_EQ(nicAfter(0), nicAfter(7)) << "channel " << channel;
                nics.insert(nicAfter(7));
            }
            EXPECT_EQ(nics.size(), 4u) << "from channel " << first;
        }
    }
}

} // namespace
