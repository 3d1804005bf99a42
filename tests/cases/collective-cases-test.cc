// SPDX-License-Identifier: GPL-2.0-only
// Behaviour that must hold for collectives, end to end, in every fidelity.
// 1 MiB = 2^20 B; 100 Gb/s = 12.5e9 B/s; one GPU a host on one 100 Gb/s NIC, 1 us a link.

#include "case-harness.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-collective-experiment.h"
#include "ns3/echo-foreign-topology.h"

#include <cmath>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::vector<std::string> ALL_FIDELITIES{"packet", "flow", "analytical", "hybrid"};
const std::vector<std::string> NETWORK_FIDELITIES{"packet", "flow"};

std::string Header(const std::string& fidelity, const std::string& collective = "{algorithm: ring}")
{
    return "echo: 1\nname: case\nfidelity: " + fidelity + "\ncollective: " + collective + "\n";
}

/** Payload that one host sent, over its NIC's link. */
uint64_t PayloadFrom(const CapturedRun& run, const std::string& nic)
{
    uint64_t bytes = 0;
    for (const auto& link : run.links)
    {
        bytes += link.from == nic ? link.payloadBytes : 0;
    }
    return bytes;
}

void ExpectNoLinkAboveFull(const CapturedRun& run)
{
    for (const auto& link : run.links)
    {
        EXPECT_LE(link.busy, run.run.stepTime) << link.from << " to " << link.to;
        EXPECT_LE(link.peakRate, 1.0 + 1e-9) << link.from << " to " << link.to;
    }
}

// Ring of 8, 64 MiB: each rank sends 2 x 7 chunks of 8 MiB = 117,440,512 B, which at 12.5e9 B/s
// take 9.395 ms. A packet run is above by headers (82/4096 = 2 %) and 14 steps' latency.
TEST(Case1, BytesOfARingAllReduce)
{
    for (const auto& fidelity : ALL_FIDELITIES)
    {
        const CapturedRun run =
            RunText(Header(fidelity) + CaseCluster(8) +
                    "workload: {collectives: [{op: all-reduce, bytes: 64MiB}]}\n");
        ASSERT_EQ(run.error, "") << fidelity;
        ASSERT_EQ(run.collectives.size(), 1u);
        const double ms = Milliseconds(run.collectives[0].end - run.collectives[0].start);
        EXPECT_GE(ms, 9.395) << fidelity;
        EXPECT_LE(ms, 9.395 * 1.08) << fidelity;
        EXPECT_EQ(run.collectives[0].payloadBytes, 8u * 117440512u) << fidelity;
        const double busbw = 2.0 * 7 / 8 * 64 * 1048576 / (ms * 1e6);
        EXPECT_LE(busbw, 12.5) << fidelity;
        ExpectNoLinkAboveFull(run);
        if (fidelity == "packet" || fidelity == "flow")
        {
            for (int host = 0; host < 8; ++host)
            {
                EXPECT_EQ(PayloadFrom(run, "host" + std::to_string(host) + "/nic0"), 117440512u);
            }
        }
    }
}

// All-gather, then reduce-scatter of 64 MiB in all: 7 chunks of 8 MiB each = 58,720,256 B, at
// least 4.698 ms each; together an all-reduce's bytes.
TEST(Case2, CollectivesDiffer)
{
    for (const auto& fidelity : ALL_FIDELITIES)
    {
        const CapturedRun run = RunText(Header(fidelity) + CaseCluster(8) +
                                        "workload: {collectives: [{op: all-gather, bytes: 64MiB}, "
                                        "{op: reduce-scatter, bytes: 64MiB}]}\n");
        ASSERT_EQ(run.error, "") << fidelity;
        ASSERT_EQ(run.collectives.size(), 2u);
        uint64_t payload = 0;
        for (const auto& record : run.collectives)
        {
            const double ms = Milliseconds(record.end - record.start);
            EXPECT_GE(ms, 4.698) << fidelity << ' ' << ToString(record.kind);
            EXPECT_LE(ms, 4.698 * 1.08) << fidelity << ' ' << ToString(record.kind);
            EXPECT_EQ(record.payloadBytes, 8u * 58720256u);
            payload += record.payloadBytes;
        }
        EXPECT_EQ(payload, 8u * 117440512u);
    }
}

