// SPDX-License-Identifier: GPL-2.0-only
// What recipes of mixtures of experts set: layers that predict further tokens, modules that are
// recomputed, products that activate and cast, tokens that are sorted.

#include "list-scheduler.h"
#include "small-plan.h"

#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-overlapped-schedules.h"
#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-workload-health.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** @return operators of rank @p rank whose name holds @p text */
uint32_t Count(const WorkloadGraph& workload, uint32_t rank, const std::string& text)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    uint32_t count = 0;
    for (const Operator& op : program.GetOperators())
    {
        count += program.GetName(op).find(text) != std::string::npos;
    }
    return count;
}

/** Latent attention, one dense layer, then experts with shared ones; two stages. */
TrainingPlan LatentMixture()
{
    TrainingPlan plan = SmallPlan({2, 1, 2, 2, 2}, 4);
    plan.model.latentQueries = 96;
    plan.model.latentKeys = 64;
    plan.model.rotarySize = 16;
    plan.model.experts = 4;
    plan.model.sharedFfn = 128;
    plan.model.denseLayers = 1;
    plan.model.learnedPositions = false;
    plan.model.tiedEmbeddings = false;
    plan.model.SetDefaults();
    plan.sequenceParallel = true;
    plan.attention = AttentionKernel::FLASH;
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.microBatches = 3;
    return plan;
}

TEST(FurtherTokens, AddALayerItsJoinAndTheOutputOnTheLastStage)
{
    TrainingPlan plan = LatentMixture();
    const auto before = GetStageParameters(plan, 1);
    const auto first = GetStageParameters(plan, 0);
    plan.model.mtpLayers = 1;
    const auto after = GetStageParameters(plan, 1);
    EXPECT_EQ(GetStageParameters(plan, 0).GetTotal(), first.GetTotal());
    // A layer with experts, 2 h x h for the join split over 2 ranks, two norms of 2 h before it,
    // and a copy of the word embedding, 1024 / 2 x h, as embeddings are not tied.
    EXPECT_EQ(after.GetTotal() - before.GetTotal(),
              GetLayerParameters(plan, 3).GetTotal() + 2 * 256 * 256 / 2 + 2 * 512 + WORDS);
    const auto workload = Generate(plan);
    EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
    EXPECT_EQ(Count(*workload, 0, "further"), 0u);
    EXPECT_EQ(Count(*workload, 4, "further head forward logits"), 3u * 2); // and its gather
    EXPECT_EQ(Count(*workload, 4, "layer 4 forward dispatch all-to-all"), 3u);
    EXPECT_EQ(Count(*workload, 4, "embedding gradient all-reduce"), 1u);
    EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
    plan.sharding = StateSharding::PARAMETERS;
    plan.parallel.pipeline = 1;
    EXPECT_THAT(MessageOf([&] { plan.Check(); }), HasSubstr("mtp_layers: found 1 with zero 3"));
}

TEST(FurtherTokens, HaveLogitsOfTheirOwn)
{
    TrainingPlan plan = LatentMixture();
    const auto logits = [&plan](uint32_t mtpLayers) { // what twice the vocabulary adds
        plan.model.mtpLayers = mtpLayers;
        const uint64_t bytes = EstimateMemory(plan, 1).activationBytes;
        plan.model.vocabulary *= 2;
        const uint64_t twice = EstimateMemory(plan, 1).activationBytes;
        plan.model.vocabulary /= 2;
        return twice - bytes;
    };
    EXPECT_EQ(logits(0), plan.GetTokens() * 1024 / 2 * (2 + 4)); // BF16 and FP32
    EXPECT_EQ(logits(2), 3 * logits(0));
}

TEST(FurtherTokens, DeepSeekHasElevenBillionMoreParameters)
{
    // arXiv 2412.19437, 4.2: 671e9 of the model, 11.5e9 of the module beside shared embedding and
    // output.
    TrainingPlan plan;
    plan.model = GetModelPreset("deepseek-v3");
    const double main = GetModelParameters(plan);
    plan.model.mtpLayers = 1;
    EXPECT_NEAR((GetModelParameters(plan) - main) / 11.5e9, 1, 0.02);
}

TEST(ShardedParameters, AreGatheredForTheLargestLayerAndTheEnds)
{
    TrainingPlan plan = LatentMixture();
    plan.parallel = {1, 1, 1, 64, 1};
    plan.sharding = StateSharding::PARAMETERS;
    plan.model.denseFfn = 65536; // far more than what a layer's experts have
    const auto gathered = [&plan] { return EstimateMemory(plan, 0).parameterBytes / 2; };
    const auto layer = [&plan](uint32_t i) { return GetLayerParameters(plan, i).GetTotal(); };
    const uint64_t ends = 2 * 1024 * 256 + plan.model.GetNormParameters(); // words, output, norm
    EXPECT_GT(layer(0), 2 * layer(1));
    EXPECT_EQ(gathered(), ends + layer(0));
    plan.model.denseLayers = 2;
    EXPECT_EQ(gathered(), ends + layer(0));
    plan.reshardAfterForward = false;
    EXPECT_EQ(gathered(), GetStageParameters(plan, 0).GetTotal());
}

