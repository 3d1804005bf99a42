// SPDX-License-Identifier: GPL-2.0-only
// The attention half of LayerOperators.

#include "echo-layer-operators.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Columns of a tensor rank's expansions of latents. */
struct ExpandedColumns
{
    double queries;
    double keysAndValues;
};

ExpandedColumns ExpandLatents(const TransformerShape& model, double tensor)
{
    const double size = model.GetHeadSize();
    return {model.heads * size / tensor,
            model.heads * (size - model.rotarySize + model.GetValueSize()) / tensor};
}

} // namespace

void LayerOperators::AttentionForward()
{
    NormForward("attention norm");
    QkvForward();
    AttentionCoreForward();
    RowForward("projection", m_attention);
    ResidualForward("attention residual");
}

void LayerOperators::AttentionBackward()
{
    ResidualBackward("attention residual");
    RowBackward("projection", m_attention);
    Recompute(RecomputeModule::LATENT_EXPANSION, [this] {
        LatentExpansionForward();
        RotaryForward();
    });
    Recompute(RecomputeModule::ATTENTION_CORE, [this] { AttentionCoreForward(); });
    AttentionCoreBackward();
    Recompute(RecomputeModule::NORMS, [this] { NormForward("attention norm"); });
    QkvBackward();
    NormBackward("attention norm");
    m_emitter.Memory(
        "attention residual sum", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 3 * m_bytes);
}

void LayerOperators::QkvForward()
{
    if (m_model.IsLatent())
    {
        LatentForward();
    }
    else
    {
        ColumnForward("query-key-value", m_qkv);
    }
    RotaryForward();
}

void LayerOperators::RotaryForward()
{
    if (!m_model.learnedPositions)
    {
        m_emitter.Memory("rotary", KernelKind::ELEMENTWISE, m_tokens * m_qkv * 2 * m_bytes);
    }
}

void LayerOperators::QkvBackward()
{
    if (!m_model.learnedPositions)
    {
        m_emitter.Memory("rotary", KernelKind::ELEMENTWISE, m_tokens * m_qkv * 2 * m_bytes);
    }
    if (m_model.IsLatent())
    {
        LatentBackward();
    }
    else
    {
        ColumnBackward("query-key-value", m_qkv);
    }
}

// Multi-head latent attention: tokens are compressed on every tensor rank (its part of the
// sequence), normalised, and expanded to this rank's heads. As in Megatron-Core's
// multi_latent_attention.py the compressions are duplicated, the expansions column-parallel, and
// with sequence parallelism the keys' rotary part, which is not expanded, is gathered by itself.

void LayerOperators::LatentForward()
{
    const double compressed = m_model.latentQueries + m_model.latentKeys;
    m_emitter.Cast("latent", m_ownTokens * m_hidden);
    if (m_model.latentQueries > 0)
    {
        Product("query compression", m_ownTokens, m_model.latentQueries, m_hidden);
    }
    Product(
        "key-value compression", m_ownTokens, m_model.latentKeys + m_model.rotarySize, m_hidden);
    m_emitter.Memory(
        "latent norm", KernelKind::NORMALIZATION, m_ownTokens * compressed * 2 * m_bytes);
    if (m_splitSequence && m_model.rotarySize > 0)
    {
        m_emitter.WaitFor(GatherAsync("rotary keys all-gather", m_model.rotarySize));
    }
    LatentExpansionForward();
}

void LayerOperators::LatentExpansionForward()
{
    const ExpandedColumns columns = ExpandLatents(m_model, m_plan.parallel.tensor);
    m_emitter.Cast("latent expansion",
                   m_tokens * (double(m_model.latentQueries) + m_model.latentKeys));
    SplitForward("query expansion",
                 columns.queries,
                 m_model.latentQueries > 0 ? m_model.latentQueries : m_hidden);
    SplitForward("key-value expansion", columns.keysAndValues, m_model.latentKeys);
}

void LayerOperators::LatentBackward()
{
    const ExpandedColumns columns = ExpandLatents(m_model, m_plan.parallel.tensor);
    const double compressed = m_model.latentQueries + m_model.latentKeys;
    const double queryInner = m_model.latentQueries > 0 ? m_model.latentQueries : m_hidden;
    const double keyColumns = m_model.latentKeys + m_model.rotarySize;
    m_emitter.Cast("latent expansion gradient",
                   m_tokens * (columns.queries + columns.keysAndValues));
    SplitBackward("key-value expansion", columns.keysAndValues, m_model.latentKeys);
    SplitBackward("query expansion", columns.queries, queryInner);
    if (m_splitSequence && m_model.rotarySize > 0)
    {
        m_emitter.Collective("rotary keys gradient reduce-scatter",
                             LayoutGroup::TENSOR,
                             CollectiveKind::REDUCE_SCATTER,
                             GetBytes(m_model.rotarySize),
                             m_plan.parameters);
    }
    m_emitter.Memory(
        "latent norm", KernelKind::NORMALIZATION, m_ownTokens * compressed * 5 * m_bytes);
    m_emitter.Cast("latent gradient", m_ownTokens * (compressed + m_model.rotarySize));
    Product("key-value compression input gradient", m_ownTokens, m_hidden, keyColumns);
    WeightGradient("key-value compression", m_hidden, keyColumns, m_ownTokens);
    if (m_model.latentQueries > 0)
    {
        Product("query compression input gradient", m_ownTokens, m_hidden, m_model.latentQueries);
        WeightGradient("query compression", m_hidden, m_model.latentQueries, m_ownTokens);
    }
}

