// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAINING_PLAN_H
#define ECHO_TRAINING_PLAN_H

#include "echo-kernel.h"
#include "echo-parallel-layout.h"
#include "echo-pipeline-schedule.h"
#include "echo-transformer-shape.h"

#include "ns3/echo-enums.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What the backward pass computes again instead of keeping it. */
enum class RecomputeMode : uint8_t
{
    NONE,
    SELECTIVE, //!< some parts of each layer, the attention core if none is named
    FULL,      //!< each layer from its input
};

/** Parts of a layer that can be recomputed alone (Megatron-Core's recompute_modules). */
enum class RecomputeModule : uint8_t
{
    ATTENTION_CORE,    //!< core_attn (arXiv 2205.05198)
    LATENT_EXPANSION,  //!< mla_up_proj: queries, keys and values from what latent attention keeps
    EXPERT_ACTIVATION, //!< moe_act: the experts' activation
    NORMS,             //!< layernorm: both norms
    FEED_FORWARD,      //!< mlp: the feed-forward block of layers without experts
};

/** How queries meet keys and values. */
enum class AttentionKernel : uint8_t
{
    UNFUSED, //!< two batched matrix multiplications with a softmax between, over all positions
    FLASH, //!< one fused kernel that skips what the mask hides: FlashAttention-2 (arXiv 2307.08691)
    FLASH1, //!< the first FlashAttention (arXiv 2205.14135) and its Triton version
    CUDNN,  //!< the same, of cuDNN or FlashAttention-3, made for the GPU's generation
};

/** How the loss is made of a rank's logits. */
enum class LossKernel : uint8_t
{
    IN_PLACE, //!< softmax and gradient in one FP32 copy (Megatron-Core's
              //!< vocab_parallel_cross_entropy)
    EAGER, //!< PyTorch's operations one by one: log-probabilities, their gradient and that of the
           //!< logits, all in FP32
};

/** What of a rank's state is split over the ranks that hold the same parameters. */
enum class StateSharding : uint8_t
{
    NONE,
    OPTIMIZER,  //!< optimizer state: ZeRO-1, Megatron's distributed optimizer
    GRADIENTS,  //!< gradients too, reduced at every micro-batch: ZeRO-2
    PARAMETERS, //!< parameters too, gathered layer by layer: ZeRO-3, FSDP (arXiv 2304.11277)
};

/** How tokens that are split over context ranks see each other's keys and values. */
enum class ContextExchange : uint8_t
{
    RING,           //!< passed on in a ring beside attention on the part at hand (arXiv 2310.01889)
    ALL_GATHER,     //!< gathered before attention (arXiv 2407.21783, 3.3.2)
    GATHERED_PARTS, //!< gathered beside attention on the own part, the others taken one at a time
    ALL_TO_ALL,     //!< every rank gets the whole sequence for its share of the heads
                    //!< (arXiv 2309.14509)
};

/** Parts of a layer that a CUDA graph holds (Megatron-Core's cuda_graph_scope). */
enum class GraphModule : uint8_t
{
    ATTENTION,  //!< attn: from the norm before attention to the sum behind it
    ROUTER,     //!< moe_router: the norm before the experts and the router
    PREPROCESS, //!< moe_preprocess: what comes between the router and the travelling of tokens
};

/** How the host issues kernels. */
struct HostLaunch
{
    Time kernel;                     //!< host time to issue one kernel; zero: never in the way
    std::vector<GraphModule> graphs; //!< whose kernels are issued by one launch; parts that follow
                                     //!< each other by one together
    bool waitsForPeers{false};       //!< the host waits for every message between stages
    bool waitsForKernels{false}; //!< the host is one kernel ahead at most: it issues the next one
                                 //!< while one runs, and waits until that one is over
};

/** Everything that a generated training step depends on. */
struct TrainingPlan
{
    TransformerShape model;
    ParallelDegrees parallel;
    bool sequenceParallel{false}; //!< norms and dropouts split over tensor ranks (arXiv 2205.05198)
    Ptr<PipelineSchedule> schedule;   //!< null: 1F1B, interleaved with several chunks
    uint32_t chunks{1};               //!< parts of the model on a stage (virtual stages)
    uint32_t firstStageLayers{0};     //!< 0: as every other stage
    uint32_t lastStageLayers{0};      //!< 0: as every other stage
    bool embeddingIsLayer{false};     //!< embedding and head count as a layer each in an even split
    std::vector<uint32_t> partLayers; //!< layers of each part of the model; empty: as above
    bool overlapPipeline{false};      //!< messages between stages beside passes
    bool splitMessages{false};        //!< each tensor rank sends its share, gathered again behind
    StateSharding sharding{StateSharding::NONE};
    bool reshardAfterForward{true}; //!< PARAMETERS: given up between forward and backward pass
    bool overlapGradients{false};   //!< reduce gradients in buckets beside the last backward
    bool overlapParameters{false};  //!< gather parameters beside the first forward passes
    bool overlapReduction{true};    //!< input gradients over tensor ranks beside weight gradients
    bool overlapTensor{false};      //!< tensor-parallel communication beside its matrix product
    bool overlapExperts{false};     //!< tokens travel beside the experts that all visit
    bool delayWeights{false};       //!< where passes run in pairs: weight gradients of experts are
                                    //!< made while their tokens travel
    uint64_t bucketElements{0};     //!< 0: max(40e6, 1e6 * data degree), as Megatron-Core
    bool clipGradients{true};       //!< a global gradient norm before the optimizer
    ContextExchange contextExchange{ContextExchange::RING};
    bool balanceContext{true}; //!< context ranks have equal work under a causal mask: the first
                               //!< and the last piece that is left; else consecutive tokens
    std::vector<double> expertLoad; //!< share of tokens of each expert rank; empty: equal
    uint32_t dispatchDomain{0};     //!< ranks among which a token travels once; 0: no such
    RecomputeMode recompute{RecomputeMode::NONE};
    uint32_t recomputeLayers{0};                   //!< of each part, with FULL; 0: all
    std::vector<RecomputeModule> recomputeModules; //!< with SELECTIVE; empty: the attention core
    AttentionKernel attention{AttentionKernel::UNFUSED};
    bool narrowAttention{false}; //!< fused attention in FP8, behind casts of its inputs
    bool narrowOutput{false};    //!< the output layer in the format of the others
    LossKernel loss{LossKernel::IN_PLACE};
    bool fusedExperts{false}; //!< activation and casts of experts inside their matrix products
    HostLaunch host;
    uint32_t microBatch{1};   //!< sequences a micro-batch and data rank
    uint32_t microBatches{1}; //!< micro-batches a step and data rank
    DataType parameters{DataType::FP32};
    DataType gradients{DataType::FP32};
    DataType matmul{DataType::TF32}; //!< format in which matrices of layers are multiplied

