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
    /** The first lookup in the embedding needs it. */
    void WaitForEmbedding()
    {
        WaitFor(m_embeddingGather);
    }

    /** The first use of final norm, output matrix, or the last stage's copy of the embedding. */
    void WaitForHead()
    {
        WaitFor(m_headGather);
    }

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

    /** Of a bucket of parameters; invalid where nothing is gathered. */
    struct Gathering
    {
        OperatorId dense;
        OperatorId experts;
    };

    void Reduce(LayoutGroup group, uint64_t elements);
    Gathering Gather(const ParameterCount& count);
    void GatherParameters();
    void WaitFor(const Gathering& gathering);
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
    uint64_t m_bucketElements;            //!< size at which a bucket is reduced
    ParameterCount m_open;                //!< ready, but not yet reduced
    std::vector<Bucket> m_reduced;        //!< in order
    std::vector<OperatorId> m_reductions; //!< of all micro-batches
    std::vector<Gathering> m_gathers;     //!< of each layer of the stage
    Gathering m_embeddingGather;
    Gathering m_headGather;
    uint32_t m_buckets{0}; //!< of parameters, gathered
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_GRADIENT_OPERATORS_H */
