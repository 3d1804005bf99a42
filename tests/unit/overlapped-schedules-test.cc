// SPDX-License-Identifier: GPL-2.0-only
// Schedules whose passes run in pairs, and what a pair hides.

#include "list-scheduler.h"
#include "small-plan.h"

#include "ns3/echo-overlapped-schedules.h"
#include "ns3/echo-stage-parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** A unit for a kernel of a layer, 0 else. */
double UnitCost(const ExecutionGraph& program, const Operator& op)
{
    return op.type == OperatorType::COMPUTE && program.GetName(op).rfind("layer ", 0) == 0 ? 1 : 0;
}

double Free(const CommGroup&, const CollectiveSpec&)
{
    return 0;
}

double StepOf(const TrainingPlan& plan, const ListScheduler::CollectiveCost& cost = Free)
{
    ListScheduler run(Generate(plan), UnitCost, cost);
    EXPECT_TRUE(run.Run());
    return run.GetStepTime();
}

/**
 * A dense layer of the small plan has 14 kernels forward and 22 backward, of which 4 make weight
 * gradients: with these costs a forward pass, the input gradients and the weight gradients take
 * THIRD each, as the published bubbles suppose.
 */
double EvenCost(const ExecutionGraph& program, const Operator& op)
{
    const std::string& name = program.GetName(op);
    return UnitCost(program, op) == 0                          ? 0
           : name.find("weight gradient") != std::string::npos ? 31.5
           : name.find(" backward ") != std::string::npos      ? 7
                                                               : 9;
}

constexpr double THIRD = 126;
constexpr double BUBBLE = THIRD + 2 * (2 * THIRD) - 3 * THIRD; // F&B + B - 3W, F&B = F + B

double EvenStep(const TrainingPlan& plan)
{
    ListScheduler run(Generate(plan), EvenCost, Free);
    EXPECT_TRUE(run.Run());
    return run.GetStepTime();
}

TEST(DualPipe, BubbleIsThePublishedOne)
{
    // arXiv 2412.19437, table 2: (PP / 2 - 1)(F&B + B - 3W); every stage has two chunks with half
    // of the micro-batches each.
    for (uint32_t stages : {2, 4, 8})
    {
        for (uint32_t microBatches : {2 * stages, 4 * stages})
        {
            TrainingPlan plan = SmallPlan({1, 1, 1, 1, stages}, stages);
            plan.schedule = CreateObject<DualPipeSchedule>();
            plan.chunks = 2;
            plan.microBatches = microBatches;
            plan.overlapPipeline = true;
            EXPECT_EQ(EvenStep(plan), microBatches * 3 * THIRD + (stages / 2.0 - 1) * BUBBLE)
                << stages << " stages, " << microBatches << " micro-batches";
        }
    }
}

TEST(DualPipe, HalfOfItHasTheSameBubbleOnHalfTheStages)
{
    for (uint32_t stages : {1, 2, 4})
    {
        TrainingPlan plan = SmallPlan({1, 1, 1, 1, stages}, 2 * stages);
        plan.schedule = CreateObject<DualPipeVSchedule>();
        plan.chunks = 2;
        plan.microBatches = 3 * stages;
        plan.overlapPipeline = true;
        EXPECT_EQ(EvenStep(plan), 2 * plan.microBatches * 3 * THIRD + (stages - 1.0) * BUBBLE)
            << stages << " stages";
    }
}

TEST(DualPipe, StagesHoldTwoPartsAndReduceThemTogether)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 2, 4}, 4);
    plan.chunks = 2;
    plan.microBatches = 8;
    plan.overlapPipeline = true;
    TrainingPlan once = plan;
    once.chunks = 1;
    plan.schedule = CreateObject<DualPipeSchedule>();
    for (uint32_t stage = 0; stage < 4; ++stage)
    {
        EXPECT_EQ(GetStageParameters(plan, stage).GetTotal(),
                  GetPartParameters(plan, stage).GetTotal() +
                      GetPartParameters(plan, 3 - stage).GetTotal() +
                      (stage % 3 == 0 ? GetEmbeddingParameters(plan, 0).GetTotal() +
                                            GetHeadParameters(plan, 0).GetTotal()
                                      : 0));
        // PP + 1 micro-batches of one chunk (arXiv 2412.19437, table 2).
        EXPECT_EQ(GetPassesInFlight(*plan.schedule, stage, plan.GetPipelineShape()), 5u);
    }
    // Stages 1 and 2 hold parts 1 and 2: one group of all four of their ranks.
    const auto workload = Generate(plan);
    for (const auto& group : workload->GetGroups())
    {
        if (group->GetKind() == GroupKind::DATA && group->GetRank(0) == RankId(2))
        {
            EXPECT_EQ(group->GetSize(), 4u);
            EXPECT_EQ(group->GetRank(3), RankId(5));
        }
    }
    EXPECT_EQ(GetModelParameters(plan), GetModelParameters(once));
    EXPECT_DOUBLE_EQ(plan.GetStepFlops(), once.GetStepFlops());
}

