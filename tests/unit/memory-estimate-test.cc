// SPDX-License-Identifier: GPL-2.0-only

#include "lottery.h"
#include "small-plan.h"

#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-overlapped-schedules.h"
#include "ns3/echo-parallel-layout.h"
#include "ns3/echo-stage-parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** @return bytes of activations that one layer more adds to @p plan on one stage */
double LayerBytes(TrainingPlan plan)
{
    plan.model.layers = 3;
    const double before = double(EstimateMemory(plan, 0).activationBytes);
    plan.model.layers = 4;
    return double(EstimateMemory(plan, 0).activationBytes) - before;
}

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
    EXPECT_DOUBLE_EQ(LayerBytes(plan), sbh * (34 + scores));
    plan.parallel.tensor = 4;
    EXPECT_DOUBLE_EQ(LayerBytes(plan), sbh * (10 + 24 / 4.0 + scores / 4));
    plan.sequenceParallel = true;
    EXPECT_DOUBLE_EQ(LayerBytes(plan), sbh / 4 * (34 + scores));
    plan.recompute = RecomputeMode::SELECTIVE;
    EXPECT_DOUBLE_EQ(LayerBytes(plan), sbh / 4 * 34);
    plan.recompute = RecomputeMode::FULL;
    plan.sequenceParallel = false;
    plan.parallel.tensor = 1;
    EXPECT_DOUBLE_EQ(LayerBytes(plan), sbh * 2);
}

TEST(Memory, OneLayerIsThereInFullWhileItIsRemade)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 1);
    const uint64_t kept = EstimateMemory(plan, 0).activationBytes;
    for (RecomputeMode mode : {RecomputeMode::SELECTIVE, RecomputeMode::FULL})
    {
        plan.recompute = mode; // a lone layer is remade at once: nothing is saved
        EXPECT_EQ(EstimateMemory(plan, 0).activationBytes, kept);
    }
}

TEST(Memory, InputsOfMatricesAreKeptCast)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    const double sh = 128 * 256; // sequence x hidden
    const double wide = LayerBytes(plan);
    // Two norms' outputs and the activation's, 4 h wide, lose a byte each; attention's output is
    // kept as it is and cast.
    plan.matmul = DataType::FP8;
    EXPECT_DOUBLE_EQ(LayerBytes(plan), wide - sh * (2 + 4) + sh);
    plan.matmul = DataType::FP4; // half a byte, and a scale of a byte for 16 elements
    EXPECT_DOUBLE_EQ(LayerBytes(plan), wide - sh * (2 + 4) * (2 - 0.5625) + sh * 0.5625);
}

TEST(Memory, LayersInFp8HaveAByteAParameter)
{
    TrainingPlan plan = SmallPlan({2, 1, 1, 4, 2}, 4);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::FP8;
    EXPECT_EQ(EstimateMemory(plan, 0).parameterBytes, 2 * LAYER + 2 * (WORDS + POSITIONS));
}

