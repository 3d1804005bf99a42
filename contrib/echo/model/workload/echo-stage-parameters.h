// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STAGE_PARAMETERS_H
#define ECHO_STAGE_PARAMETERS_H

#include "echo-training-plan.h"

#include <cstdint>

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

} // namespace echo
} // namespace ns3

#endif /* ECHO_STAGE_PARAMETERS_H */