// 16 ranks gather 67,108,864 bf16 elements = 128 MiB: each sends 15/16 of it = 125,829,120 B.
TEST(Case3, SizeOfAnAllGather)
{
    const CapturedRun run = RunText(Header("flow") + CaseCluster(16) +
                                    "workload: {collectives: [{op: all-gather, bytes: 128MiB}]}\n");
    ASSERT_EQ(run.error, "");
    EXPECT_EQ(PayloadFrom(run, "host3/nic0"), 125829120u);
    EXPECT_GE(Milliseconds(run.run.stepTime), 10.07);
}

// 16 GPUs, 4 a host, 200 Gb/s NICs: twice the bytes take twice the time, less the latency.
TEST(Case4, TwiceTheBytesTwiceTheTime)
{
    const std::string cluster = "cluster:\n"
                                "  echo_cluster: 1\n"
                                "  name: case4\n"
                                "  hosts: 4\n"
                                "  gpu: {name: any}\n"
                                "  host: {gpus: 4, nics: 4, nic: {rate: 200Gbps, delay: 1us},\n"
                                "         nvlink: {type: nvswitch, rate: 300GB/s, delay: 300ns}}\n"
                                "  fabric: {type: single-switch}\n";
    std::map<std::string, double> atMtu;
    for (const std::string mtu : {"4096", "9000"})
    {
        double ms[2];
        int i = 0;
        for (const std::string bytes : {"256MiB", "512MiB"})
        {
            const CapturedRun run =
                RunText(Header("packet") + cluster + "network: {mtu: " + mtu +
                        "}\nworkload: {collectives: [{op: all-reduce, bytes: " + bytes + "}]}\n");
            ASSERT_EQ(run.error, "");
            ms[i++] = Milliseconds(run.run.stepTime);
        }
        EXPECT_GE(ms[1] / ms[0], 1.95) << mtu;
        EXPECT_LE(ms[1] / ms[0], 2.02) << mtu;
        atMtu[mtu] = ms[1];
    }
    EXPECT_LT(atMtu["9000"], atMtu["4096"]);
    EXPECT_GT(atMtu["9000"], atMtu["4096"] * 0.95);
}

