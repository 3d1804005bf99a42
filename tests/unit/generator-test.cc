// SPDX-License-Identifier: GPL-2.0-only

#include "small-plan.h"

#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-workload-health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** @return bytes of the collectives of a rank whose name ends like @p name, in order */
std::vector<uint64_t> BytesOfCollectives(const WorkloadGraph& workload,
                                         uint32_t rank,
                                         const std::string& ending,
                                         CollectiveKind kind,
                                         GroupKind group)
{
    std::vector<uint64_t> bytes;
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    for (const Operator& op : program.GetOperators())
    {
        const std::string& name = program.GetName(op);
        if (op.type == OperatorType::COLLECTIVE && name.size() >= ending.size() &&
            name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        {
            const auto& description = program.GetCommunication(op);
            EXPECT_EQ(description.spec.kind, kind) << name;
            EXPECT_EQ(workload.GetGroup(RankId(rank), description.groupSlot)->GetKind(), group)
                << name;
            bytes.push_back(description.spec.bytes);
        }
    }
    return bytes;
}

uint32_t CountOperators(const ExecutionGraph& program, OperatorType type, const std::string& prefix)
{
    uint32_t count = 0;
    for (const Operator& op : program.GetOperators())
    {
        count += op.type == type && program.GetName(op).rfind(prefix, 0) == 0;
    }
    return count;
}

TEST(Generator, OperatorsOfALayer)
{
    const auto workload = Generate(SmallPlan({2, 1, 1, 1, 1}, 1));
    const ExecutionGraph& program = *workload->GetProgram(RankId(0));
    // Forward: norm, qkv, scores, mask, softmax, dropout, context, projection, residual; norm,
    // first matrix, activation, second matrix, residual: 14 kernels; an all-reduce ends either
    // half.
    EXPECT_EQ(CountOperators(program, OperatorType::COMPUTE, "layer 0 forward "), 14u);
    EXPECT_EQ(CountOperators(program, OperatorType::COLLECTIVE, "layer 0 forward "), 2u);
    // Backward: residual, 2 + 2 gradients of the two matrices, activation, norm, sum: 8; residual,
    // 2 + 2 of projection and qkv, 4 products of the core, dropout, softmax, mask, norm, sum: 14.
    // An all-reduce follows the input gradient of each column-parallel matrix.
    EXPECT_EQ(CountOperators(program, OperatorType::COMPUTE, "layer 0 backward "), 22u);
    EXPECT_EQ(CountOperators(program, OperatorType::COLLECTIVE, "layer 0 backward "), 2u);
}

TEST(Generator, EqualRanksShareOneProgram)
{
    const auto workload = Generate(SmallPlan({2, 1, 1, 3, 4}, 4));
    std::set<const ExecutionGraph*> programs;
    for (uint32_t rank = 0; rank < 24; ++rank)
    {
        programs.insert(workload->GetProgram(RankId(rank)).get());
        // Stages are blocks of 6 ranks.
        EXPECT_EQ(workload->GetProgram(RankId(rank)), workload->GetProgram(RankId(rank / 6 * 6)));
    }
    EXPECT_EQ(programs.size(), 4u);
    // Groups: tp 12, pp 6, dp 8, embedding 6, model (2 x 4 ranks) 3.
    std::map<GroupKind, uint32_t> groups;
    for (const auto& group : workload->GetGroups())
    {
        ++groups[group->GetKind()];
    }
    EXPECT_EQ(groups[GroupKind::TENSOR], 12u);
    EXPECT_EQ(groups[GroupKind::PIPELINE], 6u);
    EXPECT_EQ(groups[GroupKind::DATA], 8u);
    EXPECT_EQ(groups[GroupKind::EMBEDDING], 6u);
    EXPECT_EQ(groups[GroupKind::OTHER], 3u);
}

TEST(Generator, PassesTheHealthChecks)
{
    for (bool sequenceParallel : {false, true})
    {
        TrainingPlan plan = SmallPlan({2, 1, 1, 2, 4}, 4);
        plan.sequenceParallel = sequenceParallel;
        plan.microBatches = 5;
        const WorkloadHealth health(*Generate(plan));
        EXPECT_EQ(health.GetProgramCount(), 4u);
        EXPECT_TRUE(health.GetWarnings().empty()) << health.ToString();
    }
}

TEST(Generator, FlopsFollowTheClosedForm)
{
    // arXiv 2104.04473, section 5.1 and appendix: B = 24 sequences, s = 2048, l = 96, h = 12288,
    // V = 51200.
    const double base = 24.0 * 2048 * 96 * 12288 * 12288;
    const double attention = 2048 / (6 * 12288.0);
    TrainingPlan plan = PaperPlan();
    const double vocabulary = 51200 / (12 * 96 * 12288.0);
    const double without = 72 * base * (1 + attention + vocabulary);
    EXPECT_NEAR(plan.GetStepFlops() / without, 1, 1e-12);
    EXPECT_NEAR(FlopsOf(*GenerateTransformer(plan, 96)) / without, 1, 1e-9);
    plan.recompute = RecomputeMode::FULL;
    const double full = 96 * base * (1 + attention + vocabulary * 12 / 16);
    EXPECT_NEAR(plan.GetStepFlops() / full, 1, 1e-12);
    EXPECT_NEAR(FlopsOf(*GenerateTransformer(plan, 96)) / full, 1, 1e-9);
}

TEST(Generator, FlopsOfOperatorsAddUpInEveryVariant)
{
    for (auto recompute : {RecomputeMode::NONE, RecomputeMode::SELECTIVE, RecomputeMode::FULL})
    {
        for (auto attention : {AttentionKernel::UNFUSED, AttentionKernel::FLASH})
        {
            for (const char* kind : {"gpt", "llama"})
            {
                TrainingPlan plan = SmallPlan({2, 1, 2, 4, 2}, 4);
                plan.model = GetModelKind(kind);
                plan.model.layers = 4;
                plan.model.hidden = 256;
                plan.model.heads = 8;
                plan.model.kvHeads = 2;
                plan.model.sequence = 128;
                plan.model.vocabulary = 1000; // padded to 1024
                plan.model.experts = 4;
                plan.model.SetDefaults();
                plan.sequenceParallel = true;
                plan.recompute = recompute;
                plan.attention = attention;
                plan.parameters = DataType::BF16;
                plan.matmul = DataType::BF16;
                plan.microBatches = 3;
                EXPECT_NEAR(FlopsOf(*Generate(plan)) / plan.GetStepFlops(), 1, 1e-9);
            }
        }
    }
}

TEST(Generator, BytesOfThePapersLargestModel)
{
    TrainingPlan plan = PaperPlan();
    plan.recompute = RecomputeMode::FULL;
    const auto workload = GenerateTransformer(plan, 96);
    EXPECT_EQ(workload->GetRankCount(), 96u);
    // One micro-batch's hidden state: 2048 tokens x 12288 x 4 B.
    const uint64_t hidden = 100663296;
    // A middle stage: 8 layers x 24 micro-batches x 2 all-reduces in each of forward, recompute
    // and backward.
    const auto count = [&](uint32_t rank, const std::string& ending) {
        const auto bytes = BytesOfCollectives(
            *workload, rank, ending, CollectiveKind::ALL_REDUCE, GroupKind::TENSOR);
        for (uint64_t each : bytes)
        {
            EXPECT_EQ(each, hidden);
        }
        return bytes.size();
    };
    EXPECT_EQ(count(40, "projection all-reduce"), 8u * 24 * 2);
    EXPECT_EQ(count(40, "feed-forward 2 all-reduce"), 8u * 24 * 2);
    EXPECT_EQ(count(40, "input gradient all-reduce"), 8u * 24 * 2);
    EXPECT_EQ(count(0, "embedding forward reduce"), 24u);
    EXPECT_EQ(count(95, "logits input gradient all-reduce"), 24u);
    // The loss exchanges three numbers a token: 2048 x 4 B.
    EXPECT_EQ(
        BytesOfCollectives(
            *workload, 95, "loss sum all-reduce", CollectiveKind::ALL_REDUCE, GroupKind::TENSOR),
        std::vector<uint64_t>(24, 8192));
    // The shared embedding: 51200 / 8 rows x 12288 x 4 B, on the first and last stage only.
    for (uint32_t rank : {0, 95})
    {
        EXPECT_EQ(BytesOfCollectives(*workload,
                                     rank,
                                     "embedding gradient all-reduce",
                                     CollectiveKind::ALL_REDUCE,
                                     GroupKind::EMBEDDING),
                  std::vector<uint64_t>{314572800});
    }
    EXPECT_TRUE(BytesOfCollectives(*workload,
                                   40,
                                   "embedding gradient all-reduce",
                                   CollectiveKind::ALL_REDUCE,
                                   GroupKind::EMBEDDING)
                    .empty());
    // No gradient all-reduce with one data rank.
    EXPECT_TRUE(
        BytesOfCollectives(
            *workload, 0, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE, GroupKind::DATA)
            .empty());
    // Every message between stages is one hidden state.
    uint64_t messages = 0;
    for (const auto& description : workload->GetProgram(RankId(40))->GetCommunications())
    {
        for (const auto& element : description.elements)
        {
            EXPECT_EQ(element.bytes, hidden);
            ++messages;
        }
    }
    EXPECT_EQ(messages, 4u * 24); // descriptions are shared only by equal ones: 24 tags each
}

TEST(Generator, ManyRanksShareFewPrograms)
{
    // 16,384 ranks: 2,048 tensor groups of 8, 1,024 pipelines of 16, 128 data groups of 128 and,
    // for the gradient norm of the split optimizer, all ranks.
    TrainingPlan plan;
    plan.model = GetModelPreset("gpt-175b");
    plan.parallel = {8, 1, 1, 128, 16};
    plan.sequenceParallel = true;
    plan.sharding = StateSharding::OPTIMIZER;
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.microBatches = 48;
    const auto workload = GenerateTransformer(plan, 16384);
    std::set<const ExecutionGraph*> programs;
    std::map<GroupKind, uint32_t> groups;
    for (uint32_t rank = 0; rank < 16384; ++rank)
    {
        programs.insert(workload->GetProgram(RankId(rank)).get());
    }
    for (const auto& group : workload->GetGroups())
    {
        ++groups[group->GetKind()];
    }
    EXPECT_EQ(programs.size(), 16u);
    EXPECT_EQ(groups[GroupKind::TENSOR], 2048u);
    EXPECT_EQ(groups[GroupKind::PIPELINE], 1024u);
    EXPECT_EQ(groups[GroupKind::DATA], 128u);
    EXPECT_EQ(groups[GroupKind::EMBEDDING], 1024u);
    EXPECT_EQ(groups[GroupKind::WORLD], 1u);
}

TEST(Generator, SequenceParallelismScattersAndGathers)
{
    TrainingPlan plan = SmallPlan({4, 1, 1, 1, 2}, 2);
    plan.sequenceParallel = true;
    const auto workload = Generate(plan);
    const uint64_t hidden = 128 * 256 * 4; // one hidden state
    const auto bytes = [&](const std::string& ending, CollectiveKind kind) {
        return BytesOfCollectives(*workload, 0, ending, kind, GroupKind::TENSOR);
    };
    using List = std::vector<uint64_t>;
    // Forward: a gather before and a scatter after either half. Backward: a gather of the output
    // gradient, a gather of the input again, a scatter of the input gradient, in either half.
    EXPECT_EQ(bytes("forward query-key-value input all-gather", CollectiveKind::ALL_GATHER),
              List{hidden});
    EXPECT_EQ(bytes("forward feed-forward 2 reduce-scatter", CollectiveKind::REDUCE_SCATTER),
              List{hidden});
    EXPECT_EQ(bytes("output gradient all-gather", CollectiveKind::ALL_GATHER),
              (List{hidden, hidden}));
    EXPECT_EQ(bytes("backward feed-forward 1 input all-gather", CollectiveKind::ALL_GATHER),
              List{hidden});
    EXPECT_EQ(bytes("input gradient reduce-scatter", CollectiveKind::REDUCE_SCATTER),
              (List{hidden, hidden}));
    // Partial sums: norms 2 x 2 x 256, biases of projection and second matrix 2 x 256, of one
    // layer, and 128 x 256 positions; FP32.
    EXPECT_EQ(bytes("norm gradients all-reduce", CollectiveKind::ALL_REDUCE),
              List{(4 * 256 + 2 * 256 + 128 * 256) * 4});
    // A quarter of a hidden state goes to the next stage.
    for (const auto& description : workload->GetProgram(RankId(0))->GetCommunications())
    {
        for (const auto& element : description.elements)
        {
            EXPECT_EQ(element.bytes, hidden / 4);
        }
    }
}

TEST(Generator, GradientsAreReducedOverDataRanks)
{
    TrainingPlan plan = SmallPlan({2, 1, 1, 2, 2}, 4);
    EXPECT_EQ(LAYER, 395648u);
    const auto reduce = [&](uint32_t rank, const std::string& ending, CollectiveKind kind) {
        return BytesOfCollectives(*Generate(plan), rank, ending, kind, GroupKind::DATA);
    };
    using List = std::vector<uint64_t>;
    const List first{(2 * LAYER + WORDS + POSITIONS) * 4};
    const List last{(2 * LAYER + 2 * 256 + WORDS) * 4}; // its own final norm, shared words
    EXPECT_EQ(reduce(0, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), first);
    EXPECT_EQ(reduce(7, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), last);

    plan.sharding = StateSharding::OPTIMIZER;
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    EXPECT_EQ(reduce(0, "bucket 0 reduce-scatter", CollectiveKind::REDUCE_SCATTER), first);
    EXPECT_EQ(reduce(0, "bucket 0 all-gather", CollectiveKind::ALL_GATHER), List{first[0] / 2});

    // In buckets of at least 400,000 elements: two layers, then the embeddings.
    plan.sharding = StateSharding::NONE;
    plan.overlapGradients = true;
    plan.bucketElements = 400000;
    EXPECT_EQ(reduce(0, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), List{2 * LAYER * 4});
    EXPECT_EQ(reduce(0, "bucket 1 all-reduce", CollectiveKind::ALL_REDUCE),
              List{(WORDS + POSITIONS) * 4});
    EXPECT_EQ(reduce(7, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), last);
}

TEST(Generator, ExpertsExchangeTokensInsideTheirGroups)
{
    // Case 18: 32 ranks, 8 experts over expert degree 8, tensor degree 1.
    TrainingPlan plan = SmallPlan({1, 1, 8, 32, 1}, 2);
    plan.model.experts = 8;
    plan.model.SetDefaults();
    ASSERT_EQ(plan.model.topK, 2u);
    const auto workload = Generate(plan);
    EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
    // Each rank sends its 128 tokens to 2 experts each: S = 2 x 128 x 256 x 4 B.
    const uint64_t size = 262144;
    uint32_t flows = 0;
    std::set<uint32_t> seen;
    for (const auto& group : workload->GetGroups())
    {
        if (group->GetKind() == GroupKind::EXPERT)
        {
            flows += group->GetSize() * (group->GetSize() - 1);
            EXPECT_EQ(group->GetSize(), 8u);
            for (RankId rank : group->GetRanks())
            {
                EXPECT_EQ(rank.Get() / 8, group->GetRank(0).Get() / 8);
                EXPECT_TRUE(seen.insert(rank.Get()).second);
            }
        }
    }
    EXPECT_EQ(flows, 224u); // of one all-to-all of a layer, S / 8 each
    EXPECT_EQ(seen.size(), 32u);
    for (const char* ending : {"forward dispatch all-to-all",
                               "forward combine all-to-all",
                               "backward combine all-to-all",
                               "backward dispatch all-to-all"})
    {
        EXPECT_EQ(BytesOfCollectives(
                      *workload, 31, ending, CollectiveKind::ALL_TO_ALL, GroupKind::EXPERT),
                  std::vector<uint64_t>(2, size))
            << ending;
    }
    // Gradients of the one expert a rank holds, 2 layers, over the 4 ranks that hold the same: a
    // layer's expert is 257 x 1024 + 1024 x 256 + 256.
    const auto bytes = BytesOfCollectives(*workload,
                                          0,
                                          "expert gradients bucket 1 all-reduce",
                                          CollectiveKind::ALL_REDUCE,
                                          GroupKind::DATA);
    EXPECT_EQ(bytes, std::vector<uint64_t>{2 * (257 * 1024 + 1024 * 256 + 256) * 4});
}

TEST(Generator, ShardedParametersAreGatheredTwiceAndReducedOnce)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 4, 1}, 2);
    plan.sharding = StateSharding::PARAMETERS;
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.microBatches = 3;
    const uint64_t layer = 12 * 256 * 256 + 13 * 256;
    const auto count = [&](const std::string& name, CollectiveKind kind) {
        return BytesOfCollectives(*Generate(plan), 0, name, kind, GroupKind::DATA);
    };
    // Three micro-batches: the first layer forward and backward, in BF16; gradients in FP32.
    EXPECT_EQ(count("layer 0 parameters all-gather", CollectiveKind::ALL_GATHER),
              std::vector<uint64_t>(6, layer * 2));
    EXPECT_EQ(count("layer 1 gradients reduce-scatter", CollectiveKind::REDUCE_SCATTER),
              std::vector<uint64_t>(3, layer * 4));
    plan.reshardAfterForward = false;
    EXPECT_EQ(count("layer 0 parameters all-gather", CollectiveKind::ALL_GATHER).size(), 3u);
    plan.reshardAfterForward = true;
    // ZeRO-2: gradients of every micro-batch, parameters once.
    plan.sharding = StateSharding::GRADIENTS;
    EXPECT_EQ(count("reduce-scatter", CollectiveKind::REDUCE_SCATTER).size(), 3u);
    EXPECT_EQ(count("bucket 0 all-gather", CollectiveKind::ALL_GATHER).size() +
                  count("bucket 2 all-gather", CollectiveKind::ALL_GATHER).size(),
              1u);
}