void LayerOperators::AttentionCoreForward()
{
    if (m_plan.attention == AttentionKernel::UNFUSED)
    {
        GatherContext("attention keys and values all-gather", CollectiveKind::ALL_GATHER);
        UnfusedCoreForward();
    }
    else
    {
        FusedCore(false);
    }
}

void LayerOperators::AttentionCoreBackward()
{
    if (m_plan.attention == AttentionKernel::UNFUSED)
    {
        GatherContext("attention keys and values all-gather", CollectiveKind::ALL_GATHER);
        UnfusedCoreBackward();
        GatherContext("attention keys and values reduce-scatter", CollectiveKind::REDUCE_SCATTER);
    }
    else
    {
        FusedCore(true);
    }
}

void LayerOperators::UnfusedCoreForward()
{
    const double keys = m_model.sequence;
    const double queries = keys / m_plan.parallel.context;
    const double size = m_model.GetHeadSize();
    const double scores = m_heads * queries * keys;
    m_emitter.Gemm({"attention scores", queries, keys, size, m_heads, false, true});
    if (m_masksApart)
    {
        m_emitter.Memory("attention mask", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    }
    m_emitter.Memory("attention softmax", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    if (m_model.dropout)
    {
        m_emitter.Memory("attention dropout", KernelKind::ELEMENTWISE, scores * (2 * m_bytes + 1));
    }
    m_emitter.Gemm(
        {"attention context", queries, double(m_model.GetValueSize()), keys, m_heads, false, true});
}

void LayerOperators::UnfusedCoreBackward()
{
    const double keys = m_model.sequence;
    const double queries = keys / m_plan.parallel.context;
    const double size = m_model.GetHeadSize();
    const double value = m_model.GetValueSize();
    const double scores = m_heads * queries * keys;
    const auto product = [&](const char* name, double rows, double columns, double inner) {
        m_emitter.Gemm({name, rows, columns, inner, m_heads, false, true});
    };
    product("attention context scores", queries, keys, value);
    product("attention context values", keys, value, queries);
    if (m_model.dropout)
    {
        m_emitter.Memory("attention dropout", KernelKind::ELEMENTWISE, scores * (2 * m_bytes + 1));
    }
    m_emitter.Memory("attention softmax", KernelKind::ELEMENTWISE, scores * 3 * m_bytes);
    if (m_masksApart)
    {
        m_emitter.Memory("attention mask", KernelKind::ELEMENTWISE, scores * 2 * m_bytes);
    }
    product("attention scores queries", queries, size, keys);
    product("attention scores keys", keys, size, queries);
}

/** A fused kernel skips what the mask hides. */
void LayerOperators::FusedCore(bool isBackward)
{
    if (m_plan.narrowAttention)
    {
        // Queries, keys and values, or the output's gradient: read, written in FP8 by rows and, for
        // the products that sum over tokens, by columns.
        m_emitter.Memory("attention cast",
                         KernelKind::ELEMENTWISE,
                         m_tokens * (isBackward ? m_attention : m_qkv) * (m_bytes + 2));
    }
    if (m_plan.parallel.context == 1)
    {
        CoreStep(isBackward, 1, "attention");
        return;
    }
    switch (m_plan.contextExchange)
    {
    case ContextExchange::ALL_GATHER:
        GatheredCore(isBackward);
        return;
    case ContextExchange::GATHERED_PARTS:
        PartsCore(isBackward);
        return;
    case ContextExchange::ALL_TO_ALL:
        ExchangedCore(isBackward);
        return;
    case ContextExchange::RING:
        RingCore(isBackward);
        return;
    }
}

/**
 * @param share of the pairs of query and key of all context ranks
 * @param sharesHeads context ranks share the heads, not the sequence
 */
void LayerOperators::CoreStep(bool isBackward,
                              double share,
                              const std::string& name,
                              bool sharesHeads)
{
    const uint32_t ranks = m_plan.parallel.context;
    const double pairs = m_heads * m_model.GetVisiblePairs(m_layer) * share;
    const double size = m_model.GetHeadSize();
    const double value = m_model.GetValueSize();
    const uint32_t tokens = m_model.sequence / (sharesHeads ? 1 : ranks);
    const KernelShape shape{tokens,
                            std::min(tokens, m_model.GetVisibleKeys(m_layer)),
                            m_model.GetHeadSize(),
                            static_cast<uint32_t>(m_heads / (sharesHeads ? ranks : 1) + 0.5)};
    // Forward: scores and output; backward: five products, as the scores are computed again
    // (arXiv 2307.08691). Queries, keys, values and outputs, and their gradients, move once.
    const double bytes = m_tokens * (m_qkv + m_attention) * m_bytes;
    m_emitter.Attention(name,
                        isBackward,
                        shape,
                        2 * pairs * (isBackward ? 3 * size + 2 * value : size + value),
                        isBackward ? 2 * bytes : bytes);
}

} // namespace echo
} // namespace ns3
