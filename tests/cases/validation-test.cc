// SPDX-License-Identifier: GPL-2.0-only
// Analytical estimates derived from link rates and delays against packets, on an uncongested fat
// tree. doc/validation.md has the whole table, by ./echo validate scenarios/validate-fat-tree.yaml.

#include "case-harness.h"

#include "ns3/echo-validation.h"

#include <array>
#include <cmath>
#include <random>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;

namespace
{

std::vector<ValidationRow> RowsOf(const std::string& yaml, const ScenarioOverrides& overrides = {})
{
    const Scenario scenario = ReadScenario(
        YamlNode::LoadText(yaml, std::string(ECHO_SOURCE_DIR) + "/scenarios/text.yaml"), overrides);
    return Validation(scenario).Run(nullptr);
}

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
    const auto rows = RowsOf(yaml);
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

TEST(Validation, WhatDiffersInChannelsIsARowOfItsOwn)
{
    const auto rows =
        RowsOf("echo: 1\n"
               "cluster: clusters/single-switch-8x100g.yaml\n"
               "estimator: {profile: derived}\n"
               "workload: {collectives: [{op: all-gather, bytes: 1MiB},\n"
               "                         {op: all-gather, bytes: 1MiB, channels: 2},\n"
               "                         {op: all-gather, bytes: 1MiB, repeat: 2}]}\n");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_LT(rows[1].packet, rows[0].packet);
}

// On the cube mesh of NVLinks of a DGX-1 channels take different rings, as NCCL's do: what flows
// take is near what the calibrated profile says of the machine.
TEST(Validation, CubeMeshIsUsedAsTheMachineUsesIt)
{
    const auto rows = RowsOf("echo: 1\n"
                             "fidelity: flow\n"
                             "cluster: clusters/dgx1-v100.yaml\n"
                             "workload: {collectives: [{op: all-reduce, bytes: 256MiB},\n"
                             "                         {op: all-gather, bytes: 256MiB}]}\n");
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
        const auto rows = RowsOf(text, overrides);
        ASSERT_EQ(rows.size(), 2u);
        for (const auto& row : rows)
        {
            EXPECT_EQ(row.algorithm, CollectiveAlgorithmKind::TREE);
            EXPECT_NEAR(RelativeError(row.analytical, row.packet), 0, 0.05)
                << hosts << " hosts, " << row.bytes << " B";
        }
    }
}

/** A drawn machine of hosts with NVLink, with operations on it, as a scenario. */
std::string DrawnMachine(std::mt19937& random)
{
    const auto pick = [&random](auto... values) {
        const std::array all{values...};
        return all[random() % all.size()];
    };
    const auto between = [&random](double low, double high) {
        return low * std::pow(high / low, static_cast<double>(random() % 10000) / 10000);
    };
    const uint32_t hosts = pick(2u, 3u, 4u, 6u);
    const uint32_t gpus = pick(1u, 2u, 4u, 8u);
    const uint32_t nics = std::min(pick(1u, 2u, 4u), gpus);
    const uint32_t gbps = pick(100u, 200u, 400u);
    std::ostringstream text;
    text << "echo: 1\nestimator: {profile: derived}\ncluster:\n  name: drawn\n  hosts: " << hosts
         << "\n  gpu: a100-sxm-80gb\n  fabric: {type: single-switch}\n  host:\n    gpus: " << gpus
         << "\n    nics: " << nics << "\n    nic: {rate: " << gbps
         << "Gbps, delay: " << static_cast<uint32_t>(between(200, 5000)) << "ns}\n";
    if (gpus > 1)
    {
        text << "    nvlink: {type: nvswitch, rate: "
             << static_cast<uint32_t>(gbps * between(0.5, 20)) << "Gbps}\n";
    }
    text << "workload:\n  collectives:\n";
    for (const char* op : {"all-reduce", "all-gather", "broadcast", "reduce"})
    {
        text << "    - {op: " << op << ", ranks: 0-" << hosts * gpus - 1
             << ", algorithm: ring, channels: " << pick(0u, 1u, 2u, 4u, 8u)
             << ", bytes: " << pick(1u, 2u, 4u, 8u) << "MiB}\n";
    }
    return text.str();
}

// Rings and chains: mean within 3 % over drawn machines, whatever NVLink has of what NICs have, and
// however many channels share either.
TEST(Validation, DerivedRingsAndChainsAgreeWithPacketsOnDrawnMachines)
{
    std::mt19937 random(412);
    double sum = 0;
    size_t count = 0;
    for (int i = 0; i < 12; ++i)
    {
        const std::string text = DrawnMachine(random);
        const auto rows = RowsOf(text);
        for (const auto& row : rows)
        {
            const double error = std::abs(RelativeError(row.analytical, row.packet));
            EXPECT_LE(error, 0.2) << text << ToString(row.kind) << ' ' << row.bytes << " B";
            sum += error;
            ++count;
        }
    }
    ASSERT_GT(count, 40u);
    EXPECT_LE(sum / static_cast<double>(count), 0.03);
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