TEST(Recomputation, OfModulesAddsTheirOperatorsAndOperations)
{
    TrainingPlan plan = LatentMixture();
    plan.model.mtpLayers = 1;
    const struct
    {
        RecomputeModule module;
        const char* remade;
        uint32_t layers; // of the first stage's two that remake it
    } modules[] = {{RecomputeModule::ATTENTION_CORE, "backward recompute attention", 2},
                   {RecomputeModule::LATENT_EXPANSION, "backward recompute query expansion", 2},
                   {RecomputeModule::EXPERT_ACTIVATION, "backward recompute activation", 1},
                   {RecomputeModule::NORMS, "backward recompute attention norm", 2},
                   {RecomputeModule::FEED_FORWARD, "backward recompute feed-forward 1", 1}};
    const double none = plan.GetStepFlops();
    const uint64_t kept = EstimateMemory(plan, 0).activationBytes;
    for (const auto& [module, remade, layers] : modules)
    {
        plan.recompute = RecomputeMode::SELECTIVE;
        plan.recomputeModules = {module};
        const auto workload = Generate(plan);
        const bool isGathered =
            module == RecomputeModule::FEED_FORWARD || module == RecomputeModule::LATENT_EXPANSION;
        const uint32_t perPass = isGathered ? 2 : 1; // and its gather
        EXPECT_EQ(Count(*workload, 0, remade), 3 * layers * perPass) << remade;
        EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9) << remade;
        const bool isProduct =
            module != RecomputeModule::EXPERT_ACTIVATION && module != RecomputeModule::NORMS;
        EXPECT_EQ(plan.GetStepFlops() > none, isProduct) << remade;
        if (module != RecomputeModule::ATTENTION_CORE) // fused attention keeps no scores anyway
        {
            EXPECT_LT(EstimateMemory(plan, 0).activationBytes, kept) << remade;
        }
    }
}

TEST(Experts, KeepTheRowsOfTheFullestRank)
{
    TrainingPlan plan = LatentMixture();
    const auto kept = [&plan](const std::vector<double>& load) {
        plan.expertLoad = load;
        return double(EstimateMemory(plan, 1).activationBytes);
    };
    EXPECT_EQ(kept({3, 3}), kept({}));
    // All rows on one of two ranks: what is kept of them, twice.
    const double more = kept({1, 0}) - kept({});
    EXPECT_GT(more, 0);
    EXPECT_EQ(kept({1, 3}) - kept({}), more / 2); // 3/4 of them, not 1/2
    plan.model.topK *= 2;
    EXPECT_EQ(kept({1, 0}) - kept({}), 2 * more);
}

/** @return bytes of rank 0's collectives whose names begin with @p name */
uint64_t Bytes(const WorkloadGraph& workload, const std::string& name)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(0));
    uint64_t bytes = 0;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE && program.GetName(op).rfind(name, 0) == 0)
        {
            bytes += program.GetCommunication(op).spec.bytes;
        }
    }
    return bytes;
}

TEST(LatentAttention, GathersAndReducesWhatItExpands)
{
    TrainingPlan plan = LatentMixture();
    plan.model.mtpLayers = 0;
    plan.microBatches = 1;
    const uint64_t tokens = 128 * 2; // of two bytes
    const auto split = Generate(plan);
    EXPECT_EQ(Bytes(*split, "layer 0 forward query expansion"), tokens * 96);
    EXPECT_EQ(Bytes(*split, "layer 0 forward key-value expansion"), tokens * 64);
    EXPECT_EQ(Bytes(*split, "layer 0 forward rotary keys"), tokens * 16);
    // Gathered once more for the weights' gradients; then the inputs' gradients are reduced.
    EXPECT_EQ(Bytes(*split, "layer 0 backward query expansion"), 2 * tokens * 96);
    EXPECT_EQ(Bytes(*split, "layer 0 backward key-value expansion"), 2 * tokens * 64);
    EXPECT_EQ(Bytes(*split, "layer 0 backward rotary keys"), tokens * 16);
    plan = SmallPlan({2, 1, 1, 1, 1}, 1);
    plan.model.latentQueries = 96;
    plan.model.latentKeys = 64;
    plan.model.rotarySize = 16;
    plan.model.learnedPositions = false;
    plan.model.SetDefaults();
    const auto whole = Generate(plan); // of four bytes
    EXPECT_EQ(Bytes(*whole, "layer 0 forward query expansion"), 0u);
    EXPECT_EQ(Bytes(*whole, "layer 0 forward rotary keys"), 0u);
    EXPECT_EQ(Bytes(*whole, "layer 0 backward query expansion"), 128u * 4 * 96);
    EXPECT_EQ(Bytes(*whole, "layer 0 backward key-value expansion"), 128u * 4 * 64);
    EXPECT_EQ(Bytes(*whole, "layer 0 backward rotary keys"), 0u);
}

