// SPDX-License-Identifier: GPL-2.0-only
#include "echo-memory-estimate.h"

#include "echo-pipeline-schedule.h"
#include "echo-stage-parameters.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

/** @return rows that the fullest rank's experts compute, in those that each has where all have as
 * many */
double GetLargestLoad(const TrainingPlan& plan)
{
    const std::vector<double>& load = plan.expertLoad;
    return load.empty() ? 1
                        : *std::max_element(load.begin(), load.end()) * double(load.size()) /
                              std::accumulate(load.begin(), load.end(), 0.0);
}

/** @return bytes of the input of a layer of one micro-batch */
double LayerInputBytes(const TrainingPlan& plan)
{
    return double(plan.GetTokens()) * plan.model.hidden * BytesOf(plan.parameters) /
           (plan.sequenceParallel ? plan.parallel.tensor : 1);
}

/** @return bytes that a layer keeps for the backward pass of one micro-batch */
double LayerActivationBytes(const TrainingPlan& plan, uint32_t layer)
{
    const TransformerShape& model = plan.model;
    const double tensor = plan.parallel.tensor;
    const double split = plan.sequenceParallel ? tensor : 1;
    const double tokens = double(plan.GetTokens());
    const double hidden = model.hidden;
    const double bytes = BytesOf(plan.parameters);
    // Of a matrix, kept cast; NVFP4 has a scale of 8 bits for 16 elements.
    const double input = !plan.CastsInputs()            ? bytes
                         : plan.matmul == DataType::FP4 ? 0.5625
                                                        : BytesOf(plan.matmul);
    const double mask = model.dropout ? 1 : 0;
    // Inputs of both norms and of the first matrices behind them, and masks of two dropouts.
    const double matrices = plan.Recomputes(RecomputeModule::NORMS) ? 0 : 2 * input;
    double kept = tokens * hidden * (2 * bytes + matrices + 2 * mask) / split;
    // Queries, keys, values and attention's output, which the output projection may cast.
    const double qkv =
        plan.Recomputes(RecomputeModule::LATENT_EXPANSION) ? 0 : double(model.GetQkvSize());
    const double output = double(model.GetAttentionSize());
    kept += tokens * ((qkv + output) * bytes + (plan.CastsInputs() ? output * input : 0)) / tensor;
    kept += tokens * (model.latentQueries + model.latentKeys) * bytes / split;
    // Inputs of the activation and of the second feed-forward matrix, for each expert of a token.
    const auto ffn = [&](uint32_t inner) {
        return tokens * (double(model.GetInputSize(inner)) * bytes + inner * input) / tensor;
    };
    if (model.HasExperts(layer))
    {
        const double remade = plan.Recomputes(RecomputeModule::EXPERT_ACTIVATION)
                                  ? tokens * double(model.ffnHidden) * input / tensor
                                  : 0;
        const double copies = model.topK * GetLargestLoad(plan);
        kept += copies * (ffn(model.ffnHidden) - remade) + ffn(model.sharedFfn);
        kept += copies * tokens * hidden * input / split *
                (plan.parallel.GetExpertTensor() > 1 ? tensor : 1); // the experts' input, permuted
    }
    else if (!plan.Recomputes(RecomputeModule::FEED_FORWARD))
    {
        kept += ffn(model.GetDenseFfn());
    }
    if (plan.attention == AttentionKernel::UNFUSED &&
        !plan.Recomputes(RecomputeModule::ATTENTION_CORE))
    {
        // Output of the softmax and of its dropout, and the dropout's mask.
        const double dropout = model.dropout ? bytes + 1 : 0;
        kept += tokens * model.sequence * model.heads * (bytes + dropout) / tensor;
    }
    return kept;
}

/** @return bytes of the logits of the one micro-batch in the loss; those of further tokens are made
 * before any is used */
double GetLossBytes(const TrainingPlan& plan)
{
    const double logits = (1.0 + plan.model.mtpLayers) * double(plan.GetTokens()) *
                          double(plan.GetPaddedVocabulary() / plan.parallel.tensor);
    return logits * (plan.loss == LossKernel::EAGER ? 3 * 4.0 : BytesOf(plan.parameters) + 4.0);
}

