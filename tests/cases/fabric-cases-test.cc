// SPDX-License-Identifier: GPL-2.0-only
// Behaviour of the fabric that must hold end to end: loss, congestion, load balancing, failures,
// classes, other traffic. 100 Gb/s = 12.5e9 B/s; one GPU a host on one NIC, 1 us a link.

#include "case-harness.h"

#include "ns3/config.h"
#include "ns3/echo-report-tables.h"
#include "ns3/uinteger.h"

#include <malloc.h>

#include <numeric>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string RING = "echo: 1\nname: case\nfidelity: packet\ncollective: {algorithm: ring}\n";
const std::string LEAF_SPINE = "{type: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 4, "
                               "link_rate: 100Gbps, link_delay: 1us}";

/** @p senders hosts send 4 MB each to host 0, all at once. */
std::string Incast(uint32_t senders)
{
    std::string receives;
    std::string programs;
    for (uint32_t h = 1; h <= senders; ++h)
    {
        receives += "{receive: 4MB, from: " + std::to_string(h) + "}, ";
        programs +=
            "    - ranks: " + std::to_string(h) + "\n      streams: {net: [{send: 4MB, to: 0}]}\n";
    }
    return "workload:\n  programs:\n    - ranks: 0\n      streams: {net: [{batch: [" + receives +
           "]}]}\n" + programs;
}

uint64_t Retransmitted(const CapturedRun& run)
{
    return std::accumulate(
        run.flows.begin(), run.flows.end(), uint64_t{0}, [](uint64_t sum, const FlowRecord& flow) {
            return sum + flow.retransmitted;
        });
}

// Two groups pause each other's hosts thousands of times through two leaves at 4:1. A frame that
// restarts a link at the instant at which one that stops it is due must not overtake it: the link
// would stay stopped for ever, and the step would never end.
TEST(Pauses, AreNotOvertaken)
{
    const CapturedRun run = RunText(
        "echo: 1\nname: pauses\nfidelity: packet\n" +
        CaseCluster(16,
                    "{type: leaf-spine, hosts_per_leaf: 8, spines: 2, uplinks: 2, link_rate: "
                    "100Gbps, link_delay: 1us}") +
        "workload:\n  collectives:\n"
        "    - {op: all-reduce, bytes: 32MiB, repeat: 4, compute: 3ms, ranks: [0-3, 8-11]}\n"
        "    - {op: all-to-all, bytes: 16MiB, compute: 2500us, ranks: [4-7, 12-15]}\n"
        "    - {op: all-to-all, bytes: 16MiB, compute: 500us, repeat: 7, ranks: [4-7, 12-15]}\n");
    EXPECT_EQ(run.error, "");
    EXPECT_GT(run.run.pauses, 1000u);
    EXPECT_EQ(run.run.drops, 0u);
}

// What a scenario sets is gone with the next; what a program set before stays.
TEST(Attributes, LastAsLongAsTheirScenario)
{
    const auto bufferBytes = [] {
        TypeId::AttributeInformation attribute;
        TypeId::LookupByName("ns3::echo::RoceSwitch")
            .LookupAttributeByName("BufferBytes", &attribute);
        return attribute.initialValue->SerializeToString(attribute.checker);
    };
    const std::string text = CaseCluster(2) + "echo: 1\nname: a\nfidelity: flow\nworkload: "
                                              "{collectives: [{op: all-reduce, bytes: 1MiB}]}\n";
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", UintegerValue(777777));
    ASSERT_EQ(RunText("attributes: {'ns3::echo::RoceSwitch::BufferBytes': 500000}\n" + text).error,
              "");
    EXPECT_EQ(bufferBytes(), "500000");
    ASSERT_EQ(RunText(text).error, "");
    EXPECT_EQ(bufferBytes(), "777777");
    Config::Reset();
}

