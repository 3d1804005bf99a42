// SPDX-License-Identifier: GPL-2.0-only
#include "echo-step-emitter.h"

#include <cmath>

namespace ns3
{
namespace echo
{

StepEmitter::StepEmitter(const TrainingPlan& plan,
                         const ParallelLayout& layout,
                         uint32_t contextIndex)
    : m_plan(plan),
      m_layout(layout),
      m_contextIndex(contextIndex),
      m_compute(m_builder.GetStream("compute"))
{
}

uint32_t StepEmitter::GetSlot(LayoutGroup group)
{
    const auto known = m_slotOf.find(group);
    if (known != m_slotOf.end())
    {
        return known->second;
    }
    const uint32_t slot = m_builder.AddGroupSlot();
    m_slotOf.emplace(group, slot);
    m_slots.push_back(group);
    return slot;
}

namespace
{

KernelShape ShapeOf(const StepEmitter::Product& product)
{
    const auto whole = [](double size) { return static_cast<uint32_t>(std::llround(size)); };
    return {
        whole(product.rows), whole(product.columns), whole(product.inner), whole(product.batch)};
}

} // namespace

void StepEmitter::Gemm(const Product& product)
{
    const bool isNarrow = m_plan.CastsInputs() && !product.isWide;
    const DataType type = isNarrow ? m_plan.matmul : m_plan.parameters;
    const double inputs = (product.rows + product.columns) * product.inner * BytesOf(type);
    const double output = product.rows * product.columns *
                          (product.accumulates ? 2 * BytesOf(m_plan.gradients) // read and written
                                               : BytesOf(m_plan.parameters));
    Kernel(product.name,
           KernelKind::GEMM,
           m_plan.CastsInputs() ? type : m_plan.matmul,
           ShapeOf(product),
           product.batch * 2 * product.rows * product.columns * product.inner,
           product.batch * (inputs + output));
}

void StepEmitter::GroupedGemm(const Product& product)
{
    const double element = BytesOf(m_plan.CastsInputs() ? m_plan.matmul : m_plan.parameters);
    const double weights = product.batch * product.inner * product.columns;
    const double activations = product.rows * (product.inner + product.columns) * element;
    KernelShape shape = ShapeOf(product);
    shape.rows = static_cast<uint32_t>(std::llround(product.rows / product.batch));
    if (product.accumulates) // [columns x rows] by [rows x inner] for each expert
    {
        shape.inner = shape.rows;
        shape.rows = static_cast<uint32_t>(std::llround(product.inner));
    }
    Kernel(product.name,
           KernelKind::GROUPED_GEMM,
           m_plan.matmul,
           shape,
           2 * product.rows * product.inner * product.columns,
           activations +
               weights * (product.accumulates ? 2.0 * BytesOf(m_plan.gradients) : element));
}

void StepEmitter::Attention(const std::string& name,
                            bool isBackward,
                            const KernelShape& shape,
                            double flops,
                            double bytes)
{
    KernelKind kernel = isBackward ? KernelKind::ATTENTION_BACKWARD : KernelKind::ATTENTION;
    if (m_plan.attention == AttentionKernel::CUDNN)
    {
        kernel = isBackward ? KernelKind::CUDNN_ATTENTION_BACKWARD : KernelKind::CUDNN_ATTENTION;
    }
    else if (m_plan.attention == AttentionKernel::FLASH1)
    {
        kernel = isBackward ? KernelKind::FLASH1_ATTENTION_BACKWARD : KernelKind::FLASH1_ATTENTION;
    }
    Kernel(name,
           kernel,
           m_plan.narrowAttention ? DataType::FP8 : m_plan.parameters,
           shape,
           flops,
           bytes);
}

void StepEmitter::Memory(const std::string& name, KernelKind kernel, double bytes)
{
    Kernel(name, kernel, m_plan.parameters, KernelShape(), 0, bytes);
}

void StepEmitter::Cast(const std::string& name, double elements)
{
    if (m_plan.CastsInputs())
    {
        // FP4 has a scale of the whole tensor above those of blocks: its maximum is sought first.
        const bool isFp4 = m_plan.matmul == DataType::FP4;
        const double read = BytesOf(m_plan.parameters) * (isFp4 ? 2 : 1);
        const double written = isFp4 ? 1 : 2;
        Memory(name + " cast", KernelKind::ELEMENTWISE, elements * (read + written));
    }
}

OperatorId StepEmitter::Kernel(const std::string& name,
                               KernelKind kernel,
                               DataType precision,
                               const KernelShape& shape,
                               double flops,
                               double bytes)
{
    const OperatorId op = m_builder.AddCompute(m_compute, m_prefix + name, Time(), flops, bytes);
    m_builder.SetKernel(op, kernel, precision, shape);
    for (OperatorId pending : m_pending[m_lane])
    {
        m_builder.AddDependency(op, pending);
    }
    m_pending[m_lane].clear();
    m_lastKernel = op;
    m_unissued += m_graphIsIssued ? 0 : 1;
    m_graphIsIssued = m_inGraph;
    if (m_plan.host.waitsForKernels)
    {
        EndUnit();
    }
    return op;
}

void StepEmitter::EndUnit()
{
    if (m_plan.host.kernel.IsStrictlyPositive() && m_unissued > 0)
    {
        const OperatorId op = m_builder.AddHost(
            m_builder.GetStream("host"), m_prefix + "launches", m_plan.host.kernel * m_unissued);
        for (const OperatorId awaited : m_hostWaits)
        {
            m_builder.AddDependency(op, awaited);
        }
        m_hostWaits.clear();
        if (m_plan.host.waitsForKernels)
        {
            m_hostWaits.push_back(m_lastKernel);
        }
        WaitFor(op);
    }
    m_unissued = 0;
    m_graphIsIssued = false;
}

void StepEmitter::Follow(OperatorId communication)
{
    if (m_lastKernel.IsValid())
    {
        m_builder.AddDependency(communication, m_lastKernel);
    }
    for (OperatorId pending : m_pending[m_lane])
    {
        m_builder.AddDependency(communication, pending);
    }
}

void StepEmitter::Collective(const std::string& name,
                             LayoutGroup group,
                             CollectiveKind kind,
                             uint64_t bytes,
                             DataType type)
{
    WaitFor(CollectiveAsync(name, group, kind, bytes, type));
}

void StepEmitter::Collective(const std::string& name, LayoutGroup group, const CollectiveSpec& spec)
{
    WaitFor(CollectiveAsync(name, group, spec));
}

OperatorId StepEmitter::CollectiveAsync(const std::string& name,
                                        LayoutGroup group,
                                        CollectiveKind kind,
                                        uint64_t bytes,
                                        DataType type)
{
    CollectiveSpec spec;
    spec.kind = kind;
    spec.bytes = bytes;
    spec.dataType = type;
    return CollectiveAsync(name, group, spec);
}

OperatorId StepEmitter::CollectiveAsync(const std::string& name,
                                        LayoutGroup group,
                                        const CollectiveSpec& spec)
{
    if (m_layout.GetGroupSize(group) < 2)
    {
        return OperatorId();
    }
    const OperatorId op = m_builder.AddCollective(
        m_builder.GetStream(ToString(group)), m_prefix + name, GetSlot(group), spec);
    Follow(op);
    return op;
}

OperatorId StepEmitter::ReduceGradients(const std::string& name,
                                        LayoutGroup data,
                                        uint64_t elements)
{
    const uint64_t bytes = BytesOf(m_plan.gradients);
    if (elements == 0)
    {
        return OperatorId();
    }
    if (!m_plan.SplitsOptimizer())
    {
        return CollectiveAsync(name + "all-reduce",
                               data,
                               CollectiveKind::ALL_REDUCE,
                               elements * bytes,
                               m_plan.gradients);
    }
    const OperatorId scattered = CollectiveAsync(name + "reduce-scatter",
                                                 m_plan.GetShardGroup(data),
                                                 CollectiveKind::REDUCE_SCATTER,
                                                 elements * bytes,
                                                 m_plan.gradients);
    if (m_plan.parallel.replicas == 1)
    {
        return scattered;
    }
    const OperatorId summed = CollectiveAsync(
        name + "all-reduce",
        data == LayoutGroup::DATA ? LayoutGroup::REPLICA : LayoutGroup::EXPERT_REPLICA,
        CollectiveKind::ALL_REDUCE,
        GetShare(data, elements) * bytes,
        m_plan.gradients);
    if (scattered.IsValid())
    {
        m_builder.AddDependency(summed, scattered);
    }
    return summed;
}

OperatorId StepEmitter::GatherParameters(const std::string& name,
                                         LayoutGroup data,
                                         uint64_t elements)
{
    return elements == 0 ? OperatorId()
                         : CollectiveAsync(name + "all-gather",
                                           m_plan.GetShardGroup(data),
                                           CollectiveKind::ALL_GATHER,
                                           elements * BytesOf(m_plan.parameters),
                                           m_plan.parameters);
}

uint64_t StepEmitter::GetShare(LayoutGroup data, uint64_t elements) const
{
    const uint64_t ranks = m_layout.GetGroupSize(m_plan.GetShardGroup(data));
    return (elements + ranks - 1) / ranks;
}

void StepEmitter::WaitFor(OperatorId op)
{
    if (op.IsValid())
    {
        m_pending[m_lane].push_back(op);
        if (m_plan.host.waitsForKernels)
        {
            m_hostWaits.push_back(op);
        }
    }
}

void StepEmitter::JoinLanes()
{
    m_lane = 0;
    for (OperatorId pending : m_pending[1])
    {
        WaitFor(pending);
    }
    m_pending[1].clear();
}

void StepEmitter::Transfer(const std::string& name, LayoutGroup group, Elements elements)
{
    const OperatorId op = TransferAsync(name, group, ToString(group), std::move(elements));
    WaitFor(op);
    if (m_plan.host.waitsForPeers && group == LayoutGroup::PIPELINE)
    {
        m_hostWaits.push_back(op);
    }
}

OperatorId StepEmitter::RingExchange(const std::string& name, LayoutGroup group, uint64_t bytes)
{
    const uint32_t ranks = m_layout.GetGroupSize(group);
    Elements elements(2);
    elements[0] = {true, (m_contextIndex + 1) % ranks, bytes, 0};
    elements[1] = {false, (m_contextIndex + ranks - 1) % ranks, bytes, 0};
    return TransferAsync(name, group, ToString(group), std::move(elements));
}

OperatorId StepEmitter::TransferAsync(const std::string& name,
                                      LayoutGroup group,
                                      const std::string& stream,
                                      Elements elements)
{
    const OperatorId op = m_builder.AddPointToPoint(
        m_builder.GetStream(stream), m_prefix + name, GetSlot(group), std::move(elements));
    Follow(op);
    return op;
}

} // namespace echo
} // namespace ns3
