// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STAGE_PARAMETERS_H
#define ECHO_STAGE_PARAMETERS_H

#include "echo-training-plan.h"

#include "ns3/echo-gpu-spec.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** Parameters that one rank holds. */
struct ParameterCount
{
    uint64_t dense{0};    //!< the same on all data ranks
    uint64_t experts{0};  //!< the same on ranks that hold the same experts
    uint64_t sequence{0}; //!< of the dense ones: not split over tensor ranks, used on each rank's
                          //!< part of the sequence, so that their gradients are partial sums

    ParameterCount& operator+=(const ParameterCount& other);

    uint64_t GetTotal() const
    {
        return dense + experts;
    }
};

/** @return parameters of layer @p layer on one rank */
ParameterCount GetLayerParameters(const TrainingPlan& plan, uint32_t layer);
/** @return parameters of the layers of one part of the model on one rank */
ParameterCount GetPartParameters(const TrainingPlan& plan, uint32_t part);
/** @return parameters of the embeddings on a rank of @p stage */
ParameterCount GetEmbeddingParameters(const TrainingPlan& plan, uint32_t stage);
/** @return parameters of final norm and output matrix on a rank of @p stage */
ParameterCount GetHeadParameters(const TrainingPlan& plan, uint32_t stage);
/** @return all parameters of a rank of @p stage */
ParameterCount GetStageParameters(const TrainingPlan& plan, uint32_t stage);
/** @return parameters of the model, each counted once (vocabulary padded) */
double GetModelParameters(const TrainingPlan& plan);

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
 * Memory of a rank of @p stage. Activations after arXiv 2205.05198, sections 4 and 5 (its bytes for
 * 16-bit elements generalised to the plan's element size), for as many micro-batches as the
 * schedule keeps in flight. State that is split over data ranks counts with a rank's share; of
 * split parameters the largest layer and the one that is fetched ahead are there in full. Buffers
 * of the framework and of NCCL are not in it.
 */
MemoryEstimate EstimateMemory(const TrainingPlan& plan, uint32_t stage);

/** @return the fullest stage, and its memory */
std::pair<uint32_t, MemoryEstimate> EstimateLargestMemory(const TrainingPlan& plan);

/**
 * @return a sentence if the fullest stage needs more than @p gpu has, naming the parts; else empty
 */
std::string CheckMemory(const TrainingPlan& plan, const GpuSpec& gpu);

} // namespace echo
} // namespace ns3

#endif /* ECHO_STAGE_PARAMETERS_H */
