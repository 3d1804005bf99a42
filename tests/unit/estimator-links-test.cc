// SPDX-License-Identifier: GPL-2.0-only
// No estimate beats the links that its bytes take.

#include "estimator-fixtures.h"

#include "ns3/echo-connection-map.h"
#include "ns3/echo-footprint.h"
#include "ns3/echo-nccl-environment.h"
#include "ns3/echo-nic-loads.h"
#include "ns3/echo-shortest-path-router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** Ranks on hosts of 8 GPUs, each with a NIC, that one switch joins. */
GroupLayoutPtr MakeLayout(uint32_t ranks, const std::string& nicRate)
{
    SmallCluster cluster;
    cluster.hosts = (ranks + 7) / 8;
    cluster.gpusPerHost = 8;
    cluster.nicRate = nicRate;
    const auto placement =
        std::make_shared<const Placement>(Placement::Linear(cluster.Build(), ranks));
    return MakeGroupLayout(WorldGroup(*placement), placement);
}

CollectivePlan MakePlan(const NcclSelector& selector,
                        CollectiveKind kind,
                        uint64_t bytes,
                        const GroupLayoutPtr& layout)
{
    CollectivePlan plan;
    plan.spec.kind = kind;
    plan.spec.bytes = bytes;
    plan.layout = layout;
    plan.choice = selector.Select(plan.spec, *layout);
    return plan;
}

double PeakUtilizationOf(const CollectivePlan& plan, Time duration)
{
    const TopologyPtr topology = plan.layout->placement->GetTopology();
    const Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(topology);
    return PeakUtilization(
        MakeFootprint(plan, *CreateCollectiveAlgorithm(plan.choice.algorithm), *router),
        *topology,
        1,
        duration);
}

struct Machine
{
    const char* profile;
    const char* nicRate;
};

TEST(UnevenHosts, NoNicIsBusyForLongerThanTheTime)
{
    for (const Machine& machine : {Machine{"h100-sxm", "400Gbps"}, Machine{"v100", "100Gbps"}})
    {
        const auto model = MakeWhiteBox(ReadProfile(YamlNode::LoadFile(
            SourceFile(std::string("calibration/profiles/") + machine.profile + ".yaml"))));
        const auto selector = MakeSelector(model);
        for (const uint32_t ranks : {11u, 13u, 31u})
        {
            const GroupLayoutPtr layout = MakeLayout(ranks, machine.nicRate);
            for (const CollectiveKind kind : {CollectiveKind::ALL_REDUCE,
                                              CollectiveKind::ALL_GATHER,
                                              CollectiveKind::BROADCAST,
                                              CollectiveKind::ALL_TO_ALL})
            {
                Time last;
                for (double bytes = 1024; bytes < 2e9; bytes *= 1.3)
                {
                    const CollectivePlan plan =
                        MakePlan(*selector, kind, static_cast<uint64_t>(bytes), layout);
                    const CostBreakdown cost = model->Estimate(plan);
                    const std::string what = std::string(machine.profile) + " " + ToString(kind) +
                                             " " + std::to_string(ranks) + " ranks " +
                                             std::to_string(plan.spec.bytes) + " bytes";
                    EXPECT_TRUE(cost.extrapolated) << what;
                    EXPECT_LE(PeakUtilizationOf(plan, cost.GetTotal()), 1.001) << what;
                    EXPECT_GE(cost.GetTotal(), last) << what;
                    last = cost.GetTotal();
                }
            }
        }
    }
}

// By hosts and NICs, as a walk over all pairs finds it; and of more ranks than are walked.
TEST(UnevenHosts, NicsOfAnAllToAllAreBusyAsEveryPairSays)
{
    NicLoads loads;
    for (const uint32_t ranks : {9u, 11u, 13u, 21u, 31u, 297u})
    {
        CollectivePlan plan;
        plan.spec.kind = CollectiveKind::ALL_TO_ALL;
        plan.choice.algorithm = CollectiveAlgorithmKind::PAIRWISE;
        plan.choice.channels = 2;
        plan.layout = MakeLayout(ranks, "400Gbps");
        std::map<std::pair<DeviceId, bool>, double> messages;
        for (uint32_t source = 0; source < ranks; ++source)
        {
            for (uint32_t destination = 0; destination < ranks; ++destination)
            {
                if (plan.layout->hostOf[source] != plan.layout->hostOf[destination])
                {
                    const auto ends = MapConnection(plan, {source, destination, 0, 0, 1});
                    ++messages[{ends.source, true}];
                    ++messages[{ends.destination, false}];
                }
            }
        }
        double most = 0;
        for (const auto& [nic, count] : messages)
        {
            most = std::max(most, count / 50e3); // 400 Gb/s, bytes a us
        }
        EXPECT_NEAR(NicLoads::GetPairsUsPerByte(*plan.layout), most, most * 1e-12) << ranks;
        EXPECT_NEAR(loads.GetUsPerByte(plan) * ranks, most, most * 1e-9) << ranks;
    }
}

