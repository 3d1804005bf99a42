// SPDX-License-Identifier: GPL-2.0-only

#include "list-scheduler.h"

#include "ns3/echo-parallel-layout.h"
#include "ns3/echo-pipeline-schedule.h"
#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-training-plan.h"
#include "ns3/echo-transformer-generator.h"
#include "ns3/echo-workload-health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

using Ranks = std::vector<uint32_t>;

Ranks Numbers(const std::vector<RankId>& ranks)
{
    Ranks numbers;
    for (RankId rank : ranks)
    {
        numbers.push_back(rank.Get());
    }
    return numbers;
}

std::string MessageOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

// Layout.

TEST(ParallelLayout, MegatronsExampleOfSixteenRanks)
{
    // The example in the comments of Megatron-LM's initialize_model_parallel: 16 GPUs, tensor 2,
    // pipeline 4, hence data 2.
    const ParallelLayout layout({2, 1, 1, 2, 4}, 16);
    const auto group = [&](LayoutGroup kind, uint32_t rank) {
        return Numbers(layout.GetGroup(kind, RankId(rank)));
    };
    EXPECT_EQ(group(LayoutGroup::DATA, 0), (Ranks{0, 2}));
    EXPECT_EQ(group(LayoutGroup::DATA, 15), (Ranks{13, 15}));
    EXPECT_EQ(group(LayoutGroup::TENSOR, 6), (Ranks{6, 7}));
    EXPECT_EQ(group(LayoutGroup::PIPELINE, 0), (Ranks{0, 4, 8, 12}));
    EXPECT_EQ(group(LayoutGroup::PIPELINE, 7), (Ranks{3, 7, 11, 15}));
    EXPECT_EQ(group(LayoutGroup::EMBEDDING, 13), (Ranks{1, 13}));
    EXPECT_EQ(group(LayoutGroup::MODEL, 2), (Ranks{2, 3, 6, 7, 10, 11, 14, 15}));
    EXPECT_EQ(layout.GetGroups(LayoutGroup::DATA).size(), 8u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::TENSOR).size(), 8u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::PIPELINE).size(), 4u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::EMBEDDING).size(), 4u);
}

TEST(ParallelLayout, CoordinatesAndRanksAreInverse)
{
    const ParallelLayout layout({2, 3, 1, 4, 5}, 120);
    std::vector<bool> seen(120, false);
    for (uint32_t i = 0; i < 120; ++i)
    {
        const auto at = layout.CoordinatesOf(RankId(i));
        // rank = tp + TP * (cp + CP * (dp + DP * pp))
        EXPECT_EQ(at.tensor + 2 * (at.context + 3 * (at.data + 4 * at.pipeline)), i);
        const RankId back = layout.RankOf(at);
        EXPECT_EQ(back, RankId(i));
        seen[back.Get()] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 120);
}

TEST(ParallelLayout, EveryRankIsOnceInTheGroupsOfEachKind)
{
    const ParallelLayout layout({2, 1, 2, 4, 3}, 24);
    for (auto kind : {LayoutGroup::TENSOR,
                      LayoutGroup::CONTEXT,
                      LayoutGroup::EXPERT,
                      LayoutGroup::DATA,
                      LayoutGroup::EXPERT_DATA,
                      LayoutGroup::PIPELINE,
                      LayoutGroup::MODEL,
                      LayoutGroup::MODEL_EXPERT,
                      LayoutGroup::WORLD})
    {
        std::vector<uint32_t> times(24, 0);
        for (const auto& group : layout.GetGroups(kind))
        {
            EXPECT_EQ(group.size(), layout.GetGroupSize(kind)) << ToString(kind);
            for (RankId rank : group)
            {
                ++times[rank.Get()];
                EXPECT_EQ(layout.GetGroup(kind, rank), group);
                EXPECT_EQ(layout.GetFirstOfGroup(kind, rank), group.front());
            }
        }
        EXPECT_EQ(times, std::vector<uint32_t>(24, 1)) << ToString(kind);
    }
}

