// SPDX-License-Identifier: GPL-2.0-only

#include "list-scheduler.h"
#include "small-plan.h"

#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** 1 for a kernel of a layer's forward pass, 2 of its backward pass, 0 else. */
double LayerCost(const ExecutionGraph& program, const Operator& op)
{
    const std::string& name = program.GetName(op);
    return name.rfind("layer ", 0) != 0 ? 0 : name.find(" backward ") != std::string::npos ? 2 : 1;
}

TEST(GeneratedStep, PipelineBubbleIsThatOfTheClosedForm)
{
    const Ptr<PipelineSchedule> schedules[] = {CreateObject<GpipeSchedule>(),
                                               CreateObject<OneForwardOneBackwardSchedule>()};
    for (const auto& schedule : schedules)
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
                // Two layers a stage: 14 forward kernels each, 22 backward kernels of 2 each. With
                // free communication a step takes (m + p - 1)(tf + tb) (arXiv 2104.04473, 2.2).
                const double pass = 2 * 14 + 2 * 22 * 2;
                EXPECT_EQ(run.GetStepTime(), (microBatches + stages - 1) * pass)
                    << stages << " stages, " << microBatches << " micro-batches";
                EXPECT_EQ(run.GetMessages(), 2ull * (stages - 1) * microBatches);
            }
        }
    }
}

TEST(GeneratedStep, CostlyCommunicationEndsToo)
{
    for (uint32_t stages : {1, 2, 4, 8})
    {
        for (uint32_t microBatches : {1, 2, 9})
        {
            TrainingPlan plan = SmallPlan({2, 1, 2, 2, stages}, stages);
            plan.model.experts = 2;
            plan.model.SetDefaults();
            plan.sequenceParallel = true;
            plan.sharding = StateSharding::OPTIMIZER;
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

TEST(GeneratedStep, OverlapHidesReductionsOnly)
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
    // Alone: 4 layers of 58 units, and all parameters' bytes. A layer's gradients take
    // 4 x 789,760 / 1e5 = 31.6 units, less than the 44 of a layer's backward pass: all but the
    // first layer's and the embedding's are hidden.
    const double layer = 12 * 256.0 * 256 + 13 * 256;
    const double embedding = (1024 + 128) * 256;
    EXPECT_NEAR(atEnd, 4 * 58 + (4 * layer + embedding + 512) * 4 / 1e5, 1e-6);
    EXPECT_NEAR(overlapped, 4 * 58 + (layer + embedding) * 4 / 1e5, 1e-6);
}

TEST(GeneratedStep, OverlappedTensorCommunicationRunsBesideItsProducts)
{
    // Gathers and scatters in pieces beside their products: no byte less, and what was exposed
    // shrinks, but to no less than the last quarters of the scatters, which follow all products.
    TrainingPlan plan = SmallPlan({4, 1, 1, 1, 1}, 2);
    plan.sequenceParallel = true;
    uint64_t bytes = 0;
    const auto stepTime = [&](double perByte) {
        bytes = 0;
        ListScheduler run(Generate(plan), LayerCost, [&](const auto& group, const auto& spec) {
            bytes += spec.bytes;
            return group.GetKind() == GroupKind::TENSOR ? double(spec.bytes) * perByte : 0;
        });
        EXPECT_TRUE(run.Run());
        return run.GetStepTime();
    };
    const double kernels = stepTime(0);
    const double blocking = stepTime(1e-5);
    const uint64_t blockingBytes = bytes;
    EXPECT_GT(blocking, kernels);
    plan.overlapTensor = true;
    const double parts = stepTime(0); // here every part of a product counts as one
    EXPECT_GT(parts, kernels);
    const double overlapped = stepTime(1e-5);
    EXPECT_EQ(bytes, blockingBytes);
    EXPECT_LT(overlapped - parts, blocking - kernels);
    // Two scatters a layer, forward, of 128 tokens x 256 x 4 bytes each.
    const double last = 128 * 256 * 4 / 4 * 1e-5;
    EXPECT_GT(overlapped - parts, 2 * plan.model.layers * plan.microBatches * last);
}

TEST(GeneratedStep, WeightGradientHidesTheInputGradientsAllReduce)
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
    // 14 + 22 x 2 alone; exposed: 2 all-reduces forward, the embedding's, and the logits' (their
    // kernels cost nothing here); two behind weight gradients.
    EXPECT_EQ(stepTime(0), 58);
    EXPECT_EQ(stepTime(1), 58 + 4 * 1);
    EXPECT_EQ(stepTime(5), 58 + 4 * 5 + 2 * 3);
}

/** As LayerCost, with the weights' gradients a unit and all else of a backward pass a unit. */
double SplitCost(const ExecutionGraph& program, const Operator& op)
{
    return LayerCost(program, op) > 0 ? 1 : 0;
}

double StepOf(const TrainingPlan& plan, const ListScheduler::OperatorCost& cost)
{
    ListScheduler run(Generate(plan), cost, [](const auto&, const auto&) { return 0.0; });
    EXPECT_TRUE(run.Run());
    return run.GetStepTime();
}

TEST(GeneratedStep, InterleavingDividesTheBubble)
{
    // arXiv 2104.04473, 2.2.2: (p - 1)(tf + tb) / v of idle time. Two layers a stage: 14 forward
    // and 22 x 2 backward units each.
    for (uint32_t stages : {2, 4})
    {
        TrainingPlan plan = SmallPlan({1, 1, 1, 1, stages}, 4 * stages);
        plan.microBatches = 2 * stages;
        const double pass = 4 * (14 + 44);
        for (uint32_t chunks : {1, 2, 4})
        {
            plan.chunks = chunks;
            plan.overlapPipeline = true;
            EXPECT_EQ(StepOf(plan, LayerCost),
                      plan.microBatches * pass + (stages - 1) * pass / chunks)
                << stages << " stages, " << chunks << " chunks";
        }
    }
}

TEST(GeneratedStep, ZeroBubbleFillsTheCoolDown)
{
    // arXiv 2401.10241, 2.3: ZB-H1 idles (p - 1)(tf + tb - tw); with a unit a kernel a layer has 14
    // forward, 22 backward of which 4 are weight gradients (batched ones of the core not).
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 4}, 4);
    plan.microBatches = 12;
    plan.overlapPipeline = true;
    const double pass = 14 + 22;
    EXPECT_EQ(StepOf(plan, SplitCost), (12 + 3) * pass);
    plan.schedule = CreateObject<ZeroBubbleSchedule>();
    EXPECT_EQ(StepOf(plan, SplitCost), 12 * pass + 3 * (pass - 2 * 4));
}

