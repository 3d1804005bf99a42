// SPDX-License-Identifier: GPL-2.0-only
// The feed-forward half of LayerOperators: dense, or a mixture of experts.

#include "echo-layer-operators.h"

namespace ns3
{
namespace echo
{

void LayerOperators::FeedForwardForward()
{
    NormForward("feed-forward norm");
    if (m_model.experts > 0)
    {
        ExpertsForward();
    }
    else
    {
        ColumnForward("feed-forward 1", m_ffnInput);
        ActivationForward(m_tokens);
        RowForward("feed-forward 2", m_ffn);
    }
    ResidualForward("feed-forward residual");
}

void LayerOperators::FeedForwardBackward()
{
    ResidualBackward("feed-forward residual");
    if (m_model.experts > 0)
    {
        ExpertsBackward();
    }
    else
    {
        RowBackward("feed-forward 2", m_ffn);
        ActivationBackward(m_tokens);
        ColumnBackward("feed-forward 1", m_ffnInput);
    }
    NormBackward("feed-forward norm");
    m_emitter.Memory(
        "feed-forward residual sum", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 3 * m_bytes);
}

void LayerOperators::ActivationForward(double tokens)
{
    m_emitter.Memory(
        "activation", KernelKind::ELEMENTWISE, tokens * (m_ffnInput + m_ffn) * m_bytes);
}

void LayerOperators::ActivationBackward(double tokens)
{
    // Output gradient and input read, input gradient written; the bias sums it over tokens.
    const double passes = m_ffn + 2 * m_ffnInput + (m_model.biases ? m_ffnInput : 0);
    m_emitter.Memory("activation", KernelKind::ELEMENTWISE, tokens * passes * m_bytes);
}

/**
 * One grouped matrix product over the experts of this rank: together they get as many rows as this
 * rank has tokens times experts a token, and all their weights are read.
 */
void LayerOperators::Experts(const std::string& name,
                             double rows,
                             double columns,
                             bool isWeightGradient)
{
    const double experts = double(m_model.experts) / m_plan.parallel.expert;
    const double inner = m_hidden;
    const double weights = experts * inner * columns;
    const double bytes = rows * (inner + columns) * m_bytes +
                         weights * (isWeightGradient ? 2.0 * BytesOf(m_plan.gradients) : m_bytes);
    m_emitter.Kernel(name, KernelKind::GEMM, 2 * rows * inner * columns, bytes);
}

void LayerOperators::ExpertCollective(const std::string& name,
                                      LayoutGroup group,
                                      CollectiveKind kind)
{
    const double parts = group == LayoutGroup::TENSOR ? m_plan.parallel.tensor : 1;
    const double elements = m_model.topK * m_ownTokens * parts * m_hidden;
    m_emitter.Collective(
        name, group, kind, static_cast<uint64_t>(elements * m_bytes), m_plan.parameters);
}

// Tokens go to the ranks that hold their experts and come back (all-to-all over the expert group,
// balanced routing). With tensor parallelism each rank routes its own part of the sequence; the
// parts are gathered around the experts, whose matrices are split (Megatron-Core's all-to-all token
// dispatcher).

void LayerOperators::ExpertsForward()
{
    const double routed = m_model.topK * m_ownTokens;
    const double rows = m_model.topK * m_tokens;
    m_emitter.Gemm("router", m_ownTokens, m_model.experts, m_hidden);
    m_emitter.Memory("permute",
                     KernelKind::ELEMENTWISE,
                     m_ownTokens * m_model.experts * 2 * sizeof(float) +
                         routed * m_hidden * 2 * m_bytes);
    ExpertCollective("dispatch all-to-all", LayoutGroup::EXPERT, CollectiveKind::ALL_TO_ALL);
    ExpertCollective("experts all-gather", LayoutGroup::TENSOR, CollectiveKind::ALL_GATHER);
    Experts("experts 1", rows, m_ffnInput, false);
    ActivationForward(rows);
    Experts("experts 2", rows, m_ffn, false);
    ExpertCollective("experts reduce-scatter", LayoutGroup::TENSOR, CollectiveKind::REDUCE_SCATTER);
    ExpertCollective("combine all-to-all", LayoutGroup::EXPERT, CollectiveKind::ALL_TO_ALL);
    m_emitter.Memory(
        "unpermute", KernelKind::ELEMENTWISE, (routed + m_ownTokens) * m_hidden * m_bytes);
}

void LayerOperators::ExpertsBackward()
{
    const double routed = m_model.topK * m_ownTokens;
    const double rows = m_model.topK * m_tokens;
    m_emitter.Memory(
        "unpermute", KernelKind::ELEMENTWISE, (2 * routed + m_ownTokens) * m_hidden * m_bytes);
    ExpertCollective("combine all-to-all", LayoutGroup::EXPERT, CollectiveKind::ALL_TO_ALL);
    ExpertCollective("experts all-gather", LayoutGroup::TENSOR, CollectiveKind::ALL_GATHER);
    Experts("experts 2 input gradient", rows, m_ffn, false);
    Experts("experts 2 weight gradient", rows, m_ffn, true);
    ActivationBackward(rows);
    Experts("experts 1 input gradient", rows, m_ffnInput, false);
    Experts("experts 1 weight gradient", rows, m_ffnInput, true);
    ExpertCollective("experts reduce-scatter", LayoutGroup::TENSOR, CollectiveKind::REDUCE_SCATTER);
    ExpertCollective("dispatch all-to-all", LayoutGroup::EXPERT, CollectiveKind::ALL_TO_ALL);
    m_emitter.Memory(
        "permute", KernelKind::ELEMENTWISE, (routed + m_ownTokens) * m_hidden * m_bytes);
    m_emitter.Gemm("router input gradient", m_ownTokens, m_hidden, m_model.experts);
    m_emitter.Gemm("router weight gradient", m_hidden, m_model.experts, m_ownTokens, 1, true);
}

} // namespace echo
} // namespace ns3
