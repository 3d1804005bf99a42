// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MEMORY_ESTIMATE_H
#define ECHO_MEMORY_ESTIMATE_H

#include "echo-training-plan.h"

#include "ns3/echo-gpu-spec.h"

#include <cstdint>
#include <string>
#include <utility>

namespace ns3
{
namespace echo
{

/** What a rank's GPU memory holds at its fullest. */
struct MemoryEstimate
{
    uint64_t parameterBytes{0};
    uint64_t gradientBytes{0};
    uint64_t optimizerBytes{0};  //!< Adam: two FP32 moments, and FP32 masters of 16-bit parameters
    uint64_t activationBytes{0}; //!< of all micro-batches in flight

    uint64_t GetTotal() const
    {
        return parameterBytes + gradientBytes + optimizerBytes + activationBytes;
    }
};

/**
 * Memory of a rank of @p stage.
 *
 * Activations after arXiv 2205.05198, sections 4 and 5 (its bytes for 16-bit elements generalised
 * to the plan's element size), for as many micro-batches as the schedule keeps in flight; where
 * matrices are multiplied in a narrower format, their inputs are kept in it (Transformer Engine
 * keeps one copy, the transposed one where the GPU needs it). What is recomputed is there for one
 * layer at a time. The loss holds logits in the parameters' type and in FP32, or with
 * LossKernel::EAGER three times in FP32.
 *
 * Parameters of layers that are multiplied in FP8 count with a byte: that is the least of them that
 * frameworks hold (Megatron-Core's fp8_param_gather with one scale a tensor, where the GPU needs no
 * transposed copy). PyTorch's FSDP gathers 16 bits.
 *
 * State that is split over data ranks counts with a rank's share. Where parameters are split, that
 * share is the FP32 master that counts as optimizer state; the largest layer is there in full, and
 * so are embedding and output layer.
 *
 * Not in it: the layer that is fetched ahead and gradients on their way to be scattered, which a
 * framework can do in pieces; buffers of the framework, of NCCL and of cuBLAS, temporaries of the
 * backward pass, what an allocator cannot use for being in pieces. So it is a lower bound.
 */
MemoryEstimate EstimateMemory(const TrainingPlan& plan, uint32_t stage);

/** @return the fullest stage, and its memory */
std::pair<uint32_t, MemoryEstimate> EstimateLargestMemory(const TrainingPlan& plan);

/**
 * @return a sentence if the fullest stage needs more than @p gpu has, naming the parts and single
 *         changes of the plan by which it would fit; else empty
 */
std::string CheckMemory(const TrainingPlan& plan, const GpuSpec& gpu);

} // namespace echo
} // namespace ns3

#endif /* ECHO_MEMORY_ESTIMATE_H */