TEST(Memory, OfTheLossFollowsItsKernels)
{
    TrainingPlan plan = SmallPlan({2, 1, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    const uint64_t inPlace = EstimateMemory(plan, 0).activationBytes; // BF16 and FP32
    plan.loss = LossKernel::EAGER;                                    // FP32 three times
    EXPECT_EQ(EstimateMemory(plan, 0).activationBytes - inPlace, 128u * 1024 / 2 * (12 - 6));
    const auto moved = [&plan](LossKernel kernel) {
        plan.loss = kernel;
        double bytes = 0;
        const auto workload = Generate(plan);
        for (const Operator& op : workload->GetProgram(RankId(0))->GetOperators())
        {
            bytes += op.memoryBytes;
        }
        return bytes;
    };
    // Three FP32 passes more over the rank's logits.
    EXPECT_EQ(moved(LossKernel::EAGER) - moved(LossKernel::IN_PLACE), 128.0 * 1024 / 2 * 3 * 4);
}

TEST(Memory, StateFollowsTheZeroPaper)
{
    // arXiv 1910.02054, figure 1: 7.5e9 parameters on 64 ranks have 120, 31.4 and 16.6 GB of state
    // without, with split optimizer, with split gradients too: 16, 4 + 12 / 64 and 2 + 14 / 64
    // bytes each.
    TrainingPlan plan = SmallPlan({1, 1, 1, 64, 1}, 4);
    plan.parameters = DataType::FP16;
    plan.gradients = DataType::FP16;
    plan.matmul = DataType::FP16;
    const auto gigabytes = [&plan](StateSharding sharding) {
        plan.sharding = sharding;
        const MemoryEstimate estimate = EstimateMemory(plan, 0);
        return 7.5 * double(estimate.GetTotal() - estimate.activationBytes) /
               double(GetStageParameters(plan, 0).GetTotal());
    };
    EXPECT_NEAR(gigabytes(StateSharding::NONE), 120, 0.05);
    EXPECT_NEAR(gigabytes(StateSharding::OPTIMIZER), 31.4, 0.05);
    EXPECT_NEAR(gigabytes(StateSharding::GRADIENTS), 16.6, 0.05);
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
    plan.sharding = StateSharding::OPTIMIZER;
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
    plan.schedule = CreateObject<GpipeSchedule>();
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

TEST(Memory, WarningsSayWhatWouldHelp)
{
    TrainingPlan plan = SmallPlan({2, 1, 1, 2, 1}, 8);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.microBatch = 4;
    const uint64_t needed = EstimateMemory(plan, 0).GetTotal();
    const auto warning = [&plan](uint64_t bytes) {
        return CheckMemory(plan, {"GPU", {}, 1e12, bytes});
    };
    EXPECT_EQ(warning(needed), "");
    // All that leave less are named, the cheaper ones first.
    EXPECT_THAT(
        warning(needed - 1),
        HasSubstr("it would fit with sequence_parallel: true, or attention: flash, or zero: "
                  "1, or zero: 2, or gradients: bf16, or zero: 3, or recompute: selective, or half "
                  "the micro_batch, or "
                  "recompute: full"));
    plan.recompute = RecomputeMode::FULL;
    EXPECT_THAT(warning(1000), HasSubstr("; more ranks for tp, pp or cp would help"));
    EXPECT_THAT(warning(EstimateMemory(plan, 0).GetTotal() - 1),
                testing::Not(HasSubstr("recompute")));
}

TEST(Memory, WarningsNameWhatThePlanAllows)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 4, 1}, 8);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    plan.recompute = RecomputeMode::FULL;
    plan.sharding = StateSharding::OPTIMIZER;
    plan.loss = LossKernel::EAGER;
    const auto warning = [](const TrainingPlan& changed, uint64_t bytes) {
        return CheckMemory(changed, {"GPU", {}, 1e12, bytes});
    };
    EXPECT_THAT(warning(plan, EstimateMemory(plan, 0).GetTotal() - 1),
                HasSubstr("it would fit with loss: in-place, or zero: 2, or gradients: bf16, or "
                          "zero: 3"));
    // Stages cannot split what data ranks do, nor a layer be on several.
    TrainingPlan other = plan;
    other.sharding = StateSharding::PARAMETERS;
    EXPECT_THAT(warning(other, 1000), HasSubstr("; more ranks for tp or cp would help"));
    other = plan;
    other.model.layers = 1;
    EXPECT_THAT(warning(other, 1000), HasSubstr("; more ranks for tp or cp would help"));
    // Only experts are split over ep.
    other = plan;
    other.model.experts = 4;
    other.model.topK = 2;
    EXPECT_THAT(warning(other, 1000), HasSubstr("; more ranks for pp, ep or cp would help"));
    other.parallel.expert = 4;
    EXPECT_THAT(warning(other, 1000), HasSubstr("; more ranks for pp or cp would help"));
}

/** Plans of all kinds, most of which can run. */
TrainingPlan DrawPlan(Lottery& lottery)
{
    const auto degree = [&lottery](uint32_t powers) { return 1U << lottery.Draw(powers); };
    TrainingPlan plan = SmallPlan({degree(3), degree(2), 1, degree(3), degree(3)}, 8);
    plan.microBatch = degree(2);
    plan.microBatches = 16;
    if (lottery.Draw(2) == 0)
    {
        plan.parameters = DataType::BF16;
        plan.matmul = lottery.Draw(2) == 0 ? DataType::BF16 : DataType::FP8;
        plan.attention = lottery.Draw(2) == 0 ? AttentionKernel::FLASH : AttentionKernel::UNFUSED;
    }
    if (lottery.Draw(2) == 0)
    {
        plan.model.experts = 8;
        plan.model.topK = 2;
        plan.model.sharedFfn = lottery.Draw(2) * 128;
        plan.model.denseLayers = lottery.Draw(3);
        plan.parallel.expert = degree(3);
        plan.parallel.expertTensor = lottery.Draw(2);
    }
    plan.sequenceParallel = plan.parallel.tensor > 1 && lottery.Draw(2) == 0;
    switch (lottery.Draw(7))
    {
    case 0:
        plan.schedule = CreateObject<GpipeSchedule>();
        break;
    case 1:
        plan.schedule = CreateObject<ZeroBubbleSchedule>();
        break;
    case 2:
        plan.schedule = CreateObject<DualPipeSchedule>();
        plan.chunks = 2;
        break;
    case 3:
        plan.schedule = CreateObject<DualPipeVSchedule>();
        plan.chunks = 2;
        break;
    case 4:
        plan.schedule = CreateObject<CombinedSchedule>();
        break;
    case 5:
        plan.chunks = plan.parallel.pipeline > 1 ? 2 : 1;
        break;
    default:
        break;
    }
    plan.sharding = static_cast<StateSharding>(lottery.Draw(4));
    plan.recompute = static_cast<RecomputeMode>(lottery.Draw(3));
    return plan;
}

