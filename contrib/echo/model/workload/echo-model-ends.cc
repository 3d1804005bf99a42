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
    m_emitter.Memory("lookup", KernelKind::EMBEDDING, m_tokens * m_plan.model.hidden * 2 * m_bytes);
    m_layers.ReduceHidden("reduce");
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
    m_layers.GatherHidden("gather");
    m_emitter.Memory("lookup",
                     KernelKind::EMBEDDING,
                     m_tokens * m_plan.model.hidden * (m_bytes + 2.0 * BytesOf(m_plan.gradients)));
    m_emitter.EndUnit();
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
    const double logits = m_tokens * m_vocabulary; // in FP32 from here on
    m_emitter.SetPrefix("head forward ");
    m_layers.NormForward("norm");
    m_layers.ColumnForward("logits", m_vocabulary, true);
    m_emitter.Memory("loss maximum", KernelKind::ELEMENTWISE, logits * (m_bytes + 4 + 4));
    ReduceLoss("loss maximum all-reduce");
    m_emitter.Memory("loss shift", KernelKind::ELEMENTWISE, logits * 2 * 4);
    ReduceLoss("loss target all-reduce");
    m_emitter.Memory("loss exponentials", KernelKind::ELEMENTWISE, logits * 3 * 4);
    ReduceLoss("loss sum all-reduce");
    m_emitter.Memory("loss softmax", KernelKind::ELEMENTWISE, logits * 2 * 4);
    m_emitter.EndUnit();
}

void ModelEnds::HeadBackward()
{
    m_emitter.SetPrefix("head backward ");
    m_emitter.Memory("loss", KernelKind::ELEMENTWISE, m_tokens * m_vocabulary * (2 * 4 + m_bytes));
    m_layers.ColumnBackward("logits", m_vocabulary, true);
    m_layers.NormBackward("norm");
    m_emitter.EndUnit();
}

} // namespace echo
} // namespace ns3