TEST(ParallelLayout, ExpertGroupsLieInsideDataGroups)
{
    // Case 18: 32 ranks, expert degree 8, tensor degree 1: four groups of consecutive ranks.
    const ParallelLayout layout({1, 1, 8, 32, 1}, 32);
    const auto groups = layout.GetGroups(LayoutGroup::EXPERT);
    ASSERT_EQ(groups.size(), 4u);
    EXPECT_EQ(Numbers(groups[0]), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(Numbers(groups[3]), (Ranks{24, 25, 26, 27, 28, 29, 30, 31}));
    // Replicas of the same experts are 8 apart.
    EXPECT_EQ(Numbers(layout.GetGroup(LayoutGroup::EXPERT_DATA, RankId(11))),
              (Ranks{3, 11, 19, 27}));
}

TEST(ParallelLayout, RefusesDegreesThatDoNotFit)
{
    EXPECT_EQ(MessageOf([] {
                  ParallelLayout({8, 1, 1, 2, 12}, 96);
              }),
              "parallel: found tp 8 x cp 1 x dp 2 x pp 12 = 192, expected the number of ranks, 96");
    EXPECT_THAT(MessageOf([] {
                    ParallelLayout({65536, 65536, 1, 65536, 65536}, 96);
                }),
                HasSubstr("= more than 4294967295"));
    EXPECT_THAT(MessageOf([] {
                    ParallelLayout({8, 1, 0, 1, 12}, 96);
                }),
                HasSubstr("parallel.ep: found 0"));
    EXPECT_EQ(MessageOf([] {
                  ParallelLayout({1, 1, 3, 32, 1}, 32);
              }),
              "parallel.ep: found 3, expected a divisor of dp 32 (expert groups lie inside data "
              "groups)");
}

// Schedules.

class Schedules
    : public testing::TestWithParam<std::tuple<PipelineScheduleKind, uint32_t, uint32_t>>
{
};

TEST_P(Schedules, SendsMeetReceivesAndPassesAreComplete)
{
    const auto [kind, stages, microBatches] = GetParam();
    std::vector<std::vector<uint32_t>> sent(stages);     // activations, by sender
    std::vector<std::vector<uint32_t>> received(stages); // activations, by receiver
    std::vector<std::vector<uint32_t>> sentBack(stages);
    std::vector<std::vector<uint32_t>> receivedBack(stages);
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        std::vector<int> state(microBatches, 0); // 1: forward done, 2: backward done
        uint32_t held = 0;
        uint32_t mostHeld = 0;
        for (const auto& step : MakePipelineSchedule(kind, stage, stages, microBatches))
        {
            if (step.kind == PipelineStep::Kind::FORWARD)
            {
                EXPECT_EQ(state.at(step.microBatch)++, 0);
                mostHeld = std::max(mostHeld, ++held);
            }
            else if (step.kind == PipelineStep::Kind::BACKWARD)
            {
                EXPECT_EQ(state.at(step.microBatch)++, 1);
                --held;
            }
            for (const auto& transfer : step.transfers)
            {
                auto& list = transfer.isActivation ? (transfer.isSend ? sent : received)
                                                   : (transfer.isSend ? sentBack : receivedBack);
                list[stage].push_back(transfer.microBatch);
                if (transfer.isSend) // what is sent was made
                {
                    EXPECT_GE(state.at(transfer.microBatch), transfer.isActivation ? 1 : 2);
                }
            }
        }
        EXPECT_EQ(state, std::vector<int>(microBatches, 2));
        EXPECT_EQ(mostHeld, GetMicroBatchesInFlight(kind, stage, stages, microBatches));
    }
    for (uint32_t stage = 0; stage + 1 < stages; ++stage)
    {
        EXPECT_EQ(sent[stage].size(), microBatches);
        EXPECT_EQ(sent[stage], received[stage + 1]);
        EXPECT_EQ(sentBack[stage + 1].size(), microBatches);
        EXPECT_EQ(sentBack[stage + 1], receivedBack[stage]);
    }
    EXPECT_TRUE(received[0].empty() && sentBack[0].empty());
    EXPECT_TRUE(sent[stages - 1].empty() && receivedBack[stages - 1].empty());
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Schedules,
    testing::Combine(testing::Values(PipelineScheduleKind::GPIPE,
                                     PipelineScheduleKind::ONE_FORWARD_ONE_BACKWARD),
                     testing::Values(1, 2, 3, 4, 8),
                     testing::Values(1, 2, 3, 8, 13)));

// Programs.