TEST(Generator, LossOverASplitVocabularyReducesThreeValuesAToken)
{
    // Largest logit, logit of the target, sum of exponentials: 128 tokens of 4 B each, on the last
    // stage only, in each of 3 micro-batches (Megatron-LM's cross entropy).
    TrainingPlan plan = SmallPlan({2, 1, 1, 1, 2}, 2);
    plan.microBatches = 3;
    const auto workload = Generate(plan);
    for (const std::string value : {"maximum", "target", "sum"})
    {
        const auto bytes = [&](uint32_t rank) {
            return BytesOfCollectives(*workload,
                                      rank,
                                      "loss " + value + " all-reduce",
                                      CollectiveKind::ALL_REDUCE,
                                      GroupKind::TENSOR);
        };
        EXPECT_TRUE(bytes(0).empty()) << value;
        EXPECT_EQ(bytes(2), std::vector<uint64_t>(3, 128 * 4)) << value;
    }
}

TEST(Generator, ContextRanksPassKeysAndValuesInARing)
{
    TrainingPlan plan = SmallPlan({1, 4, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    const auto workload = GenerateTransformer(plan, 4);
    EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
    EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
    // 32 tokens of 256 keys and 256 values of 2 B, three times forward; backward their gradients go
    // with them from the second step on, and one step home.
    std::map<uint64_t, uint32_t> sends;
    const ExecutionGraph& program = *workload->GetProgram(RankId(1));
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::POINT_TO_POINT)
        {
            const auto& elements = program.GetCommunication(op).elements;
            ASSERT_EQ(elements.size(), 2u);
            EXPECT_EQ(elements[0].peerIndex, 2u);
            EXPECT_EQ(elements[1].peerIndex, 0u);
            ++sends[elements[0].bytes];
        }
    }
    const uint64_t part = 32 * 512 * 2;
    EXPECT_EQ(sends, (std::map<uint64_t, uint32_t>{{part, 4}, {2 * part, 3}}));
    plan.contextExchange = ContextExchange::ALL_GATHER;
    EXPECT_EQ(BytesOfCollectives(*GenerateTransformer(plan, 4),
                                 0,
                                 "values all-gather",
                                 CollectiveKind::ALL_GATHER,
                                 GroupKind::CONTEXT),
              std::vector<uint64_t>(2, 4 * part));
}