// A scenario sets these by keys in any case: a program's default would go unheard.
TEST(Attributes, DefaultsOfWhatKeysSetAreRefused)
{
    const std::string text = CaseCluster(2) + "echo: 1\nname: a\nfidelity: packet\nworkload: "
                                              "{collectives: [{op: all-reduce, bytes: 1MiB}]}\n";
    const auto error = [&text](const std::string& name, const AttributeValue& value) {
        Config::SetDefault(name, value);
        const CapturedRun run = RunText(text);
        Config::Reset();
        EXPECT_EQ(run.exitCode, 2) << name;
        return run.error;
    };
    EXPECT_THAT(error("ns3::echo::PacketNetwork::Mtu", UintegerValue(9000)),
                testing::EndsWith("text.yaml: found a default of attribute "
                                  "ns3::echo::PacketNetwork::Mtu that the program set, expected "
                                  "the key network.mtu for it"));
    const std::pair<const char*, const char*> keys[]{
        {"ns3::echo::PacketNetwork::WatchForDeadlock", "background"},
        {"ns3::echo::RecordedComputeModel::Scale", "compute.scale"},
        {"ns3::echo::RooflineComputeModel::Scale", "compute.scale"},
        {"ns3::echo::ConstantSlowdown::Factor", "compute.slowdown"},
        {"ns3::echo::TrainingJob::Folding", "timeline.folding"},
        {"ns3::echo::SampledPolicy::Samples", "hybrid.samples"},
        {"ns3::echo::SampledPolicy::Fidelity", "hybrid.contended"},
        {"ns3::echo::Router::Spread", "network.load_balancing"},
        {"ns3::echo::SpreadNetwork::LeastBytes", "network.mtu"}};
    for (const auto& [name, key] : keys)
    {
        const CapturedRun run = RunText("attributes: {" + std::string(name) + ": 1}\n" + text);
        EXPECT_EQ(run.exitCode, 2) << name;
        EXPECT_THAT(run.error, testing::EndsWith("the key " + std::string(key) + " for it"));
    }
    EXPECT_EQ(RunText(text).error, "");
}

// Each rank sends and receives 2 x 7/8 x 16 MiB; payload delivered does not count what is sent
// again.
TEST(Case20, LossIsFinite)
{
    const std::string text =
        RING + CaseCluster(8) + "workload: {collectives: [{op: all-reduce, bytes: 16MiB}]}\n";
    const CapturedRun clean = RunText(text);
    const CapturedRun zero =
        RunText("attributes: {'ns3::echo::PacketNetwork::LossRate': '0'}\n" + text);
    const CapturedRun lossy =
        RunText("attributes: {'ns3::echo::PacketNetwork::LossRate': '0.0004'}\n" + text);
    ASSERT_EQ(lossy.error, "");
    EXPECT_GE(lossy.run.drops, 5u);
    EXPECT_GE(Retransmitted(lossy), lossy.run.drops);
    EXPECT_GT(lossy.run.stepTime, clean.run.stepTime);
    EXPECT_EQ(zero.run.stepTime, clean.run.stepTime);
    EXPECT_EQ(zero.run.packetHops, clean.run.packetHops);
    uint64_t payload = 0;
    for (const FlowRecord& flow : lossy.flows)
    {
        payload += flow.bytes;
    }
    EXPECT_EQ(payload, 8u * 2 * 7 * 16777216 / 8);
    EXPECT_EQ(lossy.collectives[0].payloadBytes, clean.collectives[0].payloadBytes);
}

