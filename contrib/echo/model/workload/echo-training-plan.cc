// SPDX-License-Identifier: GPL-2.0-only
#include "echo-training-plan.h"

#include "ns3/echo-error.h"

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
    RequireDivisible("model.hidden", model.hidden, "heads", model.heads);
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

void CheckStages(const TrainingPlan& plan)
{
    const uint32_t stages = plan.parallel.pipeline;
    uint32_t layers = plan.model.layers;
    uint32_t even = stages; // stages that share the rest equally
    const std::pair<const char*, uint32_t> own[] = {
        {"parallel.first_stage_layers", plan.firstStageLayers},
        {"parallel.last_stage_layers", plan.lastStageLayers}};
    for (const auto& [key, count] : own)
    {
        if (count == 0)
        {
            continue;
        }
        if (stages < 2)
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
        Refuse("model.layers",
               std::to_string(plan.model.layers) +
                   (even == stages ? ""
                                   : " (" + std::to_string(layers) +
                                         " without the first and last stage's own)"),
               even == stages ? "a multiple of pp " + std::to_string(stages)
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
            : matmul == DataType::FP8 ||
                  matmul == (plan.parameters == DataType::BF16 ? DataType::BF16 : DataType::FP16);
    if (!fits)
    {
        Refuse("precision.matmul",
               std::string(ToString(matmul)) + " with parameters " + ToString(plan.parameters),
               plan.parameters == DataType::FP32
                   ? "tf32 or fp32"
                   : std::string(ToString(plan.parameters)) + " or fp8");
    }
    if (plan.attention == AttentionKernel::FLASH && plan.parameters == DataType::FP32)
    {
        Refuse("attention", "flash with parameters fp32", "unfused, or bf16 or fp16 parameters");
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
    RequirePositive("batch.micro_batch", microBatch);
    RequirePositive("batch.micro_batches", microBatches);
    if (parallel.context > 1)
    {
        throw UnsupportedError("generate: context parallelism (parallel.cp " +
                               std::to_string(parallel.context) +
                               ") has no generator; use cp 1 or import a trace");
    }
    RequireDivisible("model.heads", model.heads, "tp", parallel.tensor);
    RequireDivisible("model.kv_heads", model.kvHeads, "tp", parallel.tensor);
    RequireDivisible("model.ffn_hidden", model.ffnHidden, "tp", parallel.tensor);
    if (sequenceParallel)
    {
        RequireDivisible("model.sequence", model.sequence, "tp", parallel.tensor);
    }
    if (parallel.expert > 1 && model.experts == 0)
    {
        Refuse("parallel.ep",
               std::to_string(parallel.expert) + " for a model without experts",
               "1, or model.experts");
    }
    if (model.experts > 0)
    {
        RequireDivisible("model.experts", model.experts, "ep", parallel.expert);
        if (parallel.tensor > 1 && !sequenceParallel)
        {
            Refuse("parallel.sequence_parallel",
                   "false for experts with tp " + std::to_string(parallel.tensor),
                   "true (as Megatron-Core requires)");
        }
    }
    CheckStages(*this);
    CheckPrecision(*this);
}

uint32_t TrainingPlan::GetStageLayers(uint32_t stage) const
{
    if (stage == 0 && firstStageLayers > 0)
    {
        return firstStageLayers;
    }
    if (stage + 1 == parallel.pipeline && lastStageLayers > 0)
    {
        return lastStageLayers;
    }
    const uint32_t even =
        parallel.pipeline - (firstStageLayers > 0 ? 1 : 0) - (lastStageLayers > 0 ? 1 : 0);
    return (model.layers - firstStageLayers - lastStageLayers) / even;
}

uint32_t TrainingPlan::GetFirstLayer(uint32_t stage) const
{
    uint32_t first = 0;
    for (uint32_t before = 0; before < stage; ++before)
    {
        first += GetStageLayers(before);
    }
    return first;
}

uint64_t TrainingPlan::GetPaddedVocabulary() const
{
    const uint64_t grain = 128 * uint64_t(parallel.tensor);
    return (model.vocabulary + grain - 1) / grain * grain;
}

double TrainingPlan::GetStepFlops() const
{
    const double hidden = model.hidden;
    const double ffn = hidden * double(model.GetFfnInputSize()) + double(model.ffnHidden) * hidden;
    // Multiplications and additions a token and layer, forward.
    const double matrices =
        2 * (hidden * double(model.GetQkvSize()) + hidden * hidden +
             (model.experts > 0 ? model.topK * ffn + hidden * model.experts : ffn));
    const bool flash = attention == AttentionKernel::FLASH;
    const double core = (flash ? 2 : 4) * double(model.sequence) * hidden;
    double layer = 3 * matrices + (flash ? 3.5 : 3) * core;
    if (recompute == RecomputeMode::FULL)
    {
        layer += matrices + core;
    }
    else if (recompute == RecomputeMode::SELECTIVE)
    {
        layer += core;
    }
    const double head = 6 * hidden * double(GetPaddedVocabulary());
    return double(GetTokens()) * microBatches * parallel.data * (model.layers * layer + head);
}

} // namespace echo
} // namespace ns3
