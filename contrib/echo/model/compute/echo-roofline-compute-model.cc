// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roofline-compute-model.h"

#include "ns3/double.h"
#include "ns3/log.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRooflineComputeModel");

NS_OBJECT_ENSURE_REGISTERED(RooflineComputeModel);

namespace
{

/** Longest kernel, in seconds: no real one, and still far from the end of Time. */
const double LONGEST = 1e6;

} // namespace

TypeId RooflineComputeModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RooflineComputeModel")
                            .SetParent<ComputeModel>()
                            .SetGroupName("Echo")
                            .AddConstructor<RooflineComputeModel>()
                            .AddAttribute("Scale",
                                          "Factor on the durations of kernels and copies.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&RooflineComputeModel::m_scale),
                                          MakeDoubleChecker<double>(0, 1e6));
    return tid;
}

void RooflineComputeModel::Configure(const GpuSpec& gpu, const ComputeProfile& profile)
{
    if (!(gpu.memoryBandwidthBytesPerSecond > 0))
    {
        throw InputError({"", 0, "gpu " + gpu.name}, "no memory bandwidth", "it, to model kernels");
    }
    m_gpu = gpu;
    m_efficiency = profile.Find(gpu.name, m_isMeasured);
    NS_LOG_INFO("GPU " << gpu.name << " with efficiencies of " << m_efficiency.name);
}

std::string RooflineComputeModel::GetWarning() const
{
    return m_isMeasured ? ""
                        : "kernel efficiencies of " + m_efficiency.name + " are used for " +
                              m_gpu.name + ", for which there are no measurements";
}

double RooflineComputeModel::GetSeconds(const Operator& op) const
{
    double seconds = 0;
    if (op.flops > 0)
    {
        const auto peak = m_gpu.peakFlops.find(op.precision);
        if (peak == m_gpu.peakFlops.end() || !(peak->second > 0))
        {
            return -1;
        }
        const double ideal = op.flops / peak->second;
        const double efficiency = op.kernel == KernelKind::ATTENTION ? m_efficiency.attention
                                  : op.precision == DataType::FP32
                                      ? m_efficiency.gemmFp32
                                      : m_efficiency.GetGemmEfficiency(ideal);
        seconds = ideal / efficiency;
    }
    seconds = std::max(seconds,
                       op.memoryBytes / (m_gpu.memoryBandwidthBytesPerSecond *
                                         m_efficiency.GetMemoryEfficiency(op.kernel)));
    return seconds > 0 ? seconds + m_efficiency.launchOverhead.GetSeconds() : 0;
}

Time RooflineComputeModel::GetDuration(const Operator& op, RankId) const
{
    if (op.type == OperatorType::HOST)
    {
        return op.duration;
    }
    const double seconds = op.duration.IsZero() ? GetSeconds(op) : op.duration.GetSeconds();
    NS_ASSERT_MSG(seconds >= 0 && seconds <= LONGEST, "Check() was not asked");
    return PicoSeconds(std::llround(seconds * m_scale * 1e12));
}

void RooflineComputeModel::Check(const WorkloadGraph& workload) const
{
    std::set<const ExecutionGraph*> seen;
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
        if (!seen.insert(&program).second)
        {
            continue;
        }
        for (const Operator& op : program.GetOperators())
        {
            if ((op.type != OperatorType::COMPUTE && op.type != OperatorType::COPY) ||
                !op.duration.IsZero())
            {
                continue;
            }
            const double seconds = GetSeconds(op);
            if (seconds < 0)
            {
                throw UnsupportedError("operator '" + program.GetName(op) + "' multiplies in " +
                                       ToString(op.precision) + ", but gpu " + m_gpu.name +
                                       " has no peak_tflops." + ToString(op.precision));
            }
            if (seconds > LONGEST || seconds * m_scale > LONGEST)
            {
                throw UnsupportedError("operator '" + program.GetName(op) +
                                       "' would take longer than 1000000 s on gpu " + m_gpu.name);
            }
        }
    }
}

} // namespace echo
} // namespace ns3
