// SPDX-License-Identifier: GPL-2.0-only
// Collectives step by step over fluid flows: exact times, bytes on links, and what must hold for
// every model of the network.

#include "network-rig.h"

#include "ns3/echo-footprint.h"
#include "ns3/echo-units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr auto RING = CollectiveAlgorithmKind::RING;
constexpr auto TREE = CollectiveAlgorithmKind::TREE;

double Milliseconds(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) * 1e-9;
}

// 64 MiB over 8 ranks: 14 steps of 8 MiB at 80 ps a byte and 2 us. At least 9.395 ms, within 8 %.
TEST(ScheduledFlow, RingAllReduceIsExact)
{
    NetworkRig rig(SmallCluster{});
    const auto backend = rig.UseFlow();
    const Time time = rig.TimeOf(CollectiveKind::ALL_REDUCE, 64u << 20);
    EXPECT_EQ(time, 14 * (PicoSeconds((8 << 20) * 80L) + MicroSeconds(2)));
    EXPECT_GE(Milliseconds(time), 9.395);
    EXPECT_LE(Milliseconds(time), 9.395 * 1.08);
    EXPECT_EQ(backend->GetMessageCount(), 8u * 14u);
    rig.ReportLinks();
    ASSERT_EQ(rig.records.links.size(), 16u);
    for (const auto& link : rig.records.links)
    {
        EXPECT_EQ(link.payloadBytes, 117440512u) << link.from << " to " << link.to;
        EXPECT_LE(link.peakRate, 1);
        EXPECT_EQ(link.busy, TxTime(117440512, link.rate));
    }
    const CollectiveRecord& record = rig.records.collectives.at(0);
    EXPECT_EQ(record.fidelity, Fidelity::FLOW);
    EXPECT_EQ(record.payloadBytes, 8u * 117440512u);
    EXPECT_NEAR(record.linkUtilization, 117440512 * 80e-9 / Milliseconds(time) * 1e-0, 1e-6);
    EXPECT_FALSE(record.contended);
    EXPECT_EQ(rig.records.flows.size(), 8u * 14u);
    EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
}

// 7 steps of 8 MiB; the chain of a broadcast in one piece of 1 MiB passes 7 links one by one.
TEST(ScheduledFlow, OtherRingsAreExact)
{
    const Time step = PicoSeconds((8 << 20) * 80L) + MicroSeconds(2);
    for (const auto kind : {CollectiveKind::ALL_GATHER, CollectiveKind::REDUCE_SCATTER})
    {
        NetworkRig rig(SmallCluster{});
        rig.UseFlow();
        EXPECT_EQ(rig.TimeOf(kind, 64u << 20), 7 * step) << ToString(kind);
    }
    for (const auto kind : {CollectiveKind::BROADCAST, CollectiveKind::REDUCE})
    {
        NetworkRig rig(SmallCluster{});
        rig.selector->SetAttribute("ChunkBytes", UintegerValue(1 << 20));
        rig.UseFlow();
        EXPECT_EQ(rig.TimeOf(kind, 1 << 20), 7 * (PicoSeconds((1 << 20) * 80L) + MicroSeconds(2)))
            << ToString(kind);
    }
    // 3 rounds of 8 B to one place on, two and four.
    NetworkRig rig(SmallCluster{});
    rig.UseFlow();
    EXPECT_EQ(rig.TimeOf(CollectiveKind::BARRIER, 0), 3 * (PicoSeconds(640) + MicroSeconds(2)));
}

// A chain of 4 links, 8 MiB in 8 pieces: the last rank has the first piece after 3 hops and the
// rest follow at link rate: (8 + 2) pieces and 3 x 2 us.
TEST(ScheduledFlow, PiecesPipelineAlongAChain)
{
    SmallCluster cluster;
    cluster.hosts = 4;
    NetworkRig rig(cluster);
    rig.selector->SetAttribute("ChunkBytes", UintegerValue(1 << 20));
    rig.UseFlow();
    EXPECT_EQ(rig.TimeOf(CollectiveKind::BROADCAST, 8 << 20),
              10 * PicoSeconds((1 << 20) * 80L) + MicroSeconds(6));
}

