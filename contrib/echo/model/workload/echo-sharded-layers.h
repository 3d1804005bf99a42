// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SHARDED_LAYERS_H
#define ECHO_SHARDED_LAYERS_H

#include "echo-stage-parameters.h"
#include "echo-step-emitter.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Parameters that are split over data ranks and gathered layer by layer, as PyTorch's
 * FullyShardedDataParallel does with one unit a layer and one for the rest (arXiv 2304.11277): a
 * layer is gathered while the one before it is computed, given up behind its forward pass (unless
 * the plan keeps it) and again behind its backward pass, where its gradients are reduced and
 * scattered beside the next layer's.
 */
class ShardedLayers
{
  public:
    explicit ShardedLayers(StepEmitter& emitter);

    /** @return whether the plan splits parameters */
    bool IsActive() const
    {
        return m_isActive;
    }

    /** A pass begins with embeddings and head, which stay until the backward pass ends. */
    void BeginForward();
    /** Layer @p layer is needed; the one behind it is fetched. */
    void BeforeForward(uint32_t layer);
    void AfterForward(uint32_t layer);
    void BeforeBackward(uint32_t layer);
    /** The gradients of layer @p layer are made. */
    void AfterBackward(uint32_t layer);
    /** Those of embeddings and head too: the micro-batch ends. */
    void EndBackward();
    /** Waits for the last reductions. */
    void Finish();

  private:
    void Fetch(uint32_t unit);
    void Need(uint32_t unit);
    void Release(uint32_t unit);
    void Reduce(uint32_t unit, const std::string& name);
    ParameterCount GetCount(uint32_t unit) const;

    StepEmitter& m_emitter;
    const TrainingPlan& m_plan;
    bool m_isActive;
    uint32_t m_rest;                   //!< the unit of embeddings and head: behind all layers
    std::vector<bool> m_isThere;       //!< by unit: gathered, or on its way
    std::vector<OperatorId> m_gathers; //!< by unit: what gathers its dense parameters
    std::vector<OperatorId> m_expertGathers;
    std::vector<OperatorId> m_reductions;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SHARDED_LAYERS_H */
