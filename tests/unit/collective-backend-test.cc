// SPDX-License-Identifier: GPL-2.0-only
// Matching, agreement, unfinished work, and the analytical back end.

#include "network-rig.h"

#include "ns3/echo-error.h"
#include "ns3/echo-footprint-tracker.h"
#include "ns3/echo-footprint.h"
#include "ns3/echo-units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

CollectiveSpec Spec(CollectiveKind kind, uint64_t bytes)
{
    CollectiveSpec spec;
    spec.kind = kind;
    spec.bytes = bytes;
    return spec;
}

CommGroupPtr Group(std::vector<uint32_t> members, uint32_t id = 7, const std::string& name = "dp0")
{
    std::vector<RankId> ranks;
    for (const uint32_t member : members)
    {
        ranks.emplace_back(member);
    }
    return std::make_shared<const CommGroup>(GroupId(id), GroupKind::DATA, name, ranks);
}

/** @return the message of the StallError that an action, or the simulation after it, throws */
std::string StallOf(const std::function<void()>& action)
{
    try
    {
        action();
        Simulator::Run();
    }
    catch (const StallError& error)
    {
        return error.what();
    }
    return "";
}

const auto IGNORE = [](const CommunicationTimes&) {};

// The fixed cost: 10 us and 80 ps a byte; 1000 B: 10.08 us after the last join.
TEST(Matching, StartsAtTheLastJoinWhateverTheOrder)
{
    for (const std::vector<uint32_t>& order :
         {std::vector<uint32_t>{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}})
    {
        NetworkRig rig(SmallCluster{});
        rig.UseAnalytical();
        const CommGroupPtr group = Group({0, 1, 2, 3});
        std::vector<CommunicationTimes> times;
        std::vector<Time> started;
        for (uint32_t i = 0; i < 4; ++i)
        {
            Simulator::Schedule(MicroSeconds(i), [&, rank = RankId(order[i])] {
                const auto inside = std::make_shared<bool>(true);
                rig.backend->Join(
                    Spec(CollectiveKind::ALL_REDUCE, 1000),
                    group,
                    rank,
                    "op",
                    [&, inside](const CommunicationTimes& done) {
                        times.push_back(done);
                        EXPECT_FALSE(*inside);
                    },
                    [&] { started.push_back(Simulator::Now()); });
                *inside = false;
            });
        }
        Simulator::Run();
        ASSERT_EQ(times.size(), 4u);
        EXPECT_EQ(started, std::vector<Time>(4, MicroSeconds(3)));
        for (const auto& done : times)
        {
            EXPECT_EQ(done.start, MicroSeconds(3));
            EXPECT_EQ(done.end, MicroSeconds(3) + PicoSeconds(10080000));
            EXPECT_EQ(done.collective, CollectiveId(0));
        }
        ASSERT_EQ(rig.records.collectives.size(), 1u);
        const CollectiveRecord& record = rig.records.collectives[0];
        EXPECT_EQ(record.firstJoin, Time());
        EXPECT_EQ(record.start, MicroSeconds(3));
        EXPECT_EQ(record.end, times[0].end);
        EXPECT_EQ(record.estimate, PicoSeconds(10080000));
        EXPECT_EQ(record.payloadBytes, 2u * 3u * 1000u);
        EXPECT_EQ(record.ranks, 4u);
        EXPECT_EQ(record.hosts, 4u);
        EXPECT_EQ(record.groupName, "dp0");
        EXPECT_EQ(record.fidelity, Fidelity::ANALYTICAL);
        EXPECT_EQ(record.algorithm, CollectiveAlgorithmKind::RING);
        EXPECT_EQ(rig.backend->GetCompletedCount(), 1u);
        EXPECT_TRUE(rig.backend->DescribeUnfinished().empty());
    }
}

// A member may be several calls ahead; call k of each belongs to instance k.
TEST(Matching, CallsMatchByNumber)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    const CommGroupPtr group = Group({4, 5});
    std::vector<uint32_t> ids;
    const auto note = [&](const CommunicationTimes& times) {
        ids.push_back(times.collective.Get());
    };
    for (const uint64_t bytes : {10u, 20u, 30u})
    {
        rig.backend->Join(Spec(CollectiveKind::ALL_GATHER, bytes), group, RankId(5), "a", note);
    }
    EXPECT_EQ(rig.backend->DescribeUnfinished().size(), 3u);
    for (const uint64_t bytes : {10u, 20u, 30u})
    {
        rig.backend->Join(Spec(CollectiveKind::ALL_GATHER, bytes), group, RankId(4), "b", note);
    }
    Simulator::Run();
    EXPECT_THAT(ids, ElementsAre(0, 0, 1, 1, 2, 2));
    ASSERT_EQ(rig.records.collectives.size(), 3u);
    EXPECT_EQ(rig.records.collectives[2].bytes, 30u);
}

