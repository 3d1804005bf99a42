// SPDX-License-Identifier: GPL-2.0-only
// Analytical estimates derived from link rates and delays against packets, on an uncongested fat
// tree. doc/validation.md has the whole table, by ./echo validate scenarios/validate-fat-tree.yaml.

#include "case-harness.h"

#include "ns3/echo-validation.h"

using namespace ns3;
using namespace ns3::echo;

namespace
{

TEST(Validation, DerivedEstimatesAgreeWithPackets)
{
    const std::string yaml = "echo: 1\n"
                             "cluster: clusters/fat-tree-k8-128x400g.yaml\n"
                             "estimator: {profile: derived}\n"
                             "workload:\n"
                             "  collectives:\n"
                             "    - {op: all-reduce, bytes: 1MiB, ranks: 0-7}\n"
                             "    - {op: all-reduce, bytes: 8MiB, ranks: 0-15}\n"
                             "    - {op: all-reduce, bytes: 4MiB, ranks: 0-15, algorithm: tree}\n"
                             "    - {op: all-gather, bytes: 1MiB, ranks: 0-31}\n"
                             "    - {op: reduce-scatter, bytes: 4MiB, ranks: 0-31}\n"
                             "    - {op: broadcast, bytes: 4MiB, ranks: 0-7}\n"
                             "    - {op: send-recv, bytes: 4MiB, pairs: [[0, 100]]}\n";
    const Scenario scenario = ReadScenario(
        YamlNode::LoadText(yaml, std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml"), {});
    const auto rows = Validation(scenario).Run(nullptr);
    ASSERT_EQ(rows.size(), 7u);
    for (const auto& row : rows)
    {
        EXPECT_TRUE(row.packet.IsStrictlyPositive());
        EXPECT_LE(std::abs(RelativeError(row.analytical, row.packet)), 0.05)
            << ToString(row.kind) << ' ' << ToString(row.algorithm) << ' ' << row.bytes;
        // Fluid flows carry no headers and store no packet: below packets, never above.
        EXPECT_LE(row.flow, row.packet);
        EXPECT_GE(RelativeError(row.flow, row.packet), -0.10) << ToString(row.kind);
    }
    const ValidationError error = SummarizeErrors(rows, Fidelity::ANALYTICAL);
    EXPECT_LE(error.mean, 0.03);
}

// On the cube mesh of NVLinks of a DGX-1 channels take different rings, as NCCL's do: what flows
// take is near what the calibrated profile says of the machine.
TEST(Validation, CubeMeshIsUsedAsTheMachineUsesIt)
{
    const Scenario scenario = ReadScenario(
        YamlNode::LoadText("echo: 1\n"
                           "fidelity: flow\n"
                           "cluster: clusters/dgx1-v100.yaml\n"
                           "workload: {collectives: [{op: all-reduce, bytes: 256MiB},\n"
                           "                         {op: all-gather, bytes: 256MiB}]}\n",
                           std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml"),
        {});
    const auto rows = Validation(scenario).Run(nullptr);
    ASSERT_EQ(rows.size(), 2u);
    for (const auto& row : rows)
    {
        EXPECT_NEAR(RelativeError(row.flow, row.analytical), 0, 0.15) << ToString(row.kind);
        EXPECT_NEAR(RelativeError(row.packet, row.analytical), 0, 0.15) << ToString(row.kind);
    }
}

// Where GPUs are joined by links, each link has connections of few channels: it is idle until the
// first piece has come to it, and from when the last one has gone on.
TEST(Validation, DerivedTreesOnACubeMeshFillAndDrainAsPacketsDo)
{
    for (const uint32_t hosts : {1u, 2u})
    {
        ScenarioOverrides overrides;
        overrides.hosts = hosts;
        const std::string all = "ranks: 0-" + std::to_string(8 * hosts - 1) + ", algorithm: tree";
        const std::string text = "echo: 1\n"
                                 "cluster: clusters/dgx1-v100.yaml\n"
                                 "estimator: {profile: derived}\n"
                                 "workload: {collectives: [{op: all-reduce, bytes: 1MiB, " +
                                 all + "}, {op: all-reduce, bytes: 16MiB, " + all + "}]}\n";
        const Scenario scenario = ReadScenario(
            YamlNode::LoadText(text, std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml"),
            overrides);
        const auto rows = Validation(scenario).Run(nullptr);
        ASSERT_EQ(rows.size(), 2u);
        for (const auto& row : rows)
        {
            EXPECT_EQ(row.algorithm, CollectiveAlgorithmKind::TREE);
            EXPECT_NEAR(RelativeError(row.analytical, row.packet), 0, 0.05)
                << hosts << " hosts, " << row.bytes << " B";
        }
    }
}

// Every member of a recorded all-to-all-v has splits of its own, in both directions.
TEST(Validation, TakesRecordedSplits)
{
    ScenarioOverrides overrides;
    overrides.fidelity = "flow";
    const Scenario scenario =
        ReadScenario(std::string(ECHO_SOURCE_DIR) + "/scenarios/dlrm-8xv100.yaml", overrides);
    const auto rows = Validation(scenario).Run(nullptr);
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows)
    {
        EXPECT_TRUE(row.flow.IsStrictlyPositive()) << ToString(row.kind);
    }
}

} // namespace
