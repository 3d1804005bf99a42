// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-operators.h"

#include <numeric>

namespace ns3
{
namespace echo
{

namespace
{

/** Parts in which a product's sums are scattered beside it: Transformer Engine's default for its
 * pipelined overlap (transformer_engine/pytorch/module/base.py, initialize_ub, num_splits). */
constexpr uint32_t SCATTERED_PARTS = 4;

} // namespace

LayerOperators::LayerOperators(StepEmitter& emitter, uint32_t expertIndex)
    : m_emitter(emitter),
      m_plan(emitter.GetPlan()),
      m_model(m_plan.model),
      m_expertIndex(expertIndex),
      m_masksApart(m_plan.parameters == DataType::FP32),
      m_splitSequence(m_plan.sequenceParallel && m_plan.parallel.tensor > 1),
      m_overlaps(m_plan.overlapTensor && m_splitSequence),
      m_tokens(double(m_plan.GetTokens())),
      m_ownTokens(m_splitSequence ? m_tokens / m_plan.parallel.tensor : m_tokens),
      m_hidden(m_model.hidden),
      m_bytes(BytesOf(m_plan.parameters)),
      m_heads(double(m_plan.microBatch) * m_model.heads / m_plan.parallel.tensor),
      m_qkv(double(m_model.GetQkvSize()) / m_plan.parallel.tensor),
      m_keyValues(double(m_model.kvHeads) * (m_model.GetHeadSize() + m_model.GetValueSize()) /
                  m_plan.parallel.tensor),
      m_attention(double(m_model.GetAttentionSize()) / m_plan.parallel.tensor),
      m_routed(m_model.topK * m_ownTokens),
      m_expertRows(m_routed * m_plan.parallel.GetExpertTensor()),
      m_expertFfn(double(m_model.ffnHidden) / m_plan.parallel.GetExpertTensor())
{
    if (!m_plan.expertLoad.empty())
    {
        const auto& load = m_plan.expertLoad;
        m_expertRows *= load[expertIndex] * double(load.size()) /
                        std::accumulate(load.begin(), load.end(), 0.0);
    }
}

void LayerOperators::Begin(uint32_t layer, const char* way)
{
    m_layer = layer;
    m_emitter.SetPrefix("layer " + std::to_string(layer) + " " + way + " ");
}

void LayerOperators::Forward(uint32_t layer)
{
    Begin(layer, "forward");
    ForwardToDispatch();
    ForwardExperts();
    ForwardFromCombine();
    m_emitter.EndUnit();
}

void LayerOperators::Backward(uint32_t layer, bool recomputes)
{
    if (recomputes)
    {
        Begin(layer, "recompute");
        ForwardToDispatch();
        ForwardExperts();
        ForwardFromCombine();
        m_emitter.EndUnit();
    }
    Begin(layer, "backward");
    BackwardToCombine();
    BackwardExperts();
    BackwardFromDispatch();
    m_emitter.EndUnit();
}

void LayerOperators::ForwardBackward(uint32_t forward, uint32_t backward)
{
    const auto turn = [&](bool isForward) {
        m_emitter.SetLane(isForward ? 0 : 1);
        Begin(isForward ? forward : backward, isForward ? "forward" : "backward");
    };
    m_emitter.ForkLanes();
    turn(false);
    BackwardToCombine();
    turn(true);
    ForwardToDispatch();
    turn(false);
    Deferred late;
    Deferred* const outer = m_deferred;
    m_deferred = m_plan.delayWeights && outer == nullptr ? &late : outer;
    BackwardExperts();
    m_deferred = outer;
    MakeDeferred(late);
    turn(true);
    ForwardExperts();
    turn(false);
    BackwardFromDispatch();
    turn(true);
    ForwardFromCombine();
    m_emitter.JoinLanes();
    m_emitter.EndUnit();
}

/** Makes a part of the forward pass again, if the plan says so. */
void LayerOperators::Recompute(RecomputeModule module, const std::function<void()>& make)
{
    if (m_plan.Recomputes(module))
    {
        const std::string prefix = m_emitter.GetPrefix();
        m_emitter.SetPrefix(prefix + "recompute ");
        make();
        m_emitter.SetPrefix(prefix);
    }
}

// A further layer sees the hidden state and the embedding of the token ahead, each normalised, and
// put together by one matrix (arXiv 2412.19437, equation 21).

void LayerOperators::JoinForward()
{
    NormForward("hidden norm");
    NormForward("token norm");
    m_emitter.Memory("join", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 4 * m_bytes);
    ColumnForward("join", 2 * m_hidden / m_plan.parallel.tensor);
}

void LayerOperators::JoinBackward()
{
    ColumnBackward("join", 2 * m_hidden / m_plan.parallel.tensor);
    m_emitter.Memory("join", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 4 * m_bytes);
    NormBackward("token norm");
    NormBackward("hidden norm");
}

void LayerOperators::Emit(const StepEmitter::Product& product)
{
    if (product.batch > 1)
    {
        m_emitter.GroupedGemm(product);
    }
    else
    {
        m_emitter.Gemm(product);
    }
}

void LayerOperators::MakeDeferred(const Deferred& deferred)
{
    for (const auto& [prefix, product] : deferred)
    {
        m_emitter.SetPrefix(prefix);
        Emit(product);
    }
}

void LayerOperators::Product(const std::string& name, double rows, double columns, double inner)
{
    m_emitter.Gemm({name, rows, columns, inner});
}

void LayerOperators::WeightGradient(const std::string& name,
                                    double rows,
                                    double columns,
                                    double inner,
                                    bool isWide)
{
    const StepEmitter::Product product{
        name + " weight gradient", rows, columns, inner, 1, true, isWide};
    if (m_deferred)
    {
        m_deferred->emplace_back(m_emitter.GetPrefix(), product);
    }
    else
    {
        Emit(product);
    }
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

OperatorId LayerOperators::GatherAsync(const std::string& name, double columns)
{
    return m_emitter.CollectiveAsync(name,
                                     LayoutGroup::TENSOR,
                                     CollectiveKind::ALL_GATHER,
                                     GetBytes(columns),
                                     m_plan.parameters);
}

void LayerOperators::ColumnForward(const std::string& name, double columns, bool isOutput)
{
    if (!IsWide(isOutput))
    {
        m_emitter.Cast(name, m_tokens * m_hidden);
    }
    SplitForward(name, columns, m_hidden, isOutput);
}

void LayerOperators::SplitForward(const std::string& name,
                                  double columns,
                                  double inner,
                                  bool isOutput)
{
    OperatorId gather;
    if (m_splitSequence)
    {
        gather = GatherAsync(name + " input all-gather", inner);
    }
    if (!m_overlaps || isOutput)
    {
        m_emitter.WaitFor(gather);
        m_emitter.Gemm({name, m_tokens, columns, inner, 1, false, IsWide(isOutput)});
        return;
    }
    ProductBeside(gather, name, columns, inner);
}

/**
 * The product of what @p gather brings in as many parts as there are ranks, own rows first: the
 * last part is multiplied when all are there (Transformer Engine's ring exchange).
 */
void LayerOperators::ProductBeside(OperatorId gather,
                                   const std::string& name,
                                   double columns,
                                   double inner)
{
    const double last = m_tokens / m_plan.parallel.tensor;
    Product(name, m_tokens - last, columns, inner);
    m_emitter.WaitFor(gather);
    Product(name + " last part", last, columns, inner);
}

void LayerOperators::ColumnBackward(const std::string& name, double columns, bool isOutput)
{
    if (!IsWide(isOutput))
    {
        m_emitter.Cast(name + " gradient", m_tokens * columns);
    }
    SplitBackward(name, columns, m_hidden, isOutput);
}

void LayerOperators::SplitBackward(const std::string& name,
                                   double columns,
                                   double inner,
                                   bool isOutput)
{
    const bool isWide = IsWide(isOutput);
    // The input was kept split: it is gathered again beside the input gradient, for the weights'.
    OperatorId gather;
    if (m_splitSequence)
    {
        gather = GatherAsync(name + " input all-gather", inner);
    }
    m_emitter.Gemm({name + " input gradient", m_tokens, inner, columns, 1, false, isWide});
    m_emitter.WaitFor(gather);
    const OperatorId reduce = m_emitter.CollectiveAsync(
        name + (m_splitSequence ? " input gradient reduce-scatter" : " input gradient all-reduce"),
        LayoutGroup::TENSOR,
        m_splitSequence ? CollectiveKind::REDUCE_SCATTER : CollectiveKind::ALL_REDUCE,
        GetBytes(inner),
        m_plan.parameters);
    if (!m_plan.overlapReduction)
    {
        m_emitter.WaitFor(reduce);
    }
    WeightGradient(name, inner, columns, m_tokens, isWide);
    m_emitter.WaitFor(reduce);
}

void LayerOperators::RowForward(const std::string& name, double inner)
{
    m_emitter.Cast(name, m_tokens * inner);
    const std::string reduce = name + (m_splitSequence ? " reduce-scatter" : " all-reduce");
    if (!m_overlaps)
    {
        Product(name, m_tokens, m_hidden, inner);
        ReduceHidden(reduce);
        return;
    }
    // Each part travels beside the next one's product, the last one behind all.
    const auto scatter = [&](const std::string& part, uint64_t bytes) {
        return m_emitter.CollectiveAsync(reduce + part,
                                         LayoutGroup::TENSOR,
                                         CollectiveKind::REDUCE_SCATTER,
                                         bytes,
                                         m_plan.parameters);
    };
    const double rows = m_tokens / SCATTERED_PARTS;
    const uint64_t last = GetHiddenBytes() / SCATTERED_PARTS;
    Product(name, rows, m_hidden, inner);
    const OperatorId first = scatter("", GetHiddenBytes() - last);
    Product(name + " rest", m_tokens - rows, m_hidden, inner);
    m_emitter.WaitFor(first);
    m_emitter.WaitFor(scatter(" last part", last));
}

void LayerOperators::RowBackward(const std::string& name, double inner)
{
    m_emitter.Cast(name + " gradient", m_tokens * m_hidden);
    if (m_overlaps)
    {
        const OperatorId gather = m_emitter.CollectiveAsync(name + " output gradient all-gather",
                                                            LayoutGroup::TENSOR,
                                                            CollectiveKind::ALL_GATHER,
                                                            GetHiddenBytes(),
                                                            m_plan.parameters);
        ProductBeside(gather, name + " input gradient", inner, m_hidden);
    }
    else
    {
        GatherHidden(name + " output gradient all-gather");
        Product(name + " input gradient", m_tokens, inner, m_hidden);
    }
    WeightGradient(name, inner, m_hidden, m_tokens);
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

} // namespace echo
} // namespace ns3
