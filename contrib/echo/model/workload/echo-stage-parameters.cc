// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stage-parameters.h"

#include "echo-pipeline-schedule.h"

#include "ns3/echo-units.h"

namespace ns3
{
namespace echo
{

namespace
{

uint64_t WordEmbedding(const TrainingPlan& plan)
{
    return plan.GetPaddedVocabulary() / plan.parallel.tensor * plan.model.hidden;
}

/** @return bytes that a layer keeps for the backward pass of one micro-batch */
double LayerActivationBytes(const TrainingPlan& plan)
{
    const TransformerShape& model = plan.model;
    const double tensor = plan.parallel.tensor;
    const double split = plan.sequenceParallel ? tensor : 1;
    const double tokens = double(plan.GetTokens());
    const double hidden = model.hidden;
    const double bytes = BytesOf(plan.parameters);
    const double mask = model.dropout ? 1 : 0;
    if (plan.recompute == RecomputeMode::FULL)
    {
        return tokens * hidden * bytes / split;
    }
    // Inputs of both norms and of the first matrices behind them, and masks of two dropouts.
    double kept = tokens * hidden * (4 * bytes + 2 * mask) / split;
    // Queries, keys, values, and the input of the output projection.
    kept += tokens * (double(model.GetQkvSize()) + hidden) * bytes / tensor;
    // Inputs of the activation and of the second feed-forward matrix, for each expert of a token.
    const double copies = model.experts > 0 ? model.topK : 1;
    kept += copies * tokens * double(model.GetFfnInputSize() + model.ffnHidden) * bytes / tensor;
    if (model.experts > 0)
    {
        kept += copies * tokens * hidden * bytes; // the experts' input, permuted
    }
    if (plan.attention == AttentionKernel::UNFUSED && plan.recompute == RecomputeMode::NONE)
    {
        // Output of the softmax and of its dropout, and the dropout's mask.
        const double dropout = model.dropout ? bytes + 1 : 0;
        kept += tokens * model.sequence * model.heads * (bytes + dropout) / tensor;
    }
    return kept;
}

} // namespace

ParameterCount& ParameterCount::operator+=(const ParameterCount& other)
{
    dense += other.dense;
    experts += other.experts;
    sequence += other.sequence;
    return *this;
}

ParameterCount GetLayerParameters(const TrainingPlan& plan)
{
    const TransformerShape& model = plan.model;
    const uint64_t tensor = plan.parallel.tensor;
    const uint64_t hidden = model.hidden;
    const uint64_t bias = model.biases ? 1 : 0;
    const uint64_t ffnMatrices = (hidden + bias) * model.GetFfnInputSize() / tensor +
                                 hidden * model.ffnHidden / tensor + bias * hidden;
    ParameterCount count;
    count.sequence = 2 * model.GetNormParameters() + bias * hidden; // and the projection's bias
    count.dense =
        count.sequence + (hidden + bias) * model.GetQkvSize() / tensor + hidden * hidden / tensor;
    if (model.experts > 0)
    {
        const uint64_t router = hidden * model.experts;
        count.dense += router;
        count.sequence += router;
        count.experts = model.experts / plan.parallel.expert * ffnMatrices;
    }
    else
    {
        count.dense += ffnMatrices;
        count.sequence += bias * hidden;
    }
    return count;
}

ParameterCount GetEmbeddingParameters(const TrainingPlan& plan, uint32_t stage)
{
    ParameterCount count;
    if (stage == 0)
    {
        const uint64_t positions =
            plan.model.learnedPositions ? uint64_t(plan.model.sequence) * plan.model.hidden : 0;
        count.dense = WordEmbedding(plan) + positions;
        count.sequence = positions;
    }
    return count;
}

ParameterCount GetHeadParameters(const TrainingPlan& plan, uint32_t stage)
{
    ParameterCount count;
    if (stage + 1 == plan.parallel.pipeline)
    {
        count.sequence = plan.model.GetNormParameters();
        const bool hasOwn = !plan.model.tiedEmbeddings || plan.SharesEmbedding();
        count.dense = count.sequence + (hasOwn ? WordEmbedding(plan) : 0);
    }
    return count;
}

ParameterCount GetStageParameters(const TrainingPlan& plan, uint32_t stage)
{
    ParameterCount count = GetEmbeddingParameters(plan, stage);
    const ParameterCount layer = GetLayerParameters(plan);
    for (uint32_t i = 0; i < plan.GetStageLayers(stage); ++i)
    {
        count += layer;
    }
    count += GetHeadParameters(plan, stage);
    return count;
}

double GetModelParameters(const TrainingPlan& plan)
{
    TrainingPlan whole = plan; // on one rank nothing is split and nothing is held twice
    whole.parallel = ParallelDegrees();
    whole.firstStageLayers = 0;
    whole.lastStageLayers = 0;
    // Padding depends on the tensor degree: keep the plan's.
    whole.model.vocabulary = static_cast<uint32_t>(plan.GetPaddedVocabulary());
    return double(GetStageParameters(whole, 0).GetTotal());
}

MemoryEstimate EstimateMemory(const TrainingPlan& plan, uint32_t stage)
{
    const ParameterCount count = GetStageParameters(plan, stage);
    const uint64_t parameters = count.GetTotal();
    const uint64_t state = plan.parameters == DataType::FP32 ? 8 : 12;
    MemoryEstimate estimate;
    estimate.parameterBytes = parameters * BytesOf(plan.parameters);
    estimate.gradientBytes = parameters * BytesOf(plan.gradients);
    estimate.optimizerBytes = parameters * state;
    if (plan.distributedOptimizer)
    {
        const uint64_t data = plan.parallel.data;
        const uint64_t replicas = data / plan.parallel.expert;
        estimate.optimizerBytes = (count.dense + data - 1) / data * state +
                                  (count.experts + replicas - 1) / replicas * state;
    }
    const uint32_t inFlight =
        GetMicroBatchesInFlight(plan.schedule, stage, plan.parallel.pipeline, plan.microBatches);
    const double layer = LayerActivationBytes(plan);
    double activations = inFlight * plan.GetStageLayers(stage) * layer;
    if (plan.recompute == RecomputeMode::FULL)
    {
        TrainingPlan kept = plan; // one layer at a time is there in full
        kept.recompute = RecomputeMode::NONE;
        activations += LayerActivationBytes(kept);
    }
    if (stage + 1 == plan.parallel.pipeline)
    {
        // Logits in the parameters' type and in FP32, of the one micro-batch in the loss.
        activations += double(plan.GetTokens()) *
                       double(plan.GetPaddedVocabulary() / plan.parallel.tensor) *
                       (BytesOf(plan.parameters) + 4.0);
    }
    estimate.activationBytes = static_cast<uint64_t>(activations);
    return estimate;
}

std::string CheckMemory(const TrainingPlan& plan, const GpuSpec& gpu)
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
    if (gpu.memoryBytes == 0 || worst.GetTotal() <= gpu.memoryBytes)
    {
        return "";
    }
    return "a rank of pipeline stage " + std::to_string(fullest) + " needs about " +
           FormatBytes(worst.GetTotal()) + " (parameters " + FormatBytes(worst.parameterBytes) +
           ", gradients " + FormatBytes(worst.gradientBytes) + ", optimizer " +
           FormatBytes(worst.optimizerBytes) + ", activations " +
           FormatBytes(worst.activationBytes) + "), but " + gpu.name + " has " +
           FormatBytes(gpu.memoryBytes);
}

} // namespace echo
} // namespace ns3
