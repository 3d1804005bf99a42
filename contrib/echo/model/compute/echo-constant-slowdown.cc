// SPDX-License-Identifier: GPL-2.0-only
#include "echo-constant-slowdown.h"

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

double ConstantSlowdown::GetFactor(const Operator& op) const
{
    return op.type == OperatorType::COMPUTE ? m_factor : 1;
}

} // namespace echo
} // namespace ns3