TEST(Case22, CongestionSettingsTakeEffect)
{
    // 64 MB over 100 Gb/s: 5.12 ms at least.
    std::map<std::string, CapturedRun> runs;
    std::map<std::string, uint64_t> queue;
    for (const std::string control : {"none", "dcqcn"})
    {
        CapturedRun& run = runs[control];
        run = RunText(RING + "network: {congestion_control: " + control + "}\n" + CaseCluster(17) +
                      Incast(16));
        ASSERT_EQ(run.error, "");
        EXPECT_GE(run.run.stepTime, MicroSeconds(5120));
        EXPECT_EQ(run.run.drops, 0u);
        EXPECT_EQ(run.run.congestionControl, control);
        for (const LinkRecord& link : run.links)
        {
            queue[control] = std::max(queue[control], link.maxQueueBytes);
        }
    }
    EXPECT_GT(runs["none"].run.pauses, 0u);
    EXPECT_LT(queue["dcqcn"], queue["none"] / 2);
    const CapturedRun lossy =
        RunText(RING + "network: {pfc: false}\n" +
                "attributes: {'ns3::echo::RoceSwitch::BufferBytes': '1000000'}\n" +
                CaseCluster(17) + Incast(16));
    ASSERT_EQ(lossy.error, "");
    EXPECT_GT(lossy.run.drops, 0u);
    EXPECT_EQ(lossy.run.pauses, 0u);

    // Every counter that is zero comes with its reason, and no other does.
    const auto& none = runs["none"].run.zeroCounters;
    EXPECT_EQ(none.count("pauses"), 0u);
    EXPECT_THAT(none.at("drops"), HasSubstr("PFC keeps buffers from overflowing"));
    EXPECT_THAT(none.at("ecn_marks"), HasSubstr("congestion control 'none' takes no heed"));
    EXPECT_THAT(none.at("cnps"), HasSubstr("congestion control 'none' takes no CNPs"));
    const RunRecord& dcqcn = runs["dcqcn"].run;
    EXPECT_GT(dcqcn.cnps, 0u);
    EXPECT_EQ(dcqcn.zeroCounters.count("cnps") + dcqcn.zeroCounters.count("ecn_marks"), 0u);
    EXPECT_THAT(dcqcn.zeroCounters.at("pauses"), HasSubstr("no port came to its share"));
    EXPECT_EQ(lossy.run.zeroCounters.count("drops"), 0u);
    EXPECT_EQ(lossy.run.zeroCounters.at("pauses"), "PFC is off");
    const CapturedRun flow = RunText("echo: 1\nfidelity: flow\n" + CaseCluster(4) +
                                     "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n");
    EXPECT_EQ(flow.run.zeroCounters.at("drops"), "no packet was simulated");
}

TEST(Bounds, NoLinkIsUsedMoreThanItsRateAllowsWhateverIsUnderWayAtTheEnd)
{
    // The job ends while background flows keep every link of the hosts busy: a packet is under way
    // on most of them, which counts by the time at which it has left.
    for (const std::string fidelity : {"packet", "flow"})
    {
        for (const std::string bytes : {"200KB", "300KB", "1MB"})
        {
            const CapturedRun run =
                RunText("echo: 1\nfidelity: " + fidelity + "\n" + CaseCluster(4) +
                        "background: [{pattern: permutation, bytes: 4MB}]\n" +
                        "workload: {collectives: [{op: all-to-all, bytes: " + bytes + "}]}\n");
            ASSERT_EQ(run.error, "");
            double largest = 0;
            for (const LinkRecord& link : run.links)
            {
                largest = std::max(largest, MeanUtilization(link, run.run.stepTime));
            }
            EXPECT_LE(largest, 1) << fidelity << ' ' << bytes;
            EXPECT_GT(largest, fidelity == "packet" ? 0.9 : 0.6) << fidelity << ' ' << bytes;
        }
    }
}

/** Notes the memory in use when collectives end. */
struct MemorySink : public RecordSink
{
    void OnCollective(const CollectiveRecord&) override
    {
        inUse.push_back(mallinfo2().uordblks);
    }

    std::vector<size_t> inUse;
};

