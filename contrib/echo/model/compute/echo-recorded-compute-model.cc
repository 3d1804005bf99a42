// SPDX-License-Identifier: GPL-2.0-only
#include "echo-recorded-compute-model.h"

#include "ns3/double.h"

#include <cmath>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(RecordedComputeModel);

TypeId RecordedComputeModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RecordedComputeModel")
                            .SetParent<ComputeModel>()
                            .SetGroupName("Echo")
                            .AddConstructor<RecordedComputeModel>()
                            .AddAttribute("Scale",
                                          "Factor on the durations of kernels and copies.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&RecordedComputeModel::m_scale),
                                          MakeDoubleChecker<double>(0, 1e6));
    return tid;
}

Time RecordedComputeModel::GetDuration(const Operator& op, RankId) const
{
    if (m_scale == 1 || op.type == OperatorType::HOST)
    {
        return op.duration;
    }
    return TimeStep(static_cast<uint64_t>(
        std::llround(static_cast<double>(op.duration.GetTimeStep()) * m_scale)));
}

} // namespace echo
} // namespace ns3
