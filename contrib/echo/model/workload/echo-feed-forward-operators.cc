// SPDX-License-Identifier: GPL-2.0-only
// The feed-forward half of LayerOperators: dense, or a mixture of experts.

#include "echo-layer-operators.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

void LayerOperators::ForwardToDispatch()
{
    SetGraph(GraphModule::ATTENTION);
    AttentionForward();
    SetGraph(GraphModule::ROUTER);
    NormForward("feed-forward norm");
    if (m_model.HasExperts(m_layer))
    {
        RouteForward();
    }
    m_emitter.SetGraph(false);
}

/** What follows is in the graph that holds @p module, if one does. */
void LayerOperators::SetGraph(GraphModule module)
{
    const auto& graphs = m_plan.host.graphs;
    m_emitter.SetGraph((module == GraphModule::ATTENTION || m_model.HasExperts(m_layer)) &&
                       std::find(graphs.begin(), graphs.end(), module) != graphs.end());
}

void LayerOperators::ForwardExperts()
{
    if (m_model.HasExperts(m_layer))
    {
        ExpertsForward();
    }
    else
    {
        MlpForward(m_model.GetDenseFfn(), "feed-forward");
    }
}

void LayerOperators::ForwardFromCombine()
{
    if (m_model.HasExperts(m_layer))
    {
        m_emitter.WaitFor(m_travels[0]);
        m_emitter.Memory(
            "unpermute", KernelKind::ELEMENTWISE, (m_routed + m_ownTokens) * m_hidden * m_bytes);
    }
    ResidualForward("feed-forward residual");
}

void LayerOperators::BackwardToCombine()
{
    ResidualBackward("feed-forward residual");
    if (m_model.HasExperts(m_layer))
    {
        m_emitter.Memory("unpermute",
                         KernelKind::ELEMENTWISE,
                         (2 * m_routed + m_ownTokens) * m_hidden * m_bytes);
        m_travels[1] = ExpertAllToAll("combine all-to-all", true);
    }
}

void LayerOperators::BackwardExperts()
{
    if (m_model.HasExperts(m_layer))
    {
        ExpertsBackward();
    }
    else
    {
        Recompute(RecomputeModule::FEED_FORWARD,
                  [this] { MlpForward(m_model.GetDenseFfn(), "feed-forward"); });
        MlpBackward(m_model.GetDenseFfn(), "feed-forward");
    }
}

void LayerOperators::BackwardFromDispatch()
{
    if (m_model.HasExperts(m_layer))
    {
        RouteBackward();
    }
    SetGraph(GraphModule::ROUTER);
    Recompute(RecomputeModule::NORMS, [this] { NormForward("feed-forward norm"); });
    NormBackward("feed-forward norm");
    m_emitter.Memory(
        "feed-forward residual sum", KernelKind::ELEMENTWISE, m_ownTokens * m_hidden * 3 * m_bytes);
    SetGraph(GraphModule::ATTENTION);
    AttentionBackward();
    m_emitter.SetGraph(false);
}

void LayerOperators::MlpForward(uint32_t inner, const std::string& name)
{
    const double tensor = m_plan.parallel.tensor;
    ColumnForward(name + " 1", double(m_model.GetInputSize(inner)) / tensor);
    ActivationForward(m_tokens, inner / tensor);
    RowForward(name + " 2", inner / tensor);
}

void LayerOperators::MlpBackward(uint32_t inner, const std::string& name)
{
    const double tensor = m_plan.parallel.tensor;
    RowBackward(name + " 2", inner / tensor);
    ActivationBackward(m_tokens, inner / tensor);
    ColumnBackward(name + " 1", double(m_model.GetInputSize(inner)) / tensor);
}

void LayerOperators::ActivationForward(double tokens, double inner)
{
    const double inputs = m_model.gatedActivation ? 2 * inner : inner;
    m_emitter.Memory("activation", KernelKind::ELEMENTWISE, tokens * (inputs + inner) * m_bytes);
}

void LayerOperators::ActivationBackward(double tokens, double inner)
{
    // Output gradient and input read, input gradient written; the bias sums it over tokens.
    const double inputs = m_model.gatedActivation ? 2 * inner : inner;
    const double passes = inner + 2 * inputs + (m_model.biases ? inputs : 0);
    m_emitter.Memory("activation", KernelKind::ELEMENTWISE, tokens * passes * m_bytes);
}

/**
 * One grouped matrix product over the experts of this rank: together they get this rank's rows,
 * and all their weights are read.
 */