TEST(Case24, MemoryDoesNotGrow)
{
    const std::string text =
        RING +
        CaseCluster(64,
                    "{type: leaf-spine, leaves: 8, hosts_per_leaf: 8, spines: 8, "
                    "link_rate: 100Gbps, link_delay: 1us}") +
        "workload: {collectives: [{op: all-reduce, bytes: 64KiB, repeat: 200}]}\n";
    ScenarioRunner runner(ReadScenario(YamlNode::LoadText(text, "text.yaml"), {}));
    MemorySink sink;
    runner.Run([&]() -> RecordSink& { return sink; });
    ASSERT_EQ(sink.inUse.size(), 200u);
    const size_t after20 = *std::max_element(sink.inUse.begin(), sink.inUse.begin() + 20);
    const size_t after200 = *std::max_element(sink.inUse.begin(), sink.inUse.end());
    EXPECT_LE(static_cast<double>(after200), 1.2 * static_cast<double>(after20));
}

TEST(LoadBalancing, IsChosenInTheScenarioAndTheSamePayloadArrives)
{
    const std::string workload = "workload: {collectives: [{op: all-to-all, bytes: 1MiB}]}\n";
    std::map<std::string, CapturedRun> runs;
    for (const std::string name :
         {"ecmp", "static", "spray", "flowlet", "adaptive", "ns3::echo::SprayBalancer"})
    {
        CapturedRun& run = runs[name];
        run = RunText(RING + "network: {load_balancing: '" + name + "'}\n" +
                      CaseCluster(16, LEAF_SPINE) + workload);
        ASSERT_EQ(run.error, "") << name;
        uint64_t payload = 0;
        for (const FlowRecord& flow : run.flows)
        {
            payload += flow.bytes;
        }
        EXPECT_EQ(payload, 16u * 15 * 65536) << name;
        // 15 x 64 KiB into each host: 78.6 us.
        EXPECT_GE(run.run.stepTime, NanoSeconds(78643)) << name;
    }
    EXPECT_LT(runs["spray"].run.stepTime, runs["ecmp"].run.stepTime);
    EXPECT_EQ(runs["spray"].run.stepTime, runs["ns3::echo::SprayBalancer"].run.stepTime);
    std::string spraying = LEAF_SPINE;
    spraying.replace(spraying.rfind('}'), 1, ", load_balancing: spray}");
    const CapturedRun byCluster = RunText(RING + CaseCluster(16, spraying) + workload);
    EXPECT_EQ(byCluster.run.stepTime, runs["spray"].run.stepTime) << byCluster.error;
    const CapturedRun overruled = RunText(RING + "network: {load_balancing: static}\n" +
                                          CaseCluster(16, spraying) + workload);
    EXPECT_EQ(overruled.run.stepTime, runs["static"].run.stepTime) << overruled.error;
    const CapturedRun flow =
        RunText("echo: 1\nfidelity: flow\nnetwork: {load_balancing: flowlet}\n" +
                CaseCluster(16, LEAF_SPINE) + workload);
    EXPECT_THAT(flow.run.warnings, testing::Contains(HasSubstr("load balancing 'flowlet'")));
    EXPECT_THAT(
        RunText(RING + "network: {load_balancing: ecpm}\n" + CaseCluster(4) + workload).error,
        HasSubstr("'ecpm', expected ecmp, static"));
}

TEST(LoadBalancing, FlowletsThatOvertakeOneAnotherArrive)
{
    const std::string cluster = CaseCluster(32,
                                            "{type: leaf-spine, hosts_per_leaf: 8, spines: 2, "
                                            "uplinks: 2, link_rate: 100Gbps, link_delay: 1us}");
    const CapturedRun run =
        RunText("echo: 1\nfidelity: packet\nnetwork: {load_balancing: flowlet}\n" + cluster +
                "workload: {collectives: [{op: all-to-all, bytes: 8MiB, repeat: 4, compute: 300us, "
                "groups: {size: 4, stride: 8}}]}\n");
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.collectives.size(), 32u);
}