// All-to-all of 8 ranks, 8 MiB each: 7 rounds of 1 MiB leave every NIC one after another or side by
// side; NICs are never idle: 7 MiB at 80 ps a byte and one path delay.
TEST(ScheduledFlow, AllToAllFillsTheNics)
{
    NetworkRig rig(SmallCluster{});
    rig.UseFlow();
    // A seventh of 100 Gb/s is no whole number of bits per second: rounded, 1 ps later.
    const int64_t least = (7 << 20) * 80L + 2000000;
    const int64_t time = rig.TimeOf(CollectiveKind::ALL_TO_ALL, 8 << 20).GetPicoSeconds();
    EXPECT_GE(time, least);
    EXPECT_LE(time, least + 7);
    EXPECT_EQ(rig.records.flows.size(), 56u);
    for (const auto& flow : rig.records.flows)
    {
        EXPECT_EQ(flow.bytes, 1u << 20);
    }
}

TEST(ScheduledFlow, AllToAllVFollowsItsSplits)
{
    NetworkRig rig(SmallCluster{}, 3);
    rig.UseFlow();
    const std::vector<std::vector<uint64_t>> splits{{9, 0, 5}, {7, 0, 0}, {1, 2, 3}};
    for (uint32_t rank = 0; rank < 3; ++rank)
    {
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_TO_ALL_V;
        spec.sendBytes = splits[rank];
        rig.backend->Join(spec, rig.world, RankId(rank), "v", [](const CommunicationTimes&) {});
    }
    Simulator::Run();
    std::map<std::pair<std::string, std::string>, uint64_t> moved;
    for (const auto& flow : rig.records.flows)
    {
        moved[{rig.topology->GetDevice(flow.source).name,
               rig.topology->GetDevice(flow.destination).name}] += flow.bytes;
    }
    const std::map<std::pair<std::string, std::string>, uint64_t> expected{
        {{"host0/nic0", "host2/nic0"}, 5},
        {{"host1/nic0", "host0/nic0"}, 7},
        {{"host2/nic0", "host0/nic0"}, 1},
        {{"host2/nic0", "host1/nic0"}, 2},
    };
    EXPECT_EQ(moved, expected);
    EXPECT_EQ(rig.records.collectives.at(0).payloadBytes, 15u);
}

// Steps cost their overhead and reduced bytes; per rank 14 steps of a ring follow one another, 7 of
// them reduce; the very last one only receives.
TEST(ScheduledFlow, StepCostsAreAdded)
{
    NetworkRig rig(SmallCluster{});
    const auto backend = rig.UseFlow();
    backend->SetAttribute("StepOverhead", TimeValue(NanoSeconds(500)));
    backend->SetAttribute("ReductionRate", DataRateValue(DataRate("800Gbps")));
    const Time transfer = PicoSeconds((8 << 20) * 80L) + MicroSeconds(2);
    const Time reduction = PicoSeconds((8 << 20) * 10L);
    // 15 steps: a first that sends, 7 that reduce, 6 that pass on, a last that receives.
    EXPECT_EQ(rig.TimeOf(CollectiveKind::ALL_REDUCE, 64u << 20),
              14 * transfer + 15 * NanoSeconds(500) + 7 * reduction);
}