TEST(DualPipe, EndsWithAllKindsOfGradientReduction)
{
    for (const auto sharding :
         {StateSharding::NONE, StateSharding::OPTIMIZER, StateSharding::GRADIENTS})
    {
        TrainingPlan plan = SmallPlan({2, 1, 2, 2, 4}, 4);
        plan.model.experts = 4;
        plan.model.SetDefaults();
        plan.sequenceParallel = true;
        plan.schedule = CreateObject<DualPipeSchedule>();
        plan.chunks = 2;
        plan.microBatches = 8;
        plan.overlapPipeline = true;
        plan.sharding = sharding;
        plan.overlapGradients = true;
        plan.overlapParameters = sharding != StateSharding::NONE;
        plan.bucketElements = 1;
        EXPECT_GT(StepOf(plan, [](const auto&, const auto& spec) { return spec.bytes / 1e4; }),
                  StepOf(plan));
    }
}

TEST(DualPipe, RefusesWhatItHasNoOrderFor)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 4}, 4);
    plan.schedule = CreateObject<DualPipeSchedule>();
    plan.microBatches = 8;
    plan.overlapPipeline = true;
    const auto refusal = [&] { return MessageOf([&] { plan.Check(); }); };
    EXPECT_THAT(refusal(),
                HasSubstr("found a schedule of 2 chunks a stage for 1, expected 2 chunks"));
    plan.chunks = 2;
    plan.microBatches = 6;
    EXPECT_THAT(refusal(), HasSubstr("at least twice as many micro-batches as stages"));
    plan.microBatches = 9;
    EXPECT_THAT(refusal(), HasSubstr("an even number of both"));
    plan.microBatches = 8;
    EXPECT_EQ(refusal(), "");
    plan.recompute = RecomputeMode::FULL;
    EXPECT_THAT(refusal(), HasSubstr("recompute: found full with passes that run in pairs"));
}

/** A mixture of experts on one stage, four ranks that hold them. */
TrainingPlan Mixture()
{
    TrainingPlan plan = SmallPlan({1, 1, 4, 4, 1}, 2);
    plan.model.experts = 4;
    plan.model.SetDefaults();
    plan.microBatches = 6;
    return plan;
}

/** Tokens that travel take @p cost. */
ListScheduler::CollectiveCost Travel(double cost)
{
    return [cost](const CommGroup& group, const CollectiveSpec& spec) {
        return group.GetKind() == GroupKind::EXPERT && spec.kind == CollectiveKind::ALL_TO_ALL
                   ? cost
                   : 0.0;
    };
}

TEST(CombinedPasses, HideTheExchangeOfTokens)
{
    // A layer dispatches and combines, forward and backward: four exchanges of one unit. Alone all
    // are seen. In pairs they are hidden behind the other pass's kernels, but in the first forward
    // and the last backward pass, which have no partner: 2 x 2 a layer.
    TrainingPlan plan = Mixture();
    const double kernels = StepOf(plan);
    EXPECT_EQ(StepOf(plan, Travel(1)), kernels + plan.microBatches * plan.model.layers * 4);
    plan.schedule = CreateObject<CombinedSchedule>();
    EXPECT_EQ(StepOf(plan), kernels);
    EXPECT_EQ(StepOf(plan, Travel(1)), kernels + plan.model.layers * 4);
}

TEST(CombinedPasses, DelayedWeightGradientsHideMore)
{
    // An exchange of 5 that starts behind the experts' weight gradients, two units, is waited for;
    // one that starts before them is not.
    TrainingPlan plan = Mixture();
    plan.schedule = CreateObject<CombinedSchedule>();
    const double late = StepOf(plan, Travel(5));
    plan.delayWeights = true;
    EXPECT_LT(StepOf(plan, Travel(5)), late);
    EXPECT_EQ(StepOf(plan), StepOf(Mixture()));
}

TEST(CombinedPasses, StagesWarmUpWithOnePassMore)
{
    CombinedSchedule combined;
    const PipelineShape shape{2, 2, 4};
    std::string text;
    for (const PipelinePass& pass : combined.GetPasses(1, shape))
    {
        text += ToString(pass) + " ";
    }
    EXPECT_EQ(text, "F0 F1 F0.1 F1.1& B0.1 F2& B1.1 F3& B0 F2.1& B1 F3.1& B2.1 B3.1 B2 B3 ");
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 4}, 16);
    plan.schedule = CreateObject<CombinedSchedule>();
    plan.overlapPipeline = true;
    plan.chunks = 4;
    plan.microBatches = 8;
    // The bubble is that of interleaved 1F1B, (p - 1)(tf + tb) / v, and a pair more at its end.
    const double pass = 14 + 22;
    EXPECT_GE(StepOf(plan), 8 * 4 * pass + 3 * pass);
    EXPECT_LE(StepOf(plan), 8 * 4 * pass + 7 * pass);
}

TEST(CombinedPasses, AreWrittenWithAnAmpersand)
{
    TrainingPlan plan = Mixture();
    plan.microBatches = 2;
    Ptr<ListedSchedule> listed = CreateObject<ListedSchedule>();
    listed->SetPasses({ParsePipelinePasses("F0 F1&B0 B1")});
    plan.schedule = listed;
    const double asListed = StepOf(plan, Travel(3));
    plan.schedule = CreateObject<CombinedSchedule>();
    EXPECT_EQ(StepOf(plan, Travel(3)), asListed);
    listed->SetPasses({ParsePipelinePasses("F0 B0&F1 B1")});
    plan.schedule = listed;
    EXPECT_THAT(MessageOf([&] { plan.Check(); }),
                HasSubstr("expected a pass, or a pair of a forward and a backward pass"));
    EXPECT_THAT(MessageOf([] { ParsePipelinePasses("F0&"); }), HasSubstr("found 'F0&'"));
}

} // namespace