TEST(LoadBalancing, RoutesOfInfiniBandLetAMeasuredRingThroughWholeTrees)
{
    for (const std::string name : {"azure-ndv4", "dgx-a100", "dgx-h100"})
    {
        const CapturedRun run =
            RunText("echo: 1\nfidelity: analytical\ncluster: clusters/" + name +
                    ".yaml\nworkload: {collectives: [{op: all-reduce, bytes: 1GiB}]}\n");
        ASSERT_EQ(run.error, "") << name;
        ASSERT_FALSE(run.links.empty()) << name;
        for (const LinkRecord& link : run.links)
        {
            EXPECT_LE(link.busy, run.run.stepTime) << name << ": " << link.from << " " << link.to;
        }
    }
}

TEST(Failures, MayEndBeforeTheFirstCommunicationIsThrough)
{
    const std::string text =
        CaseCluster(2) +
        "workload: {collectives: [{op: all-reduce, bytes: 1MiB, compute: 2ms}]}\n" +
        "failures:\n  - {time: 10us, switch: host1/nic0, state: down}\n";
    for (const std::string fidelity : {"packet", "flow"})
    {
        const std::string head = "echo: 1\nfidelity: " + fidelity + "\n";
        const CapturedRun run =
            RunText(head + text + "  - {time: 4ms, switch: host1/nic0, state: up}\n");
        EXPECT_EQ(run.error, "") << fidelity;
        EXPECT_GT(run.run.stepTime, MilliSeconds(4)) << fidelity;
        const CapturedRun never = RunText(head + text);
        EXPECT_EQ(never.exitCode, 3) << fidelity;
        EXPECT_THAT(never.error, HasSubstr("host1/nic0 down")) << fidelity;
    }
}

TEST(Network, AttributesThatKeysSetAreRefused)
{
    const std::string workload = "workload: {collectives: [{op: all-to-all, bytes: 1MiB}]}\n";
    EXPECT_THAT(RunText(RING + CaseCluster(2) + workload +
                        "attributes: {'ns3::echo::PacketNetwork::Mtu': 9000}\n")
                    .error,
                HasSubstr("PacketNetwork::Mtu, expected the key network.mtu"));
}

TEST(Failures, AreWentAroundOrReportedWithWhatIsUnfinished)
{
    const std::string cluster = CaseCluster(16, LEAF_SPINE);
    const std::string workload = "workload: {collectives: [{op: all-to-all, bytes: 16MiB}]}\n";
    const CapturedRun clean = RunText(RING + cluster + workload);
    const std::string settings = "network: {reroute_delay: 100us}\n";
    const CapturedRun around = RunText(RING + settings +
                                       "failures:\n"
                                       "  - {time: 200us, switch: spine2, state: down}\n"
                                       "  - {time: 300us, link: [leaf0, spine0], rate: 25Gbps}\n"
                                       "  - {time: 300us, link: [leaf3, spine1], loss: 0.001}\n"
                                       "  - {time: 1500us, switch: spine2, state: up}\n" +
                                       cluster + workload);
    ASSERT_EQ(around.error, "");
    EXPECT_GT(around.run.drops, 0u);
    EXPECT_GT(around.run.stepTime, clean.run.stepTime);
    EXPECT_EQ(around.collectives[0].payloadBytes, clean.collectives[0].payloadBytes);

    const CapturedRun cut = RunText(
        RING + settings + "failures: [{time: 500us, link: [host7/nic0, leaf1], state: down}]\n" +
        cluster + workload);
    EXPECT_EQ(cut.exitCode, 3);
    EXPECT_THAT(cut.error, HasSubstr("at 600.000 us: no way is left for"));
    EXPECT_THAT(cut.error, HasSubstr("with host7/nic0 - leaf1 down"));
    EXPECT_THAT(cut.error, HasSubstr("all-to-all"));
}