// 2 hosts of 8 GPUs, 50 GB/s NICs, 1 GiB, 8 channels. Ring: 251,658,240 B a NIC and direction, at
// least 5.033 ms. Tree: 134,217,728 B, at least 2.684 ms, which may beat the ring.
TEST(ScheduledFlow, RingAndTreeOnTwoHosts)
{
    SmallCluster cluster;
    cluster.hosts = 2;
    cluster.gpusPerHost = 8;
    cluster.nicRate = "400Gbps";
    cluster.nvlinkRate = "7200Gbps";
    const auto run = [&](CollectiveAlgorithmKind algorithm, uint64_t bytesPerNic) {
        NetworkRig rig(cluster);
        rig.UseFlow();
        const Time time = rig.TimeOf(CollectiveKind::ALL_REDUCE, 1u << 30, algorithm);
        rig.ReportLinks();
        uint32_t nics = 0;
        for (const auto& link : rig.records.links)
        {
            EXPECT_LE(link.peakRate, 1);
            if (link.fromRole == DeviceRole::NIC || link.toRole == DeviceRole::NIC)
            {
                EXPECT_EQ(link.payloadBytes, bytesPerNic) << link.from << " to " << link.to;
                ++nics;
            }
        }
        EXPECT_EQ(nics, 32u);
        return Milliseconds(time);
    };
    const double ring = run(RING, 251658240);
    const double tree = run(TREE, 134217728);
    EXPECT_GE(ring, 5.033);
    EXPECT_LE(ring, 5.033 * 1.08);
    EXPECT_LE(2.0 * 15 / 16 * (1u << 30) / (ring * 1e6), 400); // busbw, GB/s
    EXPECT_GE(tree, 2.684);
    EXPECT_LT(tree, ring);
}

// 4 GPUs share 2 NICs (Polaris): 2 channels use both NICs alike. GPUs 0 and 1 have NIC 0, so the
// second channel enters at GPU 2.
TEST(ScheduledFlow, ChannelsSpreadOverSharedNics)
{
    SmallCluster cluster;
    cluster.hosts = 4;
    cluster.gpusPerHost = 4;
    cluster.gpusPerNic = 2;
    for (const auto algorithm : {RING, TREE})
    {
        NetworkRig rig(cluster);
        rig.UseFlow();
        rig.TimeOf(CollectiveKind::ALL_REDUCE, 64u << 20, algorithm);
        EXPECT_EQ(rig.records.collectives.at(0).channels, 2u);
        rig.ReportLinks();
        std::map<std::string, uint64_t> sent;
        for (const auto& link : rig.records.links)
        {
            if (link.fromRole == DeviceRole::NIC)
            {
                sent[link.from] = link.payloadBytes;
            }
        }
        ASSERT_EQ(sent.size(), 8u) << "every NIC sends";
        for (uint32_t host = 0; host < 4; ++host)
        {
            const std::string name = "host" + std::to_string(host);
            EXPECT_EQ(sent[name + "/nic0"], sent[name + "/nic1"]) << ToString(algorithm);
        }
        if (algorithm == RING)
        {
            EXPECT_EQ(sent["host0/nic0"], 2 * 15 * (64u << 20) / 16 / 2);
        }
    }
}

// 8 KiB on 64 ranks: a ring has 126 steps in a row, a tree some 20.
TEST(ScheduledFlow, TreeBeatsRingForSmallMessages)
{
    SmallCluster cluster;
    cluster.gpusPerHost = 8;
    const auto time = [&](CollectiveAlgorithmKind algorithm) {
        NetworkRig rig(cluster);
        rig.UseFlow();
        return rig.TimeOf(CollectiveKind::ALL_REDUCE, 8 << 10, algorithm);
    };
    EXPECT_LT(time(TREE), time(RING));
}

/** Every kind of collective once, for what must hold for all. */
const std::vector<std::pair<CollectiveKind, CollectiveAlgorithmKind>> EVERYTHING{
    {CollectiveKind::ALL_REDUCE, RING},
    {CollectiveKind::ALL_REDUCE, TREE},
    {CollectiveKind::ALL_GATHER, RING},
    {CollectiveKind::REDUCE_SCATTER, RING},
    {CollectiveKind::BROADCAST, RING},
    {CollectiveKind::REDUCE, RING},
    {CollectiveKind::ALL_TO_ALL, CollectiveAlgorithmKind::AUTO},
    {CollectiveKind::BARRIER, RING},
};

/** 6 hosts of 4 on three leaves with a shared uplink each. */
SmallCluster Mixed()
{
    SmallCluster cluster;
    cluster.hosts = 6;
    cluster.gpusPerHost = 4;
    cluster.hostsPerLeaf = 2;
    cluster.uplinkRate = "200Gbps";
    return cluster;
}

struct Outcome
{
    Time time;
    Time bound; //!< largest of bytes / rate over links
    std::vector<std::pair<std::string, uint64_t>> bytes;
    std::vector<int64_t> ends;
};

