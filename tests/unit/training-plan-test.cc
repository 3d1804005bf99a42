// SPDX-License-Identifier: GPL-2.0-only

#include "small-plan.h"

#include "ns3/echo-stage-parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

TEST(Plan, ParametersFollowTheClosedForm)
{
    // arXiv 2104.04473, equation 2: P = 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), plus the
    // final norm, 2 h, that it leaves out.
    for (const char* preset : {"gpt-13b", "gpt-30b", "gpt-40b", "gpt-70b", "gpt-175b"})
    {
        TrainingPlan plan;
        plan.model = GetModelPreset(preset);
        const double l = plan.model.layers;
        const double h = plan.model.hidden;
        EXPECT_DOUBLE_EQ(GetModelParameters(plan),
                         12 * l * h * h + 13 * l * h + (51200 + 2048) * h + 2 * h);
        // On many ranks: words are held twice, norms and row biases on every tensor rank.
        plan.parallel = {2, 1, 1, 1, 4};
        double held = 0;
        for (uint32_t stage = 0; stage < 4; ++stage)
        {
            held += 2.0 * GetStageParameters(plan, stage).GetTotal();
        }
        EXPECT_DOUBLE_EQ(held, GetModelParameters(plan) + 51200 * h + l * 6 * h + (2048 + 2) * h);
    }
}

TEST(Plan, RefusesWhatCannotRun)
{
    const auto message = [](const std::function<void(TrainingPlan&)>& change) {
        TrainingPlan plan = SmallPlan({2, 1, 1, 2, 2}, 4);
        plan.Check();
        change(plan);
        return MessageOf([&] { plan.Check(); });
    };
    using P = TrainingPlan&;
    EXPECT_EQ(message([](P p) { p.parallel.tensor = 3; }),
              "model.heads: found 8, expected a multiple of tp 3");
    EXPECT_EQ(message([](P p) { p.parallel.pipeline = 3; }),
              "model.layers: found 4, expected a multiple of pp 3");
    EXPECT_EQ(message([](P p) { p.model.kvHeads = 1; }),
              "model.kv_heads: found 1, expected a multiple of tp 2");
    EXPECT_EQ(message([](P p) { p.model.kvHeads = 3; }),
              "model.heads: found 8, expected a multiple of kv_heads 3");
    EXPECT_EQ(message([](P p) { p.model.hidden = 255; }),
              "model.hidden: found 255, expected a multiple of heads 8");
    EXPECT_EQ(message([](P p) { p.model.ffnHidden = 1023; }),
              "model.ffn_hidden: found 1023, expected a multiple of tp 2");
    EXPECT_EQ(message([](P p) { p.model.layers = 0; }),
              "model.layers: found 0, expected at least 1");
    EXPECT_EQ(message([](P p) { p.microBatches = 0; }),
              "batch.micro_batches: found 0, expected at least 1");
    EXPECT_THAT(message([](P p) { p.parallel.expert = 2; }),
                HasSubstr("parallel.ep: found 2 for a model without experts"));
    EXPECT_THAT(message([](P p) { p.model.topK = 2; }), HasSubstr("2 without experts"));
    EXPECT_THAT(message([](P p) {
                    p.model.experts = 4;
                    p.model.topK = 5;
                }),
                HasSubstr("model.top_k: found 5, expected 1 to the number of experts, 4"));
    EXPECT_THAT(message([](P p) {
                    p.model.experts = 3;
                    p.model.topK = 1;
                    p.parallel.expert = 2;
                }),
                HasSubstr("model.experts: found 3, expected a multiple of ep 2"));
    EXPECT_THAT(message([](P p) {
                    p.model.experts = 4;
                    p.model.topK = 1;
                }),
                HasSubstr("parallel.sequence_parallel: found false for experts with tp 2"));
    EXPECT_THAT(message([](P p) {
                    p.sequenceParallel = true;
                    p.model.sequence = 129;
                }),
                HasSubstr("model.sequence: found 129, expected a multiple of tp 2"));
    EXPECT_EQ(message([](P p) {
                  p.sequenceParallel = true;
                  p.parallel.context = 2;
                  p.parallel.tensor = 4;
                  p.model.sequence = 12; // 1.5 tokens a rank
              }),
              "model.sequence: found 12, expected a multiple of tp x cp 8");
    const auto inner = [](P p) -> TransformerShape& {
        p.model.experts = 4;
        p.model.topK = 2;
        p.model.denseLayers = 1;
        p.sequenceParallel = true;
        return p.model;
    };
    EXPECT_EQ(message([&](P p) { inner(p).denseFfn = 513; }),
              "model.dense_ffn_hidden: found 513, expected a multiple of tp 2");
    EXPECT_EQ(message([&](P p) { inner(p).sharedFfn = 513; }),
              "model.shared_ffn_hidden: found 513, expected a multiple of tp 2");
    EXPECT_EQ(message([&](P p) { inner(p).sharedFfn = 512; }), "");
    EXPECT_THAT(message([](P p) { p.matmul = DataType::BF16; }),
                HasSubstr("precision.matmul: found bf16 with parameters fp32, expected tf32 or"));
    EXPECT_THAT(message([](P p) { p.parameters = DataType::BF16; }),
                HasSubstr("precision.matmul: found tf32 with parameters bf16, expected bf16, "));
    EXPECT_THAT(message([](P p) { p.parameters = DataType::INT8; }),
                HasSubstr("precision.parameters: found int8"));
    EXPECT_THAT(message([](P p) { p.gradients = DataType::FP8; }),
                HasSubstr("precision.gradients: found fp8"));
    EXPECT_THAT(message([](P p) { p.attention = AttentionKernel::FLASH; }),
                HasSubstr("attention: found flash with parameters fp32"));
    EXPECT_THAT(message([](P p) { p.firstStageLayers = 5; }),
                HasSubstr("parallel.first_stage_layers: found 5, expected at most the layers"));
    EXPECT_THAT(message([](P p) {
                    p.parallel.pipeline = 1;
                    p.lastStageLayers = 2;
                }),
                HasSubstr("parallel.last_stage_layers: found 2 with pp 1"));
    EXPECT_THAT(message([](P p) { p.parallel.context = 3; }),
                HasSubstr("model.sequence: found 128, expected a multiple of 2 x cp 6"));
}

