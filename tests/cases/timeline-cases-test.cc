// SPDX-License-Identifier: GPL-2.0-only
// Behaviour that must hold for execution graphs and their failures, end to end.

#include "case-harness.h"

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::HasSubstr;

namespace
{

const std::string ANALYTICAL = "echo: 1\nname: case\nfidelity: analytical\n";

/** A program of one stream "s" for one rank. */
std::string Program(int rank, const std::vector<std::string>& operators)
{
    std::string text = "    - ranks: [" + std::to_string(rank) + "]\n      streams:\n        s:\n";
    for (const auto& op : operators)
    {
        text += "          - " + op + "\n";
    }
    return text;
}

/** Stages that pass two micro-batches on. */
std::string Pipeline(int stages)
{
    std::string text = "workload:\n  programs:\n";
    for (int stage = 0; stage < stages; ++stage)
    {
        std::vector<std::string> operators;
        for (int batch = 0; batch < 2; ++batch)
        {
            if (stage > 0)
            {
                operators.push_back("{receive: 1MiB, from: " + std::to_string(stage - 1) + "}");
            }
            operators.push_back("{compute: 100us, name: f" + std::to_string(batch) + "}");
            if (stage + 1 < stages)
            {
                operators.push_back("{send: 1MiB, to: " + std::to_string(stage + 1) + "}");
            }
        }
        text += Program(stage, operators);
    }
    return text;
}

TEST(Case9, CorrectPairsFinish)
{
    for (int stages : {1, 2, 4, 8})
    {
        for (const std::string fidelity : {"analytical", "packet"})
        {
            const CapturedRun run =
                RunText("echo: 1\nfidelity: " + fidelity + "\nranks: " + std::to_string(stages) +
                        "\n" + CaseCluster(8) + Pipeline(stages));
            EXPECT_EQ(run.error, "") << stages << ' ' << fidelity;
            EXPECT_EQ(run.collectives.size(), 2u * (stages - 1));
        }
    }
}

TEST(Case9, SizesThatDisagreeAreNamed)
{
    const CapturedRun run = RunText(
        ANALYTICAL + "ranks: 2\n" + CaseCluster(8) + "workload:\n  programs:\n" +
        Program(0, {"{send: 1MiB, to: 1, tag: 7, name: push}", "{compute: 1us, name: after0}"}) +
        Program(1,
                {"{receive: 2MiB, from: 0, tag: 7, name: pull}", "{compute: 1us, name: after1}"}));
    EXPECT_NE(run.exitCode, 0);
    EXPECT_THAT(run.error,
                AllOf(HasSubstr("push"),
                      HasSubstr("pull"),
                      HasSubstr("7"),
                      HasSubstr("1048576"),
                      HasSubstr("2097152")));
}

TEST(Case9, AReceiveWithoutASendIsNamed)
{
    const CapturedRun run = RunText(
        ANALYTICAL + "ranks: 2\n" + CaseCluster(8) + "workload:\n  programs:\n" +
        Program(0, {"{compute: 1us, name: alone}"}) +
        Program(1, {"{receive: 2MiB, from: 0, name: pull}", "{compute: 1us, name: after}"}));
    EXPECT_NE(run.exitCode, 0);
    EXPECT_THAT(run.error, AllOf(HasSubstr("pull"), HasSubstr("2097152")));
}

// Two ranks that each wait for the other's send: a deadlock of order, known only when it runs.
TEST(Case9, ADeadlockOfOrderIsExplained)
{
    const CapturedRun run =
        RunText(ANALYTICAL + "ranks: 2\n" + CaseCluster(8) + "workload:\n  programs:\n" +
                Program(0,
                        {"{receive: 1MiB, from: 1, name: want1}",
                         "{send: 1MiB, to: 1, name: give1}",
                         "{compute: 1us, name: behind0}"}) +
                Program(1,
                        {"{receive: 1MiB, from: 0, name: want0}",
                         "{send: 1MiB, to: 0, name: give0}",
                         "{compute: 1us, name: behind1}"}));
    EXPECT_EQ(run.exitCode, 3);
    EXPECT_THAT(run.error, AllOf(HasSubstr("want1"), HasSubstr("want0")));
}

TEST(Case11, MoreRanksThanGpusIsAnErrorWithBothNumbers)
{
    const CapturedRun run = RunText(ANALYTICAL + "ranks: 16\n" + CaseCluster(8) +
                                    "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n");
    EXPECT_EQ(run.exitCode, 2);
    EXPECT_THAT(run.error, AllOf(HasSubstr("16"), HasSubstr("8")));
}

TEST(Case11, FewerRanksThanGpusRuns)
{
    const CapturedRun run = RunText(ANALYTICAL + "ranks: 8\n" + CaseCluster(16) +
                                    "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n");
    EXPECT_EQ(run.error, "");
    EXPECT_EQ(run.run.ranks, 8u);
    EXPECT_EQ(run.run.hosts, 8u);
}

TEST(Case13, ACycleIsPrintedBeforeTimeZero)
{
    const CapturedRun run = RunText(ANALYTICAL + "ranks: 1\n" + CaseCluster(8) +
                                    "workload:\n  programs:\n    - ranks: [0]\n      streams:\n"
                                    "        a: [{compute: 1us, name: k1, after: [k3]}]\n"
                                    "        b: [{compute: 1us, name: k2, after: [k1]}]\n"
                                    "        c: [{compute: 1us, name: k3, after: [k2]}]\n");
    EXPECT_EQ(run.exitCode, 2);
    EXPECT_THAT(run.error, AllOf(HasSubstr("k1"), HasSubstr("k2"), HasSubstr("k3")));
}

TEST(Case13, ADanglingDependencyIsNamed)
{
    const CapturedRun run = RunText(ANALYTICAL + "ranks: 1\n" + CaseCluster(8) +
                                    "workload:\n  programs:\n    - ranks: [0]\n      streams:\n"
                                    "        a: [{compute: 1us, name: k1, after: [k999]}]\n");
    EXPECT_EQ(run.exitCode, 2);
    EXPECT_THAT(run.error, HasSubstr("k999"));
}

// Stream 7: K1 100 us, K2 400 us, K3 50 us; stream 20: an all-reduce of T after K1; K3 after it.
TEST(Case14, StreamOrderAndExposedCommunication)
{
    for (const std::string fidelity : {"analytical", "flow", "packet", "hybrid"})
    {
        for (const std::string bytes : {"64KiB", "1MiB", "16MiB"})
        {
            const std::string head = "echo: 1\nfidelity: " + fidelity + "\nranks: 4\n" +
                                     "collective: {algorithm: ring}\n" + CaseCluster(4);
            const CapturedRun alone = RunText(
                head + "workload: {collectives: [{op: all-reduce, bytes: " + bytes + "}]}\n");
            ASSERT_EQ(alone.error, "");
            const Time t = alone.run.stepTime;
            const CapturedRun run =
                RunText(head +
                        "workload:\n  groups: {world: [0, 1, 2, 3]}\n  programs:\n"
                        "    - ranks: all\n      streams:\n"
                        "        \"7\":\n"
                        "          - {compute: 100us, name: K1}\n"
                        "          - {compute: 400us, name: K2}\n"
                        "          - {compute: 50us, name: K3, after: [AR]}\n"
                        "        \"20\":\n"
                        "          - {collective: all-reduce, bytes: " +
                        bytes + ", group: world, name: AR, after: [K1]}\n");
            ASSERT_EQ(run.error, "") << fidelity;
            const OperatorRecord& ar = run.FindOperator(0, "AR");
            EXPECT_EQ(ar.start, MicroSeconds(100));
            EXPECT_EQ(ar.end, MicroSeconds(100) + t);
            EXPECT_EQ(run.FindOperator(0, "K2").start, MicroSeconds(100));
            EXPECT_EQ(run.FindOperator(0, "K3").start,
                      Max(MicroSeconds(500), MicroSeconds(100) + t));
            for (const auto& rank : run.ranks)
            {
                EXPECT_EQ(rank.exposedCommunication, Max(Time(), t - MicroSeconds(400)));
                EXPECT_EQ(rank.compute, MicroSeconds(550));
                EXPECT_EQ(rank.compute + rank.exposedCommunication + rank.waiting + rank.idle,
                          run.run.stepTime);
            }
        }
    }
}

TEST(Case24, RunsAreIdentical)
{
    const std::string text =
        "echo: 1\nfidelity: packet\n" +
        CaseCluster(16,
                    "{type: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: "
                    "2, link_rate: 100Gbps, link_delay: 1us}") +
        "workload: {collectives: [{op: all-to-all, bytes: 1MiB, repeat: 3}]}\n";
    const CapturedRun first = RunText(text);
    const CapturedRun second = RunText(text);
    ASSERT_EQ(first.error, "");
    ASSERT_EQ(first.flows.size(), second.flows.size());
    for (size_t i = 0; i < first.flows.size(); ++i)
    {
        EXPECT_EQ(first.flows[i].end, second.flows[i].end);
    }
    EXPECT_EQ(first.run.stepTime, second.run.stepTime);
    EXPECT_EQ(first.run.packetHops, second.run.packetHops);
}

} // namespace
