// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-operators.h"

namespace ns3
{
namespace echo
{

LayerOperators::LayerOperators(StepEmitter& emitter)
    : m_emitter(emitter),
      m_plan(emitter.GetPlan()),
      m_model(m_plan.model),
      m_masksApart(m_plan.parameters == DataType::FP32),
      m_splitSequence(m_plan.sequenceParallel && m_plan.parallel.tensor > 1),
      m_tokens(double(m_plan.GetTokens())),
      m_ownTokens(m_splitSequence ? m_tokens / m_plan.parallel.tensor : m_tokens),
      m_hidden(m_model.hidden),
      m_bytes(BytesOf(m_plan.parameters)),
      m_heads(double(m_plan.microBatch) * m_model.heads / m_plan.parallel.tensor),
      m_qkv(double(m_model.GetQkvSize()) / m_plan.parallel.tensor),
      m_attention(m_hidden / m_plan.parallel.tensor),
      m_ffnInput(double(m_model.GetFfnInputSize()) / m_plan.parallel.tensor),
      m_ffn(double(m_model.ffnHidden) / m_plan.parallel.tensor)
{
}

void LayerOperators::Forward(uint32_t layer)
{
    m_emitter.SetPrefix("layer " + std::to_string(layer) + " forward ");
    AttentionForward();
    FeedForwardForward();
}

void LayerOperators::Backward(uint32_t layer)
{
    const std::string name = "layer " + std::to_string(layer);
    if (m_plan.recompute == RecomputeMode::FULL)
    {
        m_emitter.SetPrefix(name + " recompute ");
        AttentionForward();
        FeedForwardForward();
    }
    m_emitter.SetPrefix(name + " backward ");
    FeedForwardBackward();
    AttentionBackward();
}

void LayerOperators::NormForward(const std::string& name)
{
    m_emitter.Memory(name, KernelKind::NORMALIZATION, m_ownTokens * m_hidden * 2 * m_bytes);
}

void LayerOperators::NormBackward(const std::string& name)
{
    // Input gradient: gradient and input read, one written; weight gradient: both read again.
    m_emitter.Memory(name, KernelKind::NORMALIZATION, m_ownTokens * m_hidden * 5 * m_bytes);
}

void LayerOperators::ReduceHidden(const std::string& name)
{
    m_emitter.Collective(name,
                         LayoutGroup::TENSOR,
                         m_splitSequence ? CollectiveKind::REDUCE_SCATTER
                                         : CollectiveKind::ALL_REDUCE,
                         GetHiddenBytes(),
                         m_plan.parameters);
}

void LayerOperators::GatherHidden(const std::string& name)
{
    if (m_splitSequence)
    {
        m_emitter.Collective(name,
                             LayoutGroup::TENSOR,
                             CollectiveKind::ALL_GATHER,
                             GetHiddenBytes(),
                             m_plan.parameters);
    }
}

void LayerOperators::ColumnForward(const std::string& name, double columns)
{
    GatherHidden(name + " input all-gather");
    m_emitter.Gemm(name, m_tokens, columns, m_hidden);
}

void LayerOperators::ColumnBackward(const std::string& name, double columns)
{
    // The input was kept split: it is gathered again beside the input gradient, for the weights'.
    OperatorId gather;
    if (m_splitSequence)
    {
        gather = m_emitter.CollectiveAsync(name + " input all-gather",
                                           LayoutGroup::TENSOR,
                                           CollectiveKind::ALL_GATHER,
                                           GetHiddenBytes(),
                                           m_plan.parameters);
    }
    m_emitter.Gemm(name + " input gradient", m_tokens, m_hidden, columns);
    m_emitter.WaitFor(gather);
    const OperatorId reduce = m_emitter.CollectiveAsync(
        name + (m_splitSequence ? " input gradient reduce-scatter" : " input gradient all-reduce"),
        LayoutGroup::TENSOR,
        m_splitSequence ? CollectiveKind::REDUCE_SCATTER : CollectiveKind::ALL_REDUCE,
        GetHiddenBytes(),
        m_plan.parameters);
    m_emitter.Gemm(name + " weight gradient", m_hidden, columns, m_tokens, 1, true);
    m_emitter.WaitFor(reduce);
}

void LayerOperators::RowForward(const std::string& name, double inner)
{
    m_emitter.Gemm(name, m_tokens, m_hidden, inner);
    ReduceHidden(name + (m_splitSequence ? " reduce-scatter" : " all-reduce"));
}

void LayerOperators::RowBackward(const std::string& name, double inner)
{
    GatherHidden(name + " output gradient all-gather");
    m_emitter.Gemm(name + " input gradient", m_tokens, inner, m_hidden);
    m_emitter.Gemm(name + " weight gradient", inner, m_hidden, m_tokens, 1, true);
}

void LayerOperators::ResidualForward(const std::string& name)
{
    // Bias, dropout and addition are one kernel: block output and residual read, sum written, and
    // the dropout's mask of one byte.
    m_emitter.Memory(name,
                     KernelKind::ELEMENTWISE,
                     m_ownTokens * m_hidden * (3 * m_bytes + (m_model.dropout ? 1 : 0)));
}

void LayerOperators::ResidualBackward(const std::string& name)
{
    // The addition passes its gradient on; dropout applies its mask, the bias sums over tokens.
    const double bytes = (m_model.dropout ? 2 * m_bytes + 1 : 0) + (m_model.biases ? m_bytes : 0);
    if (bytes > 0)
    {
        m_emitter.Memory(name, KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * bytes);
    }
}

void LayerOperators::AttentionForward()
{
    NormForward("attention norm");
    ColumnForward("query-key-value", m_qkv);
    if (!m_model.learnedPositions)
    {
        m_emitter.Memory("rotary", KernelKind::ELEMENTWISE, m_tokens * m_qkv * 2 * m_bytes);
    }
    AttentionCoreForward();
    RowForward("projection", m_attention);
    ResidualForward("attention residual");
}

void LayerOperators::AttentionBackward()
{
    ResidualBackward("attention residual");
    RowBackward("projection", m_attention);
    if (m_plan.recompute == RecomputeMode::SELECTIVE)
    {
        const std::string prefix = m_emitter.GetPrefix();
        m_emitter.SetPrefix(prefix + "recompute ");
        AttentionCoreForward();
        m_emitter.SetPrefix(prefix);
    }
    AttentionCoreBackward();
    if (!m_model.learnedPositions)
    {
        m_emitter.Memory("rotary", KernelKind::ELEMENTWISE, m_tokens * m_qkv * 2 * m_bytes);
    }
    ColumnBackward("query-key-value", m_qkv);
    NormBackward("attention norm");
    m_emitter.Memory(
        "attention residual sum", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 3 * m_bytes);
}

void LayerOperators::AttentionCoreForward()
{
    const double sequence = m_model.sequence;
    const double size = m_model.GetHeadSize();
    const double scores = m_heads * sequence * sequence;
    if (m_plan.attention == AttentionKernel::FLASH)
    {
        // The causal half of two products; queries, keys and values read, outputs written.
        m_emitter.Kernel("attention",
                         KernelKind::ATTENTION,
                         2 * scores * size,
                         m_tokens * (m_qkv + m_attention) * m_bytes);
        return;
    }
    m_emitter.Gemm("attention scores", sequence, sequence, size, m_heads);
    if (m_masksApart)
    {
        m_emitter.Memory("attention mask", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    }
    m_emitter.Memory("attention softmax", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    if (m_model.dropout)
    {
        m_emitter.Memory("attention dropout", KernelKind::ELEMENTWISE, scores * (2 * m_bytes + 1));
    }
    m_emitter.Gemm("attention context", sequence, size, sequence, m_heads);
}

void LayerOperators::AttentionCoreBackward()
{
    const double sequence = m_model.sequence;
    const double size = m_model.GetHeadSize();
    const double scores = m_heads * sequence * sequence;
    if (m_plan.attention == AttentionKernel::FLASH)
    {
        // Five products instead of two: the scores are computed again (arXiv 2307.08691).
        m_emitter.Kernel("attention",
                         KernelKind::ATTENTION,
                         5 * scores * size,
                         m_tokens * (2 * m_qkv + 2 * m_attention) * m_bytes);
        return;
    }
    m_emitter.Gemm("attention context scores", sequence, sequence, size, m_heads);
    m_emitter.Gemm("attention context values", sequence, size, sequence, m_heads);
    if (m_model.dropout)
    {
        m_emitter.Memory("attention dropout", KernelKind::ELEMENTWISE, scores * (2 * m_bytes + 1));
    }
    m_emitter.Memory("attention softmax", KernelKind::ELEMENTWISE, scores * 3 * m_bytes);
    if (m_masksApart)
    {
        m_emitter.Memory("attention mask", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    }
    m_emitter.Gemm("attention scores queries", sequence, size, sequence, m_heads);
    m_emitter.Gemm("attention scores keys", sequence, size, sequence, m_heads);
}

} // namespace echo
} // namespace ns3
