// SPDX-License-Identifier: GPL-2.0-only
// The derived cost model: by hand, against the scheduled back end on flows, and its invariants.

#include "estimator-fixtures.h"
#include "network-rig.h"

#include "ns3/boolean.h"
#include "ns3/echo-derived-cost-model.h"
#include "ns3/echo-error.h"
#include "ns3/echo-least-cost-selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace ns3;
using namespace ns3::echo;

namespace
{

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithmKind;

struct DerivedRig : public NetworkRig
{
    DerivedRig(const SmallCluster& cluster, uint32_t channels = 0) : NetworkRig(cluster)
    {
        selector->SetAttribute("Channels", UintegerValue(channels));
        layout = MakeGroupLayout(world, placement);
        model = CreateObject<DerivedCostModel>();
        model->SetRouter(router);
    }

    CollectivePlan Plan(Kind kind, uint64_t bytes, Algorithm algorithm = Algorithm::AUTO) const
    {
        CollectivePlan plan;
        plan.spec.kind = kind;
        plan.spec.bytes = bytes;
        plan.spec.algorithm = algorithm;
        plan.layout = layout;
        plan.choice = selector->Select(plan.spec, *layout);
        return plan;
    }

    Time Derive(Kind kind, uint64_t bytes, Algorithm algorithm = Algorithm::AUTO) const
    {
        return model->Estimate(Plan(kind, bytes, algorithm)).GetTotal();
    }

    /** Without packets, as flows are. */
    void MakeFluid()
    {
        model->SetAttribute("Mtu", UintegerValue(0));
    }

