// SPDX-License-Identifier: GPL-2.0-only
#include "echo-constant-slowdown.h"

#include "echo-kernel-features.h"

#include "ns3/double.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(ConstantSlowdown);

TypeId ConstantSlowdown::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::ConstantSlowdown")
            .SetParent<SlowdownModel>()
            .SetGroupName("Echo")
            .AddConstructor<ConstantSlowdown>()
            .AddAttribute("Factor",
                          "Factor on a kernel's time while communication transfers on its GPU.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&ConstantSlowdown::m_factor),
                          MakeDoubleChecker<double>(1, 1000));
    return tid;
}

void ConstantSlowdown::SetFactors(const SlowdownFactors& factors)
{
    m_factors = factors;
    m_byKernel = true;
}

double ConstantSlowdown::GetFactor(const ExecutionGraph& graph,
                                   const Operator& op,
                                   Time,
                                   const Operator&) const
{
    if (op.type != OperatorType::COMPUTE)
    {
        return 1;
    }
    if (!m_byKernel)
    {
        return m_factor;
    }
    const auto it = m_factors.byKernel.find(GetKernelClass(GetKernelKind(graph, op)));
    return it == m_factors.byKernel.end() ? m_factors.other : it->second;
}

KernelKind GetKernelKind(const ExecutionGraph& graph, const Operator& op)
{
    return op.kernel == KernelKind::OTHER ? ClassifyKernel(graph.GetName(op)) : op.kernel;
}

} // namespace echo
} // namespace ns3
