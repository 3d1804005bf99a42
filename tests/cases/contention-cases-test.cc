// SPDX-License-Identifier: GPL-2.0-only
// Communications that meet on an oversubscribed fabric: how close estimates and hybrid runs come to
// packets, and what they say of it.

#include "case-harness.h"

#include <cmath>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** A scenario without a profile, as packets know the network only. */
std::string Header(const std::string& fidelity, const std::string& hybrid = "{}")
{
    return "echo: 1\nname: contention\nfidelity: " + fidelity + "\nhybrid: " + hybrid +
           "\nestimator: {profile: derived}\n";
}

std::string LeafSpine(uint32_t hostsPerLeaf, uint32_t uplinks)
{
    return "{type: leaf-spine, hosts_per_leaf: " + std::to_string(hostsPerLeaf) +
           ", spines: " + std::to_string(uplinks) + ", uplinks: " + std::to_string(uplinks) +
           ", link_rate: 100Gbps, link_delay: 1us}";
}

/** A mix of communications, with the fabric that they meet on. */
struct Mix
{
    const char* name;
    uint32_t hostsPerLeaf;
    uint32_t uplinks;
    const char* collectives;
};

const std::vector<Mix> MIXES{
    {"three equal rings in step",
     8,
     4,
     "    - {op: all-reduce, bytes: 4MiB, repeat: 8, compute: 200us, groups: {size: 4, stride: "
     "4}}\n"},
    {"four operations of different sizes",
     8,
     2,
     "    - {op: all-reduce, bytes: 8MiB, repeat: 5, compute: 300us, ranks: [0, 4, 8, 12]}\n"
     "    - {op: all-gather, bytes: 16MiB, repeat: 5, compute: 500us, ranks: [1, 5, 9, 13]}\n"
     "    - {op: all-to-all, bytes: 4MiB, repeat: 10, compute: 100us, ranks: [2, 6, 10, 14]}\n"
     "    - {op: reduce-scatter, bytes: 8MiB, repeat: 5, compute: 1ms, ranks: [3, 7, 11, 15]}\n"},
    {"two groups that begin apart",
     4,
     1,
     "    - {op: all-reduce, bytes: 16MiB, repeat: 3, compute: 200us, ranks: 0-14/2}\n"
     "    - {op: all-reduce, bytes: 16MiB, repeat: 3, compute: 700us, ranks: 1-15/2}\n"},
    {"an all-to-all beside an all-reduce",
     4,
     2,
     "    - {op: all-to-all, bytes: 8MiB, repeat: 4, compute: 500us, ranks: 0-14/2}\n"
     "    - {op: all-reduce, bytes: 8MiB, repeat: 4, compute: 500us, ranks: 1-15/2}\n"},
};

CapturedRun RunMix(const Mix& mix, const std::string& fidelity, const std::string& hybrid = "{}")
{
    return RunText(Header(fidelity, hybrid) +
                   CaseCluster(16, LeafSpine(mix.hostsPerLeaf, mix.uplinks)) +
                   "workload:\n  collectives:\n" + mix.collectives);
}

void ExpectNoLinkAboveFull(const CapturedRun& run, const char* name)
{
    for (const auto& link : run.links)
    {
        EXPECT_LE(link.busy, run.run.stepTime) << name << ": " << link.from << " to " << link.to;
    }
}