TEST(Matching, NothingToMoveIsDoneAtTheLastJoin)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    CollectiveSpec uneven;
    uneven.kind = CollectiveKind::ALL_TO_ALL_V;
    uneven.sendBytes = {5, 0};
    CollectiveSpec even = uneven;
    even.sendBytes = {0, 5}; // each keeps what it has
    const CommGroupPtr pair = Group({0, 1}, 2);
    rig.JoinAll(Spec(CollectiveKind::ALL_REDUCE, 1 << 20), Group({3}));
    rig.JoinAll(Spec(CollectiveKind::BARRIER, 0), Group({3}));
    rig.JoinAll(Spec(CollectiveKind::ALL_REDUCE, 0), pair);
    rig.backend->Join(uneven, pair, RankId(0), "v", IGNORE);
    rig.backend->Join(even, pair, RankId(1), "v", IGNORE);
    EXPECT_EQ(rig.done, 0u) << "not from inside Join";
    Simulator::Run();
    EXPECT_EQ(rig.done, 4u);
    EXPECT_EQ(Simulator::Now(), Time());
    for (const auto& record : rig.records.collectives)
    {
        EXPECT_EQ(record.payloadBytes, 0u);
    }
    EXPECT_EQ(rig.records.collectives.size(), 4u);
    // A barrier between others takes time though it has no bytes of its own.
    rig.JoinAll(Spec(CollectiveKind::BARRIER, 0), pair);
    Simulator::Run();
    EXPECT_EQ(Simulator::Now(), MicroSeconds(10));
}

TEST(Agreement, NamesBothRanksAndOperators)
{
    struct Disagreement
    {
        CollectiveSpec first;
        CollectiveSpec second;
        std::string found;
        std::string expected;
    };

    CollectiveSpec reduce = Spec(CollectiveKind::ALL_REDUCE, 1 << 20);
    CollectiveSpec bf16 = reduce;
    bf16.dataType = DataType::BF16;
    CollectiveSpec tree = reduce;
    tree.algorithm = CollectiveAlgorithmKind::TREE;
    CollectiveSpec broadcast = Spec(CollectiveKind::BROADCAST, 8);
    CollectiveSpec otherRoot = broadcast;
    otherRoot.root = 1;
    const std::vector<Disagreement> disagreements{
        {reduce,
         Spec(CollectiveKind::ALL_REDUCE, 2 << 20),
         "1 MiB (1048576 B)",
         "2 MiB (2097152 B)"},
        {reduce, Spec(CollectiveKind::ALL_GATHER, 1 << 20), "all-reduce of", "all-gather of"},
        {broadcast, otherRoot, "root 0", "root 1"},
        {reduce, bf16, "fp32", "bf16"},
        {reduce, tree, "algorithm auto", "algorithm tree"},
    };
    for (const auto& disagreement : disagreements)
    {
        NetworkRig rig(SmallCluster{});
        rig.UseAnalytical();
        const CommGroupPtr group = Group({2, 6});
        EXPECT_THAT(StallOf([&] {
                        rig.backend->Join(disagreement.first, group, RankId(6), "grads", IGNORE);
                        rig.backend->Join(disagreement.second, group, RankId(2), "params", IGNORE);
                    }),
                    AllOf(HasSubstr("rank 6 (grads)"),
                          HasSubstr("rank 2 (params)"),
                          HasSubstr("dp0"),
                          HasSubstr(disagreement.found),
                          HasSubstr(disagreement.expected)));
    }
}

