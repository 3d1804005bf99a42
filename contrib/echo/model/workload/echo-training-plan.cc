// SPDX-License-Identifier: GPL-2.0-only
#include "echo-training-plan.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

Ptr<const PipelineSchedule> TrainingPlan::GetSchedule() const
{
    if (schedule)
    {
        return schedule;
    }
    if (chunks > 1)
    {
        return CreateObject<InterleavedSchedule>();
    }
    return CreateObject<OneForwardOneBackwardSchedule>();
}

uint32_t TrainingPlan::GetPartLayers(uint32_t part) const
{
    if (!partLayers.empty())
    {
        return partLayers[part];
    }
    const uint32_t parts = GetParts();
    if (part == 0 && firstStageLayers > 0)
    {
        return firstStageLayers;
    }
    if (part + 1 == parts && lastStageLayers > 0)
    {
        return lastStageLayers;
    }
    const uint32_t even = parts - (firstStageLayers > 0 ? 1 : 0) - (lastStageLayers > 0 ? 1 : 0);
    const uint32_t ends = embeddingIsLayer ? 2 : 0;
    const uint32_t share = (model.layers + ends - firstStageLayers - lastStageLayers) / even;
    // Embedding and head each take a layer's place.
    const uint32_t taken = embeddingIsLayer ? (part == 0 ? 1 : 0) + (part + 1 == parts ? 1 : 0) : 0;
    return share - taken;
}

uint32_t TrainingPlan::GetFirstLayerOfPart(uint32_t part) const
{
    uint32_t first = 0;
    for (uint32_t before = 0; before < part; ++before)
    {
        first += GetPartLayers(before);
    }
    return first;
}

uint32_t TrainingPlan::GetStageLayers(uint32_t stage) const
{
    uint32_t layers = 0;
    for (uint32_t part : GetStageParts(stage))
    {
        layers += GetPartLayers(part);
    }
    return layers;
}

std::vector<uint32_t> TrainingPlan::GetStageParts(uint32_t stage) const
{
    std::vector<uint32_t> parts;
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        parts.push_back(GetPipelineShape().GetPart(stage, chunk));
    }
    std::sort(parts.begin(), parts.end());
    return parts;
}

bool TrainingPlan::HoldsPart(uint32_t stage, uint32_t part) const
{
    const std::vector<uint32_t> parts = GetStageParts(stage);
    return std::find(parts.begin(), parts.end(), part) != parts.end();
}

uint64_t TrainingPlan::GetPaddedVocabulary() const
{
    const uint64_t grain = model.vocabularyMultiple * uint64_t(parallel.tensor);
    return (model.vocabulary + grain - 1) / grain * grain;
}

namespace
{

/** @return weights through which latent attention expands a token */
double GetExpansionWeights(const TransformerShape& model)
{
    const double queries = double(model.heads) * model.GetHeadSize();
    return queries * (model.latentQueries > 0 ? model.latentQueries : model.hidden) +
           double(model.latentKeys) * model.heads *
               (model.GetHeadSize() - model.rotarySize + model.GetValueSize());
}

/** @return multiplications and additions of a layer's matrices, a token, forward */
double GetMatrixFlops(const TransformerShape& model, uint32_t layer)
{
    const double hidden = model.hidden;
    const auto ffn = [&](uint32_t inner) {
        return hidden * double(model.GetInputSize(inner)) + double(inner) * hidden;
    };
    double weights = double(model.GetAttentionSize()) * hidden;
    if (model.IsLatent())
    {
        weights += GetExpansionWeights(model) +
                   hidden * (model.latentQueries + model.latentKeys + model.rotarySize);
    }
    else
    {
        weights += hidden * double(model.GetQkvSize());
    }
    weights += model.HasExperts(layer) ? model.topK * ffn(model.ffnHidden) + ffn(model.sharedFfn) +
                                             hidden * model.experts
                                       : ffn(model.GetDenseFfn());
    weights += layer >= model.layers ? 2 * hidden * hidden : 0; // joins hidden state and token
    return 2 * weights;
}

} // namespace

double TrainingPlan::GetStepFlops() const
{
    const bool flash = attention != AttentionKernel::UNFUSED;
    double perToken = 0;
    for (uint32_t part = 0; part < GetParts(); ++part)
    {
        const uint32_t first = GetFirstLayerOfPart(part);
        for (uint32_t i = 0; i < GetPartSize(part); ++i)
        {
            const double matrices = GetMatrixFlops(model, first + i);
            const double pairs =
                flash ? model.GetVisiblePairs(first + i) / model.sequence : model.sequence;
            const double sizes = double(model.GetHeadSize()) + model.GetValueSize();
            const double core = 2 * pairs * sizes * model.heads;
            // A fused backward pass computes scores again: five products instead of four.
            const double coreBackward =
                flash ? 2 * pairs * model.heads *
                            (3.0 * model.GetHeadSize() + 2.0 * model.GetValueSize())
                      : 2 * core;
            perToken += 3 * matrices + core + coreBackward;
            const bool isFull =
                recompute == RecomputeMode::FULL && (recomputeLayers == 0 || i < recomputeLayers);
            perToken += isFull ? matrices + core : 0;
            perToken += Recomputes(RecomputeModule::ATTENTION_CORE) ? core : 0;
            if (Recomputes(RecomputeModule::LATENT_EXPANSION))
            {
                perToken += 2 * GetExpansionWeights(model);
            }
            if (Recomputes(RecomputeModule::FEED_FORWARD) && !model.HasExperts(first + i))
            {
                perToken += 2.0 * model.hidden *
                            (double(model.GetInputSize(model.GetDenseFfn())) + model.GetDenseFfn());
            }
        }
    }
    const double head = 6.0 * model.hidden * double(GetPaddedVocabulary()) * (1 + model.mtpLayers);
    return double(GetTokens()) * parallel.context * microBatches * parallel.data *
           (perToken + head);
}

} // namespace echo
} // namespace ns3