    /**
     * Refuses plans that cannot run, with the key of the generator's block as item.
     * @throws InputError heads or vocabulary that the tensor degree does not divide, layers that
     *         the stages do not divide, experts that the expert degree does not divide, ...
     * Whether the degrees fit each other and the ranks, ParallelLayout checks.
     */
    void Check() const;

    /** @return parts into which the pipeline cuts the model */
    uint32_t GetParts() const
    {
        return GetPipelineShape().GetParts();
    }

    PipelineShape GetPipelineShape() const
    {
        return {parallel.pipeline,
                chunks,
                microBatches,
                schedule ? schedule->GetPlacement() : PartPlacement::LOOP};
    }

    /** @return whether every part of the model is on two stages (DualPipe) */
    bool HoldsTwice() const
    {
        return GetPipelineShape().placement == PartPlacement::BOTH;
    }

    /** @return the degrees, with what the schedule says of stages that hold the same */
    ParallelDegrees GetDegrees() const
    {
        ParallelDegrees degrees = parallel;
        degrees.isMirrored = HoldsTwice();
        return degrees;
    }

    /** @return the parts of the model on @p stage, in the model's order */
    std::vector<uint32_t> GetStageParts(uint32_t stage) const;

    /** @return whether a rank of @p stage holds part @p part of the model */
    bool HoldsPart(uint32_t stage, uint32_t part) const;

    /** @return elements of a bucket where none are set, as Megatron-Core takes them */
    uint64_t GetDefaultBucketElements() const
    {
        return std::max<uint64_t>(40000000, 1000000 * uint64_t(parallel.data));
    }

    /** @return the schedule, the default one if none is set */
    Ptr<const PipelineSchedule> GetSchedule() const;
    /** @return layers of a part of the model */
    uint32_t GetPartLayers(uint32_t part) const;
    /** @return layers that run in a part, those that predict further tokens too */
    uint32_t GetPartSize(uint32_t part) const
    {
        return GetPartLayers(part) + (part + 1 == GetParts() ? model.mtpLayers : 0);
    }

    /** @return index of a part's first layer */
    uint32_t GetFirstLayerOfPart(uint32_t part) const;
    /** @return layers of a pipeline stage */
    uint32_t GetStageLayers(uint32_t stage) const;
    /** @return index of a stage's first layer */
    uint32_t GetFirstLayer(uint32_t stage) const
    {
        return GetFirstLayerOfPart(stage);
    }

    /** @return tokens of a micro-batch on one rank (its part with context parallelism) */
    uint64_t GetTokens() const
    {
        return uint64_t(microBatch) * model.sequence / parallel.context;
    }

    /** @return whether optimizer state is split over data ranks */
    bool SplitsOptimizer() const
    {
        return sharding != StateSharding::NONE;
    }

    /** @return the ranks that split what the ranks of @p data (DATA or EXPERT_DATA) hold */
    LayoutGroup GetShardGroup(LayoutGroup data) const
    {
        return parallel.replicas == 1      ? data
               : data == LayoutGroup::DATA ? LayoutGroup::SHARD
                                           : LayoutGroup::EXPERT_SHARD;
    }

    /** @return whether the backward pass makes @p module again */
    bool Recomputes(RecomputeModule module) const
    {
        const auto& modules = recomputeModules;
        return recompute == RecomputeMode::SELECTIVE &&
               (modules.empty()
                    ? module == RecomputeModule::ATTENTION_CORE
                    : std::find(modules.begin(), modules.end(), module) != modules.end());
    }

    /** @return whether matrices are multiplied in a format narrower than the parameters' */
    bool CastsInputs() const
    {
        return parameters != DataType::FP32 && matmul != parameters;
    }

    /** @return vocabulary rounded up to a multiple of its grain times the tensor degree, as
     * Megatron pads it (128 * tensor degree) */
    uint64_t GetPaddedVocabulary() const;
    /** @return whether the last stage holds a copy of the first stage's word embedding */
    bool SharesEmbedding() const
    {
        return (model.tiedEmbeddings || model.mtpLayers > 0) && parallel.pipeline > 1 &&
               !HoldsPart(0, GetParts() - 1);
    }

    /**
     * Matrix-multiplication operations of one step over all ranks, recomputation included; for GPT
     * with unfused attention it equals the closed form of arXiv 2104.04473, section 5.1,
     * 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)) with full recomputation and
     * 72 B s l h^2 (1 + s / (6 h) + V / (12 l h)) without.
     */
    double GetStepFlops() const;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAINING_PLAN_H */