TEST(HybridMix, TrainsAreWithinThreePercentOfPackets)
{
    for (const Mix& mix : MIXES)
    {
        const CapturedRun packet = RunMix(mix, "packet");
        const CapturedRun trains = RunMix(mix, "hybrid", "{contended: flow}");
        ASSERT_EQ(packet.error, "") << mix.name;
        ASSERT_EQ(trains.error, "") << mix.name;
        EXPECT_NEAR(Milliseconds(trains.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.03)
            << mix.name;
        EXPECT_LT(trains.run.events * 20, packet.run.events) << mix.name;
        EXPECT_EQ(trains.run.packets, 0u) << mix.name;
        ExpectNoLinkAboveFull(trains, mix.name);
    }
}

// An estimate that is too long does not hold links once the packets are through: two equal
// communications behind them take as long, and later samples as long as the first.
TEST(HybridRules, WhatHasEndedIsOffItsLinks)
{
    const auto run = [](const std::string& hybrid, const std::string& collectives) {
        const CapturedRun made = RunText(
            Header("hybrid", hybrid) +
            "attributes: {'ns3::echo::DerivedCostModel::StepOverhead': 200us}\n" +
            CaseCluster(4, LeafSpine(4, 1)) + "workload: {collectives: [" + collectives + "]}\n");
        EXPECT_EQ(made.error, "");
        std::vector<double> us;
        for (const CollectiveRecord& record : made.collectives)
        {
            us.push_back((record.end - record.start).GetSeconds() * 1e6);
        }
        return us;
    };
    const auto behind = run("{policy: rules, meeting: apart, rules: [{op: all-gather, fidelity: "
                            "packet}]}",
                            "{op: all-gather, bytes: 16MiB}, {op: reduce-scatter, bytes: 1MiB, "
                            "repeat: 2}");
    ASSERT_EQ(behind.size(), 3u);
    EXPECT_DOUBLE_EQ(behind[1], behind[2]);
    const auto sampled = run("{policy: sampled}", "{op: all-gather, bytes: 16MiB, repeat: 6}");
    ASSERT_EQ(sampled.size(), 6u);
    for (const double us : sampled)
    {
        EXPECT_NEAR(us / sampled.front(), 1, 1e-3);
    }
}

TEST(HybridRules, EstimatesShareLinksAsInAnalyticalFidelity)
{
    const std::string rest = CaseCluster(4, LeafSpine(2, 1)) +
                             "workload:\n  collectives:\n"
                             "    - {op: send-recv, bytes: 64MiB, pairs: [[0, 2], [1, 3]]}\n"
                             "    - {op: all-reduce, bytes: 1KiB}\n";
    const CapturedRun analytical = RunText(Header("analytical") + rest);
    const CapturedRun hybrid = RunText(
        Header("hybrid", "{policy: rules, rules: [{op: all-reduce, fidelity: packet}]}") + rest);
    ASSERT_EQ(hybrid.error, "");
    EXPECT_NEAR(Milliseconds(hybrid.run.stepTime), Milliseconds(analytical.run.stepTime), 0.01);
    for (const LinkRecord& link : hybrid.links)
    {
        EXPECT_LE(link.busy, hybrid.run.stepTime) << link.from << " " << link.to;
    }
}

TEST(HybridMix, TrainsSayThatTheyKnowNoCongestionControl)
{
    const std::string work = CaseCluster(4) +
                             "network: {congestion_control: hpcc}\n"
                             "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n";
    const CapturedRun trains = RunText(Header("hybrid", "{contended: flow}") + work);
    EXPECT_THAT(trains.run.warnings,
                testing::Contains(HasSubstr("no heed of network.congestion_control")));
    const CapturedRun packets = RunText(Header("hybrid", "{contended: packet}") + work);
    EXPECT_THAT(packets.run.warnings, testing::IsEmpty());
    const CapturedRun none = RunText(Header("hybrid", "{contended: flow}") + CaseCluster(4) +
                                     "network: {congestion_control: none}\n"
                                     "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n");
    EXPECT_THAT(none.run.warnings, testing::IsEmpty());
}

/** Sixteen ranks, two a host, whose leaves have an uplink of 50 Gb/s to each of two spines. */
std::string NarrowCluster()
{
    return "cluster:\n  name: narrow\n  hosts: 8\n  gpu: {name: any}\n"
           "  host: {gpus: 2, nics: 2, nvlink: {type: nvswitch, rate: 300GB/s}, "
           "nic: {rate: 400Gbps, delay: 500ns}}\n"
           "  fabric: {type: leaf-spine, hosts_per_leaf: 2, spines: 2, uplinks: 2, "
           "link_rate: 50Gbps}\n";
}

// An estimate of an all-to-all of two channels counts the ways that its messages take: none is
// sooner done than the bytes of its busiest link, and its time follows that of flows from seed to
// seed.
TEST(AllToAll, OfSeveralChannelsIsEstimatedOnItsOwnWays)
{
    const std::string work =
        NarrowCluster() + "workload: {collectives: [{op: all-to-all, bytes: 1000000}]}\n";
    for (int seed = 1; seed <= 6; ++seed)
    {
        const std::string text = "seed: " + std::to_string(seed) + "\n" + work;
        const CapturedRun estimate = RunText(Header("analytical") + text);
        const CapturedRun flow = RunText(Header("flow") + text);
        EXPECT_LE(estimate.collectives.at(0).linkUtilization, 1) << seed;
        EXPECT_NEAR(estimate.run.stepTime.GetSeconds() / flow.run.stepTime.GetSeconds(), 1, 0.12)
            << seed;
    }
}

// Balanced packet by packet, or around a failure, a message does not load the way that the router
// would have given it.
TEST(LinkUse, OfACommunicationPassesNoLinksRateWhereWaysChange)
{
    const std::string work =
        NarrowCluster() +
        "workload: {collectives: [{op: send-recv, bytes: 4MiB, pairs: [[8, 12], [14, 3], [6, 10], "
        "[1, 5]]}]}\n";
    for (const std::string setting : {"network: {load_balancing: adaptive}\n",
                                      "network: {load_balancing: spray}\n",
                                      "failures: [{time: 0us, switch: spine0, state: down}]\n"})
    {
        for (int seed = 1; seed <= 4; ++seed)
        {
            const CapturedRun run =
                RunText(Header("packet") + setting + "seed: " + std::to_string(seed) + "\n" + work);
            ASSERT_EQ(run.collectives.size(), 4u) << run.error;
            for (const CollectiveRecord& record : run.collectives)
            {
                EXPECT_GT(record.linkUtilization, 0) << setting;
                EXPECT_LE(record.linkUtilization, 1) << setting;
            }
        }
    }
}

TEST(HybridMix, AboveTheBudgetOfPacketsItSaysThatTrainsRanAndWhatTheyLeaveOut)
{
    const CapturedRun run = RunText(
        Header("hybrid", "{packet_hop_budget: 1000}") + CaseCluster(16, LeafSpine(8, 4)) +
        "network: {congestion_control: dcqcn}\n"
        "workload: {collectives: [{op: all-reduce, bytes: 1MiB, groups: {size: 4, stride: 4}}]}\n");
    EXPECT_THAT(run.run.warnings, testing::Contains(HasSubstr("they ran as trains of packets")));
    EXPECT_THAT(run.run.warnings,
                testing::Contains(HasSubstr("take no heed of network.congestion_control")));
}

// A rule for one operation, and groups that meet others: they are served by one model, or as the
// rules say and marked.
TEST(HybridRules, WhoMeetIsServedByOneModel)
{
    const Mix& mix = MIXES[1];
    const CapturedRun packet = RunMix(mix, "packet");
    const std::string rules = "{policy: rules, rules: [{op: all-reduce, fidelity: packet}]";
    const CapturedRun together = RunMix(mix, "hybrid", rules + "}");
    const CapturedRun apart = RunMix(mix, "hybrid", rules + ", meeting: apart}");
    ASSERT_EQ(together.error, "");
    ASSERT_EQ(apart.error, "");
    const auto uncoupled = [](const CapturedRun& run) {
        return std::count_if(run.collectives.begin(), run.collectives.end(), [](const auto& row) {
            return row.uncoupled;
        });
    };
    EXPECT_EQ(uncoupled(together), 0);
    EXPECT_GT(uncoupled(apart), 0);
    for (const auto& row : apart.collectives)
    {
        EXPECT_EQ(row.fidelity,
                  row.kind == CollectiveKind::ALL_REDUCE ? Fidelity::PACKET : Fidelity::ANALYTICAL);
    }
    EXPECT_NEAR(Milliseconds(together.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.03);
    for (const std::string ignored :
         {"{policy: sampled, meeting: apart}",
          "{policy: contention, samples: 3}",
          "{policy: sampled, packet_hop_budget: 1}",
          "{policy: rules, contended: flow, rules: [{fidelity: packet}]}"})
    {
        const CapturedRun refused = RunMix(mix, "hybrid", ignored);
        EXPECT_EQ(refused.exitCode, 2) << ignored;
        EXPECT_THAT(refused.error, HasSubstr(" beside policy '")) << ignored;
    }
}

// Three equal rings on one link drift apart in packets until it is always busy: samples follow them
// until they have.
TEST(HybridMix, WhatIsInStepIsSampledUntilItHasDriftedApart)
{
    const Mix& rings = MIXES[0];
    const Mix longer{rings.name,
                     rings.hostsPerLeaf,
                     rings.uplinks,
                     "    - {op: all-reduce, bytes: 4MiB, repeat: 20, compute: 200us, groups: "
                     "{size: 4, stride: 4}}\n"};
    const double packet = Milliseconds(RunMix(longer, "packet").run.stepTime);
    for (const std::string contended : {"packet", "flow"})
    {
        const CapturedRun sampled =
            RunMix(longer, "hybrid", "{policy: sampled, contended: " + contended + "}");
        ASSERT_EQ(sampled.error, "");
        EXPECT_NEAR(Milliseconds(sampled.run.stepTime) / packet, 1, 0.03) << contended;
    }
}

TEST(IgnoredSettings, AreNamedOrRefused)
{
    const std::string rest = CaseCluster(4) +
                             "network: {congestion_control: dcqcn, pfc: false, classes: [{groups: "
                             "[tp]}]}\n"
                             "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n";
    for (const std::string fidelity : {"flow", "analytical"})
    {
        const CapturedRun run = RunText(Header(fidelity) +
                                        "attributes: {ns3::echo::PacketNetwork::Retransmission: "
                                        "selective-repeat}\n" +
                                        rest);
        ASSERT_EQ(run.error, "") << fidelity;
        EXPECT_THAT(run.run.warnings,
                    testing::Contains(testing::AllOf(
                        HasSubstr("network.congestion_control, network.pfc, network.classes"),
                        HasSubstr("PacketNetwork::Retransmission"))))
            << fidelity;
        const CapturedRun lossy = RunText(
            Header(fidelity) + "attributes: {ns3::echo::PacketNetwork::LossRate: 0.01}\n" + rest);
        EXPECT_EQ(lossy.exitCode, 2) << fidelity;
        EXPECT_THAT(lossy.error,
                    HasSubstr("LossRate: estimates, flows and trains have no packets"));
    }
    EXPECT_THAT(RunText(Header("packet") + rest).run.warnings, testing::IsEmpty());
    const std::string small = CaseCluster(4) + "network: {mtu: 1024}\n"
                                               "workload: {collectives: [{op: all-reduce, bytes: "
                                               "1MiB}]}\n";
    EXPECT_THAT(RunText(Header("flow") + small).run.warnings,
                testing::Contains(HasSubstr("take no heed of network.mtu")));
    EXPECT_THAT(RunText(Header("analytical") + small).run.warnings, testing::IsEmpty()); // derived
    // Hybrid fidelity estimates what meets nobody, whose packets would be lost: refused before it
    // is known who meets.
    for (const std::string policy : {"contention", "sampled"})
    {
        EXPECT_EQ(RunText(Header("hybrid") + "hybrid: {policy: " + policy +
                          "}\nattributes: {ns3::echo::PacketNetwork::LossRate: 0.01}\n" + rest)
                      .exitCode,
                  2)
            << policy;
    }
}

TEST(HybridMix, SamplesLoadNoLinkAboveFull)
{
    for (const Mix& mix : MIXES)
    {
        for (const std::string hybrid : {"{policy: sampled}", "{policy: sampled, contended: flow}"})
        {
            const CapturedRun sampled = RunMix(mix, "hybrid", hybrid);
            ASSERT_EQ(sampled.error, "") << mix.name;
            ExpectNoLinkAboveFull(sampled, mix.name);
            EXPECT_THAT(sampled.run.warnings, testing::Contains(HasSubstr("were sampled")));
        }
    }
}

// Packets hold up a sample that others are beside for longer than fair shares would: what they cost
// it is not its own time, which estimates that run alone at the end would take otherwise.
TEST(HybridMix, ASampleThatOthersStarveDoesNotStandForThoseThatRunAlone)
{
    const std::string rest = CaseCluster(8) +
                             "workload:\n  concurrent: true\n  collectives:\n"
                             "    - {op: all-reduce, bytes: 4MiB, repeat: 8, ranks: all}\n"
                             "    - {op: all-to-all, bytes: 4MiB, repeat: 8, ranks: all}\n";
    const CapturedRun packet = RunText(Header("packet") + rest);
    const CapturedRun sampled = RunText(Header("hybrid", "{policy: sampled, samples: 1}") + rest);
    ASSERT_EQ(sampled.error, "");
    EXPECT_NEAR(Milliseconds(sampled.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.12);
}

// All parts of a message that is spread over four ways share its NIC as the one message to a host
// of the same leaf does.
TEST(Spread, PartsOfAMessageShareLinksAsOne)
{
    const std::string rest =
        CaseCluster(8, LeafSpine(4, 4)) +
        "network: {load_balancing: spray}\n"
        "workload: {collectives: [{op: send-recv, bytes: 8MiB, pairs: [[0, 1], [0, 4]]}]}\n";
    for (const auto& [fidelity, hybrid] : {std::pair("packet", "{}"),
                                           std::pair("flow", "{}"),
                                           std::pair("hybrid", "{contended: flow}")})
    {
        const CapturedRun run = RunText(Header(fidelity, hybrid) + rest);
        ASSERT_EQ(run.collectives.size(), 2u) << run.error;
        const double first = Milliseconds(run.collectives[0].end - run.collectives[0].start);
        const double second = Milliseconds(run.collectives[1].end - run.collectives[1].start);
        EXPECT_NEAR(first / second, 1, 0.05) << fidelity;
        EXPECT_NEAR(second, 16 * 1.048576 / 12.5, 0.1) << fidelity;
    }
}

// Two ports at each of two switches in a row, which are no spines: a message has four ways.
TEST(Spread, WaysDivideAtEverySwitchWhateverItsRole)
{
    std::string cluster = "cluster:\n  name: diamond\n  hosts: 2\n  gpu: {name: any}\n"
                          "  host: {gpus: 1, nics: 1, nic: {rate: 400Gbps, delay: 1us}}\n"
                          "  fabric:\n    type: graph\n    load_balancing: spray\n    nodes:\n";
    for (const std::string name : {"a", "b", "c", "d", "e", "f"})
    {
        cluster += "      - {name: " + name + ", role: " + (name < "c" ? "leaf" : "core") + "}\n";
    }
    cluster += "    links:\n      - {a: host0/nic0, b: a}\n      - {a: host1/nic0, b: b}\n";
    for (const std::string ends : {"ac", "ad", "eb", "fb", "ce", "cf", "de", "df"})
    {
        const bool isInner = ends[0] != 'a' && ends[1] != 'b';
        cluster += "      - {a: " + ends.substr(0, 1) + ", b: " + ends.substr(1) +
                   ", rate: " + (isInner ? "100" : "200") + "Gbps, delay: 1us}\n";
    }
    const CapturedRun run =
        RunText(Header("flow") + cluster +
                "workload: {collectives: [{op: send-recv, bytes: 16MiB, pairs: [[0, 1]]}]}\n");
    ASSERT_EQ(run.error, "");
    EXPECT_NEAR(Milliseconds(run.run.stepTime), 16 * 1.048576 / 50, 0.01);
}

// One of four spines is gone: messages that begin after that are divided by three.
TEST(Spread, WaysAreCountedAgainWhenLinksFail)
{
    const CapturedRun run =
        RunText(Header("flow") + CaseCluster(8, LeafSpine(4, 4)) +
                "network: {load_balancing: spray, reroute_delay: 10us}\n"
                "failures: [{time: 0us, switch: spine0, state: down}]\n"
                "workload: {collectives: [{op: send-recv, bytes: 4MiB, repeat: 4, "
                "pairs: [[0, 4], [1, 5], [2, 6], [3, 7]]}]}\n");
    ASSERT_EQ(run.error, "");
    EXPECT_NEAR(Milliseconds(run.run.stepTime), 16 * 1.048576 / 12.5 * 4 / 3, 0.1);
}

// Estimates share links: within 15 % of packets, or else said to be contended; here both.
TEST(AnalyticalMix, IsWithinFifteenPercentOfPacketsAndSaysContended)
{
    for (const Mix& mix : MIXES)
    {
        const CapturedRun packet = RunMix(mix, "packet");
        const CapturedRun analytical = RunMix(mix, "analytical");
        ASSERT_EQ(analytical.error, "") << mix.name;
        EXPECT_NEAR(
            Milliseconds(analytical.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.15)
            << mix.name;
        EXPECT_THAT(analytical.run.warnings, testing::Contains(HasSubstr("shared links")))
            << mix.name;
        ExpectNoLinkAboveFull(analytical, mix.name);
    }
}

// 16 hosts under 4 leaves with as many uplinks as hosts: sprayed packets fill all of them evenly,
// and so must what others estimate. Each host sends 15 x 1 MiB: 1.285 ms with headers.
TEST(SpreadTraffic, AnAllToAllOnAWideFabricTakesWhatSprayedPacketsTake)
{
    const std::string work = CaseCluster(16, LeafSpine(4, 4)) +
                             "network: {load_balancing: spray}\n"
                             "workload: {collectives: [{op: all-to-all, bytes: 16MiB}]}\n";
    const CapturedRun packet = RunText(Header("packet") + work);
    ASSERT_EQ(packet.error, "");
    EXPECT_NEAR(Milliseconds(packet.run.stepTime), 1.285, 0.05);
    for (const std::string fidelity : {"analytical", "flow"})
    {
        const CapturedRun run = RunText(Header(fidelity) + work);
        // A fluid message waits for the slowest of its parts, packets of a step for nobody.
        EXPECT_NEAR(Milliseconds(run.run.stepTime) / Milliseconds(packet.run.stepTime),
                    1,
                    fidelity == "flow" ? 0.15 : 0.04)
            << fidelity;
        EXPECT_THAT(run.run.warnings, testing::IsEmpty());
    }
}

// Each of four hosts sends to one that static routes lead over the same of two uplinks: both carry
// half of 4 x 16 MiB, where one way each would leave one of them empty.
TEST(SpreadTraffic, UsesWaysThatStaticRoutesLeaveEmpty)
{
    for (const std::string balancing : {"spray", "adaptive"})
    {
        const std::string work = CaseCluster(16, LeafSpine(8, 2)) +
                                 "network: {load_balancing: " + balancing +
                                 "}\n"
                                 "workload: {collectives: [{op: send-recv, bytes: 16MiB, pairs: "
                                 "[[0, 8], [1, 10], [2, 12], [3, 14]]}]}\n";
        const CapturedRun packet = RunText(Header("packet") + work);
        ASSERT_EQ(packet.error, "");
        EXPECT_NEAR(Milliseconds(packet.run.stepTime), 2 * 16.777216 / 12.5, 0.1);
        for (const std::string fidelity : {"analytical", "flow", "hybrid"})
        {
            const CapturedRun run = RunText(Header(fidelity, "{contended: flow}") + work);
            EXPECT_NEAR(Milliseconds(run.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.04)
                << balancing << ' ' << fidelity;
            for (const LinkRecord& link : run.links)
            {
                if (link.from == "leaf0" && link.to.rfind("spine", 0) == 0)
                {
                    EXPECT_NEAR(static_cast<double>(link.payloadBytes), 2 * 16777216, 1e4);
                }
            }
        }
    }
}

// Case 5 with a calibrated profile, which knows no fabric: four hosts of each leaf send over one
// uplink, four times as long as on a switch that carries all.
TEST(Case5, ACalibratedEstimateKnowsOversubscription)
{
    const auto step = [](const std::string& fabric) {
        const CapturedRun run =
            RunText("echo: 1\nname: c\nfidelity: analytical\n"
                    "estimator: {profile: ../calibration/profiles/azure-ndv4-a100.yaml}\n" +
                    CaseCluster(8, fabric) +
                    "workload: {collectives: [{op: send-recv, bytes: 64MiB, pairs: [[0, 4], [1, "
                    "5], [2, 6], "
                    "[3, 7], [4, 0], [5, 1], [6, 2], [7, 3]]}]}\n");
        EXPECT_EQ(run.error, "");
        return Milliseconds(run.run.stepTime);
    };
    const double wide = step("{type: single-switch}");
    EXPECT_GE(wide, 5.369 * 0.9);
    EXPECT_NEAR(step(LeafSpine(4, 1)) / wide, 4, 0.3);
}

// A profile of a machine whose switches are nearer than those of the cluster: whoever serves what
// meets nobody, it takes as long.
TEST(HybridProfile, WhatMeetsNobodyTakesItsEstimate)
{
    const auto run = [](const std::string& hybrid, uint64_t bytes) {
        const CapturedRun captured = RunText(
            "echo: 1\nname: c\nfidelity: hybrid\nhybrid: " + hybrid +
            "\nestimator: {profile: ../calibration/profiles/azure-ndv4-a100.yaml}\n" +
            CaseCluster(8,
                        "{type: leaf-spine, hosts_per_leaf: 4, spines: 1, uplinks: 1, "
                        "link_rate: 100Gbps, link_delay: 20us}") +
            "workload: {collectives: [{op: all-reduce, bytes: " + std::to_string(bytes) + "}]}\n");
        EXPECT_EQ(captured.error, "");
        return captured;
    };
    for (const uint64_t bytes : {1024u, 65536u, 1048576u, 16777216u})
    {
        const CapturedRun estimated = run("{policy: contention}", bytes);
        EXPECT_EQ(estimated.collectives.at(0).fidelity, Fidelity::ANALYTICAL);
        for (const std::string fidelity : {"packet", "flow"})
        {
            const CapturedRun simulated =
                run("{policy: rules, rules: [{fidelity: " + fidelity + "}]}", bytes);
            EXPECT_NEAR(Milliseconds(simulated.run.stepTime) / Milliseconds(estimated.run.stepTime),
                        1,
                        0.03)
                << bytes << " B, " << fidelity;
        }
    }
}

// More ranks than the profile has measured: every row and the summary say so, whoever estimates.
TEST(Case27, ExtrapolationIsSaidInAnalyticalAndHybridRuns)
{
    for (const std::string fidelity : {"analytical", "hybrid"})
    {
        const CapturedRun run =
            RunText("echo: 1\nname: far\nfidelity: " + fidelity +
                    "\ncluster: clusters/polaris.yaml\nhosts: 2048\nranks: 8192\n"
                    "workload: {collectives: [{op: all-reduce, bytes: 64MiB}]}\n");
        ASSERT_EQ(run.error, "") << fidelity;
        ASSERT_EQ(run.collectives.size(), 1u);
        EXPECT_TRUE(run.collectives[0].extrapolated) << fidelity;
        EXPECT_THAT(run.run.warnings,
                    testing::Contains(HasSubstr("outside the profile's calibrated range")))
            << fidelity;
    }
}

} // namespace