// 64 MiB from i to (i + 4) mod 8 at once. One switch: 64 MiB / 12.5e9 = 5.369 ms. Two leaves of 4
// joined by one uplink each: four flows share it, 21.475 ms.
TEST(Case5, TopologyMatters)
{
    std::string programs = "workload:\n  groups: {world: [0, 1, 2, 3, 4, 5, 6, 7]}\n  programs:\n";
    for (int rank = 0; rank < 8; ++rank)
    {
        const std::string peer = std::to_string((rank + 4) % 8);
        programs +=
            "    - ranks: [" + std::to_string(rank) +
            "]\n      streams:\n        net:\n          - {batch: [{send: 64MiB, to: " + peer +
            "}, {receive: 64MiB, from: " + peer + "}]}\n";
    }
    const std::string narrow =
        "{type: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 1, uplinks: 1, "
        "link_rate: 100Gbps, link_delay: 1us}";
    for (const auto& fidelity : ALL_FIDELITIES)
    {
        const CapturedRun wide = RunText(Header(fidelity, "{}") + CaseCluster(8) + programs);
        ASSERT_EQ(wide.error, "") << fidelity;
        EXPECT_GE(Milliseconds(wide.run.stepTime), 5.369) << fidelity;
        EXPECT_LE(Milliseconds(wide.run.stepTime), 5.369 * 1.08) << fidelity;
        const CapturedRun tight =
            RunText(Header(fidelity, "{}") + CaseCluster(8, narrow) + programs);
        ASSERT_EQ(tight.error, "") << fidelity;
        if (fidelity == "analytical")
        {
            EXPECT_THAT(tight.run.warnings, testing::Contains(HasSubstr("shared links")));
        }
        EXPECT_GE(Milliseconds(tight.run.stepTime), 21.475) << fidelity;
        EXPECT_LE(Milliseconds(tight.run.stepTime), 21.475 * 1.08) << fidelity;
        ExpectNoLinkAboveFull(tight);
    }
    // DCQCN takes longer while its rates recover, loses nothing and names itself.
    const CapturedRun dcqcn =
        RunText(Header("packet", "{}") + "network: {congestion_control: dcqcn}\n" +
                CaseCluster(8, narrow) + programs);
    ASSERT_EQ(dcqcn.error, "");
    EXPECT_GE(Milliseconds(dcqcn.run.stepTime), 21.475);
    EXPECT_EQ(dcqcn.run.congestionControl, "dcqcn");
    EXPECT_EQ(dcqcn.run.drops, 0u);
    EXPECT_GT(dcqcn.run.ecnMarks, 0u);
    for (const std::string& fabric : {std::string("{type: single-switch}"), narrow})
    {
        const CapturedRun compute =
            RunText(Header("packet", "{}") + CaseCluster(8, fabric) +
                    "workload:\n  programs:\n    - ranks: all\n      streams:\n        gpu:\n"
                    "          - {compute: 123us, name: k}\n");
        ASSERT_EQ(compute.error, "");
        EXPECT_EQ(compute.run.stepTime, MicroSeconds(123));
    }
}

// Two communications at once on one machine class: hybrid simulates those that meet, whether
// between hosts or inside one, and none is faster than it is alone.
TEST(Hybrid, MeetingOthersMakesNoneFaster)
{
    const auto step = [](const std::string& fidelity,
                         const std::string& ranks,
                         int count,
                         const std::string& bytes = "16MiB") {
        std::string text =
            "echo: 1\ncluster: clusters/dgx-h100.yaml\nhosts: 2\nfidelity: " + fidelity +
            "\nworkload:\n  concurrent: true\n  collectives:\n";
        for (int i = 0; i < count; ++i)
        {
            text += "    - {op: all-reduce, bytes: " + bytes + ", ranks: " + ranks + ", name: c" +
                    std::to_string(i) + "}\n";
        }
        const CapturedRun run = RunText(text);
        EXPECT_EQ(run.error, "");
        for (const auto& record : run.collectives)
        {
            EXPECT_EQ(record.contended, count > 1) << ranks;
        }
        return Milliseconds(run.run.stepTime);
    };
    for (const std::string ranks : {"0-7", "0-15"})
    {
        const double alone = step("analytical", ranks, 1);
        EXPECT_DOUBLE_EQ(step("hybrid", ranks, 1), alone);
        EXPECT_GT(step("hybrid", ranks, 2), 1.2 * alone) << ranks;
        // Most of 16 MiB's time is latency, which another's transfers may fill.
        EXPECT_GE(step("analytical", ranks, 2), alone) << ranks;
        const double longer = step("analytical", ranks, 1, "256MiB");
        EXPECT_DOUBLE_EQ(step("hybrid", ranks, 1, "256MiB"), longer);
        EXPECT_GT(step("analytical", ranks, 2, "256MiB"), 1.1 * longer) << ranks;
    }
}

