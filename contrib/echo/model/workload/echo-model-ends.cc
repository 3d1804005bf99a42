// SPDX-License-Identifier: GPL-2.0-only
#include "echo-model-ends.h"

namespace ns3
{
namespace echo
{

ModelEnds::ModelEnds(StepEmitter& emitter, LayerOperators& layers)
    : m_emitter(emitter),
      m_plan(emitter.GetPlan()),
      m_layers(layers),
      m_tokens(double(m_plan.GetTokens())),
      m_bytes(BytesOf(m_plan.parameters)),
      m_vocabulary(double(m_plan.GetPaddedVocabulary() / m_plan.parallel.tensor))
{
}

void ModelEnds::EmbeddingForward()
{
    m_emitter.SetPrefix("embedding forward ");
    Lookup();
    if (m_plan.model.learnedPositions || m_plan.model.dropout)
    {
        m_emitter.Memory("positions",
                         KernelKind::ELEMENTWISE,
                         m_layers.GetOwnTokens() * m_plan.model.hidden * (3 * m_bytes + 1));
    }
    m_emitter.EndUnit();
}

void ModelEnds::EmbeddingBackward()
{
    m_emitter.SetPrefix("embedding backward ");
    if (m_plan.model.learnedPositions || m_plan.model.dropout)
    {
        m_emitter.Memory("positions",
                         KernelKind::ELEMENTWISE,
                         m_layers.GetOwnTokens() * m_plan.model.hidden * (3 * m_bytes + 1));
    }
    LookupGradient();
    m_emitter.EndUnit();
}

void ModelEnds::Lookup()
{
    m_emitter.Memory("lookup", KernelKind::EMBEDDING, m_tokens * m_plan.model.hidden * 2 * m_bytes);
    m_layers.ReduceHidden("reduce");
}

void ModelEnds::LookupGradient()
{
    m_layers.GatherHidden("gather");
    m_emitter.Memory("lookup",
                     KernelKind::EMBEDDING,
                     m_tokens * m_plan.model.hidden * (m_bytes + 2.0 * BytesOf(m_plan.gradients)));
}

void ModelEnds::JoinForward()
{
    m_emitter.SetPrefix("further token forward ");
    Lookup();
    m_layers.JoinForward();
}

void ModelEnds::JoinBackward()
{
    m_emitter.SetPrefix("further token backward ");
    m_layers.JoinBackward();
    LookupGradient();
}

void ModelEnds::ReduceLoss(const std::string& name)
{
    m_emitter.Collective(name,
                         LayoutGroup::TENSOR,
                         CollectiveKind::ALL_REDUCE,
                         m_plan.GetTokens() * 4,
                         DataType::FP32);
}

void ModelEnds::HeadForward()
{
    for (uint32_t token = 0; token <= m_plan.model.mtpLayers; ++token)
    {
        m_emitter.SetPrefix(token == 0 ? "head forward " : "further head forward ");
        LossForward();
        m_emitter.EndUnit();
    }
}

void ModelEnds::LossForward()
{
    m_layers.NormForward("norm");
    m_layers.ColumnForward("logits", m_vocabulary, true);
    const double logits = m_tokens * m_vocabulary; // in FP32 from here on
    m_emitter.Memory("loss maximum", KernelKind::ELEMENTWISE, logits * (m_bytes + 4 + 4));
    ReduceLoss("loss maximum all-reduce");
    m_emitter.Memory("loss shift", KernelKind::ELEMENTWISE, logits * 2 * 4);
    ReduceLoss("loss target all-reduce");
    m_emitter.Memory("loss exponentials", KernelKind::ELEMENTWISE, logits * 3 * 4);
    ReduceLoss("loss sum all-reduce");
    m_emitter.Memory("loss softmax", KernelKind::ELEMENTWISE, logits * 2 * 4);
}

void ModelEnds::HeadBackward()
{
    for (uint32_t token = m_plan.model.mtpLayers + 1; token-- > 0;)
    {
        m_emitter.SetPrefix(token == 0 ? "head backward " : "further head backward ");
        LossBackward();
        m_emitter.EndUnit();
    }
}

void ModelEnds::LossBackward()
{
    const bool isEager = m_plan.loss == LossKernel::EAGER; // the gradient of log-probabilities too
    m_emitter.Memory("loss",
                     KernelKind::ELEMENTWISE,
                     m_tokens * m_vocabulary * ((isEager ? 5 : 2) * 4 + m_bytes));
    m_layers.ColumnBackward("logits", m_vocabulary, true);
    m_layers.NormBackward("norm");
}

} // namespace echo
} // namespace ns3