TEST(Failures, FlowsGoAroundToo)
{
    const std::string flow = "echo: 1\nfidelity: flow\n" + CaseCluster(16, LEAF_SPINE) +
                             "workload: {collectives: [{op: all-to-all, bytes: 16MiB}]}\n" +
                             "network: {reroute_delay: 100us}\n";
    const CapturedRun clean = RunText(flow);
    ASSERT_EQ(clean.error, "");
    const CapturedRun around =
        RunText(flow + "failures:\n"
                       "  - {time: 200us, switch: spine2, state: down}\n"
                       "  - {time: 300us, link: [leaf0, spine0], rate: 25Gbps}\n"
                       "  - {time: 1500us, switch: spine2, state: up}\n");
    ASSERT_EQ(around.error, "");
    EXPECT_GT(around.run.stepTime, clean.run.stepTime);
    EXPECT_EQ(around.collectives[0].payloadBytes, clean.collectives[0].payloadBytes);

    const CapturedRun cut =
        RunText(flow + "failures: [{time: 500us, link: [host7/nic0, leaf1], state: down}]\n");
    EXPECT_EQ(cut.exitCode, 3);
    EXPECT_THAT(cut.error, HasSubstr("at 600.000 us: no way is left for"));
    EXPECT_THAT(cut.error, HasSubstr("with host7/nic0 - leaf1 down"));
    EXPECT_THAT(cut.error, HasSubstr("all-to-all"));
}

TEST(Failures, BadOnesAreRefused)
{
    const auto error = [](const std::string& failure, const std::string& fidelity = "packet") {
        const CapturedRun run =
            RunText("echo: 1\nfidelity: " + fidelity + "\nfailures: [" + failure + "]\n" +
                    CaseCluster(16, LEAF_SPINE) +
                    "workload: {collectives: [{op: all-reduce, bytes: 1KiB}]}\n");
        EXPECT_EQ(run.exitCode, 2) << failure;
        return run.error;
    };
    EXPECT_THAT(error("{time: 1us, switch: spine9, state: down}"), HasSubstr("'spine9'"));
    EXPECT_THAT(error("{time: 1us, switch: host0/gpu0, state: down}"), HasSubstr("'host0/gpu0'"));
    EXPECT_THAT(error("{time: 1us, link: [leaf0, leaf1], state: down}"),
                HasSubstr("no link between leaf0 and leaf1"));
    EXPECT_THAT(error("{time: 1us, link: [leaf0, spine0, 1], state: down}"), HasSubstr("0"));
    EXPECT_THAT(error("{time: 1us, link: [leaf0, spine0]}"),
                HasSubstr("'state', 'rate' and 'loss'"));
    EXPECT_THAT(error("{time: 1us, switch: leaf0, state: off}"), HasSubstr("down or up"));
    EXPECT_THAT(error("{time: 1us, switch: leaf0, state: down}", "analytical"),
                HasSubstr("fidelity: packet or flow"));
    EXPECT_THAT(error("{time: 1us, switch: leaf0, loss: 0.1}", "flow"),
                HasSubstr("loss with fidelity flow"));
}

// Five switches in a ring: each host sends to the next but one. Two flows at the full rate on each
// link of the ring; with small buffers pauses go round it.
TEST(Deadlock, IsNamedAndEndsTheRun)
{
    std::string fabric = "\n    type: graph\n    nodes:\n";
    std::string links = "    links:\n";
    std::string pairs;
    for (int i = 0; i < 5; ++i)
    {
        const std::string leaf = "ring" + std::to_string(i);
        fabric += "      - {name: " + leaf + ", role: leaf}\n";
        links += "      - {a: host" + std::to_string(i) + "/nic0, b: " + leaf + "}\n";
        links += "      - {a: " + leaf + ", b: ring" + std::to_string((i + 1) % 5) +
                 ", rate: 100Gbps, delay: 1us}\n";
        pairs += (i ? ", [" : "[") + std::to_string(i) + ", " + std::to_string((i + 2) % 5) + "]";
    }
    // With other traffic there are always events: the ring must be found while it goes on.
    for (const std::string background :
         {"", "background: [{pattern: poisson, load: 0.001, bytes: 1KB}]\n"})
    {
        const CapturedRun run = RunText(
            RING + background + "attributes: {'ns3::echo::RoceSwitch::BufferBytes': '500000'}\n" +
            CaseCluster(5, fabric + links) +
            "workload: {collectives: [{op: send-recv, bytes: "
            "16MiB, pairs: [" +
            pairs + "]}]}\n");
        EXPECT_EQ(run.exitCode, 3);
        EXPECT_THAT(run.error, HasSubstr("5 ports wait for buffer space in a circle"));
        EXPECT_THAT(run.error,
                    testing::ContainsRegex("ring0 -> ring1 .* waits for ring1 -> ring2"));
        EXPECT_THAT(run.error, HasSubstr("send-recv"));
    }
}

