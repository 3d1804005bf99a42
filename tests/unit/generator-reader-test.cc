// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-generator-reader.h"
#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-workload-health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::HasSubstr;

namespace
{

const char* FULL = R"(model:
  kind: gpt
  layers: 8
  hidden: 512
  heads: 8
  sequence: 256
  vocabulary: 5120
  kv_heads: 4
  ffn_hidden: 1024
  experts: 8
  top_k: 2
  activation: swiglu
  tied_embeddings: false
  dropout: false
parallel:
  tp: 2
  cp: 1
  ep: 2
  dp: 4
  pp: 2
  sequence_parallel: true
  schedule: gpipe
  first_stage_layers: 5
  last_stage_layers: 3
  distributed_optimizer: true
  overlap_gradients: true
  bucket_elements: 1000
  clip_gradients: false
batch:
  micro_batch: 2
  micro_batches: 3
precision:
  parameters: bf16
  gradients: fp32
  matmul: fp8
recompute: selective
attention: unfused
)";

TrainingPlan Read(const std::string& text, uint32_t ranks)
{
    return ReadTrainingPlan(YamlNode::LoadText(text, "g.yaml"), ranks);
}

std::string MessageOf(const std::string& text, uint32_t ranks = 16)
{
    try
    {
        Read(text, ranks);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

std::string Replace(std::string text, const std::string& from, const std::string& to)
{
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(GeneratorReader, ReadsEveryKey)
{
    const TrainingPlan plan = Read(FULL, 16);
    EXPECT_EQ(plan.model.layers, 8u);
    EXPECT_EQ(plan.model.hidden, 512u);
    EXPECT_EQ(plan.model.heads, 8u);
    EXPECT_EQ(plan.model.kvHeads, 4u);
    EXPECT_EQ(plan.model.sequence, 256u);
    EXPECT_EQ(plan.model.vocabulary, 5120u);
    EXPECT_EQ(plan.model.ffnHidden, 1024u);
    EXPECT_EQ(plan.model.experts, 8u);
    EXPECT_EQ(plan.model.topK, 2u);
    EXPECT_TRUE(plan.model.gatedActivation);
    EXPECT_TRUE(plan.model.biases && plan.model.learnedPositions); // by kind
    EXPECT_FALSE(plan.model.tiedEmbeddings || plan.model.dropout);
    EXPECT_EQ(plan.parallel.tensor, 2u);
    EXPECT_EQ(plan.parallel.expert, 2u);
    EXPECT_EQ(plan.parallel.data, 4u);
    EXPECT_EQ(plan.parallel.pipeline, 2u);
    EXPECT_TRUE(plan.sequenceParallel && plan.SplitsOptimizer() && plan.overlapGradients);
    EXPECT_FALSE(plan.clipGradients);
    EXPECT_NE(DynamicCast<GpipeSchedule>(plan.schedule), nullptr);
    EXPECT_EQ(plan.firstStageLayers, 5u);
    EXPECT_EQ(plan.lastStageLayers, 3u);
    EXPECT_EQ(plan.bucketElements, 1000u);
    EXPECT_EQ(plan.microBatch, 2u);
    EXPECT_EQ(plan.microBatches, 3u);
    EXPECT_EQ(plan.parameters, DataType::BF16);
    EXPECT_EQ(plan.gradients, DataType::FP32);
    EXPECT_EQ(plan.matmul, DataType::FP8);
    EXPECT_EQ(plan.recompute, RecomputeMode::SELECTIVE);
    EXPECT_EQ(plan.attention, AttentionKernel::UNFUSED);
    EXPECT_EQ(GenerateWorkload(YamlNode::LoadText(FULL, "g.yaml"), 16)->GetRankCount(), 16u);
}

TEST(GeneratorReader, ReadsTheKeysOfLargePlans)
{
    const TrainingPlan plan = Read("model: {preset: deepseek-v3, layers: 8, dense_layers: 1,\n"
                                   "  vocabulary: 1001, vocabulary_multiple: 1}\n"
                                   "parallel: {pp: 2, vp: 2, ep: 2, cp: 2, tp: 2, expert_tp: 1,\n"
                                   "  sequence_parallel: true, zero: 2, layers: [1, 2, 2, 3],\n"
                                   "  overlap_parameters: true, overlap_tensor: true,\n"
                                   "  overlap_input_gradients: false, overlap_experts: true,\n"
                                   "  split_messages: true, context_exchange: all-gather,\n"
                                   "  expert_load: [1, 3], dispatch_domain: 8}\n"
                                   "batch: {micro_batches: 4}\n"
                                   "precision: {parameters: bf16, matmul: fp4}\n"
                                   "recompute: full\n"
                                   "recompute_layers: 1\n"
                                   "attention: cudnn\nloss: eager\n"
                                   "host: {kernel: 7us, waits_for_peers: true,\n"
                                   "  waits_for_kernels: true}\n",
                                   16);
    EXPECT_EQ(plan.model.experts, 256u);
    EXPECT_EQ(plan.model.latentKeys, 512u);
    EXPECT_EQ(plan.model.denseLayers, 1u);
    EXPECT_EQ(plan.chunks, 2u);
    EXPECT_EQ(plan.parallel.context, 2u);
    EXPECT_EQ(plan.parallel.data, 2u);
    EXPECT_EQ(plan.parallel.GetExpertTensor(), 1u);
    EXPECT_EQ(plan.sharding, StateSharding::GRADIENTS);
    EXPECT_EQ(plan.partLayers, (std::vector<uint32_t>{1, 2, 2, 3}));
    EXPECT_TRUE(plan.overlapPipeline && plan.overlapParameters && plan.overlapTensor);
    EXPECT_TRUE(plan.overlapExperts && plan.splitMessages && !plan.overlapReduction);
    EXPECT_EQ(plan.contextExchange, ContextExchange::ALL_GATHER);
    EXPECT_EQ(plan.expertLoad, (std::vector<double>{1, 3}));
    EXPECT_EQ(plan.dispatchDomain, 8u);
    EXPECT_EQ(plan.matmul, DataType::FP4);
    EXPECT_EQ(plan.recomputeLayers, 1u);
    EXPECT_EQ(plan.attention, AttentionKernel::CUDNN);
    EXPECT_EQ(plan.loss, LossKernel::EAGER);
    EXPECT_EQ(plan.host.kernel, MicroSeconds(7));
    EXPECT_TRUE(plan.host.waitsForPeers && plan.host.waitsForKernels);
    EXPECT_EQ(plan.GetPaddedVocabulary(), 1002u); // a multiple of tp 2 only
}

TEST(GeneratorReader, SchedulesAreNamesOrLists)
{
    const auto read = [](const std::string& schedule) {
        return "model: {preset: gpt-13b}\nparallel:\n  pp: 2\n  schedule: " + schedule +
               "\nbatch: {micro_batches: 2}\n";
    };
    EXPECT_NE(DynamicCast<ZeroBubbleSchedule>(Read(read("zero-bubble"), 2).schedule), nullptr);
    EXPECT_NE(DynamicCast<ListedSchedule>(Read(read("[F0 F1 B0 B1, F0 B0 F1 B1]"), 2).schedule),
              nullptr);
    EXPECT_EQ(MessageOf(read("[F0 F1 B0 B1, F0 B0 F1]"), 2),
              "g.yaml:4: parallel.schedule: found no full forward and backward pass of micro-batch "
              "1, chunk 0 on stage 1, expected each once");
    EXPECT_THAT(MessageOf(read("[F0 F1 B0 B1, F0 B0 F1 C1]"), 2),
                HasSubstr("found 'C1', expected a pass"));
    EXPECT_THAT(MessageOf("{model: {preset: gpt-13b}, parallel: {zero: 1, distributed_optimizer: "
                          "true}, batch: {micro_batches: 1}}",
                          1),
                HasSubstr("zero beside distributed_optimizer"));
    EXPECT_THAT(MessageOf("{model: {preset: gpt-13b}, parallel: {zero: 3, pp: 2}, batch: "
                          "{micro_batches: 1}}",
                          2),
                HasSubstr("parallel.zero: found 3 with pp 2"));
}

TEST(GeneratorReader, ReadsWhatRecipesOfExpertsSet)
{
    const std::string text = R"(
model: {kind: llama, layers: 8, hidden: 512, heads: 8, sequence: 256, vocabulary: 5120, experts: 8,
        mtp_layers: 1, latent_attention: {keys: 64}}
parallel: {ep: 4, dp: 8, pp: 2, schedule: dual-pipe, delay_weight_gradients: true}
batch: {micro_batches: 8}
recompute: [mla_up_proj, layernorm]
fused_experts: true
)";
    const TrainingPlan plan = Read(text, 16);
    EXPECT_EQ(plan.model.mtpLayers, 1u);
    EXPECT_EQ(plan.chunks, 2u); // the schedule's
    EXPECT_TRUE(plan.overlapPipeline && plan.HoldsTwice() && plan.fusedExperts &&
                plan.delayWeights);
    EXPECT_TRUE(plan.Recomputes(RecomputeModule::NORMS));
    EXPECT_FALSE(plan.Recomputes(RecomputeModule::ATTENTION_CORE));
    EXPECT_EQ(MessageOf(Replace(text, "mla_up_proj", "moe_act")),
              "g.yaml:6: recompute: found moe_act with fused_experts, expected one of them: the "
              "activation is inside the experts' products");
    EXPECT_THAT(MessageOf(Replace(text, "mla_up_proj", "experts")),
                HasSubstr("found 'experts', expected one of core_attn, mla_up_proj, moe_act, "));
    EXPECT_THAT(MessageOf(Replace(text, "dual-pipe", "1f1b")),
                HasSubstr("delay_weight_gradients: found true without passes that run in pairs"));
    EXPECT_THAT(MessageOf(Replace(text, ", latent_attention: {keys: 64}", "")),
                HasSubstr("recompute: found mla_up_proj without latent attention"));
}

TEST(GeneratorReader, Defaults)
{
    const TrainingPlan plan =
        Read("{model: {preset: gpt-13b}, parallel: {tp: 2, pp: 4}, batch: {global_batch: 48}}", 16);
    EXPECT_EQ(plan.parallel.data, 2u); // what fills 16 ranks
    EXPECT_EQ(plan.microBatch, 1u);
    EXPECT_EQ(plan.microBatches, 24u); // 48 / (1 x 2)
    EXPECT_EQ(plan.schedule, nullptr); // 1F1B
    EXPECT_EQ(plan.parameters, DataType::FP32);
    EXPECT_EQ(plan.matmul, DataType::TF32);
    EXPECT_EQ(plan.attention, AttentionKernel::UNFUSED);
    EXPECT_EQ(plan.model.ffnHidden, 4 * 5120u);
    EXPECT_EQ(plan.model.kvHeads, 32u);
    EXPECT_TRUE(plan.clipGradients);
    const TrainingPlan half = Read("{model: {preset: llama3-8b, sequence: 4096}, "
                                   "batch: {micro_batches: 1}, precision: {parameters: bf16}}",
                                   4);
    EXPECT_EQ(half.parallel.data, 4u); // no parallel block
    EXPECT_EQ(half.model.sequence, 4096u);
    EXPECT_EQ(half.model.kvHeads, 8u);
    EXPECT_EQ(half.matmul, DataType::BF16);
    EXPECT_EQ(half.attention, AttentionKernel::FLASH);
    // A preset of another width derives its inner size anew.
    const TrainingPlan wide =
        Read("{model: {preset: gpt-13b, hidden: 1024}, batch: {micro_batches: 1}}", 1);
    EXPECT_EQ(wide.model.ffnHidden, 4096u);
}

TEST(GeneratorReader, RefusesWithKeyFoundAndExpected)
{
    EXPECT_EQ(MessageOf(FULL, 16), "");
    EXPECT_EQ(MessageOf(FULL, 32),
              "g.yaml:16: parallel: found tp 2 x cp 1 x dp 4 x pp 2 = 16, expected the number of "
              "ranks, 32");
    // A degree that cannot fill the ranks, with dp left open.
    EXPECT_THAT(
        MessageOf("{model: {preset: gpt-13b}, parallel: {tp: 3}, batch: {micro_batches: 1}}"),
        HasSubstr("expected a multiple of tp 3"));
    EXPECT_EQ(MessageOf(Replace(FULL, "tp: 2", "tp: 16")),
              "g.yaml:5: model.heads: found 8, expected a multiple of tp 16");
    EXPECT_EQ(MessageOf(Replace(Replace(FULL, "ep: 2", "ep: 3"), "experts: 8", "experts: 6")),
              "g.yaml:18: parallel.ep: found 3, expected a divisor of dp 4 (expert groups lie "
              "inside data groups)");
    EXPECT_THAT(MessageOf(Replace(FULL, "first_stage_layers: 5", "first_stage_layers: 4")),
                HasSubstr("g.yaml:3: model.layers: found 8 (1 without the first"));
    EXPECT_THAT(MessageOf(Replace(FULL, "schedule: gpipe", "schedule: wave")),
                AllOf(HasSubstr("g.yaml:22: parallel.schedule: found 'wave', expected one of "
                                "combined, dual-pipe, dual-pipe-v, gpipe, interleaved, "),
                      HasSubstr(", or 1f1b")));
    EXPECT_THAT(MessageOf(Replace(FULL, "schedule: gpipe", "schedule: listed")),
                AllOf(HasSubstr("found 'listed', expected one of "),
                      testing::Not(HasSubstr("interleaved, listed"))));
    EXPECT_THAT(
        MessageOf(Replace(FULL, "  dropout:", "  mtp_layers: 1001\n  dropout:")),
        HasSubstr("model.mtp_layers: found '1001', expected a whole number from 0 to 1000"));
    EXPECT_THAT(MessageOf(Replace(FULL, "matmul: fp8", "matmul: tf32")),
                HasSubstr("g.yaml:35: precision.matmul: found tf32 with parameters bf16"));
    EXPECT_THAT(MessageOf(Replace(FULL, "matmul: fp8", "matmul: half")), HasSubstr("g.yaml:35:"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  kind: gpt\n", "  kind: t5\n")),
                HasSubstr("g.yaml:2: model.kind: found 't5', expected gpt, bert or llama"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  kind: gpt\n", "  preset: gpt-4\n")),
                HasSubstr("g.yaml:2: model.preset: found 'gpt-4', expected one of gpt-13b"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  kind: gpt\n", "  kind: gpt\n  preset: gpt-13b\n")),
                HasSubstr("kind beside preset"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  kind: gpt\n", "")),
                HasSubstr("found neither 'preset' nor 'kind'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  hidden: 512\n", "")), HasSubstr("no key 'hidden'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "hidden: 512", "hidden: 0")),
                HasSubstr("g.yaml:4: model.hidden: found '0'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "hidden: 512", "hidden: 99999999")),
                HasSubstr("model.hidden: found '99999999'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "layers: 8", "layer: 8")), HasSubstr("no key 'layers'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "micro_batch: 2", "microbatch: 2")),
                HasSubstr("unknown key 'microbatch'"));
    EXPECT_THAT(
        MessageOf(Replace(FULL, "micro_batches: 3", "global_batch: 12")),
        HasSubstr("batch.global_batch: found 12, expected a multiple of micro_batch 2 x dp 4"));
    EXPECT_THAT(MessageOf(Replace(FULL, "micro_batches: 3", "micro_batches: 3\n  global_batch: 8")),
                HasSubstr("both 'micro_batches' and 'global_batch'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "  micro_batches: 3\n", "")),
                HasSubstr("neither 'micro_batches' nor 'global_batch'"));
    EXPECT_THAT(MessageOf(Replace(FULL, "recompute: selective", "recompute: some")),
                HasSubstr("recompute: found 'some', expected one of none, selective, full"));
    EXPECT_THAT(MessageOf(Replace(FULL, "recompute: selective", "recomputation: full")),
                HasSubstr("unknown key 'recomputation'"));
}

/** The generate block of a scenario that ships. */
YamlNode ShippedBlock(const std::string& name)
{
    return YamlNode::LoadFile(ECHO_SOURCE_DIR "/scenarios/" + name).Get("workload").Get("generate");
}

TEST(GeneratorReader, RefusesKeysThatWouldDoNothing)
{
    const auto message = [](const std::string& keys) {
        return MessageOf("model: {preset: gpt-13b}\n"
                         "parallel: {tp: 2, " +
                             keys + "}\nbatch: {micro_batches: 1}\n",
                         2);
    };
    EXPECT_EQ(message("expert_load: [1]"),
              "g.yaml:2: parallel.expert_load: found a load for a model without experts, expected "
              "it for a model with experts (model.experts) only");
    EXPECT_THAT(message("dispatch_domain: 8"), HasSubstr("found 8 for a model without experts"));
    EXPECT_THAT(message("overlap_experts: true"), HasSubstr("for a model without experts"));
    EXPECT_THAT(message("overlap_tensor: true"),
                HasSubstr("parallel.overlap_tensor: found true without sequence_parallel"));
    EXPECT_THAT(message("overlap_parameters: true"),
                HasSubstr("parallel.overlap_parameters: found true without zero"));
    EXPECT_THAT(message("zero: 1, reshard_after_forward: false"),
                HasSubstr("parallel.reshard_after_forward: found false without zero 3"));
    EXPECT_EQ(message("zero: 3, reshard_after_forward: false"), "");
    EXPECT_EQ(message("sequence_parallel: true, overlap_tensor: true"), "");
}

TEST(GeneratorReader, ShippedScenarios)
{
    const struct
    {
        const char* file;
        uint32_t ranks;
    } scenarios[] = {{"gpt-13b-64xh800.yaml", 64},
                     {"gpt-30b-64xh800.yaml", 64},
                     {"gpt-40b-64xh800.yaml", 64},
                     {"gpt-70b-96xh800.yaml", 96},
                     {"gpt-175b-96xh800.yaml", 96},
                     {"gpt-small-16.yaml", 16},
                     {"llama3-8b-fsdp-64xh100.yaml", 64},
                     {"schedule-list-4.yaml", 4},
                     {"moe-32.yaml", 32}};
    const GpuSpec h800{"H800", {}, 3350e9, 85899345920};
    for (const auto& [file, ranks] : scenarios)
    {
        SCOPED_TRACE(file);
        const TrainingPlan plan = ReadTrainingPlan(ShippedBlock(file), ranks);
        EXPECT_EQ(CheckMemory(plan, h800), "");
        const WorkloadHealth health(*GenerateWorkload(ShippedBlock(file), ranks));
        EXPECT_EQ(health.GetProgramCount(), plan.parallel.pipeline);
        EXPECT_TRUE(health.GetWarnings().empty()) << health.ToString();
    }
}

} // namespace