TrainingPlan SmallPlan(ParallelDegrees degrees, uint32_t layers)
{
    TrainingPlan plan;
    plan.model = GetModelKind("gpt");
    plan.model.layers = layers;
    plan.model.hidden = 256;
    plan.model.heads = 8;
    plan.model.sequence = 128;
    plan.model.vocabulary = 1024;
    plan.model.SetDefaults();
    plan.parallel = degrees;
    return plan;
}

uint32_t RanksOf(const TrainingPlan& plan)
{
    return plan.parallel.tensor * plan.parallel.data * plan.parallel.pipeline;
}

WorkloadGraphPtr Generate(const TrainingPlan& plan)
{
    return GenerateTransformer(plan, RanksOf(plan));
}

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

double FlopsOf(const WorkloadGraph& workload)
{
    double flops = 0;
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        for (const Operator& op : workload.GetProgram(RankId(rank))->GetOperators())
        {
            flops += op.flops;
        }
    }
    return flops;
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
    // Forward: norm, qkv, scores, softmax, dropout, context, projection, residual; norm, first
    // matrix, activation, second matrix, residual: 13 kernels; an all-reduce ends either half.
    EXPECT_EQ(CountOperators(program, OperatorType::COMPUTE, "layer 0 forward "), 13u);
    EXPECT_EQ(CountOperators(program, OperatorType::COLLECTIVE, "layer 0 forward "), 2u);
    // Backward: residual, 2 + 2 gradients of the two matrices, activation, norm, sum: 8; residual,
    // 2 + 2 of projection and qkv, 4 products of the core, dropout, softmax, norm, sum: 13. An
    // all-reduce follows the input gradient of each column-parallel matrix.
    EXPECT_EQ(CountOperators(program, OperatorType::COMPUTE, "layer 0 backward "), 21u);
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

TrainingPlan PaperPlan()
{
    TrainingPlan plan;
    plan.model = GetModelPreset("gpt-175b");
    plan.parallel = {8, 1, 1, 1, 12};
    plan.microBatches = 24;
    return plan;
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
    plan.distributedOptimizer = true;
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

// Parameters of SmallPlan with tensor degree 2 and 2 layers a stage. A layer: norms 4 x 256,
// qkv 257 x 768 / 2, projection 256 x 256 / 2 + 256, feed-forward 257 x 1024 / 2 and
// 1024 x 256 / 2 + 256: together 395,648.
const uint64_t LAYER = 1024 + 98688 + 33024 + 131584 + 131328;
const uint64_t WORDS = 1024 / 2 * 256;
const uint64_t POSITIONS = 128 * 256;

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

    plan.distributedOptimizer = true;
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    EXPECT_EQ(reduce(0, "bucket 0 reduce-scatter", CollectiveKind::REDUCE_SCATTER), first);
    EXPECT_EQ(reduce(0, "bucket 0 all-gather", CollectiveKind::ALL_GATHER), List{first[0] / 2});

    // In buckets of at least 400,000 elements: two layers, then the embeddings.
    plan.distributedOptimizer = false;
    plan.overlapGradients = true;
    plan.bucketElements = 400000;
    EXPECT_EQ(reduce(0, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), List{2 * LAYER * 4});
    EXPECT_EQ(reduce(0, "bucket 1 all-reduce", CollectiveKind::ALL_REDUCE),
              List{(WORDS + POSITIONS) * 4});
    EXPECT_EQ(reduce(7, "bucket 0 all-reduce", CollectiveKind::ALL_REDUCE), last);
}

TEST(Generator, ParametersFollowTheClosedForm)
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

// Running the programs.

/** 1 for a kernel of a layer's forward pass, 2 of its backward pass, 0 else. */
double LayerCost(const ExecutionGraph& program, const Operator& op)
{
    const std::string& name = program.GetName(op);
    return name.rfind("layer ", 0) != 0 ? 0 : name.find(" backward ") != std::string::npos ? 2 : 1;
}

