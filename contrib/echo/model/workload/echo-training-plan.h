// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAINING_PLAN_H
#define ECHO_TRAINING_PLAN_H

#include "echo-kernel.h"
#include "echo-parallel-layout.h"
#include "echo-transformer-shape.h"

#include "ns3/echo-enums.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** Order of forward and backward passes of the micro-batches in a pipeline. */
enum class PipelineScheduleKind : uint8_t
{
    GPIPE,                    //!< all forwards, then all backwards (arXiv 1811.06965)
    ONE_FORWARD_ONE_BACKWARD, //!< 1F1B as Megatron-Core's non-interleaved schedule
};

/** What the backward pass computes again instead of keeping it. */
enum class RecomputeMode : uint8_t
{
    NONE,
    SELECTIVE, //!< the attention core (arXiv 2205.05198)
    FULL,      //!< each layer from its input
};

/** How queries meet keys and values. */
enum class AttentionKernel : uint8_t
{
    UNFUSED, //!< two batched matrix multiplications with a softmax between, over all positions
    FLASH,   //!< one fused kernel that skips what the causal mask hides (arXiv 2307.08691)
};

/** Everything that a generated training step depends on. */
struct TrainingPlan
{
    TransformerShape model;
    ParallelDegrees parallel;
    bool sequenceParallel{false}; //!< norms and dropouts split over tensor ranks (arXiv 2205.05198)
    PipelineScheduleKind schedule{PipelineScheduleKind::ONE_FORWARD_ONE_BACKWARD};
    uint32_t firstStageLayers{0};     //!< 0: as every other stage
    uint32_t lastStageLayers{0};      //!< 0: as every other stage
    bool distributedOptimizer{false}; //!< optimizer state split over data ranks
    bool overlapGradients{false};     //!< reduce gradients in buckets beside the last backward
    uint64_t bucketElements{0};       //!< 0: max(40e6, 1e6 * data degree), as Megatron-Core
    bool clipGradients{true};         //!< a global gradient norm before the optimizer
    RecomputeMode recompute{RecomputeMode::NONE};
    AttentionKernel attention{AttentionKernel::UNFUSED};
    uint32_t microBatch{1};   //!< sequences a micro-batch and data rank
    uint32_t microBatches{1}; //!< micro-batches a step and data rank
    DataType parameters{DataType::FP32};
    DataType gradients{DataType::FP32};
    DataType matmul{DataType::TF32}; //!< format in which matrices are multiplied

    /**
     * Refuses plans that cannot run, with the key of the generator's block as item.
     * @throws InputError heads or vocabulary that the tensor degree does not divide, layers that
     *         the stages do not divide, experts that the expert degree does not divide, ...
     * Whether the degrees fit each other and the ranks, ParallelLayout checks.
     * @throws UnsupportedError for context parallelism
     */
    void Check() const;

    /** @return layers of a pipeline stage */
    uint32_t GetStageLayers(uint32_t stage) const;
    /** @return index of a stage's first layer */
    uint32_t GetFirstLayer(uint32_t stage) const;
    /** @return tokens of a micro-batch */
    uint64_t GetTokens() const
    {
        return uint64_t(microBatch) * model.sequence;
    }

    /** @return vocabulary rounded up to a multiple of 128 * tensor degree, as Megatron pads it */
    uint64_t GetPaddedVocabulary() const;
    /** @return whether the last stage holds a copy of the first stage's word embedding */
    bool SharesEmbedding() const
    {
        return model.tiedEmbeddings && parallel.pipeline > 1;
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