// What the network takes when it is idle is in a calibrated estimate already, latencies included: a
// communication that is simulated and meets nobody takes its estimate, and no member is done
// before.
TEST(Hybrid, NetworkIsInTheEstimateOnce)
{
    const auto run = [](const std::string& fidelity, const std::string& collective) {
        return RunText("echo: 1\ncluster: clusters/dgx-h100.yaml\nhosts: 2\nfidelity: " + fidelity +
                       "\nhybrid: {policy: rules, rules: [{fidelity: packet}]}\n" +
                       "workload: {collectives: [" + collective + "]}\n");
    };
    for (const std::string what : {"all-reduce, bytes: 8KiB",
                                   "all-reduce, bytes: 16MiB",
                                   "broadcast, bytes: 64KiB",
                                   "all-to-all, bytes: 1MiB"})
    {
        const CapturedRun estimate = run("analytical", "{op: " + what + "}");
        const CapturedRun packets = run("hybrid", "{op: " + what + "}");
        ASSERT_EQ(estimate.error + packets.error, "");
        ASSERT_EQ(packets.collectives.at(0).fidelity, Fidelity::PACKET) << what;
        const double alone = Milliseconds(estimate.run.stepTime);
        EXPECT_GE(Milliseconds(packets.run.stepTime), alone) << what;
        EXPECT_LE(Milliseconds(packets.run.stepTime), 1.02 * alone) << what;
        for (const RankRecord& rank : packets.ranks)
        {
            EXPECT_GE(rank.lastEnd, estimate.run.stepTime) << what << ' ' << rank.rank;
        }
    }
}

// 2 hosts of 8 GPUs, one 50 GB/s NIC a GPU, 1 GiB, 8 channels. A ring of 16 sends 2 x 15/16 x 1 GiB
// over each of its edges, spread over 8 channels: 251,658,240 B on each NIC and direction, at least
// 5.033 ms. A tree sends 1 GiB / 8 = 134,217,728 B.
TEST(Case16, RingAndTreeOnTwoNodes)
{
    const std::string cluster = "cluster:\n"
                                "  echo_cluster: 1\n"
                                "  name: case16\n"
                                "  hosts: 2\n"
                                "  gpu: {name: any}\n"
                                "  host: {gpus: 8, nics: 8, nic: {rate: 50GB/s, delay: 1us},\n"
                                "         nvlink: {type: nvswitch, rate: 900GB/s, delay: 300ns}}\n"
                                "  fabric: {type: single-switch}\n";
    for (const std::string algorithm : {"ring", "tree"})
    {
        for (const auto& fidelity : NETWORK_FIDELITIES)
        {
            const CapturedRun run = RunText(
                Header(fidelity, "{algorithm: " + algorithm + ", channels: 8, chunk: 1MiB}") +
                cluster + "workload: {collectives: [{op: all-reduce, bytes: 1GiB}]}\n");
            ASSERT_EQ(run.error, "") << algorithm << ' ' << fidelity;
            const uint64_t expected = algorithm == "ring" ? 251658240u : 134217728u;
            for (int nic = 0; nic < 8; ++nic)
            {
                for (int host = 0; host < 2; ++host)
                {
                    EXPECT_EQ(
                        PayloadFrom(run,
                                    "host" + std::to_string(host) + "/nic" + std::to_string(nic)),
                        expected)
                        << algorithm << ' ' << fidelity;
                }
            }
            ExpectNoLinkAboveFull(run);
            if (algorithm == "ring")
            {
                EXPECT_GE(Milliseconds(run.run.stepTime), 5.033);
            }
        }
    }
}

TEST(Case16, TreeOnTwelveAndOnSixtyFour)
{
    for (const auto& fidelity : ALL_FIDELITIES)
    {
        const CapturedRun twelve =
            RunText(Header(fidelity, "{algorithm: tree}") + CaseCluster(12) +
                    "workload: {collectives: [{op: all-reduce, bytes: 3MiB}]}\n");
        EXPECT_EQ(twelve.error, "") << fidelity;
        EXPECT_EQ(twelve.collectives.at(0).algorithm, CollectiveAlgorithmKind::TREE);
        std::map<std::string, Time> times;
        for (const std::string algorithm : {"ring", "tree"})
        {
            const CapturedRun run =
                RunText(Header(fidelity, "{algorithm: " + algorithm + "}") + CaseCluster(64) +
                        "workload: {collectives: [{op: all-reduce, bytes: 8KiB}]}\n");
            ASSERT_EQ(run.error, "") << fidelity;
            times[algorithm] = run.run.stepTime;
        }
        EXPECT_LT(times["tree"], times["ring"]) << fidelity;
    }
}

