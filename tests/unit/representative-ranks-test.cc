// SPDX-License-Identifier: GPL-2.0-only
// One rank of each program takes as long as all of them.

#include "../../calibration/representative-ranks.h"

#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** A small step on 16 GPUs of two hosts. */
Scenario Read(const std::string& parallel, const std::string& model)
{
    const std::string text = "echo: 1\n"
                             "name: small\n"
                             "cluster: clusters/dgx-h100.yaml\n"
                             "hosts: 2\n"
                             "fidelity: analytical\n"
                             "compute: {profile: ../calibration/compute/gemm-efficiency.yaml}\n"
                             "workload:\n"
                             "  generate:\n"
                             "    model: {kind: llama, layers: 4, hidden: 512, heads: 8,"
                             " sequence: 512, vocabulary: 4096" +
                             model +
                             "}\n"
                             "    parallel: {" +
                             parallel +
                             "}\n"
                             "    batch: {micro_batches: 4}\n"
                             "    precision: {parameters: bf16}\n";
    return ReadScenario(YamlNode::LoadText(text, ECHO_SOURCE_DIR "/scenarios/small.yaml"), {});
}

Time StepOf(Scenario scenario)
{
    ScenarioRunner runner(std::move(scenario));
    RecordSink nothing;
    return runner.Run([&nothing]() -> RecordSink& { return nothing; }).stepTime;
}

TEST(RepresentativeRanks, TakeAsLongAsAll)
{
    const std::pair<const char*, const char*> plans[] = {
        {"tp: 2, pp: 2, sequence_parallel: true, zero: 1, overlap_gradients: true", ""},
        {"tp: 4, pp: 2, vp: 2, zero: 1, overlap_parameters: true", ", tied_embeddings: true"},
        {"zero: 3", ""},
        {"cp: 2, pp: 2", ""},
        {"ep: 4, zero: 1", ", experts: 8, top_k: 2, shared_ffn_hidden: 256"}};
    for (const auto& [parallel, model] : plans)
    {
        SCOPED_TRACE(parallel);
        Scenario scenario = Read(parallel, model);
        scenario.sharesLinks = false; // of the others' communications none is there to meet
        const Time full = StepOf(scenario);
        KeepRepresentatives(scenario);
        EXPECT_LT(scenario.workload->GetRankCount(), 16u);
        EXPECT_EQ(StepOf(scenario), full);
    }
}

TEST(RepresentativeRanks, RefuseUnequalLoads)
{
    Scenario scenario = Read("ep: 2, expert_load: [1, 2]", ", experts: 2, top_k: 1");
    EXPECT_THROW(KeepRepresentatives(scenario), UnsupportedError);
}

} // namespace
