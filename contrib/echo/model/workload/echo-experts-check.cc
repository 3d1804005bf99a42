// SPDX-License-Identifier: GPL-2.0-only
// What a training plan says of experts.

#include "echo-plan-check.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

void Refuse(const std::string& key, const std::string& found, const std::string& expected)
{
    throw InputError({"", 0, key}, found, expected);
}

void RequireDivisible(const std::string& key,
                      uint64_t value,
                      const std::string& divisorKey,
                      uint64_t divisor)
{
    if (value % divisor != 0)
    {
        Refuse(key,
               std::to_string(value),
               "a multiple of " + divisorKey + " " + std::to_string(divisor));
    }
}

namespace
{

/** @return whether a CUDA graph holds @p module */
bool HasGraph(const TrainingPlan& plan, GraphModule module)
{
    const std::vector<GraphModule>& graphs = plan.host.graphs;
    return std::find(graphs.begin(), graphs.end(), module) != graphs.end();
}

/** Settings of experts that a model without them would ignore. */
void RefuseWithoutExperts(const TrainingPlan& plan)
{
    const char* const expected = "it for a model with experts (model.experts) only";
    for (const auto& [module, word] : {std::make_pair(GraphModule::ROUTER, "moe_router"),
                                       std::make_pair(GraphModule::PREPROCESS, "moe_preprocess")})
    {
        if (HasGraph(plan, module))
        {
            Refuse("host.graphs", std::string(word) + " for a model without experts", expected);
        }
    }
    if (!plan.expertLoad.empty())
    {
        Refuse("parallel.expert_load", "a load for a model without experts", expected);
    }
    if (plan.dispatchDomain > 0)
    {
        Refuse("parallel.dispatch_domain",
               std::to_string(plan.dispatchDomain) + " for a model without experts",
               expected);
    }
    if (plan.fusedExperts)
    {
        Refuse("fused_experts", "true for a model without experts", expected);
    }
    if (plan.overlapExperts)
    {
        Refuse("parallel.overlap_experts", "true for a model without experts", expected);
    }
    if (plan.delayWeights)
    {
        Refuse("parallel.delay_weight_gradients", "true for a model without experts", expected);
    }
    if (plan.parallel.GetExpertTensor() != plan.parallel.tensor)
    {
        Refuse("parallel.expert_tp",
               std::to_string(plan.parallel.expertTensor) + " for a model without experts",
               expected);
    }
}

/** Where a model has experts: tokens that overlap and domains that do not fit. */
void CheckDispatch(const TrainingPlan& plan)
{
    if (plan.overlapExperts && plan.model.sharedFfn == 0)
    {
        Refuse("parallel.overlap_experts",
               "true without shared experts",
               "it with model.shared_ffn_hidden only");
    }
    if (!plan.expertLoad.empty() && plan.parallel.expert == 1)
    {
        Refuse("parallel.expert_load", "a load with ep 1", "it with ep 2 or more only");
    }
    const uint32_t domain = plan.dispatchDomain;
    if (domain > 0 && plan.parallel.expert > domain && plan.parallel.expert % domain != 0)
    {
        Refuse("parallel.dispatch_domain",
               std::to_string(domain),
               "a divisor of ep " + std::to_string(plan.parallel.expert) + ", or more ranks");
    }
}

} // namespace

void CheckExperts(const TrainingPlan& plan)
{
    const ParallelDegrees& parallel = plan.parallel;
    if (plan.model.experts == 0)
    {
        if (parallel.expert > 1)
        {
            Refuse("parallel.ep",
                   std::to_string(parallel.expert) + " for a model without experts",
                   "1, or model.experts");
        }
        RefuseWithoutExperts(plan);
        return;
    }
    RequireDivisible("model.experts", plan.model.experts, "ep", parallel.expert);
    if (parallel.tensor > 1 && !plan.sequenceParallel)
    {
        Refuse("parallel.sequence_parallel",
               "false for experts with tp " + std::to_string(parallel.tensor),
               "true (as Megatron-Core requires)");
    }
    CheckDispatch(plan);
    if (HasGraph(plan, GraphModule::PREPROCESS) && !HasGraph(plan, GraphModule::ROUTER))
    {
        // Of one kernel, so no graph; Megatron-Core's transformer_config.py refuses it too.
        Refuse("host.graphs", "moe_preprocess without moe_router", "moe_router too");
    }
    if (!plan.expertLoad.empty() && plan.expertLoad.size() != parallel.expert)
    {
        Refuse("parallel.expert_load",
               std::to_string(plan.expertLoad.size()) + " numbers",
               std::to_string(parallel.expert) + ", one for each of the ep ranks");
    }
    const double sum = std::accumulate(plan.expertLoad.begin(), plan.expertLoad.end(), 0.0);
    if (!plan.expertLoad.empty() && !(sum > 0))
    {
        Refuse("parallel.expert_load", "nothing but zeros", "a number above 0");
    }
}

} // namespace echo
} // namespace ns3