TEST(TrafficClasses, KeepAGroupsTrafficApart)
{
    // Ranks 0 and 1 exchange 256 KiB messages as a pipeline while all others fill the same hosts'
    // links.
    const auto pipelineTime = [](const std::string& network) {
        const CapturedRun run = RunText(
            RING + network + CaseCluster(8) +
            "workload:\n"
            "  groups: {line: {ranks: [0, 1], kind: pp}, all: {ranks: [0, 1, 2, 3, 4, 5, 6, 7], "
            "kind: dp}}\n"
            "  programs:\n"
            "    - ranks: 0\n      streams:\n"
            "        a: [{collective: all-to-all, bytes: 32MiB, group: all}]\n"
            "        b: [{compute: 200us}, {send: 256KiB, to: 1, group: line}]\n"
            "    - ranks: 1\n      streams:\n"
            "        a: [{collective: all-to-all, bytes: 32MiB, group: all}]\n"
            "        b: [{compute: 200us}, {receive: 256KiB, from: 0, group: line}]\n"
            "    - ranks: 2-7\n      streams: {a: [{collective: all-to-all, bytes: 32MiB, group: "
            "all}]}\n");
        EXPECT_EQ(run.error, "");
        for (const CollectiveRecord& record : run.collectives)
        {
            if (record.kind == CollectiveKind::SEND_RECV)
            {
                return record.end - record.start;
            }
        }
        return Time(0);
    };
    const Time shared = pipelineTime("");
    const Time apart =
        pipelineTime("network: {classes: [{scheduling: strict, groups: [pp]}, {weight: 1}]}\n");
    // Alone: 256 KiB with headers 21.4 us, 2 us and a packet of latency.
    EXPECT_LT(apart, MicroSeconds(30));
    EXPECT_GT(shared, apart + apart);
}

TEST(Background, TakesItsShareOfTheFabric)
{
    const std::string cluster = CaseCluster(16, LEAF_SPINE);
    const std::string workload = "workload: {collectives: [{op: all-reduce, bytes: 16MiB}]}\n";
    for (const std::string fidelity : {"packet", "flow"})
    {
        const std::string header =
            "echo: 1\nfidelity: " + fidelity + "\ncollective: {algorithm: ring}\n";
        const CapturedRun alone = RunText(header + cluster + workload);
        for (const std::string pattern :
             {"{pattern: poisson, load: 0.4, sizes: traffic/websearch.cdf}",
              "{pattern: poisson, load: 0.3, sizes: traffic/hadoop.cdf}",
              "{pattern: incast, senders: 12, bytes: 1MB, interval: 1ms}",
              "{pattern: permutation, bytes: 1MiB}"})
        {
            const std::string text =
                header + "background: [" + pattern + "]\n" + cluster + workload;
            const CapturedRun beside = RunText(text);
            ASSERT_EQ(beside.error, "") << pattern;
            EXPECT_GT(beside.run.stepTime, alone.run.stepTime) << pattern;
            EXPECT_LT(beside.run.stepTime, alone.run.stepTime * 12) << pattern;
            EXPECT_EQ(beside.run.stepTime, RunText(text).run.stepTime) << pattern;
        }
    }
    EXPECT_THAT(RunText("echo: 1\nfidelity: analytical\nbackground: [{pattern: permutation, bytes: "
                        "1MiB}]\n" +
                        cluster + workload)
                    .error,
                HasSubstr("fidelity: packet or flow"));
}

} // namespace