TEST(UnevenHosts, AreNamedAndKeptApart)
{
    const GroupLayoutPtr first = MakeLayout(12, "200Gbps");
    MachineProfile profile = ReadAzureProfile();
    profile.linkGpuGBps = ReadHostLinks(*first->placement->GetTopology()).gpuGBps;
    const auto model = MakeWhiteBox(profile);
    const auto selector = MakeSelector(model);
    CollectivePlan plan = MakePlan(*selector, CollectiveKind::ALL_REDUCE, 1 << 30, first);
    const CostBreakdown cost = model->Estimate(plan);
    EXPECT_EQ(cost.reason, "hosts of 4 to 8 ranks, calibrated with equal ones");
    // The same numbers, but slower NICs than the profile knows.
    plan.layout = MakeLayout(12, "50Gbps");
    EXPECT_GT(model->Estimate(plan).GetTotal(), 2 * cost.GetTotal());
    plan.layout = first;
    EXPECT_EQ(model->Estimate(plan).GetTotal(), cost.GetTotal());
}

// Slow links inside hosts: what NCCL picks for more bytes takes less than the links need for fewer.
TEST(Caps, DoNotGoBelowTheLinks)
{
    SmallCluster cluster;
    cluster.hosts = 3;
    cluster.gpusPerHost = 8;
    cluster.nvlinkRate = "8Gbps";
    const auto placement =
        std::make_shared<const Placement>(Placement::Linear(cluster.Build(), 24));
    const GroupLayoutPtr layout = MakeGroupLayout(WorldGroup(*placement), placement);
    const auto model = MakeWhiteBox(
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/h100-sxm.yaml"))));
    const auto selector = MakeSelector(model);
    Time last;
    for (double bytes = 16384; bytes < 1e9; bytes *= 1.1)
    {
        const CollectivePlan plan =
            MakePlan(*selector, CollectiveKind::ALL_REDUCE, static_cast<uint64_t>(bytes), layout);
        const Time time = model->Estimate(plan).GetTotal();
        EXPECT_LE(PeakUtilizationOf(plan, time), 1.001)
            << ToString(plan.choice.algorithm) << " " << plan.spec.bytes;
        EXPECT_GE(time, last) << plan.spec.bytes;
        last = time;
    }
}

// A host that is inside one tree and a leaf of the other sends each byte twice.
TEST(Trees, KeepNoNicBusyForLongerThanTheTime)
{
    const auto model = MakeWhiteBox(
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/dgx-a100.yaml"))));
    const auto selector = MakeSelector(model);
    for (uint32_t hosts = 2; hosts <= 9; ++hosts)
    {
        const GroupLayoutPtr layout = MakeLayout(8 * hosts, "200Gbps");
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_REDUCE;
        spec.bytes = uint64_t{4} << 30;
        spec.algorithm = CollectiveAlgorithmKind::TREE;
        spec.protocol = CollectiveProtocol::SIMPLE;
        CollectivePlan plan;
        plan.spec = spec;
        plan.layout = layout;
        plan.choice = selector->Select(spec, *layout);
        EXPECT_LE(PeakUtilizationOf(plan, model->Estimate(plan).GetTotal()), 1.001) << hosts;
    }
}

// A channel leaves by one NIC: of five channels on four NICs, two share one.
TEST(Channels, OfAnUnevenNumberKeepOneNicBusyForLonger)
{
    const auto model = MakeWhiteBox(
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/h100-sxm.yaml"))));
    const auto selector = MakeSelector(model);
    const GroupLayoutPtr layout = MakeLayout(16, "400Gbps");
    for (const auto algorithm : {CollectiveAlgorithmKind::RING,
                                 CollectiveAlgorithmKind::TREE,
                                 CollectiveAlgorithmKind::NVLS_TREE})
    {
        for (const uint32_t channels : {1, 2, 5, 7, 8, 9, 12, 16})
        {
            CollectivePlan plan;
            plan.spec.kind = CollectiveKind::ALL_REDUCE;
            plan.spec.bytes = uint64_t{1} << 30;
            plan.spec.algorithm = algorithm;
            plan.spec.protocol = CollectiveProtocol::SIMPLE;
            plan.spec.channels = channels;
            plan.layout = layout;
            plan.choice = selector->Select(plan.spec, *layout);
            const Time time = model->Estimate(plan).GetTotal();
            EXPECT_LE(PeakUtilizationOf(plan, time), 1.001)
                << ToString(algorithm) << " " << channels;
        }
    }
}

// As NCCL has it: NVLS on one host, NVLS tree on several, and both only where a switch reduces.
TEST(Selectors, RefuseSwitchesThatDoNotReduce)
{
    const auto fixed = CreateObject<FixedSelector>();
    const auto profiled = MakeSelector(MakeWhiteBox(
        ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/h100-sxm.yaml")))));
    const auto refusal = [&](const GroupLayout& layout, CollectiveAlgorithmKind algorithm) {
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_REDUCE;
        spec.bytes = 1 << 20;
        spec.algorithm = algorithm;
        std::string said;
        for (const Ptr<CollectiveSelector>& selector :
             {Ptr<CollectiveSelector>(fixed), Ptr<CollectiveSelector>(profiled)})
        {
            try
            {
                EXPECT_EQ(selector->Select(spec, layout).algorithm, algorithm);
                said += "|";
            }
            catch (const UnsupportedError& error)
            {
                said += std::string(error.what()) + "|";
            }
        }
        return said;
    };
    const auto twice = [](const std::string& text) { return text + "|" + text + "|"; };
    const auto one = MakeLayout(8, "200Gbps");
    const auto two = MakeLayout(16, "200Gbps");
    EXPECT_EQ(refusal(*one, CollectiveAlgorithmKind::NVLS), "||");
    EXPECT_EQ(refusal(*two, CollectiveAlgorithmKind::NVLS_TREE), "||");
    EXPECT_EQ(refusal(*two, CollectiveAlgorithmKind::NVLS),
              twice("algorithm 'nvls': found a group on 2 hosts, expected one host, whose switches "
                    "reduce; nvls-tree joins several"));
    EXPECT_EQ(refusal(*one, CollectiveAlgorithmKind::NVLS_TREE),
              twice("algorithm 'nvls-tree': found a group on one host, expected several; nvls is "
                    "for one"));
    SmallCluster lone; // no NVSwitch joins a single GPU
    lone.hosts = 2;
    const auto placement = std::make_shared<const Placement>(Placement::Linear(lone.Build(), 2));
    EXPECT_EQ(
        refusal(*MakeGroupLayout(WorldGroup(*placement), placement),
                CollectiveAlgorithmKind::NVLS_TREE),
        twice("algorithm 'nvls-tree': found hosts without NVSwitch, expected GPUs joined by one, "
              "which reduces"));
}

TEST(Caps, ChangeNoSetUp)
{
    CostTerms terms{10, 20, 30, 0, 40};
    terms.Stretch(55);
    EXPECT_DOUBLE_EQ(terms.setup, 10);
    EXPECT_DOUBLE_EQ(terms.intra, 10);
    EXPECT_DOUBLE_EQ(terms.GetTotal(), 55);
    terms.Stretch(4);
    EXPECT_DOUBLE_EQ(terms.GetTotal(), 4);
}

// A message is sent with LL while a channel's part has 16 KiB or less, as NCCL does.
TEST(Messages, TakeLlOnlyWhileTheirPartsAreSmall)
{
    const auto model =
        MakeWhiteBox(ReadProfile(YamlNode::LoadFile(SourceFile("calibration/profiles/b200.yaml"))));
    const auto selector = MakeSelector(model);
    const GroupLayoutPtr pair = MakeLayout(2, "400Gbps");
    const auto protocolOf = [&](uint64_t bytes) {
        return MakePlan(*selector, CollectiveKind::SEND_RECV, bytes, pair).choice.protocol;
    };
    EXPECT_EQ(protocolOf(1024), CollectiveProtocol::LL);
    EXPECT_EQ(protocolOf(4 << 20), CollectiveProtocol::SIMPLE);
    EXPECT_EQ(protocolOf(256 << 20), CollectiveProtocol::SIMPLE);
}

} // namespace