void LayerOperators::Experts(const std::string& name, double columns, bool isWeightGradient)
{
    const double experts = double(m_model.experts) / m_plan.parallel.expert;
    const StepEmitter::Product product{
        name, m_expertRows, columns, m_hidden, experts, isWeightGradient, false};
    if (m_deferred && isWeightGradient)
    {
        m_deferred->emplace_back(m_emitter.GetPrefix(), product);
    }
    else
    {
        m_emitter.GroupedGemm(product);
    }
}

/**
 * @return tokens of this rank that have an expert among the part @p share of all experts, or with a
 *         plain all-to-all copies of tokens: of E experts, k of them distinct and chosen at random
 *         for a token, none is there with the probability of the product of (E (1 - share) - i) /
 *         (E - i) for i from 0 to k - 1
 */
double LayerOperators::GetTravellers(double share) const
{
    if (m_plan.dispatchDomain == 0)
    {
        return m_routed * share;
    }
    const double experts = m_model.experts;
    double none = 1;
    for (uint32_t i = 0; i < m_model.topK; ++i)
    {
        none *= std::max(0.0, experts * (1 - share) - i) / (experts - i);
    }
    return m_ownTokens * (1 - none);
}

/**
 * @return rows that a rank sends to rank @p peer of its expert group. A token goes once to a domain
 *         of ranks, of which each carries its experts' part; where one domain holds all, once to
 *         each rank (DeepEP's intranode kernels)
 */
double LayerOperators::GetRowsTo(uint32_t peer) const
{
    const uint32_t ranks = m_plan.parallel.expert;
    const uint32_t domain = m_plan.dispatchDomain;
    const uint32_t size = domain > 0 && ranks > domain ? domain : 1;
    const auto loadOf = [this, ranks](uint32_t rank) {
        return m_plan.expertLoad.empty() ? 1.0 / ranks : m_plan.expertLoad[rank];
    };
    double all = 0;
    double own = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        all += loadOf(rank);
        own += rank / size == peer / size ? loadOf(rank) : 0;
    }
    return own > 0 ? GetTravellers(own / all) * loadOf(peer) / own : 0;
}

/**
 * Tokens to the ranks that hold their experts (dispatch), or back (combine). Balanced routing is an
 * all-to-all; with a load every rank sends by it.
 */
OperatorId LayerOperators::ExpertAllToAll(const std::string& name, bool isDispatch)
{
    const uint32_t ranks = m_plan.parallel.expert;
    const auto bytesTo = [this](uint32_t peer) { return GetRowsTo(peer) * m_hidden * m_bytes; };
    CollectiveSpec spec;
    spec.kind = CollectiveKind::ALL_TO_ALL;
    spec.bytes = static_cast<uint64_t>(std::llround(bytesTo(0) * ranks));
    spec.dataType = m_plan.parameters;
    if (!m_plan.expertLoad.empty())
    {
        spec.kind = CollectiveKind::ALL_TO_ALL_V;
        spec.bytes = 0;
        for (uint32_t peer = 0; peer < ranks; ++peer)
        {
            const double bytes = bytesTo(isDispatch ? peer : m_expertIndex);
            spec.sendBytes.push_back(static_cast<uint64_t>(std::llround(bytes)));
            spec.bytes += spec.sendBytes.back();
        }
    }
    return m_emitter.CollectiveAsync(name, LayoutGroup::EXPERT, spec);
}

/** Gathers or reduces the experts' tokens over the ranks that share an expert. */
void LayerOperators::ExpertTensor(const std::string& name, CollectiveKind kind)
{
    if (m_plan.parallel.GetExpertTensor() > 1)
    {
        m_emitter.Collective(name,
                             LayoutGroup::TENSOR,
                             kind,
                             static_cast<uint64_t>(m_expertRows * m_hidden * m_bytes),
                             m_plan.parameters);
    }
}

// Tokens go to the ranks that hold their experts and come back. With tensor parallelism each rank
// routes its own part of the sequence; where experts are split too, the parts are gathered around
// them (Megatron-Core's all-to-all token dispatcher).

void LayerOperators::RouteForward()
{
    m_emitter.Gemm({"router", m_ownTokens, double(m_model.experts), m_hidden, 1, false, true});
    SetGraph(GraphModule::PREPROCESS);
    m_emitter.Memory("permute",
                     KernelKind::ELEMENTWISE,
                     m_ownTokens * m_model.experts * 2 * sizeof(float) +
                         m_routed * m_hidden * 2 * m_bytes);
    m_emitter.SetGraph(false);
    if (m_model.sharedFfn > 0 && !m_plan.overlapExperts)
    {
        MlpForward(m_model.sharedFfn, "shared experts");
    }
    m_travels[0] = ExpertAllToAll("dispatch all-to-all", true);
}

