// SPDX-License-Identifier: GPL-2.0-only
// What data ranks reduce and gather, however the passes of a step are ordered.

#include "list-scheduler.h"
#include "small-plan.h"

#include "ns3/echo-overlapped-schedules.h"
#include "ns3/echo-stage-parameters.h"
#include "ns3/object-factory.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** @return bytes of rank @p rank's collectives whose names hold @p text */
uint64_t Bytes(const WorkloadGraph& workload, uint32_t rank, const std::string& text)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    uint64_t bytes = 0;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE &&
            program.GetName(op).find(text) != std::string::npos)
        {
            bytes += program.GetCommunication(op).spec.bytes;
        }
    }
    return bytes;
}

bool Ends(const WorkloadGraphPtr& workload)
{
    ListScheduler run(
        workload,
        [](const auto&, const Operator& op) { return op.flops / 1e6; },
        [](const auto&, const auto& spec) { return double(spec.bytes) / 1e5; });
    return run.Run();
}

struct Case
{
    const char* type;
    uint32_t chunks;
    std::vector<uint32_t> partLayers;
};

/** Two stages, two data ranks; both directions of DualPipe hold every part. */
TrainingPlan PlanOf(const Case& tried)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 2, 2}, 8);
    ObjectFactory factory;
    factory.SetTypeId("ns3::echo::" + std::string(tried.type) + "Schedule");
    plan.schedule = factory.Create<PipelineSchedule>();
    plan.chunks = tried.chunks;
    plan.partLayers = tried.partLayers;
    plan.overlapPipeline = true;
    plan.microBatches = 4;
    return plan;
}

const Case CASES[] = {{"Gpipe", 1, {}},
                      {"OneForwardOneBackward", 1, {}},
                      {"OneForwardOneBackward", 1, {0, 8}},
                      {"OneForwardOneBackward", 1, {8, 0}},
                      {"ZeroBubble", 1, {}},
                      {"Interleaved", 2, {}},
                      {"Interleaved", 2, {0, 4, 4, 0}},
                      {"Combined", 2, {}},
                      {"DualPipe", 2, {}},
                      {"DualPipeV", 2, {}}};

TEST(GradientTraffic, WhatIsGatheredBesideIsWhatIsReduced)
{
    for (const Case& tried : CASES)
    {
        for (const bool tied : {true, false})
        {
            for (const uint32_t further : {0, 1})
            {
                for (const uint64_t bucket : {0, 1, 1000000})
                {
                    TrainingPlan plan = PlanOf(tried);
                    plan.model.tiedEmbeddings = tied;
                    plan.model.mtpLayers = further;
                    plan.sharding = StateSharding::OPTIMIZER;
                    plan.overlapParameters = true;
                    plan.overlapGradients = bucket > 0;
                    plan.bucketElements = bucket;
                    const auto workload = Generate(plan);
                    for (uint32_t rank : {0, 2})
                    {
                        const uint64_t held = GetStageParameters(plan, rank / 2).GetTotal();
                        EXPECT_EQ(Bytes(*workload, rank, "all-gather"), held * 4)
                            << tried.type << " rank " << rank << " tied " << tied;
                        EXPECT_EQ(Bytes(*workload, rank, "reduce-scatter"), held * 4)
                            << tried.type << " rank " << rank << " tied " << tied;
                    }
                    EXPECT_TRUE(Ends(workload)) << tried.type;
                }
            }
        }
    }
}

/** @return whether rank @p rank's first operator named @p name waits for a gather of parameters */
bool WaitsForParameters(const WorkloadGraph& workload, uint32_t rank, const std::string& name)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    for (const Operator& op : program.GetOperators())
    {
        if (program.GetName(op) == name)
        {
            for (uint32_t i = 0; i < op.dependencyCount; ++i)
            {
                const auto& needed = program.GetOperator(program.GetDependencies(op)[i]);
                if (program.GetName(needed).rfind("parameters bucket", 0) == 0)
                {
                    return true;
                }
            }
            return false;
        }
    }
    ADD_FAILURE() << "no operator " << name;
    return false;
}

TEST(GradientTraffic, EmbeddingAndHeadWaitForTheirParameters)
{
    TrainingPlan plan = PlanOf({"OneForwardOneBackward", 1, {0, 8}});
    plan.model.tiedEmbeddings = false;
    plan.sharding = StateSharding::OPTIMIZER;
    plan.overlapParameters = true;
    const auto apart = Generate(plan);
    EXPECT_TRUE(WaitsForParameters(*apart, 0, "embedding forward lookup"));
    EXPECT_TRUE(WaitsForParameters(*apart, 2, "layer 0 forward attention norm"));
    plan = SmallPlan({1, 1, 1, 2, 1}, 2);
    plan.model.tiedEmbeddings = false;
    plan.sharding = StateSharding::OPTIMIZER;
    plan.overlapParameters = true;
    plan.overlapGradients = true;
    plan.bucketElements = 1; // a bucket each
    EXPECT_TRUE(WaitsForParameters(*Generate(plan), 0, "head forward norm"));
    plan.overlapParameters = false;
    EXPECT_FALSE(WaitsForParameters(*Generate(plan), 0, "head forward norm"));
}

TEST(GradientTraffic, SplitGradientsAreReducedAtEveryMicroBatch)
{
    for (const Case& tried : CASES)
    {
        TrainingPlan plan = PlanOf(tried);
        plan.sharding = StateSharding::GRADIENTS;
        const auto workload = Generate(plan);
        // In both directions of DualPipe each part has half of the micro-batches.
        const uint32_t times =
            plan.microBatches / (plan.GetPipelineShape().placement == PartPlacement::BOTH ? 2 : 1);
        for (uint32_t rank : {0, 2})
        {
            const uint64_t held = GetStageParameters(plan, rank / 2).GetTotal();
            EXPECT_EQ(Bytes(*workload, rank, "reduce-scatter"), times * held * 4) << tried.type;
            EXPECT_EQ(Bytes(*workload, rank, "all-gather"), held * 4) << tried.type;
        }
        EXPECT_TRUE(Ends(workload)) << tried.type;
    }
}

TEST(GradientTraffic, AStageWithoutExpertsJoinsTheSumOfTheirNorms)
{
    TrainingPlan plan = SmallPlan({1, 1, 2, 4, 2}, 4);
    plan.model.experts = 4;
    plan.model.topK = 2;
    plan.model.sharedFfn = 0;
    plan.model.denseLayers = 2; // those of the first stage
    plan.model.SetDefaults();
    plan.microBatches = 2;
    const auto workload = Generate(plan);
    for (uint32_t rank : {0, 4})
    {
        EXPECT_EQ(Bytes(*workload, rank, "expert gradient norm all-reduce"), 4u) << rank;
    }
    EXPECT_TRUE(Ends(workload));
}

} // namespace
