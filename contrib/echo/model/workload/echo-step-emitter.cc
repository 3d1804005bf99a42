// SPDX-License-Identifier: GPL-2.0-only
#include "echo-step-emitter.h"

namespace ns3
{
namespace echo
{

StepEmitter::StepEmitter(const TrainingPlan& plan, const ParallelLayout& layout)
    : m_plan(plan), m_layout(layout), m_compute(m_builder.GetStream("compute"))
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

void StepEmitter::Gemm(const std::string& name,
                       double rows,
                       double columns,
                       double inner,
                       double batch,
                       bool accumulates)
{
    const double inputs = (rows * inner + inner * columns) * BytesOf(m_plan.parameters);
    const double output = rows * columns *
                          (accumulates ? 2 * BytesOf(m_plan.gradients) // read and written
                                       : BytesOf(m_plan.parameters));
    Kernel(name, KernelKind::GEMM, batch * 2 * rows * columns * inner, batch * (inputs + output));
}

void StepEmitter::Memory(const std::string& name, KernelKind kernel, double bytes)
{
    Kernel(name, kernel, 0, bytes);
}

void StepEmitter::Kernel(const std::string& name, KernelKind kernel, double flops, double bytes)
{
    const OperatorId op = m_builder.AddCompute(m_compute, m_prefix + name, Time(), flops, bytes);
    m_builder.SetKernel(op, kernel, m_plan.matmul);
    for (OperatorId pending : m_pending)
    {
        m_builder.AddDependency(op, pending);
    }
    m_pending.clear();
    m_lastKernel = op;
}

void StepEmitter::Follow(OperatorId communication)
{
    if (m_lastKernel.IsValid())
    {
        m_builder.AddDependency(communication, m_lastKernel);
    }
    for (OperatorId pending : m_pending)
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

OperatorId StepEmitter::CollectiveAsync(const std::string& name,
                                        LayoutGroup group,
                                        CollectiveKind kind,
                                        uint64_t bytes,
                                        DataType type)
{
    if (m_layout.GetGroupSize(group) < 2)
    {
        return OperatorId();
    }
    CollectiveSpec spec;
    spec.kind = kind;
    spec.bytes = bytes;
    spec.dataType = type;
    const OperatorId op = m_builder.AddCollective(
        m_builder.GetStream(ToString(group)), m_prefix + name, GetSlot(group), spec);
    Follow(op);
    return op;
}

void StepEmitter::WaitFor(OperatorId op)
{
    if (op.IsValid())
    {
        m_pending.push_back(op);
    }
}

void StepEmitter::Transfer(const std::string& name,
                           std::vector<CommunicationDescription::Element> elements)
{
    const OperatorId op =
        m_builder.AddPointToPoint(m_builder.GetStream(ToString(LayoutGroup::PIPELINE)),
                                  m_prefix + name,
                                  GetSlot(LayoutGroup::PIPELINE),
                                  std::move(elements));
    Follow(op);
    WaitFor(op);
}

} // namespace echo
} // namespace ns3