TEST(Generator, PipelineBubbleIsThatOfTheClosedForm)
{
    for (auto schedule :
         {PipelineScheduleKind::GPIPE, PipelineScheduleKind::ONE_FORWARD_ONE_BACKWARD})
    {
        for (uint32_t stages : {1, 2, 4, 8})
        {
            for (uint32_t microBatches : {1, 2, 7, 16})
            {
                TrainingPlan plan = SmallPlan({1, 1, 1, 1, stages}, 2 * stages);
                plan.schedule = schedule;
                plan.microBatches = microBatches;
                ListScheduler run(
                    Generate(plan), LayerCost, [](const auto&, const auto&) { return 0.0; });
                ASSERT_TRUE(run.Run()) << stages << " stages";
                // Two layers a stage: 13 forward kernels each, 21 backward kernels of 2 each. With
                // free communication a step takes (m + p - 1)(tf + tb) (arXiv 2104.04473, 2.2).
                const double pass = 2 * 13 + 2 * 21 * 2;
                EXPECT_EQ(run.GetStepTime(), (microBatches + stages - 1) * pass)
                    << stages << " stages, " << microBatches << " micro-batches";
                EXPECT_EQ(run.GetMessages(), 2ull * (stages - 1) * microBatches);
            }
        }
    }
}

TEST(Generator, CostlyCommunicationEndsToo)
{
    for (uint32_t stages : {1, 2, 4, 8})
    {
        for (uint32_t microBatches : {1, 2, 9})
        {
            TrainingPlan plan = SmallPlan({2, 1, 2, 2, stages}, stages);
            plan.model.experts = 2;
            plan.model.SetDefaults();
            plan.sequenceParallel = true;
            plan.distributedOptimizer = true;
            plan.overlapGradients = true;
            plan.bucketElements = 1;
            plan.microBatches = microBatches;
            const auto workload = Generate(plan);
            ListScheduler free(workload, LayerCost, [](const auto&, const auto&) { return 0.0; });
            ListScheduler costly(workload, LayerCost, [](const auto&, const auto& spec) {
                return double(spec.bytes) / 1000;
            });
            ASSERT_TRUE(free.Run());
            ASSERT_TRUE(costly.Run());
            EXPECT_GT(costly.GetStepTime(), free.GetStepTime());
        }
    }
}

TEST(Generator, OverlapHidesReductionsOnly)
{
    // Gradients in four buckets beside the last backward pass are done earlier than at its end.
    TrainingPlan plan = SmallPlan({1, 1, 1, 4, 1}, 4);
    const auto stepTime = [&] {
        ListScheduler run(Generate(plan), LayerCost, [](const auto& group, const auto& spec) {
            return group.GetKind() == GroupKind::DATA ? double(spec.bytes) / 1e5 : 0;
        });
        EXPECT_TRUE(run.Run());
        return run.GetStepTime();
    };
    const double atEnd = stepTime();
    plan.overlapGradients = true;
    plan.bucketElements = 1;
    const double overlapped = stepTime();
    // Alone: 4 layers of 55 units, and all parameters' bytes. A layer's gradients take
    // 4 x 789,760 / 1e5 = 31.6 units, less than the 42 of a layer's backward pass: all but the
    // first layer's and the embedding's are hidden.
    const double layer = 12 * 256.0 * 256 + 13 * 256;
    const double embedding = (1024 + 128) * 256;
    EXPECT_NEAR(atEnd, 4 * 55 + (4 * layer + embedding + 512) * 4 / 1e5, 1e-6);
    EXPECT_NEAR(overlapped, 4 * 55 + (layer + embedding) * 4 / 1e5, 1e-6);
}

TEST(Generator, WeightGradientHidesTheInputGradientsAllReduce)
{
    // An all-reduce of 1 unit behind a weight gradient of 2 costs nothing; the one of 5 costs 3.
    const TrainingPlan plan = SmallPlan({2, 1, 1, 1, 1}, 1);
    const auto stepTime = [&](double cost) {
        ListScheduler run(Generate(plan), LayerCost, [&](const auto&, const auto& spec) {
            return spec.bytes == 128 * 256 * 4 ? cost : 0.0;
        });
        EXPECT_TRUE(run.Run());
        return run.GetStepTime();
    };
    // 13 + 21 x 2 alone; exposed: 2 all-reduces forward, the embedding's, and the logits' (their
    // kernels cost nothing here); two behind weight gradients.
    EXPECT_EQ(stepTime(0), 55);
    EXPECT_EQ(stepTime(1), 55 + 4 * 1);
    EXPECT_EQ(stepTime(5), 55 + 4 * 5 + 2 * 3);
}

// Memory.