TEST(GeneratedStep, ListedPassesRunAsWritten)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 2}, 2);
    plan.microBatches = 2;
    const double eager = StepOf(plan, LayerCost); // 1F1B
    Ptr<ListedSchedule> listed = CreateObject<ListedSchedule>();
    listed->SetPasses({ParsePipelinePasses("F0 F1 B0 B1"), ParsePipelinePasses("F0 B0 F1 B1")});
    plan.schedule = listed;
    EXPECT_EQ(StepOf(plan, LayerCost), eager);
    listed->SetPasses({ParsePipelinePasses("F0 B0 F1 B1"), ParsePipelinePasses("F0 B0 F1 B1")});
    EXPECT_EQ(StepOf(plan, LayerCost), 2 * 2 * (14 + 44)); // nothing overlaps
}

TEST(GeneratedStep, ShardedLayersAreFetchedAhead)
{
    // Four layers; a gather as long as a layer's forward pass is hidden behind the layer before:
    // only the embeddings' and the first layer's are seen, and nothing of the backward pass (a
    // layer takes 44) but the last reduction.
    TrainingPlan plan = SmallPlan({1, 1, 1, 4, 1}, 4);
    plan.sharding = StateSharding::PARAMETERS;
    ListScheduler run(Generate(plan), LayerCost, [](const auto& group, const auto& spec) {
        return group.GetKind() == GroupKind::DATA && spec.kind == CollectiveKind::ALL_GATHER ? 14
                                                                                             : 0.0;
    });
    ASSERT_TRUE(run.Run());
    EXPECT_EQ(run.GetStepTime(), 4 * (14 + 44) + 2 * 14);
}

TEST(GeneratedStep, TheHostHoldsBackShortKernels)
{
    // With 10 us a launch and a unit of 1 us a kernel the step is as long as all launches.
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 2);
    const auto hostTime = [](const ExecutionGraph&, const Operator& op) {
        return op.type == OperatorType::HOST ? op.duration.GetMicroSeconds() : 1.0;
    };
    const double free = StepOf(plan, hostTime);
    plan.host.kernel = MicroSeconds(10);
    const auto workload = Generate(plan);
    double launches = 0;
    for (const Operator& op : workload->GetProgram(RankId(0))->GetOperators())
    {
        launches += op.type == OperatorType::HOST ? op.duration.GetMicroSeconds() : 0;
    }
    EXPECT_EQ(launches, 10 * free); // a unit a kernel
    EXPECT_GE(StepOf(plan, hostTime), launches);
}

TEST(GeneratedStep, AHostThatWaitsForKernelsIssuesThemOneByOne)
{
    // The longer of launch, 10, and kernel, 3 or 40 by turns, counts for each; without waiting
    // short kernels' launches hide behind long kernels.
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 2);
    const auto time = [](const ExecutionGraph&, const Operator& op) {
        return op.type == OperatorType::HOST ? op.duration.GetMicroSeconds()
               : op.flops > 0                ? 40.0
                                             : 3.0;
    };
    plan.host.kernel = MicroSeconds(10);
    double oneByOne = 0;
    const auto workload = Generate(plan);
    for (const Operator& op : workload->GetProgram(RankId(0))->GetOperators())
    {
        oneByOne += op.type == OperatorType::HOST ? 0 : op.flops > 0 ? 40 : 10;
    }
    EXPECT_LT(StepOf(plan, time), oneByOne);
    plan.host.waitsForKernels = true;
    EXPECT_EQ(StepOf(plan, time), oneByOne);
}

} // namespace