TEST(Agreement, GroupsAndSplitsMustBeTheSame)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    rig.backend->Join(Spec(CollectiveKind::BARRIER, 0), Group({0, 1}), RankId(0), "a", IGNORE);
    EXPECT_THAT(
        StallOf([&] {
            rig.backend->Join(
                Spec(CollectiveKind::BARRIER, 0), Group({0, 2}, 7, "dp9"), RankId(2), "b", IGNORE);
        }),
        AllOf(HasSubstr("rank 2 (b)"), HasSubstr("dp9"), HasSubstr("ranks 0, 1")));

    CollectiveSpec sender;
    sender.kind = CollectiveKind::ALL_TO_ALL_V;
    sender.sendBytes = {0, 100};
    CollectiveSpec receiver = sender;
    receiver.sendBytes = {50, 0};
    receiver.receiveBytes = {99, 0};
    const CommGroupPtr group = Group({4, 5}, 8, "ep3");
    EXPECT_THAT(StallOf([&] {
                    rig.backend->Join(sender, group, RankId(4), "dispatch", IGNORE);
                    rig.backend->Join(receiver, group, RankId(5), "combine", IGNORE);
                }),
                AllOf(HasSubstr("rank 4 (dispatch) sends 100 B to rank 5 (combine)"),
                      HasSubstr("expects 99 B"),
                      HasSubstr("ep3")));
}

TEST(Agreement, RefusesWhatNoOtherMemberCouldMakeRight)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    const CommGroupPtr group = Group({0, 1});
    CollectiveSpec badRoot = Spec(CollectiveKind::BROADCAST, 8);
    badRoot.root = 2;
    CollectiveSpec badSplits = Spec(CollectiveKind::ALL_TO_ALL_V, 8);
    badSplits.sendBytes = {1, 2, 3};
    const auto join = [&](const CollectiveSpec& spec, uint32_t rank) {
        rig.backend->Join(spec, group, RankId(rank), "op", IGNORE);
    };
    EXPECT_THROW(join(Spec(CollectiveKind::ALL_REDUCE, 8), 2), InputError);
    EXPECT_THROW(join(badRoot, 0), InputError);
    EXPECT_THROW(join(badSplits, 0), InputError);
    EXPECT_THROW(join(Spec(CollectiveKind::SEND_RECV, 8), 0), InputError);
    EXPECT_THROW(
        rig.backend->JoinPointToPoint({{true, RankId(3), 8, 0}}, group, RankId(0), "op", IGNORE),
        InputError);
}

TEST(PointToPoint, MatchesByPairAndTagInOrder)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    std::vector<std::string> order;
    const auto note = [&](const std::string& name) {
        return [&order, name](const CommunicationTimes& times) {
            order.push_back(name + "@" + std::to_string(times.end.GetMicroSeconds()));
        };
    };
    const auto join = [&](bool send, uint64_t bytes, int32_t tag, const std::string& name) {
        rig.backend->JoinPointToPoint({{send, RankId(send ? 1 : 0), bytes, tag}},
                                      rig.world,
                                      RankId(send ? 0 : 1),
                                      name,
                                      note(name));
    };
    join(true, 1000, 0, "s0");
    join(true, 2000, 0, "s1");
    join(true, 3000, 9, "tagged");
    Simulator::Schedule(MicroSeconds(100), [&] {
        join(false, 3000, 9, "r-tagged");
        join(false, 1000, 0, "r0");
    });
    Simulator::Schedule(MicroSeconds(200), [&] { join(false, 2000, 0, "r1"); });
    Simulator::Run();
    EXPECT_THAT(order,
                ElementsAre("s0@110", "r0@110", "tagged@110", "r-tagged@110", "s1@210", "r1@210"));
    ASSERT_EQ(rig.records.collectives.size(), 3u);
    const CollectiveRecord& record = rig.records.collectives[0];
    EXPECT_EQ(record.kind, CollectiveKind::SEND_RECV);
    EXPECT_EQ(record.firstJoin, Time());
    EXPECT_EQ(record.start, MicroSeconds(100));
    EXPECT_EQ(record.payloadBytes, 1000u);
    EXPECT_EQ(record.ranks, 2u);
    EXPECT_EQ(record.algorithm, CollectiveAlgorithmKind::PAIRWISE);
}