bool CanRun(const TrainingPlan& plan)
{
    try
    {
        plan.Check();
        const ParallelLayout layout(plan.GetDegrees(), RanksOf(plan) * plan.parallel.context);
        return true;
    }
    catch (const InputError&)
    {
        return false;
    }
}

uint64_t Needed(const TrainingPlan& plan)
{
    return EstimateLargestMemory(plan).second.GetTotal();
}

TEST(Memory, MoreRanksAndMoreRecomputationNeverNeedMore)
{
    using Change = std::function<void(TrainingPlan&)>;
    const std::vector<std::pair<const char*, Change>> savings{
        {"tp", [](TrainingPlan& plan) { plan.parallel.tensor *= 2; }},
        {"cp", [](TrainingPlan& plan) { plan.parallel.context *= 2; }},
        {"dp", [](TrainingPlan& plan) { plan.parallel.data *= 2; }},
        {"ep",
         [](TrainingPlan& plan) {
             plan.parallel.expert *= plan.model.experts > 0 ? 2 : 1;
             plan.parallel.data *= 2; // as many copies of an expert as before
         }},
        {"sequence_parallel",
         [](TrainingPlan& plan) { plan.sequenceParallel = plan.parallel.tensor > 1; }},
        {"flash", [](TrainingPlan& plan) { plan.attention = AttentionKernel::FLASH; }},
        {"full", [](TrainingPlan& plan) { plan.recompute = RecomputeMode::FULL; }},
        {"selective",
         [](TrainingPlan& plan) {
             plan.recompute =
                 plan.recompute == RecomputeMode::NONE ? RecomputeMode::SELECTIVE : plan.recompute;
         }},
        {"norms",
         [](TrainingPlan& plan) {
             plan.recomputeModules = {RecomputeModule::ATTENTION_CORE, RecomputeModule::NORMS};
         }},
        {"optimizer",
         [](TrainingPlan& plan) {
             plan.sharding = std::max(plan.sharding, StateSharding::OPTIMIZER);
         }},
        {"gradients",
         [](TrainingPlan& plan) {
             plan.sharding = std::max(plan.sharding, StateSharding::GRADIENTS);
         }},
        {"half the micro-batch",
         [](TrainingPlan& plan) { plan.microBatch = std::max(plan.microBatch / 2, 1U); }},
    };
    Lottery lottery(5);
    uint32_t plans = 0;
    std::map<std::string, uint32_t> checked;
    for (uint32_t draw = 0; draw < 600; ++draw)
    {
        const TrainingPlan plan = DrawPlan(lottery);
        if (!CanRun(plan))
        {
            continue;
        }
        ++plans;
        for (const auto& [name, change] : savings)
        {
            TrainingPlan changed = plan;
            change(changed);
            if (CanRun(changed))
            {
                ++checked[name];
                EXPECT_LE(Needed(changed), Needed(plan)) << name << ", draw " << draw;
            }
        }
    }
    EXPECT_GE(plans, 200u);
    for (const auto& [name, change] : savings)
    {
        EXPECT_GE(checked[name], 40u) << name;
    }
}

TEST(Memory, MoreStagesNeverNeedMoreOfOneForwardOneBackward)
{
    for (uint32_t stages = 1; stages <= 4; stages *= 2)
    {
        TrainingPlan plan = SmallPlan({2, 1, 1, 1, stages}, 8);
        plan.microBatches = 16;
        const uint64_t needed = Needed(plan);
        plan.parallel.pipeline *= 2;
        EXPECT_LE(Needed(plan), needed) << stages;
    }
}

} // namespace