TEST(Plan, StagesMayBeUneven)
{
    // The paper's 70B on 12 stages: 80 layers are 5 + 10 x 7 + 5.
    TrainingPlan plan;
    plan.model = GetModelPreset("gpt-70b");
    plan.parallel = {4, 1, 1, 2, 12};
    EXPECT_THAT(MessageOf([&] { plan.Check(); }), HasSubstr("expected a multiple of pp 12"));
    plan.firstStageLayers = 5;
    EXPECT_THAT(MessageOf([&] { plan.Check(); }),
                HasSubstr("found 80 (75 without the first and last stage's own), expected what 11 "
                          "stages share equally"));
    plan.lastStageLayers = 5;
    plan.Check();
    EXPECT_EQ(plan.GetStageLayers(0), 5u);
    EXPECT_EQ(plan.GetStageLayers(6), 7u);
    EXPECT_EQ(plan.GetStageLayers(11), 5u);
    EXPECT_EQ(plan.GetFirstLayer(11), 75u);
}

TEST(Plan, PresetsAreNamed)
{
    EXPECT_THAT(MessageOf([] { GetModelPreset("gpt-3"); }),
                HasSubstr("model.preset: found 'gpt-3', expected one of gpt-13b, "));
    EXPECT_THAT(MessageOf([] { GetModelKind("t5"); }), HasSubstr("expected gpt, bert or llama"));
    // llama3-70b has 70.6e9 parameters.
    TrainingPlan plan;
    plan.model = GetModelPreset("llama3-70b");
    EXPECT_NEAR(GetModelParameters(plan) / 70.6e9, 1, 0.001);
}

} // namespace
