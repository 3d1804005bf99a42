// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GRADIENT_OPERATORS_H
#define ECHO_GRADIENT_OPERATORS_H

#include "echo-stage-parameters.h"
#include "echo-step-emitter.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * What a rank does with its gradients: reduce them over the data ranks (all-reduce, or
 * reduce-scatter with the distributed optimizer), add the partial sums of sequence parallelism and
 * of the shared embedding, clip, and update the parameters. In the order of Megatron-Core's
 * finalize_model_grads and its optimizer.
 */
class GradientOperators
{
  public:
    GradientOperators(StepEmitter& emitter, uint32_t stage);

    /** Clears the gradients at the start of the step, and starts to gather parameters. */
    void Start();
    /** The first forward pass of the stage's @p position-th layer needs its parameters. */
    void WaitForParameters(uint32_t position);
    /**
     * Tells that a backward pass has made the gradients of @p count. With overlap a bucket that is
     * full is reduced at once.
     */
    void Ready(const ParameterCount& count);
    /** Reduces what is ready. */
    void Flush();
    /** Everything after the last backward pass. */
    void Finish();

  private:
    /** Gradients that are reduced together. */
    struct Bucket
    {
        LayoutGroup group{LayoutGroup::DATA};
        uint64_t elements{0};
    };

    void Reduce(LayoutGroup group, uint64_t elements);
    void GatherParameters();
    /** @return parameters whose gradients this rank holds in full */
    uint64_t GetHeld() const;
    /** @return parameters that this rank updates where that is split */
    uint64_t GetOwned() const;
    void SumPartialGradients();
    void Clip();
    void Update();

    StepEmitter& m_emitter;
    const TrainingPlan& m_plan;
    uint32_t m_stage;
    ParameterCount m_parameters;
    uint64_t m_bucketElements;               //!< size at which a bucket is reduced
    ParameterCount m_open;                   //!< ready, but not yet reduced
    std::vector<Bucket> m_reduced;           //!< in order
    std::vector<OperatorId> m_reductions;    //!< of all micro-batches
    std::vector<OperatorId> m_gathers;       //!< of each layer of the stage's dense parameters
    std::vector<OperatorId> m_expertGathers; //!< of each layer of the stage's experts
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_GRADIENT_OPERATORS_H */
