// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_SMALL_PLAN_H
#define ECHO_TESTS_SMALL_PLAN_H

#include "error-message.h"

#include "ns3/echo-error.h"
#include "ns3/echo-training-plan.h"
#include "ns3/echo-transformer-generator.h"

#include <functional>
#include <string>

namespace ns3
{
namespace echo
{

/** A GPT of hidden size 256, 8 heads, sequences of 128 tokens and a vocabulary of 1024. */
inline TrainingPlan SmallPlan(ParallelDegrees degrees, uint32_t layers)
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

inline uint32_t RanksOf(const TrainingPlan& plan)
{
    return plan.parallel.tensor * plan.parallel.data * plan.parallel.pipeline;
}

inline WorkloadGraphPtr Generate(const TrainingPlan& plan)
{
    return GenerateTransformer(plan, RanksOf(plan));
}

/** @return floating-point operations of all ranks */
inline double FlopsOf(const WorkloadGraph& workload)
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

/** The largest model of the paper: GPT-175B, TP 8, PP 12. */
inline TrainingPlan PaperPlan()
{
    TrainingPlan plan;
    plan.model = GetModelPreset("gpt-175b");
    plan.parallel = {8, 1, 1, 1, 12};
    plan.microBatches = 24;
    return plan;
}

// Parameters of SmallPlan with tensor degree 2 and 2 layers a stage. A layer: norms 4 x 256,
// qkv 257 x 768 / 2, projection 256 x 256 / 2 + 256, feed-forward 257 x 1024 / 2 and
// 1024 x 256 / 2 + 256: together 395,648.
constexpr uint64_t LAYER = 1024 + 98688 + 33024 + 131584 + 131328;
constexpr uint64_t WORDS = 1024 / 2 * 256;
constexpr uint64_t POSITIONS = 128 * 256;

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_SMALL_PLAN_H */
