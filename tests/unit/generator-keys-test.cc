// SPDX-License-Identifier: GPL-2.0-only
// Keys of a generated workload that its plan, or the GPU, leaves without a meaning.

#include "error-message.h"

#include "ns3/echo-generator-reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

TEST(GeneratorKeys, RefusesFormatsThatTheGpuHasNot)
{
    const auto message = [](const std::string& precision, std::map<DataType, double> peaks) {
        const YamlNode node = YamlNode::LoadText("model: {preset: gpt-13b}\n"
                                                 "batch: {micro_batches: 1}\n" +
                                                     precision,
                                                 "g.yaml");
        const GpuSpec gpu{"G1", std::move(peaks), 1e12, 0};
        return MessageOf([&] { CheckFormats(node, ReadTrainingPlan(node, 1), gpu); });
    };
    const std::string half = "precision: {parameters: bf16}";
    const std::string fp4 = "precision: {parameters: bf16, matmul: fp4}";
    EXPECT_EQ(message(half, {{DataType::BF16, 1e12}}), "");
    EXPECT_EQ(message("", {{DataType::TF32, 1e12}}), "");
    EXPECT_EQ(
        message("", {{DataType::FP32, 1e12}}),
        "g.yaml:1: precision.matmul: found tf32, expected what gpu G1 has peak_tflops of: fp32");
    EXPECT_EQ(message(fp4, {{DataType::FP8, 2e12}, {DataType::BF16, 1e12}}),
              "g.yaml:3: precision.matmul: found fp4, expected what gpu G1 has peak_tflops of: "
              "fp8, bf16");
    EXPECT_EQ(message(half, {{DataType::FP16, 1e12}}),
              "g.yaml:3: precision.parameters: found bf16, expected what gpu G1 has peak_tflops "
              "of: fp16");
    EXPECT_EQ(message(half, {}),
              "g.yaml:3: precision.parameters: found bf16, expected a gpu with peak_tflops, unlike "
              "G1");
}

/** A plan of 16 layers over 2 tensor ranks with more keys of each block; ranks follow from it. */
std::string MessageOfKeys(const std::string& model,
                          const std::string& parallel,
                          const std::string& others = "")
{
    const std::string text = "model: {preset: llama3-8b, layers: 16" + model +
                             "}\nparallel: {tp: 2" + parallel + "}\nbatch: {micro_batches: 8}\n" +
                             others;
    return MessageOf([&] { ReadTrainingPlan(YamlNode::LoadText(text, "g.yaml"), 16); });
}

TEST(GeneratorKeys, RefusesKeysOfWhatThePlanHasNot)
{
    const std::string experts = ", experts: 8";
    const std::string split = ", sequence_parallel: true, dp: 8, ep: 4";
    const struct
    {
        std::string model;
        std::string parallel;
        std::string others;
        const char* message;
    } plans[] = {
        {"", ", pp: 2, layers: [8, 8], first_stage_layers: 8", "", "first_stage_layers: found it"},
        {"", ", pp: 2, layers: [8, 8], embedding_is_layer: true", "", "is_layer: found it beside"},
        {", shared_ffn_hidden: 8", "", "", "model.shared_ffn_hidden: found 8 without experts"},
        {", dense_layers: 1", "", "", "model.dense_layers: found 1 without experts"},
        {", dense_ffn_hidden: 8", "", "", "found it with dense_layers 0"},
        {", latent_attention: {keys: 64}, kv_heads: 8",
         "",
         "",
         "found '8' beside latent_attention"},
        {experts + ", dense_layers: 16",
         "",
         "",
         "dense_layers: found 16, expected fewer than layers"},
        {"", ", expert_tp: 1", "", "parallel.expert_tp: found 1 for a model without experts"},
        {experts, split + ", overlap_experts: true", "", "found true without shared experts"},
        {experts, split + ", dispatch_domain: 3", "", "found 3, expected a divisor of ep 4"},
        {experts, ", sequence_parallel: true, ep: 1, expert_load: [1]", "", "a load with ep 1"},
        {experts, ", sequence_parallel: true, dispatch_domain: 8", "", "found '8' without ep"},
        {"",
         ", pp: 2, delay_weight_gradients: true",
         "",
         "gradients: found true for a model without"},
        {experts,
         ", sequence_parallel: true, pp: 2, vp: 2, schedule: combined, "
         "delay_weight_gradients: true",
         "",
         "delay_weight_gradients: found 'true' without ep, expected ep too"},
        {"", ", context_exchange: all-gather", "", "found 'all-gather' without cp, expected cp"},
        {"", ", split_messages: true", "", "split_messages: found 'true' without pp"},
        {"", ", overlap_pipeline: true", "", "overlap_pipeline: found 'true' without pp"},
        {"", ", bucket_elements: 1000", "", "found 1000 without overlap_gradients"},
        {"", ", zero: 3, overlap_gradients: true, bucket_elements: 9", "", "found 9 with zero 3"},
        {"", ", pp: 2, schedule: interleaved", "", "schedule: found interleaved with vp 1"},
        {"", ", vp: 2", "", "parallel.vp: found 2 with pp 1, expected 1, or pp 2 or more"},
        {"", ", vp: 2, schedule: combined", "", "parallel.vp: found 2 with pp 1"},
        {"", ", vp: 2, schedule: [F0 F0.1 B0.1 B0]", "", "parallel.vp: found 2 with pp 1"},
        {"", ", pp: 2", "recompute: full\nrecompute_layers: 9", "expected at most the layers of a"},
        {"",
         ", pp: 2",
         "host: {waits_for_peers: true}",
         "waits_for_peers: found true with kernel 0"},
        {"",
         "",
         "host: {waits_for_peers: true}",
         "waits_for_peers: found 'true' without parallel.pp"},
        {"",
         ", pp: 2, overlap_pipeline: true",
         "host: {kernel: 1us, waits_for_peers: true}",
         "host.waits_for_peers: found 'true' beside parallel.overlap_pipeline, expected one of "
         "them"},
        {"", "", "host: {waits_for_kernels: true}", "waits_for_kernels: found true with kernel 0"},
        {"",
         "",
         "host: {kernel: 1us, graphs: [moe_router]}",
         "g.yaml:4: host.graphs: found moe_router for a model without experts"},
        {"",
         "",
         "host: {kernel: 1us, graphs: [attn, moe_preprocess]}",
         "graphs: found moe_preprocess for a model without experts"},
        {experts,
         split,
         "host: {kernel: 1us, graphs: [attn, moe_preprocess]}",
         "graphs: found moe_preprocess without moe_router"},
        {", window: 64",
         "",
         "attention: unfused",
         "g.yaml:1: model.window: found 64 with attention: unfused"},
        {", window: 64, causal: false",
         "",
         "precision: {parameters: bf16}",
         "model.window: found 64 without a causal mask"},
    };
    for (const auto& [model, parallel, others, expected] : plans)
    {
        EXPECT_THAT(MessageOfKeys(model, parallel, others), HasSubstr(expected))
            << model << parallel << others;
    }
}

