// SPDX-License-Identifier: GPL-2.0-only
// The part of LayerOperators in which context ranks see each other's keys and values.

#include "echo-layer-operators.h"

namespace ns3
{
namespace echo
{

/**
 * @return share of the pairs of query and key of all context ranks that this rank works on while it
 *         holds the part that came @p step ranks round. Balanced, every rank has the first and the
 *         last of 2 n pieces that is left: half a block at each step. Else parts are consecutive:
 * half a block of its own, whole blocks of the parts before, nothing of those behind.
 */
double LayerOperators::GetStepShare(uint32_t step) const
{
    const uint32_t ranks = m_plan.parallel.context;
    const double half = 1.0 / ranks / ranks;
    if (m_plan.balanceContext || step == 0)
    {
        return half;
    }
    const uint32_t own = m_emitter.GetContextIndex();
    return step <= own ? 2 * half : 0; // the part of rank own - step
}

/** Keys and values of all, then one kernel on them (arXiv 2407.21783, 3.3.2). */
void LayerOperators::GatheredCore(bool isBackward)
{
    double share = 0;
    for (uint32_t step = 0; step < m_plan.parallel.context; ++step)
    {
        share += GetStepShare(step);
    }
    GatherContext("attention keys and values all-gather", CollectiveKind::ALL_GATHER);
    CoreStep(isBackward, share, "attention");
    if (isBackward)
    {
        GatherContext("attention keys and values reduce-scatter", CollectiveKind::REDUCE_SCATTER);
    }
}

/**
 * In a ring every rank works on one part of keys and values at a time, while the next one travels
 * (arXiv 2310.01889); Transformer Engine's context_parallel.py.
 */
void LayerOperators::RingCore(bool isBackward)
{
    const uint32_t ranks = m_plan.parallel.context;
    OperatorId arrives;
    for (uint32_t step = 0; step < ranks; ++step)
    {
        const std::string name = "attention " + std::to_string(step);
        m_emitter.WaitFor(arrives);
        // Gradients of keys and values follow their part and come home with one step more.
        const bool isSent = step + 1 < ranks || isBackward;
        arrives = isSent ? ExchangeContext(name + " exchange", step, isBackward) : OperatorId();
        if (GetStepShare(step) > 0)
        {
            CoreStep(isBackward, GetStepShare(step), name);
            MergeStep(isBackward, step, name, m_keyValues, m_bytes);
        }
    }
    m_emitter.WaitFor(arrives);
}

/**
 * Keys and values are gathered once, repeated for all query heads, while the rank's own part is
 * worked on; the other parts follow one at a time. Their gradients go round a ring, in FP32, as the
 * sums of all parts: PyTorch's torch.distributed.tensor.experimental (_attention.py, of releases
 * before 2.9), whose defaults are the gather, FP32 and balanced parts.
 */
void LayerOperators::PartsCore(bool isBackward)
{
    const uint32_t ranks = m_plan.parallel.context;
    const double repeated =
        m_heads / m_plan.microBatch * (double(m_model.GetHeadSize()) + m_model.GetValueSize());
    const double wide = sizeof(float);
    if (repeated > m_keyValues)
    {
        m_emitter.Memory("attention keys and values repeat",
                         KernelKind::ELEMENTWISE,
                         m_tokens * (m_keyValues + repeated) * m_bytes);
    }
    CollectiveSpec gather;
    gather.kind = CollectiveKind::ALL_GATHER;
    gather.bytes = static_cast<uint64_t>(m_tokens * ranks * repeated * m_bytes);
    gather.dataType = m_plan.parameters;
    const OperatorId parts = m_emitter.CollectiveAsync(
        "attention keys and values all-gather", LayoutGroup::CONTEXT, gather);
    OperatorId gradients;
    for (uint32_t step = 0; step < ranks; ++step)
    {
        const std::string name = "attention " + std::to_string(step);
        if (step == 1)
        {
            m_emitter.WaitFor(parts);
        }
        if (GetStepShare(step) > 0)
        {
            CoreStep(isBackward, GetStepShare(step), name);
        }
        m_emitter.WaitFor(gradients);
        MergeStep(isBackward, step, name, repeated, wide);
        if (isBackward)
        {
            gradients = m_emitter.RingExchange(name + " gradients exchange",
                                               LayoutGroup::CONTEXT,
                                               static_cast<uint64_t>(m_tokens * repeated * wide));
        }
    }
    m_emitter.WaitFor(gradients);
    if (isBackward && repeated > m_keyValues)
    {
        m_emitter.Memory("attention keys and values repeat",
                         KernelKind::ELEMENTWISE,
                         m_tokens * (repeated * wide + m_keyValues * m_bytes));
    }
}

/**
 * Queries, keys and values of all heads and a part of the sequence become those of a share of the
 * heads and the whole sequence, and attention's output goes the other way (arXiv 2309.14509, 3.1;
 * Transformer Engine's AttnFuncWithCPAndQKVOA2A). What was exchanged forward is kept.
 */
void LayerOperators::ExchangedCore(bool isBackward)
{
    const double share = 1.0 / m_plan.parallel.context;
    SwapHeads(isBackward ? "attention output gradient" : "attention queries, keys and values",
              isBackward ? m_attention : m_qkv);
    CoreStep(isBackward, share, "attention", true);
    SwapHeads(isBackward ? "attention queries, keys and values gradient" : "attention output",
              isBackward ? m_qkv : m_attention);
}

/** An all-to-all of @p columns of each token, put in order of its receivers before and of tokens
 * behind. */
void LayerOperators::SwapHeads(const std::string& name, double columns)
{
    const double copied = m_tokens * columns * 2 * m_bytes;
    m_emitter.Memory(name + " order", KernelKind::ELEMENTWISE, copied);
    m_emitter.Collective(name + " all-to-all",
                         LayoutGroup::CONTEXT,
                         CollectiveKind::ALL_TO_ALL,
                         GetBytes(columns),
                         m_plan.parameters);
    m_emitter.Memory(name + " order", KernelKind::ELEMENTWISE, copied);
}

/**
 * Adds what a step made to what those before it made: outputs by their sums of exponentials, or
 * gradients of queries, and of keys and values (@p keyValues of a token). Each is read, and the sum
 * read and written in elements of @p sumBytes. Balanced, half of the steps concern half of the
 * queries and all keys, the others all queries and half of the keys.
 */
void LayerOperators::MergeStep(bool isBackward,
                               uint32_t step,
                               const std::string& name,
                               double keyValues,
                               double sumBytes)
{
    if (step > 0 && GetStepShare(step) > 0)
    {
        const double concerned = m_plan.balanceContext ? 0.75 : 1;
        const double elements = isBackward ? m_qkv - m_keyValues + keyValues : m_attention;
        m_emitter.Memory(name + (isBackward ? " sum" : " merge"),
                         KernelKind::ELEMENTWISE,
                         m_tokens * concerned * elements * (m_bytes + 2 * sumBytes));
    }
}

OperatorId LayerOperators::ExchangeContext(const std::string& name,
                                           uint32_t step,
                                           bool withGradients)
{
    const auto bytes = static_cast<uint64_t>(m_tokens * m_keyValues * m_bytes *
                                             (withGradients && step > 0 ? 2 : 1));
    return m_emitter.RingExchange(name, LayoutGroup::CONTEXT, bytes);
}

void LayerOperators::GatherContext(const std::string& name, CollectiveKind kind)
{
    const double bytes = m_tokens * m_plan.parallel.context * m_keyValues * m_bytes;
    m_emitter.Collective(
        name, LayoutGroup::CONTEXT, kind, static_cast<uint64_t>(bytes), m_plan.parameters);
}

} // namespace echo
} // namespace ns3
