// SPDX-License-Identifier: GPL-2.0-only
#include "echo-training-plan.h"

#include "ns3/echo-error.h"

#include <numeric>

namespace ns3
{
namespace echo
{

namespace
{

[[noreturn]] void Refuse(const std::string& key,
                         const std::string& found,
                         const std::string& expected)
{
    throw InputError({"", 0, key}, found, expected);
}

void RequirePositive(const std::string& key, uint32_t value)
{
    if (value == 0)
    {
        Refuse(key, "0", "at least 1");
    }
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

void CheckModel(const TransformerShape& model)
{
    RequirePositive("model.layers", model.layers);
    RequirePositive("model.hidden", model.hidden);
    RequirePositive("model.heads", model.heads);
    RequirePositive("model.kv_heads", model.kvHeads);
    RequirePositive("model.sequence", model.sequence);
    RequirePositive("model.vocabulary", model.vocabulary);
    RequirePositive("model.ffn_hidden", model.ffnHidden);
    if (model.headSize == 0)
    {
        RequireDivisible("model.hidden", model.hidden, "heads", model.heads);
    }
    RequireDivisible("model.heads", model.heads, "kv_heads", model.kvHeads);
    if (model.experts > 0 && (model.topK == 0 || model.topK > model.experts))
    {
        Refuse("model.top_k",
               std::to_string(model.topK),
               "1 to the number of experts, " + std::to_string(model.experts));
    }
    if (model.experts == 0 && model.topK > 0)
    {
        Refuse("model.top_k", std::to_string(model.topK) + " without experts", "experts too");
    }
}

/** Layers that are listed part by part. */
void CheckListedParts(const TrainingPlan& plan)
{
    const uint32_t layers = std::accumulate(plan.partLayers.begin(), plan.partLayers.end(), 0U);
    if (plan.partLayers.size() != plan.GetParts() || layers != plan.model.layers)
    {
        Refuse("parallel.layers",
               std::to_string(plan.partLayers.size()) + " numbers, together " +
                   std::to_string(layers),
               std::to_string(plan.GetParts()) + " (pp x vp) that make " +
                   std::to_string(plan.model.layers) + " layers");
    }
}

void CheckStages(const TrainingPlan& plan)
{
    if (!plan.partLayers.empty())
    {
        CheckListedParts(plan);
        return;
    }
    const uint32_t parts = plan.GetParts();
    uint32_t layers = plan.model.layers + (plan.embeddingIsLayer ? 2 : 0);
    uint32_t even = parts; // parts that share the rest equally
    const std::pair<const char*, uint32_t> own[] = {
        {"parallel.first_stage_layers", plan.firstStageLayers},
        {"parallel.last_stage_layers", plan.lastStageLayers}};
    for (const auto& [key, count] : own)
    {
        if (count == 0)
        {
            continue;
        }
        if (parts < 2)
        {
            Refuse(key, std::to_string(count) + " with pp 1", "it with at least two stages");
        }
        if (count > layers)
        {
            Refuse(
                key, std::to_string(count), "at most the layers left, " + std::to_string(layers));
        }
        layers -= count;
        --even;
    }
    if (even == 0 ? layers != 0 : (layers % even != 0 || layers == 0))
    {
        const std::string dividers =
            "pp " + std::to_string(plan.parallel.pipeline) +
            (plan.chunks > 1 ? " x vp " + std::to_string(plan.chunks) : "");
        Refuse("model.layers",
               std::to_string(plan.model.layers) +
                   (plan.embeddingIsLayer ? " and two for embedding and head" : "") +
                   (even == parts ? ""
                                  : " (" + std::to_string(layers) +
                                        " without the first and last stage's own)"),
               even == parts ? "a multiple of " + dividers
                             : "what " + std::to_string(even) + " stages share equally");
    }
}

void CheckPrecision(const TrainingPlan& plan)
{
    const auto isFloat = [](DataType type) {
        return type == DataType::FP32 || type == DataType::BF16 || type == DataType::FP16;
    };
    if (!isFloat(plan.parameters))
    {
        Refuse("precision.parameters", ToString(plan.parameters), "fp32, bf16 or fp16");
    }
    if (!isFloat(plan.gradients))
    {
        Refuse("precision.gradients", ToString(plan.gradients), "fp32, bf16 or fp16");
    }
    const DataType matmul = plan.matmul;
    const bool fits =
        plan.parameters == DataType::FP32
            ? matmul == DataType::FP32 || matmul == DataType::TF32
            : matmul == DataType::FP8 || matmul == DataType::FP4 ||
                  matmul == (plan.parameters == DataType::BF16 ? DataType::BF16 : DataType::FP16);
    if (!fits)
    {
        Refuse("precision.matmul",
               std::string(ToString(matmul)) + " with parameters " + ToString(plan.parameters),
               plan.parameters == DataType::FP32
                   ? "tf32 or fp32"
                   : std::string(ToString(plan.parameters)) + ", fp8 or fp4");
    }
    if (plan.attention != AttentionKernel::UNFUSED && plan.parameters == DataType::FP32)
    {
        Refuse("attention",
               std::string(plan.attention == AttentionKernel::CUDNN    ? "cudnn"
                           : plan.attention == AttentionKernel::FLASH1 ? "flash1"
                                                                       : "flash") +
                   " with parameters fp32",
               "unfused, or bf16 or fp16 parameters");
    }
}

/** Settings of experts that a model without them would ignore. */
void RefuseWithoutExperts(const TrainingPlan& plan)
{
    const char* const expected = "it for a model with experts (model.experts) only";
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
    if (plan.overlapExperts)
    {
        Refuse("parallel.overlap_experts", "true for a model without experts", expected);
    }
}

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

void CheckSharding(const TrainingPlan& plan)
{
    if (plan.sharding == StateSharding::PARAMETERS && plan.parallel.pipeline > 1)
    {
        Refuse("parallel.zero",
               "3 with pp " + std::to_string(plan.parallel.pipeline),
               "pp 1 where parameters are split over data ranks, or zero 1");
    }
    if (plan.sharding != StateSharding::PARAMETERS && !plan.reshardAfterForward)
    {
        Refuse("parallel.reshard_after_forward",
               "false without zero 3",
               "it where parameters are split (zero: 3) only");
    }
    if (plan.sharding == StateSharding::NONE && plan.overlapParameters)
    {
        Refuse("parallel.overlap_parameters",
               "true without zero",
               "it where parameters are gathered (zero: 1, 2 or 3) only");
    }
    if (plan.overlapTensor && !plan.sequenceParallel)
    {
        Refuse("parallel.overlap_tensor",
               "true without sequence_parallel",
               "it with sequence_parallel: true only");
    }
    if (plan.recompute != RecomputeMode::FULL && plan.recomputeLayers > 0)
    {
        Refuse("recompute_layers",
               std::to_string(plan.recomputeLayers) + " without recompute: full",
               "it with full recomputation only");
    }
}

} // namespace

void TrainingPlan::Check() const
{
    CheckModel(model);
    RequirePositive("parallel.tp", parallel.tensor);
    RequirePositive("parallel.cp", parallel.context);
    RequirePositive("parallel.ep", parallel.expert);
    RequirePositive("parallel.dp", parallel.data);
    RequirePositive("parallel.pp", parallel.pipeline);
    RequirePositive("parallel.vp", chunks);
    RequirePositive("batch.micro_batch", microBatch);
    RequirePositive("batch.micro_batches", microBatches);
    RequireDivisible("model.sequence",
                     model.sequence,
                     "2 x cp",
                     parallel.context > 1 ? 2 * uint64_t(parallel.context) : 1);
    RequireDivisible("model.heads", model.heads, "tp", parallel.tensor);
    RequireDivisible("model.kv_heads", model.kvHeads, "tp", parallel.tensor);
    RequireDivisible("model.ffn_hidden", model.ffnHidden, "tp", parallel.tensor);
    if (sequenceParallel)
    {
        RequireDivisible("model.sequence", model.sequence, "tp", parallel.tensor);
    }
    CheckExperts(*this);
    CheckStages(*this);
    CheckSharding(*this);
    CheckPrecision(*this);
    CheckPipeline(*GetSchedule(), GetPipelineShape(), !overlapPipeline);
}

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
    for (uint32_t chunk = 0; chunk < chunks; ++chunk)
    {
        layers += GetPartLayers(chunk * parallel.pipeline + stage);
    }
    return layers;
}

uint64_t TrainingPlan::GetPaddedVocabulary() const
{
    const uint64_t grain = 128 * uint64_t(parallel.tensor);
    return (model.vocabulary + grain - 1) / grain * grain;
}

namespace
{

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
        const double queries = double(model.heads) * model.GetHeadSize();
        weights +=
            model.latentQueries > 0 ? (hidden + queries) * model.latentQueries : hidden * queries;
        weights += hidden * (model.latentKeys + model.rotarySize) +
                   double(model.latentKeys) * model.heads *
                       (model.GetHeadSize() - model.rotarySize + model.GetValueSize());
    }
    else
    {
        weights += hidden * double(model.GetQkvSize());
    }
    weights += model.HasExperts(layer) ? model.topK * ffn(model.ffnHidden) + ffn(model.sharedFfn) +
                                             hidden * model.experts
                                       : ffn(model.GetDenseFfn());
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
        for (uint32_t i = 0; i < GetPartLayers(part); ++i)
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
            perToken += isFull ? matrices + core : recompute == RecomputeMode::SELECTIVE ? core : 0;
        }
    }
    const double head = 6.0 * model.hidden * double(GetPaddedVocabulary());
    return double(GetTokens()) * parallel.context * microBatches * parallel.data *
           (perToken + head);
}

} // namespace echo
} // namespace ns3
