// SPDX-License-Identifier: GPL-2.0-only
#include "echo-plan-check.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace echo
{

namespace
{

void RequirePositive(const std::string& key, uint32_t value)
{
    if (value == 0)
    {
        Refuse(key, "0", "at least 1");
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
    const std::pair<const char*, uint32_t> ofExperts[] = {
        {"model.shared_ffn_hidden", model.sharedFfn},
        {"model.dense_layers", model.denseLayers},
        {"model.dense_ffn_hidden", model.denseFfn}};
    for (const auto& [key, value] : ofExperts)
    {
        if (model.experts == 0 && value > 0)
        {
            Refuse(key, std::to_string(value) + " without experts", "experts too");
        }
    }
    if (model.experts > 0 && model.denseLayers >= model.layers)
    {
        Refuse("model.dense_layers",
               std::to_string(model.denseLayers),
               "fewer than layers " + std::to_string(model.layers) + ", so that one has experts");
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
    const std::pair<const char*, bool> shares[] = {
        {"parallel.first_stage_layers", plan.firstStageLayers > 0},
        {"parallel.last_stage_layers", plan.lastStageLayers > 0},
        {"parallel.embedding_is_layer", plan.embeddingIsLayer}};
    for (const auto& [key, isSet] : shares)
    {
        if (isSet)
        {
            Refuse(key, "it beside layers", "one of them");
        }
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
    if (plan.narrowAttention &&
        (plan.attention != AttentionKernel::CUDNN || plan.parameters == DataType::FP32))
    {
        Refuse("precision.attention",
               "fp8 without attention: cudnn",
               "a fused kernel that multiplies in fp8 (attention: cudnn)");
    }
    if (plan.narrowOutput && !plan.CastsInputs())
    {
        Refuse("precision.output",
               std::string(ToString(plan.matmul)) + " with parameters " + ToString(plan.parameters),
               "it where precision.matmul is narrower than the parameters");
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

void CheckContext(const TrainingPlan& plan)
{
    const bool isFused = plan.attention != AttentionKernel::UNFUSED;
    const bool sharesHeads = plan.contextExchange == ContextExchange::ALL_TO_ALL;
    if (!isFused && (sharesHeads || plan.contextExchange == ContextExchange::GATHERED_PARTS))
    {
        Refuse("parallel.context_exchange",
               std::string(sharesHeads ? "all-to-all" : "all-gather-parts") +
                   " with attention: unfused",
               "a fused kernel, or all-gather");
    }
    const uint64_t ranks = uint64_t(plan.parallel.tensor) * plan.parallel.context;
    for (const uint32_t heads : {plan.model.heads, plan.model.kvHeads})
    {
        if (sharesHeads && plan.parallel.context > 1 && heads % ranks != 0)
        {
            Refuse("parallel.context_exchange",
                   "all-to-all of " + std::to_string(heads) + " heads over tp x cp " +
                       std::to_string(ranks),
                   "heads and kv_heads that tp x cp divides");
        }
    }
    if (!plan.balanceContext &&
        (!isFused || sharesHeads || !plan.model.causal || plan.model.window > 0))
    {
        Refuse("parallel.context_balance",
               !isFused             ? "false with attention: unfused"
               : sharesHeads        ? "false with context_exchange: all-to-all"
               : !plan.model.causal ? "false without a causal mask"
                                    : "false with a window",
               "it for fused attention that a causal mask makes unequal");
    }
}

void CheckSharding(const TrainingPlan& plan)
{
    if (plan.sharding == StateSharding::PARAMETERS && plan.model.mtpLayers > 0)
    {
        Refuse("model.mtp_layers",
               std::to_string(plan.model.mtpLayers) + " with zero 3",
               "0 where parameters are split over data ranks");
    }
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
    const std::string replicas = std::to_string(plan.parallel.replicas);
    if (plan.parallel.replicas > 1 && plan.sharding == StateSharding::NONE)
    {
        Refuse("parallel.replicas",
               replicas + " without zero",
               "it where state is split (zero: 1, 2 or 3) only");
    }
    if (plan.parallel.replicas > 1 && plan.HoldsTwice())
    {
        Refuse("parallel.replicas",
               replicas + " with a schedule that holds every part twice",
               "1 there");
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
    const bool hasBuckets = plan.overlapGradients && plan.sharding != StateSharding::PARAMETERS;
    if (!hasBuckets && plan.bucketElements > 0 &&
        plan.bucketElements != plan.GetDefaultBucketElements())
    {
        Refuse("parallel.bucket_elements",
               std::to_string(plan.bucketElements) +
                   (plan.overlapGradients ? " with zero 3" : " without overlap_gradients"),
               "it where gradients are reduced in buckets (overlap_gradients: true, zero 0 to 2) "
               "only");
    }
}

void CheckRecomputation(const TrainingPlan& plan)
{
    if (plan.recompute != RecomputeMode::FULL && plan.recomputeLayers > 0)
    {
        Refuse("recompute_layers",
               std::to_string(plan.recomputeLayers) + " without recompute: full",
               "it with full recomputation only");
    }
    if (plan.Recomputes(RecomputeModule::LATENT_EXPANSION) && !plan.model.IsLatent())
    {
        Refuse("recompute", "mla_up_proj without latent attention", "model.latent_attention too");
    }
    if (plan.Recomputes(RecomputeModule::EXPERT_ACTIVATION) && plan.model.experts == 0)
    {
        Refuse("recompute", "moe_act without experts", "model.experts too");
    }
    if (plan.Recomputes(RecomputeModule::EXPERT_ACTIVATION) && plan.fusedExperts)
    {
        Refuse("recompute",
               "moe_act with fused_experts",
               "one of them: the activation is inside the experts' products");
    }
    const bool hasDense = plan.model.experts == 0 || plan.model.denseLayers > 0;
    if (plan.Recomputes(RecomputeModule::FEED_FORWARD) && !hasDense)
    {
        Refuse("recompute", "mlp where every layer has experts", "model.dense_layers too");
    }
    uint32_t most = 0; // layers of a part
    for (uint32_t part = 0; part < plan.GetParts(); ++part)
    {
        most = std::max(most, plan.GetPartLayers(part));
    }
    if (plan.recomputeLayers > most)
    {
        Refuse("recompute_layers",
               std::to_string(plan.recomputeLayers),
               "at most the layers of a part, " + std::to_string(most));
    }
}

/** What cannot be where passes run in pairs, and what would be ignored where they do not. */
void CheckPairs(const TrainingPlan& plan)
{
    bool hasPairs = false;
    for (uint32_t stage = 0; stage < plan.parallel.pipeline && !hasPairs; ++stage)
    {
        const auto passes = plan.GetSchedule()->GetPasses(stage, plan.GetPipelineShape());
        hasPairs = std::any_of(
            passes.begin(), passes.end(), [](const PipelinePass& pass) { return pass.isPaired; });
    }
    if (!hasPairs && plan.delayWeights)
    {
        Refuse("parallel.delay_weight_gradients",
               "true without passes that run in pairs",
               "it with schedule combined, dual-pipe or dual-pipe-v only");
    }
    if (!hasPairs)
    {
        return;
    }
    const char* const found = "with passes that run in pairs";
    if (plan.recompute == RecomputeMode::FULL)
    {
        Refuse("recompute", std::string("full ") + found, "none or selective");
    }
    if (plan.sharding == StateSharding::PARAMETERS)
    {
        Refuse("parallel.zero", std::string("3 ") + found, "0, 1 or 2");
    }
    if (plan.overlapExperts)
    {
        Refuse("parallel.overlap_experts",
               std::string("true ") + found,
               "false: tokens travel beside the other pass");
    }
}

/** A schedule that another one beats at the same settings, and a host that cannot wait. */
void CheckSchedule(const TrainingPlan& plan)
{
    if (plan.chunks == 1 &&
        plan.GetSchedule()->GetInstanceTypeId() == InterleavedSchedule::GetTypeId())
    {
        Refuse("parallel.schedule",
               "interleaved with vp 1",
               "1f1b, or vp 2 or more: one chunk a stage leaves nothing to interleave");
    }
    const PipelineShape shape = plan.GetPipelineShape();
    if (shape.stages == 1 && shape.chunks > 1 && shape.placement == PartPlacement::LOOP)
    {
        Refuse("parallel.vp",
               std::to_string(shape.chunks) + " with pp 1",
               "1, or pp 2 or more: one stage would send to itself");
    }
    CheckPipeline(*plan.GetSchedule(), shape, !plan.overlapPipeline, "overlap_pipeline: true");
    CheckPairs(plan);
    if ((plan.host.waitsForPeers || plan.host.waitsForKernels) && plan.host.kernel.IsZero())
    {
        Refuse(plan.host.waitsForPeers ? "host.waits_for_peers" : "host.waits_for_kernels",
               "true with kernel 0",
               "it where the host takes time to issue kernels (host.kernel) only");
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
    RequireDivisible("model.dense_ffn_hidden", model.denseFfn, "tp", parallel.tensor);
    RequireDivisible("model.shared_ffn_hidden", model.sharedFfn, "tp", parallel.tensor);
    if (sequenceParallel)
    {
        RequireDivisible("model.sequence",
                         model.sequence,
                         parallel.context > 1 ? "tp x cp" : "tp",
                         uint64_t(parallel.tensor) * parallel.context);
    }
    CheckExperts(*this);
    CheckStages(*this);
    CheckContext(*this);
    CheckSharding(*this);
    CheckPrecision(*this);
    CheckRecomputation(*this);
    CheckSchedule(*this);
}

} // namespace echo
} // namespace ns3