void LayerOperators::ExpertsForward()
{
    if (m_model.sharedFfn > 0 && m_plan.overlapExperts)
    {
        MlpForward(m_model.sharedFfn, "shared experts");
    }
    m_emitter.WaitFor(m_travels[0]);
    SortRows("experts sort");
    ExpertTensor("experts all-gather", CollectiveKind::ALL_GATHER);
    m_emitter.Cast("experts 1", m_expertRows * m_hidden);
    Experts("experts 1", double(m_model.GetInputSize(1)) * m_expertFfn, false);
    ExpertActivationForward();
    Experts("experts 2", m_expertFfn, false);
    ExpertBias(false);
    ExpertTensor("experts reduce-scatter", CollectiveKind::REDUCE_SCATTER);
    SortRows("experts sort");
    m_travels[0] = ExpertAllToAll("combine all-to-all", false);
}

/**
 * The bias behind the experts' second product counts by the router's weight of each row, in FP32,
 * as in Megatron-Core's experts.py (_apply_bias): expert by expert it is multiplied by the weights
 * and added, the rows are put together again, and cast. Backward: the cast; the gradient of the
 * product in the parameters' format, put together; that times the weights, summed over rows for the
 * bias, and times the bias, summed over columns for the weights.
 */
void LayerOperators::ExpertBias(bool isBackward)
{
    if (m_model.biases && !m_plan.fusedExperts)
    {
        const double wide = sizeof(float);
        const double forward = wide + (m_bytes + 2 * wide) + 2 * wide + (wide + m_bytes);
        const double backward = (m_bytes + wide) + (wide + m_bytes) + 2 * m_bytes + 6 * wide;
        m_emitter.Memory("experts bias",
                         KernelKind::ELEMENTWISE,
                         m_expertRows * m_hidden * (isBackward ? backward : forward));
    }
}

void LayerOperators::ExpertActivationForward()
{
    if (!m_plan.fusedExperts)
    {
        ActivationForward(m_expertRows, m_expertFfn);
        m_emitter.Cast("experts 2", m_expertRows * m_expertFfn);
    }
}

/**
 * Tokens come from an all-to-all in the order of their senders, and are put in that of the experts
 * here; kernels that send tokens once write them in order.
 */
void LayerOperators::SortRows(const std::string& name)
{
    const uint32_t ranks = m_plan.parallel.expert;
    if (ranks > 1 && m_model.experts > ranks && m_plan.dispatchDomain == 0)
    {
        m_emitter.Memory(name, KernelKind::ELEMENTWISE, m_expertRows * m_hidden * 2 * m_bytes);
    }
}

void LayerOperators::ExpertsBackward()
{
    const double inputs = double(m_model.GetInputSize(1)) * m_expertFfn;
    if (m_model.sharedFfn > 0 && m_plan.overlapExperts)
    {
        MlpBackward(m_model.sharedFfn, "shared experts");
    }
    m_emitter.WaitFor(m_travels[1]);
    SortRows("experts sort");
    ExpertTensor("experts all-gather", CollectiveKind::ALL_GATHER);
    ExpertBias(true);
    m_emitter.Cast("experts 2 gradient", m_expertRows * m_hidden);
    Experts("experts 2 input gradient", m_expertFfn, false);
    Recompute(RecomputeModule::EXPERT_ACTIVATION, [this] { ExpertActivationForward(); });
    Experts("experts 2 weight gradient", m_expertFfn, true);
    if (!m_plan.fusedExperts)
    {
        ActivationBackward(m_expertRows, m_expertFfn);
        m_emitter.Cast("experts 1 gradient", m_expertRows * inputs);
    }
    Experts("experts 1 input gradient", inputs, false);
    Experts("experts 1 weight gradient", inputs, true);
    ExpertTensor("experts reduce-scatter", CollectiveKind::REDUCE_SCATTER);
    SortRows("experts sort");
    m_travels[1] = ExpertAllToAll("dispatch all-to-all", false);
}

void LayerOperators::RouteBackward()
{
    m_emitter.WaitFor(m_travels[1]);
    if (m_model.sharedFfn > 0 && !m_plan.overlapExperts)
    {
        MlpBackward(m_model.sharedFfn, "shared experts");
    }
    SetGraph(GraphModule::PREPROCESS);
    m_emitter.Memory(
        "permute", KernelKind::ELEMENTWISE, (m_routed + m_ownTokens) * m_hidden * m_bytes);
    SetGraph(GraphModule::ROUTER);
    m_emitter.Gemm(
        {"router input gradient", m_ownTokens, m_hidden, double(m_model.experts), 1, false, true});
    WeightGradient("router", m_hidden, m_model.experts, m_ownTokens, true);
}

} // namespace echo
} // namespace ns3