    GroupLayoutPtr layout;
    Ptr<DerivedCostModel> model;
};

TEST(Derived, RingOfPacketsByHand)
{
    // 8 hosts, one switch, 100 Gb/s = 80 ps a byte, 1 us a link. 8 MiB: 14 steps of 1 MiB = 256
    // packets of 4096 + 82 B: each 2 us + 256 * 4178 * 80 ps + one packet stored in the switch.
    DerivedRig rig(SmallCluster{});
    const int64_t step = 2000000 + (256 + 1) * 4178 * 80;
    EXPECT_EQ(rig.Derive(Kind::ALL_REDUCE, 8 << 20), PicoSeconds(14 * step));
    EXPECT_EQ(rig.Derive(Kind::ALL_GATHER, 8 << 20), PicoSeconds(7 * step));
    EXPECT_EQ(rig.Derive(Kind::REDUCE_SCATTER, 8 << 20), PicoSeconds(7 * step));
    // A message of 5000 B: packets of 4096 and 904 B; the larger is stored.
    CollectivePlan pair = rig.Plan(Kind::SEND_RECV, 5000);
    const auto two = std::make_shared<const CommGroup>(
        GroupId(7), GroupKind::OTHER, "pair", std::vector<RankId>{RankId(0), RankId(1)});
    pair.layout = MakeGroupLayout(two, rig.placement);
    EXPECT_EQ(rig.model->Estimate(pair).GetTotal(),
              PicoSeconds(2000000 + (5000 + 2 * 82 + 4178) * 80));
    // Three rounds of 8 B.
    EXPECT_EQ(rig.Derive(Kind::BARRIER, 0), PicoSeconds(3 * (2000000 + 2 * 90 * 80)));
    EXPECT_EQ(rig.Derive(Kind::ALL_REDUCE, 0), Time(0));
    DerivedRig slow(SmallCluster{});
    slow.model->SetAttribute("StepOverhead", TimeValue(MicroSeconds(1)));
    EXPECT_EQ(slow.Derive(Kind::ALL_GATHER, 8 << 20), PicoSeconds(7 * (step + 1000000)));
}

TEST(Derived, ItsOwnConnectionsShareLinks)
{
    SmallCluster cluster;
    DerivedRig one(cluster, 1);
    DerivedRig four(cluster, 4); // four channels through one NIC a host
    one.MakeFluid();
    four.MakeFluid();
    EXPECT_EQ(one.Derive(Kind::ALL_REDUCE, 64 << 20), four.Derive(Kind::ALL_REDUCE, 64 << 20));
    // Two leaves of four with one uplink of a quarter of the rate: the ring's edge over it governs.
    cluster.hostsPerLeaf = 4;
    cluster.uplinkRate = "25Gbps";
    DerivedRig narrow(cluster, 1);
    narrow.MakeFluid();
    const double ratio = narrow.Derive(Kind::ALL_REDUCE, 64 << 20).GetSeconds() /
                         one.Derive(Kind::ALL_REDUCE, 64 << 20).GetSeconds();
    EXPECT_NEAR(ratio, 4, 0.02);
}

TEST(Derived, ALinkInsideAHostOfOneConnectionIsNotShared)
{
    // NVLink at half the rate of the NICs, one channel: its links carry one connection each, and
    // the ring takes what they take, as flows do.
    SmallCluster cluster;
    cluster.hosts = 4;
    cluster.gpusPerHost = 8;
    cluster.nvlinkRate = "50Gbps";
    for (const Kind kind : {Kind::ALL_GATHER, Kind::ALL_REDUCE})
    {
        DerivedRig rig(cluster, 1);
        rig.MakeFluid();
        rig.UseFlow();
        const double flow = rig.TimeOf(kind, 16 << 20, Algorithm::RING).GetSeconds();
        EXPECT_NEAR(rig.Derive(kind, 16 << 20, Algorithm::RING).GetSeconds() / flow, 1, 0.001);
    }
}

struct FlowCase
{
    const char* name;
    uint32_t hosts;
    uint32_t gpusPerHost;
    uint32_t hostsPerLeaf;
    Kind kind;
    Algorithm algorithm;
    double tolerance;
};

class DerivedAgainstFlow : public testing::TestWithParam<FlowCase>
{
};

TEST_P(DerivedAgainstFlow, IsWithinItsTolerance)
{
    const FlowCase& param = GetParam();
    SmallCluster cluster;
    cluster.hosts = param.hosts;
    cluster.gpusPerHost = param.gpusPerHost;
    cluster.hostsPerLeaf = param.hostsPerLeaf;
    cluster.uplinkRate = "1600Gbps";
    for (const uint64_t bytes : {uint64_t{1} << 18, uint64_t{1} << 20, uint64_t{1} << 24})
    {
        DerivedRig rig(cluster);
        rig.MakeFluid();
        rig.UseFlow();
        const double flow = rig.TimeOf(param.kind, bytes, param.algorithm).GetSeconds();
        const double derived = rig.Derive(param.kind, bytes, param.algorithm).GetSeconds();
        EXPECT_NEAR(derived / flow, 1, param.tolerance) << bytes << " B";
    }
}

INSTANTIATE_TEST_SUITE_P(
    Cases,
    DerivedAgainstFlow,
    testing::Values(
        FlowCase{"AllReduce8", 8, 1, 0, Kind::ALL_REDUCE, Algorithm::RING, 1e-6},
        FlowCase{"AllReduce64", 64, 1, 8, Kind::ALL_REDUCE, Algorithm::RING, 0.001},
        FlowCase{"AllGather16", 16, 1, 4, Kind::ALL_GATHER, Algorithm::RING, 0.001},
        FlowCase{"ReduceScatter16", 16, 1, 4, Kind::REDUCE_SCATTER, Algorithm::RING, 0.001},
        FlowCase{"Broadcast16", 16, 1, 4, Kind::BROADCAST, Algorithm::RING, 0.01},
        FlowCase{"Reduce16", 16, 1, 4, Kind::REDUCE, Algorithm::RING, 0.01},
        FlowCase{"Barrier16", 16, 1, 4, Kind::BARRIER, Algorithm::RING, 0.001},
        FlowCase{"InsideAHost", 1, 8, 0, Kind::ALL_REDUCE, Algorithm::RING, 0.001},
        FlowCase{"FourHostsOfEight", 4, 8, 2, Kind::ALL_REDUCE, Algorithm::RING, 0.1},
        FlowCase{"EightHostsOfTwo", 8, 2, 4, Kind::ALL_GATHER, Algorithm::RING, 0.1},
        FlowCase{"Tree2", 2, 1, 0, Kind::ALL_REDUCE, Algorithm::TREE, 0.1},
        FlowCase{"Tree8", 8, 1, 0, Kind::ALL_REDUCE, Algorithm::TREE, 0.1},
        FlowCase{"Tree32", 32, 1, 8, Kind::ALL_REDUCE, Algorithm::TREE, 0.1},
        FlowCase{"AllToAll8", 8, 1, 0, Kind::ALL_TO_ALL, Algorithm::PAIRWISE, 0.02},
        FlowCase{"AllToAll16", 16, 1, 4, Kind::ALL_TO_ALL, Algorithm::PAIRWISE, 0.2}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Derived, TimeNeverFallsWhenBytesGrow)
{
    SmallCluster cluster;
    cluster.hosts = 4;
    cluster.gpusPerHost = 4;
    cluster.hostsPerLeaf = 2;
    DerivedRig rig(cluster);
    const auto leastCost = CreateObject<LeastCostSelector>();
    leastCost->Set(rig.selector, rig.model);
    for (const Kind kind : {Kind::ALL_REDUCE,
                            Kind::ALL_GATHER,
                            Kind::REDUCE_SCATTER,
                            Kind::BROADCAST,
                            Kind::REDUCE,
                            Kind::ALL_TO_ALL})
    {
        for (const bool automatic : {false, true})
        {
            Time last;
            for (double bytes = 1; bytes < 4e9; bytes *= 1.05)
            {
                CollectivePlan plan = rig.Plan(kind, static_cast<uint64_t>(bytes));
                if (automatic)
                {
                    plan.choice = leastCost->Select(plan.spec, *rig.layout);
                }
                const Time time = rig.model->Estimate(plan).GetTotal();
                ASSERT_GE(time, last) << ToString(kind) << " " << plan.spec.bytes << " B";
                last = time;
            }
        }
    }
}

// NVLS moves bytes between hosts like a ring, NVLS-tree like a double binary tree.
TEST(Derived, AlgorithmsThatMoveAlikeTakeAsLong)
{
    DerivedRig rig(SmallCluster{}, 2);
    const auto derive = [&rig](Algorithm algorithm) {
        CollectivePlan plan = rig.Plan(Kind::ALL_REDUCE, 8 << 20, Algorithm::RING);
        plan.choice.algorithm = algorithm;
        return rig.model->Estimate(plan).GetTotal();
    };
    EXPECT_EQ(derive(Algorithm::NVLS), derive(Algorithm::RING));
    EXPECT_EQ(derive(Algorithm::NVLS_TREE), derive(Algorithm::TREE));
    EXPECT_NE(derive(Algorithm::TREE), derive(Algorithm::RING));
}

TEST(Derived, UnevenSplitsTakeAsLongAsTheBusiest)
{
    DerivedRig rig(SmallCluster{});
    CollectivePlan plan = rig.Plan(Kind::ALL_TO_ALL, 8 << 20);
    const Time even = rig.model->Estimate(plan).GetTotal();
    plan.spec.kind = Kind::ALL_TO_ALL_V;
    plan.splits.assign(8, std::vector<uint64_t>(8, 1 << 20));
    EXPECT_EQ(rig.model->Estimate(plan).GetTotal(), even);
    plan.splits[2][5] = 8 << 20; // rank 2 sends twice as much as the others, and rank 5 gets it
    const double ratio = rig.model->Estimate(plan).GetTotal().GetSeconds() / even.GetSeconds();
    EXPECT_NEAR(ratio, 2, 0.02);
}

TEST(Derived, IsTheFallbackOfAProfileForPairs)
{
    SmallCluster cluster;
    cluster.hosts = 2;
    cluster.gpusPerHost = 8;
    cluster.nicRate = "10Gbps"; // far below the profile's machine
    DerivedRig rig(cluster);
    const auto model = MakeWhiteBox(ReadAzureProfile());
    const CollectivePlan plan = rig.Plan(Kind::ALL_TO_ALL, 64 << 20);
    const double aloneUs = model->GetTerms(ShapeOf(*rig.layout), QueryOf(plan)).GetTotal();
    model->SetFallback(rig.model);
    const CostBreakdown cost = model->Estimate(plan);
    EXPECT_GT(cost.GetTotal().GetSeconds(), 2e-6 * aloneUs);
    EXPECT_GE(cost.GetTotal(), rig.model->Estimate(plan).GetTotal());
    EXPECT_TRUE(cost.extrapolated);
    EXPECT_GT(cost.setup, Time(0)); // of the profile
}

// LL with many channels gives way to Simple with few, whose set-up is shorter.
TEST(Derived, PairsOverItNeverTakeLessForMore)
{
    SmallCluster cluster;
    cluster.hosts = 1;
    cluster.gpusPerHost = 64;
    cluster.nvlinkRate = "7200Gbps";
    DerivedRig rig(cluster);
    const auto model =
        MakeWhiteBox(ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/b200.yaml"))));
    model->SetAttribute("IssueAsMeasured", BooleanValue(false));
    model->SetFallback(rig.model);
    const auto selector = MakeSelector(model);
    CollectivePlan plan = rig.Plan(Kind::ALL_TO_ALL, 1);
    Time last;
    std::set<CollectiveProtocol> picked;
    for (double bytes = 4096; bytes < 64 << 20; bytes *= 1.05)
    {
        plan.spec.bytes = static_cast<uint64_t>(bytes);
        plan.choice = selector->Select(plan.spec, *rig.layout);
        picked.insert(plan.choice.protocol);
        const Time time = model->Estimate(plan).GetTotal();
        ASSERT_GE(time, last) << plan.spec.bytes << " B";
        last = time;
    }
    EXPECT_EQ(picked.size(), 2u);
}

TEST(Derived, SaysWhatItDidNotCount)
{
    SmallCluster cluster;
    cluster.hosts = 300;
    DerivedRig rig(cluster);
    const CostBreakdown cost = rig.model->Estimate(rig.Plan(Kind::ALL_TO_ALL, 300 << 12));
    EXPECT_TRUE(cost.extrapolated);
    EXPECT_THAT(cost.reason, testing::HasSubstr("non-blocking"));
    // Each NIC sends 299 messages of one packet.
    EXPECT_GT(cost.GetTotal(), PicoSeconds(299 * 4178 * 80));
}

} // namespace