/** @return bytes of activations that a rank of @p stage keeps at its fullest */
double GetActivationBytes(const TrainingPlan& plan, uint32_t stage)
{
    TrainingPlan whole = plan;
    whole.recompute = RecomputeMode::NONE;
    double ofLayers = 0; // one micro-batch, all chunks
    double remade = 0;   // what one layer has beside what is kept of it
    for (uint32_t part : plan.GetStageParts(stage))
    {
        const uint32_t first = plan.GetFirstLayerOfPart(part);
        for (uint32_t i = 0; i < plan.GetPartSize(part); ++i)
        {
            const bool isRemade = plan.recompute == RecomputeMode::FULL &&
                                  (plan.recomputeLayers == 0 || i < plan.recomputeLayers);
            const double kept =
                isRemade ? LayerInputBytes(plan) : LayerActivationBytes(plan, first + i);
            ofLayers += kept;
            remade = std::max(remade, LayerActivationBytes(whole, first + i) - kept);
        }
    }
    const uint32_t inFlight =
        GetPassesInFlight(*plan.GetSchedule(), stage, plan.GetPipelineShape(), true);
    const double loss = plan.HoldsPart(stage, plan.GetParts() - 1) ? GetLossBytes(plan) : 0;
    return inFlight * ofLayers / plan.chunks + remade + loss;
}

/**
 * @return parameters that ShardedLayers holds in full at least, where layers are given up after
 *         their passes: embedding and output layer all the while, and a layer
 */
uint64_t GetWholeParameters(const TrainingPlan& plan)
{
    uint64_t largest = 0;
    for (uint32_t layer = 0; layer < plan.model.layers; ++layer)
    {
        largest = std::max(largest, GetLayerParameters(plan, layer).GetTotal());
    }
    return largest + GetEmbeddingParameters(plan, 0).GetTotal() +
           GetHeadParameters(plan, 0).GetTotal();
}

/** @return what is left of @p count on each of the ranks that share it, rounded up */
uint64_t Share(uint64_t count, uint64_t ranks)
{
    return (count + ranks - 1) / ranks;
}

} // namespace

MemoryEstimate EstimateMemory(const TrainingPlan& plan, uint32_t stage)
{
    const ParameterCount count = GetStageParameters(plan, stage);
    const uint64_t state = plan.parameters == DataType::FP32 ? 8 : 12;
    const ParallelLayout layout(plan.GetDegrees(),
                                plan.parallel.tensor * plan.parallel.context * plan.parallel.data *
                                    plan.parallel.pipeline);
    const auto share = [&](uint64_t elements, LayoutGroup data) {
        return Share(elements, layout.GetGroupSize(plan.GetShardGroup(data)));
    };
    const uint64_t own =
        share(count.dense, LayoutGroup::DATA) + share(count.experts, LayoutGroup::EXPERT_DATA);
    const uint64_t all = count.GetTotal();
    MemoryEstimate estimate;
    uint64_t parameters = all;
    if (plan.sharding == StateSharding::PARAMETERS)
    {
        parameters = (plan.reshardAfterForward ? GetWholeParameters(plan) : all) +
                     (plan.parameters == DataType::FP32 ? own : 0);
    }
    estimate.parameterBytes = parameters * BytesOf(plan.parameters);
    if (plan.CastsInputs() && plan.matmul == DataType::FP8 &&
        plan.sharding != StateSharding::PARAMETERS)
    {
        const uint64_t ends = GetEmbeddingParameters(plan, stage).GetTotal() +
                              GetHeadParameters(plan, stage).GetTotal();
        estimate.parameterBytes -= (all - ends) * (BytesOf(plan.parameters) - 1);
    }
    estimate.gradientBytes =
        (plan.sharding >= StateSharding::GRADIENTS ? own : all) * BytesOf(plan.gradients);
    estimate.optimizerBytes = (plan.SplitsOptimizer() ? own : all) * state;
    estimate.activationBytes = static_cast<uint64_t>(GetActivationBytes(plan, stage));
    return estimate;
}

std::pair<uint32_t, MemoryEstimate> EstimateLargestMemory(const TrainingPlan& plan)
{
    uint32_t fullest = 0;
    MemoryEstimate worst;
    for (uint32_t stage = 0; stage < plan.parallel.pipeline; ++stage)
    {
        const MemoryEstimate estimate = EstimateMemory(plan, stage);
        if (estimate.GetTotal() > worst.GetTotal())
        {
            worst = estimate;
            fullest = stage;
        }
    }
    return {fullest, worst};
}