TEST(Generator, ExpertsMayHaveUnequalLoads)
{
    TrainingPlan plan = SmallPlan({1, 1, 4, 4, 1}, 1);
    plan.model.experts = 4;
    plan.model.SetDefaults();
    plan.expertLoad = {1, 2, 1, 4};
    const auto workload = Generate(plan);
    EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
    // S = 262,144 B: rank 1's experts get a quarter of what every rank sends, and send that back.
    const ExecutionGraph& program = *workload->GetProgram(RankId(1));
    std::vector<std::vector<uint64_t>> splits;
    double flops = 0;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE &&
            program.GetCommunication(op).spec.kind == CollectiveKind::ALL_TO_ALL_V)
        {
            splits.push_back(program.GetCommunication(op).spec.sendBytes);
        }
        flops += program.GetName(op) == "layer 0 forward experts 1" ? op.flops : 0;
    }
    ASSERT_EQ(splits.size(), 4u);
    EXPECT_EQ(splits[0], (std::vector<uint64_t>{32768, 65536, 32768, 131072}));
    EXPECT_EQ(splits[1], std::vector<uint64_t>(4, 65536));
    // 4 ranks x 256 routed tokens x a quarter, by 256 x 1024.
    EXPECT_EQ(flops, 2.0 * 256 * 256 * 1024);
    plan.expertLoad = {1, 2};
    EXPECT_THAT(MessageOf([&] { plan.Check(); }),
                testing::HasSubstr("parallel.expert_load: found 2 numbers, expected 4"));
}

