// SPDX-License-Identifier: GPL-2.0-only
#include "echo-generator-reader.h"

#include "echo-model-reader.h"
#include "echo-yaml-values.h"

#include "ns3/echo-policy.h"
#include "ns3/echo-transformer-generator.h"
#include "ns3/object-factory.h"

#include <limits>
#include <optional>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** Of a step and data rank: every one is there as operators; more take minutes and gigabytes. */
constexpr int64_t MOST_MICRO_BATCHES = 100000;

/** @return the place of a key path below @p node, or of the deepest part of it that is there */
SourceLocation Locate(const YamlNode& node, const std::string& path)
{
    const size_t dot = path.find('.');
    const std::string key = path.substr(0, dot);
    if (!node.IsMap() || !node.Has(key))
    {
        SourceLocation where = node.GetLocation();
        where.item += (where.item.empty() ? "" : ".") + path;
        return where;
    }
    return dot == std::string::npos ? node.Get(key).GetLocation()
                                    : Locate(node.Get(key), path.substr(dot + 1));
}

/** @return the data degree with which the others fill @p ranks; 1 if there is none */
uint32_t GetDataDegree(const ParallelDegrees& degrees, uint32_t ranks)
{
    uint64_t others = degrees.tensor;
    for (uint32_t degree : {degrees.context, degrees.pipeline})
    {
        others = others > ranks ? others : others * degree;
    }
    return ranks > 0 && ranks % others == 0 ? static_cast<uint32_t>(ranks / others) : 1;
}

/** A schedule by its name ("1f1b", "interleaved", ...), or the passes of every stage as a list. */
Ptr<PipelineSchedule> ReadSchedule(const YamlNode& node)
{
    if (node.IsSequence())
    {
        std::vector<std::vector<PipelinePass>> passes;
        for (const YamlNode& stage : node.GetEntries())
        {
            passes.push_back(stage.Parse<std::vector<PipelinePass>>(ParsePipelinePasses));
        }
        Ptr<ListedSchedule> listed = CreateObject<ListedSchedule>();
        listed->SetPasses(std::move(passes));
        return listed;
    }
    if (node.AsString() == "1f1b")
    {
        return CreateObject<OneForwardOneBackwardSchedule>();
    }
    const TypeId parent = PipelineSchedule::GetTypeId();
    const std::optional<TypeId> type = LookupPolicy(node.AsString(), parent, "Schedule");
    if (!type)
    {
        node.Fail("'" + node.AsString() + "'", ListPolicies(parent, "Schedule") + ", or 1f1b");
    }
    ObjectFactory factory;
    factory.SetTypeId(*type);
    return factory.Create<PipelineSchedule>();
}

StateSharding ReadSharding(const YamlNode& node)
{
    if (node.Has("zero") && node.Has("distributed_optimizer"))
    {
        node.Get("zero").Fail("zero beside distributed_optimizer", "one of them");
    }
    if (node.Has("zero"))
    {
        return static_cast<StateSharding>(node.GetInteger("zero", 0, 0, 3));
    }
    return node.GetBool("distributed_optimizer", false) ? StateSharding::OPTIMIZER
                                                        : StateSharding::NONE;
}

/** How the layers are divided over stages and their chunks. */
void ReadStages(const YamlNode& node, TrainingPlan& plan)
{
    if (node.Has("schedule"))
    {
        plan.schedule = ReadSchedule(node.Get("schedule"));
    }
    const uint32_t own = plan.schedule ? plan.schedule->GetChunks() : 0;
    plan.chunks = GetCount(node, "vp", own > 0 ? own : 1, 100000);
    plan.firstStageLayers = GetCount(node, "first_stage_layers", 0);
    plan.lastStageLayers = GetCount(node, "last_stage_layers", 0);
    plan.embeddingIsLayer = node.GetBool("embedding_is_layer", plan.embeddingIsLayer);
    if (node.Has("layers"))
    {
        for (const YamlNode& layers : node.Get("layers").GetEntries())
        {
            plan.partLayers.push_back(static_cast<uint32_t>(layers.AsInteger(0, 100000)));
        }
    }
    plan.overlapPipeline = node.GetBool("overlap_pipeline", plan.chunks > 1);
    plan.splitMessages = node.GetBool("split_messages", plan.splitMessages);
}