namespace
{

/** A change of a plan that may make it fit. */
struct Remedy
{
    std::string text;
    std::function<void(TrainingPlan&)> apply;
};

/** @return single changes that @p plan allows, the cheaper ones first */
std::vector<Remedy> GetRemedies(const TrainingPlan& plan)
{
    std::vector<Remedy> remedies;
    const auto offer = [&remedies](bool isNew, const std::string& text, auto apply) {
        if (isNew)
        {
            remedies.push_back({text, apply});
        }
    };
    offer(!plan.sequenceParallel && plan.parallel.tensor > 1,
          "sequence_parallel: true",
          [](TrainingPlan& changed) { changed.sequenceParallel = true; });
    offer(plan.loss == LossKernel::EAGER, "loss: in-place", [](TrainingPlan& changed) {
        changed.loss = LossKernel::IN_PLACE;
    });
    offer(plan.attention == AttentionKernel::UNFUSED,
          "attention: flash",
          [](TrainingPlan& changed) { changed.attention = AttentionKernel::FLASH; });
    offer(plan.sharding == StateSharding::NONE, "zero: 1", [](TrainingPlan& changed) {
        changed.sharding = StateSharding::OPTIMIZER;
    });
    offer(plan.sharding < StateSharding::GRADIENTS, "zero: 2", [](TrainingPlan& changed) {
        changed.sharding = StateSharding::GRADIENTS;
    });
    offer(BytesOf(plan.gradients) > BytesOf(plan.parameters),
          std::string("gradients: ") + ToString(plan.parameters),
          [](TrainingPlan& changed) { changed.gradients = changed.parameters; });
    offer(plan.sharding < StateSharding::PARAMETERS && plan.parallel.pipeline == 1,
          "zero: 3",
          [](TrainingPlan& changed) { changed.sharding = StateSharding::PARAMETERS; });
    offer(plan.parallel.replicas > 1, "replicas: 1", [](TrainingPlan& changed) {
        changed.parallel.replicas = 1;
    });
    offer(plan.recompute == RecomputeMode::NONE && plan.attention == AttentionKernel::UNFUSED,
          "recompute: selective",
          [](TrainingPlan& changed) { changed.recompute = RecomputeMode::SELECTIVE; });
    offer(plan.microBatch > 1 && plan.microBatch % 2 == 0,
          "half the micro_batch",
          [](TrainingPlan& changed) {
              changed.microBatch /= 2;
              changed.microBatches *= 2;
          });
    offer(plan.recompute != RecomputeMode::FULL, "recompute: full", [](TrainingPlan& changed) {
        changed.recompute = RecomputeMode::FULL;
        changed.recomputeModules.clear();
    });
    return remedies;
}

/** @return whether @p plan can run; what its ranks are, it may choose */
bool CanRun(const TrainingPlan& plan)
{
    try
    {
        plan.Check();
    }
    catch (const InputError&)
    {
        return false;
    }
    return true;
}

/** @return the degrees that could be larger, as a list in words; empty if none */
std::string ListDegrees(const TrainingPlan& plan)
{
    const std::pair<const char*, uint32_t ParallelDegrees::*> degrees[] = {
        {"tp", &ParallelDegrees::tensor},
        {"pp", &ParallelDegrees::pipeline},
        {"ep", &ParallelDegrees::expert},
        {"cp", &ParallelDegrees::context}};
    std::vector<std::string> names;
    for (const auto& [name, degree] : degrees)
    {
        bool canGrow = false;
        for (uint32_t factor = 2; factor <= 8 && !canGrow; ++factor)
        {
            TrainingPlan changed = plan;
            changed.parallel.*degree *= factor;
            changed.partLayers.clear(); // layers are shared anew
            changed.expertLoad.clear();
            canGrow = CanRun(changed);
        }
        if (canGrow)
        {
            names.emplace_back(name);
        }
    }
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
    {
        text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    }
    return text;
}

/** @return what of GetRemedies is enough, as a clause; or that none is */
std::string DescribeRemedies(const TrainingPlan& plan, const GpuSpec& gpu)
{
    std::string enough;
    for (const Remedy& remedy : GetRemedies(plan))
    {
        TrainingPlan changed = plan;
        remedy.apply(changed);
        if (CanRun(changed) && EstimateLargestMemory(changed).second.GetTotal() <= gpu.memoryBytes)
        {
            enough += (enough.empty() ? "" : ", or ") + remedy.text;
        }
    }
    if (!enough.empty())
    {
        return "it would fit with " + enough;
    }
    const std::string degrees = ListDegrees(plan);
    return degrees.empty() ? "no single change of the plan is enough"
                           : "more ranks for " + degrees + " would help";
}

} // namespace

std::string CheckMemory(const TrainingPlan& plan, const GpuSpec& gpu)
{
    const auto [fullest, worst] = EstimateLargestMemory(plan);
    if (gpu.memoryBytes == 0 || worst.GetTotal() <= gpu.memoryBytes)
    {
        return "";
    }
    return "a rank of pipeline stage " + std::to_string(fullest) + " needs about " +
           FormatBytes(worst.GetTotal()) + " (parameters " + FormatBytes(worst.parameterBytes) +
           ", gradients " + FormatBytes(worst.gradientBytes) + ", optimizer " +
           FormatBytes(worst.optimizerBytes) + ", activations " +
           FormatBytes(worst.activationBytes) + "), but " + gpu.name + " has " +
           FormatBytes(gpu.memoryBytes) + "; " + DescribeRemedies(plan, gpu);
}

} // namespace echo
} // namespace ns3