TEST(Experts, FusedProductsActivateAndCast)
{
    TrainingPlan plan = LatentMixture();
    plan.matmul = DataType::FP8;
    const auto apart = Generate(plan);
    plan.fusedExperts = true;
    const auto fused = Generate(plan);
    // Rank 4 has two layers with experts: three micro-batches, and shared experts that still do.
    EXPECT_EQ(Count(*apart, 4, "forward activation"), 3u * 2 * 2);
    EXPECT_EQ(Count(*fused, 4, "forward activation"), 3u * 2);
    EXPECT_EQ(Count(*apart, 4, "experts 2 cast"), 2 * 3u * 2); // shared ones have such a matrix too
    EXPECT_EQ(Count(*fused, 4, "experts 2 cast"), 3u * 2);
    EXPECT_EQ(Count(*fused, 4, "experts 1 gradient cast"), 3u * 2);
    EXPECT_EQ(FlopsOf(*apart), FlopsOf(*fused));
}

TEST(Experts, SortWhatAnAllToAllBringsUnlessItComesInOrder)
{
    TrainingPlan plan = LatentMixture();
    // Two experts on each of two ranks: rows are sorted before and behind them, both ways.
    EXPECT_EQ(Count(*Generate(plan), 4, "experts sort"), 4u * 3 * 2);
    plan.dispatchDomain = 1;
    EXPECT_EQ(Count(*Generate(plan), 4, "experts sort"), 0u);
    plan.dispatchDomain = 0;
    plan.model.experts = 2; // one on a rank
    EXPECT_EQ(Count(*Generate(plan), 4, "experts sort"), 0u);
}

// Four of 16 experts, two on a rank: none of a rank's is among a token's in 14 x 13 x 12 x 11 of
// 16 x 15 x 14 x 13 draws, so 8 x 0.45 ranks have one; of two domains none in 8 x 7 x 6 x 5. A
// domain that holds all ranks leaves it at each rank once. With an expert a rank every copy
// travels.
TEST(Experts, TokensGoToADomainOrARankOnce)
{
    TrainingPlan plan = SmallPlan({1, 1, 8, 8, 1}, 1);
    plan.model.experts = 16;
    plan.model.topK = 4;
    const auto spec = [&plan](uint32_t domain) {
        plan.dispatchDomain = domain;
        const auto workload = Generate(plan);
        const ExecutionGraph& program = *workload->GetProgram(RankId(0));
        for (const Operator& op : program.GetOperators())
        {
            if (program.GetName(op) == "layer 0 forward dispatch all-to-all")
            {
                return program.GetCommunication(op).spec;
            }
        }
        return CollectiveSpec();
    };
    const double token = 128 * 256 * 4; // bytes of all of a rank's tokens
    const auto copies = [&](uint32_t domain) { return double(spec(domain).bytes) / token; };
    EXPECT_NEAR(copies(0), 4, 1e-4);
    for (const uint32_t domain : {1, 8, 16})
    {
        EXPECT_NEAR(copies(domain), 3.6, 1e-4) << domain;
    }
    EXPECT_NEAR(copies(4), 2 * (1 - 8.0 * 7 * 6 * 5 / (16 * 15 * 14 * 13)), 1e-4);
    plan.model.experts = 8;
    EXPECT_NEAR(copies(1), 4, 1e-4);
    // All go to the experts of one rank: every copy, or once.
    plan.expertLoad = {1, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_NEAR(double(spec(0).sendBytes[0]), 4 * token, 1);
    EXPECT_NEAR(double(spec(8).sendBytes[0]), token, 1);
    EXPECT_NEAR(double(spec(4).sendBytes[0]), token, 1);
    EXPECT_EQ(spec(8).sendBytes[1], 0u);
}

TEST(Experts, OperationsAreTheSameInPairs)
{
    TrainingPlan plan = LatentMixture();
    plan.model.mtpLayers = 1;
    plan.chunks = 2;
    plan.overlapPipeline = true;
    plan.microBatches = 4;
    for (const bool delays : {false, true})
    {
        plan.schedule = CreateObject<CombinedSchedule>();
        plan.delayWeights = delays;
        const auto workload = Generate(plan);
        EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
        ListScheduler run(
            workload,
            [](const auto&, const Operator& op) { return op.flops / 1e6; },
            [](const auto&, const auto& spec) { return double(spec.bytes) / 1e5; });
        EXPECT_TRUE(run.Run());
    }
}

} // namespace