TEST(Generator, WholeExpertsSpanTensorRanks)
{
    // Expert tensor degree 1: the 8 ranks of a stage are one expert group of 8, tokens are not
    // gathered over tensor ranks.
    TrainingPlan plan = SmallPlan({2, 1, 8, 4, 1}, 1);
    plan.model.experts = 8;
    plan.model.SetDefaults();
    plan.sequenceParallel = true;
    plan.parallel.expertTensor = 1;
    const auto workload = Generate(plan);
    EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
    EXPECT_EQ(BytesOfCollectives(*workload,
                                 3,
                                 "forward dispatch all-to-all",
                                 CollectiveKind::ALL_TO_ALL,
                                 GroupKind::EXPERT),
              std::vector<uint64_t>(1, 2 * 64 * 256 * 4));
    for (const auto& group : workload->GetGroups())
    {
        if (group->GetKind() == GroupKind::EXPERT)
        {
            EXPECT_EQ(group->GetSize(), 8u);
        }
    }
}

TEST(Generator, LatentAttentionAndSharedExperts)
{
    // DeepSeek-V3 has 671e9 parameters (arXiv 2412.19437); without its layer of further tokens.
    TrainingPlan plan;
    plan.model = GetModelPreset("deepseek-v3");
    EXPECT_NEAR(GetModelParameters(plan) / 671e9, 1, 0.01);
    for (const auto& [preset, size] : std::map<std::string, double>{
             {"mixtral-8x7b", 46.7e9},  {"qwen3-30b-a3b", 30.5e9}, {"qwen3-235b-a22b", 235e9},
             {"gpt-oss-120b", 116.8e9}, {"grok-1", 314e9},         {"llama3-405b", 405e9},
             {"nemotron4-340b", 340e9}, {"nemotron4-15b", 15.6e9}, {"llama2-7b", 6.74e9},
             {"mpt-7b", 6.66e9},        {"opt-13b", 12.9e9},       {"opt-175b", 175e9},
             {"bloom-7b1", 7.07e9},     {"bloom-176b", 176.2e9},   {"llama-65b", 65.2e9},
             {"llama2-34b", 33.7e9},    {"qwen2.5-7b", 7.61e9},    {"qwen2.5-14b", 14.7e9},
             {"qwen2.5-32b", 32.5e9},   {"qwen2.5-72b", 72.7e9},   {"nemotron3-8b", 8.5e9},
             {"deepseek-v2", 236e9},    {"kimi-k2", 1.03e12},      {"bert-large", 335e6}})
    {
        plan.model = GetModelPreset(preset);
        EXPECT_NEAR(GetModelParameters(plan) / size, 1, 0.02) << preset;
    }
    plan = SmallPlan({2, 1, 1, 1, 1}, 2);
    plan.model.latentQueries = 96;
    plan.model.latentKeys = 64;
    plan.model.rotarySize = 16;
    plan.model.experts = 4;
    plan.model.sharedFfn = 128;
    plan.model.denseLayers = 1;
    plan.model.denseFfn = 512;
    plan.model.SetDefaults();
    plan.sequenceParallel = true;
    EXPECT_NEAR(FlopsOf(*Generate(plan)) / plan.GetStepFlops(), 1, 1e-9);
}

} // namespace