// A workload that communicates but would move no byte is no step time.
TEST(Case26, ZeroIsNotAResult)
{
    const CapturedRun run = RunText(Header("analytical") + CaseCluster(8) +
                                    "workload: {collectives: [{op: all-reduce, bytes: 0}]}\n");
    EXPECT_NE(run.exitCode, 0);
    EXPECT_NE(run.error, "");
}

// Twenty equal all-reduces one after another: two run as packets, whose ratio to the estimate makes
// the others take as long; a run in packets alone takes the same.
TEST(Hybrid, SamplesStandForTheOthers)
{
    const std::string work =
        CaseCluster(8) + "workload: {collectives: [{op: all-reduce, bytes: 4MiB, repeat: 20}]}\n";
    const CapturedRun packet = RunText(Header("packet") + work);
    const CapturedRun sampled =
        RunText(Header("hybrid") + "hybrid: {policy: sampled, samples: 2}\n" + work);
    ASSERT_EQ(packet.error, "");
    ASSERT_EQ(sampled.error, "");
    ASSERT_EQ(sampled.collectives.size(), 20u);
    uint32_t packets = 0;
    for (const auto& record : sampled.collectives)
    {
        packets += record.fidelity == Fidelity::PACKET ? 1 : 0;
    }
    EXPECT_EQ(packets, 2u);
    EXPECT_NEAR(Milliseconds(sampled.run.stepTime) / Milliseconds(packet.run.stepTime), 1, 0.002);
    EXPECT_THAT(sampled.run.warnings, testing::Contains(HasSubstr("stand for 18 others")));
}

// The A100 profile's rows on one host are of one thread that issued the kernels of all GPUs, about
// 4 us each; a job has a process a GPU. CollectiveExperiment stands beside the rows.
TEST(Estimates, OneThreadOfTheMeasurementsIsNotInAJob)
{
    const std::string clusters = std::string(ECHO_SOURCE_DIR) + "/scenarios/clusters/";
    const auto ratio = [&](const std::string& cluster, uint32_t hosts, uint64_t bytes) {
        const CapturedRun job =
            RunText("echo: 1\nfidelity: analytical\ncluster: clusters/" + cluster +
                    ".yaml\nhosts: " + std::to_string(hosts) +
                    "\nworkload: {collectives: [{op: all-reduce, bytes: " + std::to_string(bytes) +
                    "}]}\n");
        EXPECT_EQ(job.error, "");
        const Cluster machine = ReadCluster(LoadCluster(clusters + cluster + ".yaml"), hosts);
        BackendSettings settings;
        settings.profile = machine.profile;
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_REDUCE;
        spec.bytes = bytes;
        const Time alone = CollectiveExperiment(machine, 8 * hosts, settings)
                               .Run(spec, Fidelity::ANALYTICAL)
                               .GetDuration();
        return Milliseconds(job.run.stepTime) / Milliseconds(alone);
    };
    EXPECT_LT(ratio("azure-ndv4", 1, 1024), 0.7);
    EXPECT_DOUBLE_EQ(ratio("azure-ndv4", 2, 1024), 1);    // rows of several hosts: a process a GPU
    EXPECT_DOUBLE_EQ(ratio("azure-ndv4", 1, 1 << 30), 1); // its links take longer than its issue
    EXPECT_DOUBLE_EQ(ratio("dgx-h100", 1, 1024), 1);
}

} // namespace