Outcome RunOn(const SmallCluster& cluster,
              CollectiveKind kind,
              CollectiveAlgorithmKind algorithm,
              uint64_t bytes,
              const std::vector<uint32_t>& order = {},
              uint32_t ranks = 0)
{
    NetworkRig rig(cluster, ranks);
    rig.UseFlow();
    CommGroupPtr group = rig.world;
    if (!order.empty())
    {
        std::vector<RankId> members;
        for (const uint32_t rank : order)
        {
            members.emplace_back(rank);
        }
        group = std::make_shared<const CommGroup>(GroupId(0), GroupKind::WORLD, "world", members);
    }
    Outcome outcome;
    outcome.time = rig.TimeOf(kind, bytes, algorithm, group);
    rig.ReportLinks();
    for (const auto& link : rig.records.links)
    {
        outcome.bound = std::max(outcome.bound, TxTime(link.payloadBytes, link.rate));
        outcome.bytes.emplace_back(link.from + ">" + link.to, link.payloadBytes);
        EXPECT_LE(link.peakRate, 1);
    }
    for (const auto& flow : rig.records.flows)
    {
        outcome.ends.push_back(flow.end.GetPicoSeconds());
    }
    EXPECT_EQ(rig.done, group->GetSize());
    EXPECT_EQ(rig.flow->GetTotals().liveFlows, 0u);
    return outcome;
}

TEST(EveryCollectiveInFlow, IsBoundedRepeatableAndFair)
{
    for (const auto& [kind, algorithm] : EVERYTHING)
    {
        SCOPED_TRACE(std::string(ToString(kind)) + " " + ToString(algorithm));
        const uint64_t bytes = (8 << 20) + 13;
        const Outcome base = RunOn(Mixed(), kind, algorithm, bytes);
        EXPECT_GE(base.time, base.bound);
        EXPECT_LE(base.time, 12 * base.bound + MilliSeconds(1)) << "far from any bound";
        const Outcome again = RunOn(Mixed(), kind, algorithm, bytes);
        EXPECT_EQ(again.time, base.time);
        EXPECT_EQ(again.ends, base.ends);
        EXPECT_EQ(again.bytes, base.bytes);
        // More bytes never end earlier. (With single bytes more, who shares a link with whom may
        // shift by less than a nanosecond; steps of at least 1 % are beyond that.)
        Time before;
        for (const uint64_t size : {1u, 7u, 1000u, 100000u, 1000000u, 1010000u, 3000000u, 3030001u})
        {
            const Time time = RunOn(Mixed(), kind, algorithm, size).time;
            EXPECT_GE(time.GetPicoSeconds(), before.GetPicoSeconds()) << size;
            before = time;
        }
    }
}

// Members in another order are the same GPUs: the same bytes on the same links at the same times.
// Roots are member 0, so broadcast and reduce keep theirs in front.
TEST(EveryCollectiveInFlow, DoesNotDependOnTheOrderOfMembers)
{
    std::vector<uint32_t> order{0};
    for (uint32_t rank = 23; rank > 0; --rank)
    {
        order.push_back(rank);
    }
    for (const auto& [kind, algorithm] : EVERYTHING)
    {
        SCOPED_TRACE(std::string(ToString(kind)) + " " + ToString(algorithm));
        const uint64_t bytes = 24u << 17; // the same for every member, whatever its index
        const Outcome base = RunOn(Mixed(), kind, algorithm, bytes);
        const Outcome other = RunOn(Mixed(), kind, algorithm, bytes, order);
        EXPECT_EQ(other.time, base.time);
        EXPECT_EQ(other.ends, base.ends);
        EXPECT_EQ(other.bytes, base.bytes);
    }
}