void ReadExperts(const YamlNode& node, TrainingPlan& plan)
{
    plan.parallel.expert = GetCount(node, "ep", 1);
    plan.parallel.expertTensor = GetCount(node, "expert_tp", 0);
    plan.overlapExperts = node.GetBool("overlap_experts", plan.overlapExperts);
    plan.delayWeights = node.GetBool("delay_weight_gradients", plan.delayWeights);
    plan.dispatchDomain = GetSize(node, "dispatch_domain", 0);
    if (node.Has("expert_load"))
    {
        for (const YamlNode& load : node.Get("expert_load").GetEntries())
        {
            plan.expertLoad.push_back(load.AsNumber(0, 1e9));
        }
    }
}

/**
 * Refuses keys that act only between the ranks of a degree which is not written: a study that
 * varies a degree from 1 writes it, and keeps them.
 */
void RefuseWithoutDegree(const YamlNode& node, const TrainingPlan& plan)
{
    const struct
    {
        const char* key;
        const char* degree;
        bool isSet; //!< to something other than the default
    } uses[] = {
        {"sequence_parallel", "tp", plan.sequenceParallel},
        {"overlap_input_gradients", "tp", !plan.overlapReduction},
        {"split_messages", "tp", plan.splitMessages},
        {"split_messages", "pp", plan.splitMessages},
        {"overlap_pipeline", "pp", plan.overlapPipeline},
        {"context_exchange", "cp", plan.contextExchange != ContextExchange::RING},
        {"context_balance", "cp", !plan.balanceContext},
        {"dispatch_domain", "ep", plan.dispatchDomain > 0 && plan.model.experts > 0},
        {"delay_weight_gradients", "ep", plan.delayWeights && plan.model.experts > 0},
    };
    for (const auto& [key, degree, isSet] : uses)
    {
        if (isSet && node.Has(key) && !node.Has(degree))
        {
            node.Get(key).Fail("'" + node.Get(key).AsString() + "' without " + degree,
                               std::string(degree) + " too");
        }
    }
}

void ReadParallel(const YamlNode& node, uint32_t ranks, TrainingPlan& plan)
{
    plan.parallel.tensor = GetCount(node, "tp", 1);
    plan.parallel.context = GetCount(node, "cp", 1);
    plan.parallel.pipeline = GetCount(node, "pp", 1);
    plan.parallel.data = GetCount(node, "dp", GetDataDegree(plan.parallel, ranks));
    ReadExperts(node, plan);
    plan.sequenceParallel = node.GetBool("sequence_parallel", plan.sequenceParallel);
    ReadStages(node, plan);
    plan.contextExchange =
        GetChoice<ContextExchange>(node,
                                   "context_exchange",
                                   plan.contextExchange,
                                   {{"ring", ContextExchange::RING},
                                    {"all-gather", ContextExchange::ALL_GATHER},
                                    {"all-gather-parts", ContextExchange::GATHERED_PARTS},
                                    {"all-to-all", ContextExchange::ALL_TO_ALL}});
    plan.balanceContext = node.GetBool("context_balance", plan.balanceContext);
    plan.sharding = ReadSharding(node);
    plan.parallel.replicas = GetCount(node, "replicas", 1);
    plan.reshardAfterForward = node.GetBool("reshard_after_forward", plan.reshardAfterForward);
    plan.overlapGradients = node.GetBool("overlap_gradients", plan.overlapGradients);
    plan.overlapParameters = node.GetBool("overlap_parameters", plan.overlapParameters);
    plan.overlapReduction = node.GetBool("overlap_input_gradients", plan.overlapReduction);
    plan.overlapTensor = node.GetBool("overlap_tensor", plan.overlapTensor);
    if (node.Has("bucket_elements"))
    {
        plan.bucketElements = static_cast<uint64_t>(
            node.Get("bucket_elements").AsInteger(1, std::numeric_limits<int64_t>::max()));
    }
    plan.clipGradients = node.GetBool("clip_gradients", plan.clipGradients);
    RefuseWithoutDegree(node, plan);
    node.RefuseUnknownKeys();
}

void ReadBatch(const YamlNode& node, TrainingPlan& plan)
{
    plan.microBatch = GetCount(node, "micro_batch", 1, MAX_SIZE);
    if (node.Has("micro_batches") == node.Has("global_batch"))
    {
        node.Fail(node.Has("global_batch") ? "both 'micro_batches' and 'global_batch'"
                                           : "neither 'micro_batches' nor 'global_batch'",
                  "one of them");
    }
    if (node.Has("micro_batches"))
    {
        plan.microBatches = GetCount(node, "micro_batches", 1, MOST_MICRO_BATCHES);
    }
    else
    {
        const YamlNode global = node.Get("global_batch");
        const int64_t sequences = global.AsInteger(1, MAX_COUNT);
        const int64_t atOnce = int64_t(plan.microBatch) * plan.parallel.data;
        if (sequences % atOnce != 0)
        {
            global.Fail(std::to_string(sequences),
                        "a multiple of micro_batch " + std::to_string(plan.microBatch) + " x dp " +
                            std::to_string(plan.parallel.data));
        }
        if (sequences / atOnce > MOST_MICRO_BATCHES)
        {
            global.Fail(std::to_string(sequences) + ", which is " +
                            std::to_string(sequences / atOnce) + " micro-batches",
                        "at most " + std::to_string(MOST_MICRO_BATCHES) + " of them");
        }
        plan.microBatches = static_cast<uint32_t>(sequences / atOnce);
    }
    node.RefuseUnknownKeys();
}