// A batch is done when its last pair is, and its start is the latest start.
TEST(PointToPoint, BatchesCompleteAsOne)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    std::vector<CommunicationTimes> batch;
    std::vector<Time> started;
    rig.backend->JoinPointToPoint(
        {{true, RankId(1), 1000, 0}, {false, RankId(1), 2000, 0}, {false, RankId(2), 0, 3}},
        rig.world,
        RankId(0),
        "batch",
        [&](const CommunicationTimes& times) { batch.push_back(times); },
        [&] { started.push_back(Simulator::Now()); });
    Simulator::Schedule(MicroSeconds(5), [&] {
        rig.backend->JoinPointToPoint({{false, RankId(0), 1000, 0}, {true, RankId(0), 2000, 0}},
                                      rig.world,
                                      RankId(1),
                                      "answer",
                                      IGNORE);
    });
    Simulator::Schedule(MicroSeconds(7), [&] {
        rig.backend->JoinPointToPoint(
            {{true, RankId(0), 0, 3}}, rig.world, RankId(2), "nothing", IGNORE);
    });
    Simulator::Run();
    ASSERT_EQ(batch.size(), 1u);
    EXPECT_THAT(started, ElementsAre(MicroSeconds(7)));
    EXPECT_EQ(batch[0].start, MicroSeconds(7));
    EXPECT_EQ(batch[0].end, MicroSeconds(5) + PicoSeconds(10160000)); // 2000 B x 80 ps + 10 us
    EXPECT_FALSE(batch[0].collective.IsValid()) << "several pairs";
    // An empty batch and a message to oneself are done at once.
    bool empty = false;
    uint32_t self = 0;
    rig.backend->JoinPointToPoint(
        {}, rig.world, RankId(0), "e", [&](const CommunicationTimes&) { empty = true; });
    rig.backend->JoinPointToPoint({{true, RankId(3), 100, 0}, {false, RankId(3), 100, 0}},
                                  rig.world,
                                  RankId(3),
                                  "self",
                                  [&](const CommunicationTimes&) { ++self; });
    const Time before = Simulator::Now();
    EXPECT_FALSE(empty);
    Simulator::Run();
    EXPECT_TRUE(empty);
    EXPECT_EQ(self, 1u);
    EXPECT_EQ(Simulator::Now(), before);
    EXPECT_TRUE(rig.backend->DescribeUnfinished().empty());
}

TEST(PointToPoint, SizesMustAgree)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical();
    const auto join = [&](bool send, uint32_t rank, uint32_t peer, uint64_t bytes, std::string op) {
        rig.backend->JoinPointToPoint(
            {{send, RankId(peer), bytes, 4}}, rig.world, RankId(rank), op, IGNORE);
    };
    EXPECT_THAT(StallOf([&] {
                    join(false, 2, 1, 512, "recv_grad_1");
                    join(true, 0, 1, 1 << 20, "send_forward_0");
                    join(false, 1, 0, 2 << 20, "recv_forward_0");
                }),
                AllOf(HasSubstr("send of 1 MiB (1048576 B) by rank 0 (send_forward_0)"),
                      HasSubstr("receive of 2 MiB (2097152 B) by rank 1 (recv_forward_0)"),
                      HasSubstr("tag 4"),
                      HasSubstr("world"),
                      HasSubstr("also waiting: receive of 512 B by rank 2 (recv_grad_1) from "
                                "rank 1")));
}

TEST(Unfinished, IsListed)
{
    NetworkRig rig(SmallCluster{});
    rig.UseFlow();
    rig.backend->Join(
        Spec(CollectiveKind::ALL_REDUCE, 1 << 20), rig.world, RankId(5), "grads", IGNORE);
    rig.backend->JoinPointToPoint({{false, RankId(1), 10, 2}}, rig.world, RankId(0), "r", IGNORE);
    rig.SendReceive(2, 3, 100);
    EXPECT_THAT(rig.backend->DescribeUnfinished(),
                ElementsAre(AllOf(HasSubstr("all-reduce of 1 MiB"),
                                  HasSubstr("1 of 8 joined, first rank 5 (grads)"),
                                  HasSubstr("ranks 0, 1, 2, 3, 4, 6, 7 missing")),
                            AllOf(HasSubstr("send-recv of 100 B"),
                                  HasSubstr("rank 2 (s) sends to rank 3 (r)"),
                                  HasSubstr("not done")),
                            AllOf(HasSubstr("receive of 10 B by rank 0 (r) from rank 1"),
                                  HasSubstr("tag 2"),
                                  HasSubstr("no matching send"))));
    Simulator::Run();
    EXPECT_EQ(rig.backend->DescribeUnfinished().size(), 2u) << "the pair is done";
    EXPECT_EQ(rig.backend->GetCompletedCount(), 1u);
}