// Twice every rate: the part that is not delay halves. 24 ranks x 4 channels divide the bytes, so
// nothing is rounded but single picoseconds.
TEST(EveryCollectiveInFlow, DoublingRatesHalvesTheSerialPart)
{
    for (const auto& [kind, algorithm] : EVERYTHING)
    {
        SCOPED_TRACE(std::string(ToString(kind)) + " " + ToString(algorithm));
        SmallCluster slow = Mixed();
        slow.nicDelay = slow.nvlinkDelay = Time();
        SmallCluster fast = slow;
        fast.nicRate = "200Gbps";
        fast.uplinkRate = "400Gbps";
        fast.nvlinkRate = "7200Gbps";
        const Time one = RunOn(slow, kind, algorithm, 24u << 17).time;
        const Time two = RunOn(fast, kind, algorithm, 24u << 17).time;
        EXPECT_NEAR(static_cast<double>(one.GetPicoSeconds()),
                    2.0 * static_cast<double>(two.GetPicoSeconds()),
                    1e-6 * static_cast<double>(one.GetPicoSeconds()) + 500);
    }
}

TEST(EveryCollectiveInFlow, IdleHostsChangeNothing)
{
    for (const auto& [kind, algorithm] : EVERYTHING)
    {
        SmallCluster larger = Mixed();
        larger.hosts = 8; // a leaf more
        const Outcome base = RunOn(Mixed(), kind, algorithm, 1 << 20, {}, 24);
        const Outcome other = RunOn(larger, kind, algorithm, 1 << 20, {}, 24);
        EXPECT_EQ(other.time, base.time) << ToString(kind);
        EXPECT_EQ(other.bytes, base.bytes) << ToString(kind);
    }
}

// What flows put on links is what footprints say, and so are the connections of every algorithm.
TEST(EveryCollectiveInFlow, LoadsLinksAsItsFootprintSays)
{
    for (const auto& [kind, algorithm] : EVERYTHING)
    {
        SCOPED_TRACE(std::string(ToString(kind)) + " " + ToString(algorithm));
        NetworkRig rig(Mixed());
        rig.UseFlow();
        CollectiveSpec spec;
        spec.kind = kind;
        spec.bytes = 1000003;
        spec.algorithm = algorithm;
        CollectivePlan plan;
        plan.spec = spec;
        plan.layout = MakeGroupLayout(rig.world, rig.placement);
        plan.choice = rig.selector->Select(spec, *plan.layout);
        const Footprint footprint =
            MakeFootprint(plan, *CreateCollectiveAlgorithm(plan.choice.algorithm), *rig.router);
        rig.JoinAll(spec, rig.world);
        Simulator::Run();
        rig.ReportLinks();
        std::vector<std::pair<PortId, uint64_t>> bytes;
        for (const auto& link : rig.records.links)
        {
            bytes.emplace_back(link.port, link.payloadBytes);
        }
        EXPECT_EQ(bytes, footprint.bytes);
    }
}

// Two collectives of one group that run at the same time keep their messages apart; both end, and
// neither before it could alone.
TEST(ScheduledFlow, InstancesOfAGroupMayOverlap)
{
    NetworkRig rig(SmallCluster{});
    rig.UseFlow();
    CollectiveSpec spec;
    spec.bytes = 64u << 20;
    rig.JoinAll(spec, rig.world);
    spec.bytes = 1 << 20;
    rig.JoinAll(spec, rig.world);
    Simulator::Run();
    EXPECT_EQ(rig.done, 16u);
    ASSERT_EQ(rig.records.collectives.size(), 2u);
    for (const auto& record : rig.records.collectives)
    {
        EXPECT_GE(record.end - record.start,
                  14 * (TxTime(record.bytes / 8, DataRate("100Gbps")) + MicroSeconds(2)));
        EXPECT_TRUE(record.contended) << "they share every NIC";
    }
}

// Many in a row leave nothing behind.
TEST(ScheduledFlow, ManyInARow)
{
    NetworkRig rig(SmallCluster{});
    const auto backend = rig.UseFlow();
    Time first;
    for (int i = 0; i < 200; ++i)
    {
        const Time time = rig.TimeOf(CollectiveKind::ALL_REDUCE, 1 << 20);
        first = i == 0 ? time : first;
        EXPECT_EQ(time, first);
    }
    EXPECT_EQ(backend->GetMessageCount(), 200u * 8u * 14u);
    EXPECT_EQ(backend->GetCompletedCount(), 200u);
    EXPECT_TRUE(backend->DescribeUnfinished().empty());
}

} // namespace