TEST(Memory, ActivationsFollowKorthikanti)
{
    // arXiv 2205.05198: a layer keeps s b h (34 + 5 a s / h) bytes on one rank (equation 1), with
    // tensor parallelism s b h (10 + 24 / t + 5 a s / (h t)) (2), with sequence parallelism
    // s b h / t (34 + 5 a s / h) (4), with selective recomputation 34 s b h / t (6), with full
    // recomputation 2 s b h.
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 1);
    plan.parameters = DataType::FP16;
    plan.matmul = DataType::FP16;
    plan.microBatch = 3;
    const double sbh = 128 * 3 * 256;
    const double scores = 5 * 8 * 128 / 256.0;
    const auto layer = [&] {
        const double logits = 128 * 3 * (1024.0 / plan.parallel.tensor) * (2 + 4);
        return EstimateMemory(plan, 0).activationBytes - logits;
    };
    EXPECT_DOUBLE_EQ(layer(), sbh * (34 + scores));
    plan.parallel.tensor = 4;
    EXPECT_DOUBLE_EQ(layer(), sbh * (10 + 24 / 4.0 + scores / 4));
    plan.sequenceParallel = true;
    EXPECT_DOUBLE_EQ(layer(), sbh / 4 * (34 + scores));
    plan.recompute = RecomputeMode::SELECTIVE;
    EXPECT_DOUBLE_EQ(layer(), sbh / 4 * 34);
    plan.recompute = RecomputeMode::FULL; // the layer's input, and one layer in full
    plan.sequenceParallel = false;
    plan.parallel.tensor = 1;
    EXPECT_DOUBLE_EQ(layer(), sbh * 2 + sbh * (34 + scores));
}

TEST(Memory, StateOfTheOptimizer)
{
    TrainingPlan plan = SmallPlan({2, 1, 1, 4, 2}, 4);
    const uint64_t parameters = 2 * LAYER + WORDS + POSITIONS;
    MemoryEstimate estimate = EstimateMemory(plan, 0);
    EXPECT_EQ(estimate.parameterBytes, parameters * 4);
    EXPECT_EQ(estimate.gradientBytes, parameters * 4);
    EXPECT_EQ(estimate.optimizerBytes, parameters * 8); // two moments
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.distributedOptimizer = true;
    estimate = EstimateMemory(plan, 0);
    EXPECT_EQ(estimate.parameterBytes, parameters * 2);
    EXPECT_EQ(estimate.optimizerBytes, parameters / 4 * 12); // a master too, a quarter each
}

TEST(Memory, ScheduleDecidesMicroBatchesInFlight)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 4}, 4);
    plan.microBatches = 8;
    const uint64_t first = EstimateMemory(plan, 0).activationBytes;
    EXPECT_EQ(first, 4 * EstimateMemory(plan, 2).activationBytes / 2); // 4 and 2 in flight
    plan.schedule = PipelineScheduleKind::GPIPE;
    EXPECT_EQ(EstimateMemory(plan, 0).activationBytes, 2 * first); // all 8
}

TEST(Memory, ThePapersLargestModelNeedsRecomputation)
{
    const GpuSpec gpu{"H800", {}, 3350e9, 85899345920};
    TrainingPlan plan = PaperPlan();
    const std::string warning = CheckMemory(plan, gpu);
    EXPECT_THAT(warning, HasSubstr("pipeline stage 0 needs about"));
    EXPECT_THAT(warning, HasSubstr("but H800 has 80"));
    plan.recompute = RecomputeMode::FULL;
    EXPECT_EQ(CheckMemory(plan, gpu), "");
}

// Plans that cannot run.

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
    EXPECT_THAT(message([](P p) { p.matmul = DataType::BF16; }),
                HasSubstr("precision.matmul: found bf16 with parameters fp32, expected tf32 or"));
    EXPECT_THAT(message([](P p) { p.parameters = DataType::BF16; }),
                HasSubstr("precision.matmul: found tf32 with parameters bf16, expected bf16 or"));
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
    TrainingPlan plan = SmallPlan({2, 2, 1, 2, 2}, 4);
    EXPECT_THROW(plan.Check(), UnsupportedError);
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
    EXPECT_THAT(MessageOf([] { GetModelKind("bert"); }), HasSubstr("expected gpt or llama"));
    // llama3-70b has 70.6e9 parameters.
    TrainingPlan plan;
    plan.model = GetModelPreset("llama3-70b");
    EXPECT_NEAR(GetModelParameters(plan) / 70.6e9, 1, 0.001);
}

} // namespace
