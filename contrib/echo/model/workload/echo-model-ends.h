// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_MODEL_ENDS_H
#define ECHO_MODEL_ENDS_H

#include "echo-layer-operators.h"

namespace ns3
{
namespace echo
{

/**
 * The kernels and communications before the first layer and behind the last one: embedding, output
 * layer and loss, both split over the vocabulary (arXiv 1909.08053, section 3).
 */
class ModelEnds
{
  public:
    ModelEnds(StepEmitter& emitter, LayerOperators& layers);

    void EmbeddingForward();
    void EmbeddingBackward();
    /** Output layer and loss, once for each token that is predicted. */
    void HeadForward();
    void HeadBackward();
    /** Before and behind a layer that predicts a further token: its embedding joins. */
    void JoinForward();
    void JoinBackward();

  private:
    void Lookup();
    void LookupGradient();
    void LossForward();
    void LossBackward();
    /** A sum, or maximum, of one FP32 number a token over the parts of the vocabulary. */
    void ReduceLoss(const std::string& name);

    StepEmitter& m_emitter;
    const TrainingPlan& m_plan;
    LayerOperators& m_layers;
    double m_tokens;     //!< of a micro-batch
    double m_bytes;      //!< of an activation element
    double m_vocabulary; //!< this rank's part of it
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_MODEL_ENDS_H */