TEST(GeneratorKeys, AcceptsDefaultsAndDegreesOfOne)
{
    EXPECT_EQ(MessageOfKeys("",
                            ", expert_tp: 2, reshard_after_forward: true, context_exchange: ring, "
                            "bucket_elements: 40000000, split_messages: false, zero: 0",
                            "recompute: full\nrecompute_layers: 0"),
              "");
    // What a study over degrees needs, when it comes to 1.
    EXPECT_EQ(MessageOfKeys("",
                            ", pp: 1, cp: 1, split_messages: true, overlap_pipeline: true, "
                            "context_exchange: all-gather"),
              "");
    EXPECT_EQ(MessageOfKeys(", experts: 8",
                            ", sequence_parallel: true, ep: 1, expert_tp: 1, dispatch_domain: 8"),
              "");
    EXPECT_EQ(MessageOfKeys(", experts: 8",
                            ", sequence_parallel: true, ep: 1, pp: 2, vp: 2, schedule: combined, "
                            "delay_weight_gradients: true"),
              "");
    for (const char* pipeline : {", pp: 1", ", pp: 2, vp: 2", ", pp: 2, overlap_pipeline: false"})
    {
        EXPECT_EQ(MessageOfKeys("", pipeline, "host: {kernel: 1us, waits_for_peers: true}"), "");
    }
    EXPECT_EQ(MessageOfKeys("", ", zero: 3, overlap_gradients: true"), "");
    EXPECT_EQ(MessageOfKeys("", ", zero: 3, overlap_parameters: true"), "");
    EXPECT_EQ(MessageOfKeys("", ", dp: 1, pp: 8, overlap_gradients: true"), "");
    EXPECT_EQ(MessageOfKeys(", window: 64", "", "precision: {parameters: bf16}"), "");
    EXPECT_EQ(MessageOfKeys(", window: 0", ""), "");
    EXPECT_EQ(MessageOfKeys("", ", overlap_input_gradients: false"), "");
}

TEST(GeneratorKeys, WithoutTensorRanksNothingOfTheirsIsSet)
{
    const auto message = [](const std::string& parallel) {
        return MessageOf([&] {
            ReadTrainingPlan(YamlNode::LoadText("model: {preset: gpt-13b}\nparallel: {" + parallel +
                                                    "}\nbatch: {micro_batches: 1}",
                                                "g.yaml"),
                             2);
        });
    };
    EXPECT_THAT(message("overlap_input_gradients: false"),
                HasSubstr("overlap_input_gradients: found 'false' without tp, expected tp too"));
    EXPECT_EQ(message("overlap_input_gradients: true"), "");
    EXPECT_EQ(message("tp: 1, overlap_input_gradients: false"), "");
}

TEST(GeneratorKeys, MicroBatchesAreBounded)
{
    const auto message = [](const std::string& batch) {
        return MessageOf([&] {
            ReadTrainingPlan(
                YamlNode::LoadText("model: {preset: gpt-13b}\nbatch: {" + batch + "}", "g.yaml"),
                2);
        });
    };
    EXPECT_THAT(message("micro_batches: 100001"), HasSubstr("batch.micro_batches: found '100001'"));
    EXPECT_THAT(message("global_batch: 200002"),
                HasSubstr("g.yaml:2: batch.global_batch: found 200002, which is 100001 "
                          "micro-batches, expected at most 100000 of them"));
    EXPECT_EQ(message("micro_batches: 1000"), "");
}

TEST(GeneratorKeys, OneExpertIsAllThatATokenVisits)
{
    const auto read = [](const std::string& model) {
        return ReadTrainingPlan(
            YamlNode::LoadText("model: {preset: llama3-8b" + model + "}\nbatch: {micro_batches: 1}",
                               "g.yaml"),
            1);
    };
    EXPECT_EQ(read(", experts: 1").model.topK, 1u);
    EXPECT_EQ(read(", experts: 4").model.topK, 2u);
    EXPECT_EQ(read("").model.topK, 0u);
    // Of its published weights; untied embeddings would be 0.8e9 more.
    EXPECT_TRUE(GetModelPreset("grok-1").tiedEmbeddings);
}

} // namespace