void ReadPrecision(const YamlNode& node, TrainingPlan& plan)
{
    if (node.Has("parameters"))
    {
        plan.parameters = node.Get("parameters").Parse<DataType>(ParseDataType);
    }
    if (node.Has("gradients"))
    {
        plan.gradients = node.Get("gradients").Parse<DataType>(ParseDataType);
    }
    plan.matmul = plan.parameters == DataType::BF16   ? DataType::BF16
                  : plan.parameters == DataType::FP16 ? DataType::FP16
                                                      : DataType::TF32;
    if (node.Has("matmul"))
    {
        plan.matmul = node.Get("matmul").Parse<DataType>(ParseDataType);
    }
    const auto isNarrow = [&](const char* key, DataType narrow) {
        if (!node.Has(key) || node.Get(key).Parse<DataType>(ParseDataType) == plan.parameters)
        {
            return false;
        }
        if (node.Get(key).Parse<DataType>(ParseDataType) != narrow)
        {
            node.Get(key).Fail("'" + node.Get(key).AsString() + "'",
                               std::string("the parameters' ") + ToString(plan.parameters) +
                                   (narrow == plan.parameters
                                        ? ""
                                        : std::string(" (default) or ") + ToString(narrow)));
        }
        return true;
    };
    plan.narrowAttention = isNarrow("attention", DataType::FP8);
    plan.narrowOutput = isNarrow("output", plan.matmul);
    node.RefuseUnknownKeys();
}

/** none, selective, full, or a list of what is recomputed of each layer. */
void ReadRecomputation(const YamlNode& node, TrainingPlan& plan)
{
    plan.recomputeLayers = GetSize(node, "recompute_layers", 0);
    if (!node.Has("recompute") || !node.Get("recompute").IsSequence())
    {
        plan.recompute = GetChoice<RecomputeMode>(node,
                                                  "recompute",
                                                  plan.recompute,
                                                  {{"none", RecomputeMode::NONE},
                                                   {"selective", RecomputeMode::SELECTIVE},
                                                   {"full", RecomputeMode::FULL}});
        return;
    }
    const std::vector<std::pair<const char*, RecomputeModule>> words = {
        {"core_attn", RecomputeModule::ATTENTION_CORE},
        {"mla_up_proj", RecomputeModule::LATENT_EXPANSION},
        {"moe_act", RecomputeModule::EXPERT_ACTIVATION},
        {"layernorm", RecomputeModule::NORMS},
        {"mlp", RecomputeModule::FEED_FORWARD}};
    for (const YamlNode& entry : node.Get("recompute").GetEntries())
    {
        plan.recomputeModules.push_back(ReadWord(entry, words));
    }
    plan.recompute = plan.recomputeModules.empty() ? RecomputeMode::NONE : RecomputeMode::SELECTIVE;
}

/** @param plan what `parallel` says; where stages pass messages beside their work no host waits */
void ReadHost(const YamlNode& node, TrainingPlan& plan)
{
    const YamlNode host = node.Get("host");
    plan.host.kernel = host.GetTime("kernel", plan.host.kernel);
    if (host.Has("graphs"))
    {
        const std::vector<std::pair<const char*, GraphModule>> words = {
            {"attn", GraphModule::ATTENTION},
            {"moe_router", GraphModule::ROUTER},
            {"moe_preprocess", GraphModule::PREPROCESS}};
        for (const YamlNode& entry : host.Get("graphs").GetEntries())
        {
            plan.host.graphs.push_back(ReadWord(entry, words));
        }
        if (!plan.host.graphs.empty() && !plan.host.kernel.IsStrictlyPositive())
        {
            host.Get("graphs").Fail("graphs with kernel 0", "a host that takes time to issue one");
        }
    }
    plan.host.waitsForPeers = host.GetBool("waits_for_peers", plan.host.waitsForPeers);
    plan.host.waitsForKernels = host.GetBool("waits_for_kernels", plan.host.waitsForKernels);
    host.RefuseUnknownKeys();
    if (!plan.host.waitsForPeers)
    {
        return;
    }
    if (!node.Has("parallel") || !node.Get("parallel").Has("pp"))
    {
        host.Get("waits_for_peers").Fail("'true' without parallel.pp", "parallel.pp too");
    }
    if (plan.overlapPipeline && node.Get("parallel").Has("overlap_pipeline"))
    {
        host.Get("waits_for_peers").Fail("'true' beside parallel.overlap_pipeline", "one of them");
    }
}