// Case 5 for the analytical model: one uplink that four sends share is marked; on one
// switch nothing is shared.
TEST(Analytical, MarksContention)
{
    for (const bool shared : {false, true})
    {
        SmallCluster cluster;
        cluster.hostsPerLeaf = shared ? 4 : 0;
        NetworkRig rig(cluster);
        rig.UseAnalytical();
        for (uint32_t rank = 0; rank < 8; ++rank)
        {
            rig.SendReceive(rank, (rank + 4) % 8, 64u << 20);
        }
        Simulator::Run();
        ASSERT_EQ(rig.records.collectives.size(), 8u);
        for (const auto& record : rig.records.collectives)
        {
            EXPECT_EQ(record.contended, shared);
        }
        // One after the other: nothing is shared at the same time.
        rig.SendReceive(0, 4, 1000);
        Simulator::Run();
        rig.SendReceive(1, 5, 1000);
        Simulator::Run();
        EXPECT_FALSE(rig.records.collectives[8].contended);
        EXPECT_FALSE(rig.records.collectives[9].contended);
    }
}

// 64 MiB over 100 Gb/s at 80 ps a byte and 10 us: busy for 5.369 of 5.379 ms.
TEST(Analytical, FillsUtilisationAndFlags)
{
    NetworkRig rig(SmallCluster{});
    rig.UseAnalytical(false);
    rig.cost->calibratedRanks = 4;
    rig.TimeOf(CollectiveKind::ALL_REDUCE, 1000);
    EXPECT_TRUE(rig.records.collectives[0].extrapolated);
    EXPECT_EQ(rig.records.collectives[0].linkUtilization, 0);
    NetworkRig routed(SmallCluster{});
    routed.UseAnalytical();
    routed.SendReceive(0, 4, 64u << 20);
    Simulator::Run();
    const double us = 80e-6 * (64u << 20);
    EXPECT_NEAR(routed.records.collectives[0].linkUtilization, us / (us + 10), 1e-12);
}

TEST(Analytical, CostsOneEventAnInstance)
{
    SmallCluster cluster;
    cluster.hosts = 64;
    cluster.gpusPerHost = 8;
    NetworkRig rig(cluster);
    rig.UseAnalytical();
    const uint64_t before = Simulator::GetEventCount();
    rig.TimeOf(CollectiveKind::ALL_REDUCE, 1 << 20);
    EXPECT_EQ(rig.done, 512u);
    EXPECT_EQ(Simulator::GetEventCount() - before, 1u);
}

// Two rings through one leaf-to-spine link each way: together 2 x 1 of one uplink.
TEST(Footprint, CountsBytesAndDemand)
{
    SmallCluster cluster;
    cluster.hosts = 4;
    cluster.gpusPerHost = 2;
    cluster.hostsPerLeaf = 2;
    NetworkRig rig(cluster);
    const auto layout = MakeGroupLayout(rig.world, rig.placement);
    const CollectivePlan plan =
        MakePlan(layout, CollectiveKind::ALL_REDUCE, 8000, CollectiveAlgorithmKind::RING, 4);
    const auto algorithm = CreateCollectiveAlgorithm(CollectiveAlgorithmKind::RING);
    const Footprint footprint = MakeFootprint(plan, *algorithm, *rig.router);
    // 4 channels of 2000 B over 8 ranks: each connection carries 2 x 7/8 x 2000 = 3500 B. Channels
    // 0 and 2 enter host 0 at GPU 0, so two of them share each NIC.
    uint64_t onFabric = 0;
    for (const auto& [port, bytes] : footprint.bytes)
    {
        const bool fabric = rig.topology->IsFabricLink(Topology::LinkOf(port));
        const Device& from = rig.topology->GetDevice(rig.topology->OwnerOf(port));
        if (from.role == DeviceRole::NIC)
        {
            EXPECT_EQ(bytes, 7000u) << from.name;
        }
        onFabric += fabric ? bytes : 0;
    }
    // 16 connections between hosts cross 2 NIC links each; half of them 2 uplinks too.
    EXPECT_EQ(onFabric, 3500u * (16 * 2 + 8 * 2));
    double mostInside = 0;
    for (const auto& [port, demand] : footprint.demand)
    {
        if (!rig.topology->IsFabricLink(Topology::LinkOf(port)))
        {
            mostInside = std::max(mostInside, demand);
            continue;
        }
        const bool spine =
            rig.topology->GetDevice(rig.topology->OwnerOf(port)).role == DeviceRole::SPINE ||
            rig.topology->GetDevice(rig.topology->NeighborOf(port)).role == DeviceRole::SPINE;
        // A NIC gives its two channels what it has; two NICs of a host cross one uplink.
        EXPECT_NEAR(demand, spine ? 2 : 1, 1e-9);
    }
    // Links inside hosts carry no more bytes than NICs and are faster: those are the busiest.
    EXPECT_GT(mostInside, 0);
    EXPECT_LT(mostInside, 1);
    EXPECT_NEAR(PeakUtilization(footprint, *rig.topology, 1, NanoSeconds(80 * 14)), 1, 1e-9);
}

