// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stage-parameters.h"

#include "echo-pipeline-schedule.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <numeric>

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

/** @return rows that the fullest rank's experts compute, in those that each has where all have as
 * many */
double GetLargestLoad(const TrainingPlan& plan)
{
    const std::vector<double>& load = plan.expertLoad;
    return load.empty() ? 1
                        : *std::max_element(load.begin(), load.end()) * double(load.size()) /
                              std::accumulate(load.begin(), load.end(), 0.0);
}

/** @return bytes that a layer keeps for the backward pass of one micro-batch */
double LayerActivationBytes(const TrainingPlan& plan, uint32_t layer, bool isRecomputed)
{
    const TransformerShape& model = plan.model;
    const double tensor = plan.parallel.tensor;
    const double split = plan.sequenceParallel ? tensor : 1;
    const double tokens = double(plan.GetTokens());
    const double hidden = model.hidden;
    const double bytes = BytesOf(plan.parameters);
    const double input =
        plan.CastsInputs() ? BytesOf(plan.matmul) : bytes; // of a matrix, kept cast
    const double mask = model.dropout ? 1 : 0;
    if (isRecomputed)
    {
        return tokens * hidden * bytes / split;
    }
    // Inputs of both norms and of the first matrices behind them, and masks of two dropouts.
    const double matrices = plan.Recomputes(RecomputeModule::NORMS) ? 0 : 2 * input;
    double kept = tokens * hidden * (2 * bytes + matrices + 2 * mask) / split;
    // Queries, keys, values, and the input of the output projection.
    const double qkv =
        plan.Recomputes(RecomputeModule::LATENT_EXPANSION) ? 0 : double(model.GetQkvSize());
    kept += tokens * (qkv + double(model.GetAttentionSize())) * bytes / tensor;
    kept += tokens * (model.latentQueries + model.latentKeys) * bytes / split;
    // Inputs of the activation and of the second feed-forward matrix, for each expert of a token.
    const auto ffn = [&](uint32_t inner) {
        return tokens * (double(model.GetInputSize(inner)) * bytes + inner * input) / tensor;
    };
    if (model.HasExperts(layer))
    {
        const double output = plan.Recomputes(RecomputeModule::EXPERT_ACTIVATION)
                                  ? tokens * double(model.ffnHidden) * input / tensor
                                  : 0;
        const double copies = model.topK * GetLargestLoad(plan);
        kept += copies * (ffn(model.ffnHidden) - output) + ffn(model.sharedFfn);
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

/** @return parameters of the attention of one layer, without its norm */
ParameterCount GetAttentionParameters(const TrainingPlan& plan)
{
    const TransformerShape& model = plan.model;
    const uint64_t tensor = plan.parallel.tensor;
    const uint64_t hidden = model.hidden;
    const uint64_t bias = model.biases ? 1 : 0;
    ParameterCount count;
    count.sequence = bias * hidden; // the projection's bias
    count.dense = model.GetAttentionSize() * hidden / tensor;
    if (model.IsLatent())
    {
        const uint64_t queries = uint64_t(model.heads) * model.GetHeadSize();
        const uint64_t keys =
            uint64_t(model.heads) * (model.GetHeadSize() - model.rotarySize + model.GetValueSize());
        count.sequence += hidden * (model.latentQueries + model.latentKeys + model.rotarySize) +
                          model.latentQueries + model.latentKeys;
        count.dense += ((model.latentQueries > 0 ? model.latentQueries : hidden) * queries +
                        model.latentKeys * keys) /
                       tensor;
    }
    else
    {
        count.dense += (hidden + bias) * model.GetQkvSize() / tensor;
    }
    count.dense += count.sequence;
    return count;
}

/** @return parameters of one feed-forward block split over @p tensor ranks, its last bias apart */
uint64_t GetFfnMatrices(const TransformerShape& model, uint32_t inner, uint64_t tensor)
{
    const uint64_t bias = model.biases ? 1 : 0;
    return (model.hidden + bias) * model.GetInputSize(inner) / tensor +
           uint64_t(model.hidden) * inner / tensor;
}

} // namespace

ParameterCount& ParameterCount::operator+=(const ParameterCount& other)
{
    dense += other.dense;
    experts += other.experts;
    sequence += other.sequence;
    return *this;
}

ParameterCount GetLayerParameters(const TrainingPlan& plan, uint32_t layer)
{
    const TransformerShape& model = plan.model;
    const uint64_t tensor = plan.parallel.tensor;
    const uint64_t rowBias = model.biases ? model.hidden : 0;
    ParameterCount count = GetAttentionParameters(plan);
    const uint64_t norms = 2 * model.GetNormParameters();
    count.sequence += norms;
    count.dense += norms;
    if (model.HasExperts(layer))
    {
        const uint64_t router = uint64_t(model.hidden) * model.experts;
        count.dense += router;
        count.sequence += router;
        count.experts =
            model.experts / plan.parallel.expert *
            (GetFfnMatrices(model, model.ffnHidden, plan.parallel.GetExpertTensor()) + rowBias);
        count.dense += GetFfnMatrices(model, model.sharedFfn, tensor);
    }
    else
    {
        count.dense += GetFfnMatrices(model, model.GetDenseFfn(), tensor) + rowBias;
        count.sequence += rowBias;
    }
    if (layer >= model.layers) // predicts a further token: two norms and a matrix come before it
    {
        const uint64_t before = 2 * model.GetNormParameters();
        count.dense += 2 * uint64_t(model.hidden) * model.hidden / tensor + before;
        count.sequence += before;
    }
    return count;
}

ParameterCount GetPartParameters(const TrainingPlan& plan, uint32_t part)
{
    ParameterCount count;
    const uint32_t first = plan.GetFirstLayerOfPart(part);
    for (uint32_t i = 0; i < plan.GetPartSize(part); ++i)
    {
        count += GetLayerParameters(plan, first + i);
    }
    return count;
}

ParameterCount GetEmbeddingParameters(const TrainingPlan& plan, uint32_t stage)
{
    ParameterCount count;
    if (plan.HoldsPart(stage, 0))
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
    if (plan.HoldsPart(stage, plan.GetParts() - 1))
    {
        count.sequence = plan.model.GetNormParameters();
        const bool hasOwn = !plan.model.tiedEmbeddings || plan.SharesEmbedding();
        // Further tokens are looked up here: a copy of the embedding, if it is not the output's.
        const bool hasCopy = !plan.model.tiedEmbeddings && plan.SharesEmbedding();
        count.dense = count.sequence + (hasOwn ? WordEmbedding(plan) : 0) +
                      (hasCopy ? WordEmbedding(plan) : 0);
    }
    return count;
}

ParameterCount GetStageParameters(const TrainingPlan& plan, uint32_t stage)
{
    ParameterCount count = GetEmbeddingParameters(plan, stage);
    for (uint32_t part : plan.GetStageParts(stage))
    {
        count += GetPartParameters(plan, part);
    }
    count += GetHeadParameters(plan, stage);
    return count;
}

double GetModelParameters(const TrainingPlan& plan)
{
    TrainingPlan whole = plan; // on one rank nothing is split and nothing is held twice
    whole.parallel = ParallelDegrees();
    whole.chunks = 1;
    whole.schedule = nullptr;
    whole.partLayers.clear();
    whole.embeddingIsLayer = false;
    whole.firstStageLayers = 0;
    whole.lastStageLayers = 0;
    // Padding depends on the tensor degree: keep the plan's.
    whole.model.vocabulary = static_cast<uint32_t>(plan.GetPaddedVocabulary());
    return double(GetStageParameters(whole, 0).GetTotal());
}

namespace
{

/** @return bytes of activations that a rank of @p stage keeps at its fullest */
double GetActivationBytes(const TrainingPlan& plan, uint32_t stage)
{
    const bool isFull = plan.recompute == RecomputeMode::FULL;
    double ofLayers = 0; // one micro-batch, all chunks
    double largest = 0;  // one layer in full
    for (uint32_t part : plan.GetStageParts(stage))
    {
        const uint32_t first = plan.GetFirstLayerOfPart(part);
        for (uint32_t i = 0; i < plan.GetPartSize(part); ++i)
        {
            const bool isRecomputed =
                isFull && (plan.recomputeLayers == 0 || i < plan.recomputeLayers);
            ofLayers += LayerActivationBytes(plan, first + i, isRecomputed);
            if (isRecomputed)
            {
                TrainingPlan kept = plan;
                kept.recompute = RecomputeMode::NONE;
                largest = std::max(largest, LayerActivationBytes(kept, first + i, false));
            }
        }
    }
    const uint32_t inFlight =
        GetPassesInFlight(*plan.GetSchedule(), stage, plan.GetPipelineShape(), true);
    double activations = inFlight * ofLayers / plan.chunks + largest;
    if (plan.HoldsPart(stage, plan.GetParts() - 1))
    {
        // Logits in the parameters' type and in FP32, of the one micro-batch in the loss; those of
        // further tokens are made before any is used.
        activations += (1.0 + plan.model.mtpLayers) * double(plan.GetTokens()) *
                       double(plan.GetPaddedVocabulary() / plan.parallel.tensor) *
                       (BytesOf(plan.parameters) + 4.0);
    }
    return activations;
}

/**
 * @return parameters that ShardedLayers holds gathered at most, where layers are given up after
 *         their passes: embedding and output layer all the while, a layer, and the next one
 */
uint64_t GetGatheredParameters(const TrainingPlan& plan)
{
    uint64_t largest = 0;
    uint64_t before = 0; // the layer ahead
    for (uint32_t layer = 0; layer < plan.model.layers; ++layer)
    {
        const uint64_t own = GetLayerParameters(plan, layer).GetTotal();
        largest = std::max(largest, before + own);
        before = own;
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
    const uint64_t own = Share(count.dense, layout.GetGroupSize(LayoutGroup::DATA)) +
                         Share(count.experts, layout.GetGroupSize(LayoutGroup::EXPERT_DATA));
    const uint64_t all = count.GetTotal();
    MemoryEstimate estimate;
    uint64_t parameters = all;
    if (plan.sharding == StateSharding::PARAMETERS)
    {
        parameters = own + (plan.reshardAfterForward ? GetGatheredParameters(plan) : all);
    }
    estimate.parameterBytes = parameters * BytesOf(plan.parameters);
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
           FormatBytes(gpu.memoryBytes);
}

} // namespace echo
} // namespace ns3
