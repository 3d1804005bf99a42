// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stage-parameters.h"

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

} // namespace echo
} // namespace ns3