/** A preset's window may be without a meaning, a written one may not. */
void RefuseIdleWindow(const YamlNode& model, const TrainingPlan& plan)
{
    const bool isFused = plan.attention != AttentionKernel::UNFUSED;
    if (model.Has("window") && plan.model.window > 0 && (!isFused || !plan.model.causal))
    {
        model.Get("window").Fail(
            std::to_string(plan.model.window) +
                (isFused ? " without a causal mask" : " with attention: unfused"),
            "it for fused attention under a causal mask");
    }
}

TrainingPlan ReadBlock(const YamlNode& node, uint32_t ranks)
{
    TrainingPlan plan;
    plan.model = ReadTransformerShape(node.Get("model"));
    if (node.Has("parallel"))
    {
        ReadParallel(node.Get("parallel"), ranks, plan);
    }
    else
    {
        plan.parallel.data = ranks;
    }
    ReadBatch(node.Get("batch"), plan);
    if (node.Has("precision"))
    {
        ReadPrecision(node.Get("precision"), plan);
    }
    ReadRecomputation(node, plan);
    plan.attention = GetChoice<AttentionKernel>(
        node,
        "attention",
        plan.parameters == DataType::FP32 ? AttentionKernel::UNFUSED : AttentionKernel::FLASH,
        {{"unfused", AttentionKernel::UNFUSED},
         {"flash", AttentionKernel::FLASH},
         {"flash1", AttentionKernel::FLASH1},
         {"cudnn", AttentionKernel::CUDNN}});
    RefuseIdleWindow(node.Get("model"), plan);
    plan.loss =
        GetChoice<LossKernel>(node,
                              "loss",
                              plan.loss,
                              {{"in-place", LossKernel::IN_PLACE}, {"eager", LossKernel::EAGER}});
    plan.fusedExperts = node.GetBool("fused_experts", plan.fusedExperts);
    if (node.Has("host"))
    {
        ReadHost(node, plan);
    }
    node.RefuseUnknownKeys();
    return plan;
}

} // namespace

Ptr<PipelineSchedule> ReadPipelineSchedule(const YamlNode& node)
{
    if (node.Has("schedule"))
    {
        return ReadSchedule(node.Get("schedule"));
    }
    return CreateObject<OneForwardOneBackwardSchedule>();
}

TrainingPlan ReadTrainingPlan(const YamlNode& node, uint32_t ranks)
{
    const TrainingPlan plan = ReadBlock(node, ranks);
    try
    {
        plan.Check();
        const ParallelLayout fits(plan.GetDegrees(), ranks);
    }
    catch (const InputError& error)
    {
        throw error.At(Locate(node, error.GetLocation().item));
    }
    return plan;
}

void CheckFormats(const YamlNode& node, const TrainingPlan& plan, const GpuSpec& gpu)
{
    const std::pair<const char*, DataType> formats[] = {
        {"precision.parameters", plan.parameters},
        {"precision.matmul", plan.matmul},
        {"precision.attention", plan.narrowAttention ? DataType::FP8 : plan.matmul}};
    for (const auto& [key, type] : formats)
    {
        // FP32 parameters may be multiplied in TF32 only.
        if (gpu.peakFlops.count(type) > 0 || (type != plan.matmul && type == DataType::FP32))
        {
            continue;
        }
        std::string known;
        for (const auto& [format, peak] : gpu.peakFlops)
        {
            known += std::string(known.empty() ? "" : ", ") + ToString(format);
        }
        throw InputError(Locate(node, key),
                         ToString(type),
                         known.empty() ? "a gpu with peak_tflops, unlike " + gpu.name
                                       : "what gpu " + gpu.name + " has peak_tflops of: " + known);
    }
}

WorkloadGraphPtr GenerateWorkload(const YamlNode& node, uint32_t ranks)
{
    return GenerateTransformer(ReadTrainingPlan(node, ranks), ranks);
}

} // namespace echo
} // namespace ns3