// NVLink SHARP on four GPUs: each link carries all of the sums and one share, 8000 x 5/4 B, not the
// 8000 x 2 x 3/4 of a ring.
TEST(Footprint, SwitchThatReducesLoadsLinksLess)
{
    SmallCluster cluster;
    cluster.hosts = 1;
    cluster.gpusPerHost = 4;
    NetworkRig rig(cluster);
    const auto layout = MakeGroupLayout(rig.world, rig.placement);
    const CollectivePlan plan =
        MakePlan(layout, CollectiveKind::ALL_REDUCE, 8000, CollectiveAlgorithmKind::NVLS, 4);
    const auto algorithm = CreateCollectiveAlgorithm(CollectiveAlgorithmKind::NVLS);
    const Footprint footprint = MakeFootprint(plan, *algorithm, *rig.router);
    ASSERT_FALSE(footprint.bytes.empty());
    for (const auto& [port, bytes] : footprint.bytes)
    {
        EXPECT_EQ(bytes, 10000u) << port.Get();
    }
}

TEST(FootprintTracker, SeesWhoSharesALink)
{
    const auto footprint = [](std::vector<std::pair<PortId, double>> demand) {
        auto made = std::make_shared<Footprint>();
        made->demand = std::move(demand);
        return made;
    };
    FootprintTracker tracker;
    EXPECT_TRUE(tracker.Add(CollectiveId(1), footprint({{PortId(0), 3}})).empty()) << "alone";
    EXPECT_TRUE(tracker.Add(CollectiveId(2), footprint({{PortId(4), 0.5}})).empty());
    EXPECT_TRUE(tracker.Add(CollectiveId(3), footprint({{PortId(4), 0.5}})).empty()) << "fits";
    EXPECT_THAT(tracker.GetSharing(CollectiveId(3)), ElementsAre(CollectiveId(2)));
    EXPECT_THAT(tracker.Add(CollectiveId(4), footprint({{PortId(0), 0.1}, {PortId(4), 0.1}})),
                ElementsAre(CollectiveId(1), CollectiveId(2), CollectiveId(3), CollectiveId(4)));
    tracker.Remove(CollectiveId(2));
    tracker.Remove(CollectiveId(2)); // gone already
    EXPECT_TRUE(tracker.Add(CollectiveId(5), footprint({{PortId(4), 0.4}})).empty());
    EXPECT_EQ(tracker.GetActiveCount(), 4u);
    // At the instant at which one ends, it is in nobody's way, whoever hears of it first.
    const auto whole = footprint({{PortId(9), 1}});
    EXPECT_TRUE(tracker.Add(CollectiveId(6), whole, MicroSeconds(1), MicroSeconds(3)).empty());
    EXPECT_THAT(tracker.Add(CollectiveId(7), whole, MicroSeconds(2), MicroSeconds(3)),
                ElementsAre(CollectiveId(6), CollectiveId(7)));
    EXPECT_TRUE(tracker.Add(CollectiveId(8), whole, MicroSeconds(3), MicroSeconds(4)).empty());
}

// A rank without a NIC cannot talk to another host; the message says which.
TEST(Footprint, RefusesHostsWithoutNics)
{
    auto topology = std::make_shared<Topology>();
    topology->AddDevice(DeviceRole::GPU, "host0/gpu0", HostId(0), 0);
    topology->AddDevice(DeviceRole::GPU, "host1/gpu0", HostId(1), 0);
    topology->Seal();
    NetworkRig rig(topology);
    rig.UseFlow();
    EXPECT_THROW(rig.JoinAll(Spec(CollectiveKind::ALL_REDUCE, 8), rig.world), UnsupportedError);
}

} // namespace
