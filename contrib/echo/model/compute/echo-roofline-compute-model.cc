// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roofline-compute-model.h"

#include "ns3/double.h"
#include "ns3/log.h"

#include <algorithm>
#include <cmath>
#include <sstream>

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

Operator RooflineComputeModel::MakeProduct(const GemmPoint& point)
{
    const double rows = point.rows;
    const double columns = point.columns;
    const double inner = point.inner;
    Operator op;
    op.kernel = KernelKind::GEMM;
    op.precision = point.type;
    op.shape = {point.rows, point.columns, point.inner, 1};
    op.flops = 2 * rows * columns * inner;
    op.memoryBytes = (rows + columns) * inner * BytesOf(point.type) +
                     rows * columns * std::max<double>(2, BytesOf(point.type));
    return op;
}

TypeId RooflineComputeModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::RooflineComputeModel")
            .SetParent<ComputeModel>()
            .SetGroupName("Echo")
            .AddConstructor<RooflineComputeModel>()
            .AddAttribute("Scale",
                          "Factor on the durations of kernels and copies.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&RooflineComputeModel::m_scale),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Sustained",
                          "Share of the peak under lasting load; 0: the profile's.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&RooflineComputeModel::m_sustained),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("GroupedGemm",
                          "Efficiency of products of experts, of a plain product's; "
                          "0: the profile's.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&RooflineComputeModel::m_groupedGemm),
                          MakeDoubleChecker<double>(0, 1));
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
    m_efficiency.sustained = m_sustained > 0 ? m_sustained : m_efficiency.sustained;
    m_efficiency.groupedGemm = m_groupedGemm > 0 ? m_groupedGemm : m_efficiency.groupedGemm;
    m_points = GemmPoints();
    if (m_isMeasured && m_efficiency.measuredOn.empty() && m_efficiency.gemmEpilogue > 0)
    {
        // Points were measured in short bursts, not under lasting load.
        m_points = GemmPoints(m_efficiency.gemmPoints, [this](const GemmPoint& point) {
            const Operator op = MakeProduct(point);
            const auto peak = m_gpu.peakFlops.find(op.precision);
            if (peak == m_gpu.peakFlops.end())
            {
                return 0.0;
            }
            const double ideal = op.flops / peak->second;
            CheckPoint(point, ideal);
            return GetGemmSeconds(op, ideal, 1) + m_efficiency.launchOverhead.GetSeconds();
        });
    }
    NS_LOG_INFO("GPU " << gpu.name << " with efficiencies of " << m_efficiency.name);
}

void RooflineComputeModel::CheckPoint(const GemmPoint& point, double ideal) const
{
    const double rounding = 1e-9; // of times, which are whole picoseconds, and of quotients
    if (point.time.GetSeconds() < ideal * (1 - rounding))
    {
        std::ostringstream found;
        std::ostringstream expected;
        found << point.time.GetSeconds() * 1e6 << " us for a product of " << point.rows << " x "
              << point.inner << " x " << point.columns;
        expected << "at least " << ideal * 1e6 << " us, its operations over the "
                 << ToString(point.type) << " peak of " << m_gpu.name
                 << " (a GPU of another peak needs an architecture, or a name, of its own)";
        throw InputError(
            {m_efficiency.gemmPointsFile, point.line, "column us"}, found.str(), expected.str());
    }
}

std::string RooflineComputeModel::GetWarning() const
{
    if (m_isMeasured && m_efficiency.measuredOn.empty())
    {
        return "";
    }
    return "kernel efficiencies of " +
           (m_isMeasured ? m_efficiency.measuredOn : m_efficiency.name) + " are used for " +
           m_gpu.name + ", for which there are no measurements: kernel times are extrapolated";
}

/** A product of known sizes: multiplied while its inputs arrive, then written. */
double RooflineComputeModel::GetGemmSeconds(const Operator& op,
                                            double ideal,
                                            double sustained) const
{
    const double bandwidth = m_gpu.memoryBandwidthBytesPerSecond;
    const bool isGrouped = op.kernel == KernelKind::GROUPED_GEMM;
    const KernelShape& shape = op.shape;
    const double element = op.precision == DataType::FP4 ? 0.5 : BytesOf(op.precision);
    const double efficiency =
        m_efficiency.GetGemmEfficiency(ideal) *
        (isGrouped ? m_efficiency.groupedGemm : m_efficiency.GetAlignment(shape, element));
    const double arithmetic =
        ideal * m_efficiency.GetQuantisation(shape) / (efficiency * sustained);
    const double inputs =
        (double(shape.rows) + shape.columns) * shape.inner * shape.batch * element;
    const double written = std::max(0.0, op.memoryBytes - inputs);
    return std::max(arithmetic,
                    std::min(inputs, op.memoryBytes) / (bandwidth * m_efficiency.gemmMemory)) +
           written / (bandwidth * m_efficiency.gemmEpilogue);
}

GemmPoints::Correction RooflineComputeModel::GetCorrection(const Operator& op) const
{
    return op.kernel == KernelKind::GEMM ? m_points.Find(op.precision, op.shape)
                                         : GemmPoints::Correction();
}

double RooflineComputeModel::GetArithmeticEfficiency(const Operator& op, double ideal) const
{
    const bool isBackward = op.kernel == KernelKind::ATTENTION_BACKWARD ||
                            op.kernel == KernelKind::CUDNN_ATTENTION_BACKWARD ||
                            op.kernel == KernelKind::FLASH1_ATTENTION_BACKWARD;
    const bool isCudnn = op.kernel == KernelKind::CUDNN_ATTENTION ||
                         op.kernel == KernelKind::CUDNN_ATTENTION_BACKWARD;
    const bool isFlash1 = op.kernel == KernelKind::FLASH1_ATTENTION ||
                          op.kernel == KernelKind::FLASH1_ATTENTION_BACKWARD;
    switch (op.kernel)
    {
    case KernelKind::ATTENTION:
    case KernelKind::ATTENTION_BACKWARD:
    case KernelKind::CUDNN_ATTENTION:
    case KernelKind::CUDNN_ATTENTION_BACKWARD:
    case KernelKind::FLASH1_ATTENTION:
    case KernelKind::FLASH1_ATTENTION_BACKWARD:
    {
        const KernelShape& shape = op.shape;
        const double all = double(shape.rows) * shape.columns * shape.inner * shape.batch *
                           (isBackward ? 10.0 : 4.0);
        KernelEfficiency::AttentionPoint kernel;
        kernel.isCudnn = isCudnn;
        kernel.isFp8 = op.precision == DataType::FP8;
        kernel.window = shape.columns < shape.rows ? shape.columns : 0;
        kernel.isCausal = kernel.window > 0 || op.flops < 0.75 * all;
        return m_efficiency.sustained * (isFlash1 ? m_efficiency.flash1 : 1) *
               m_efficiency.GetAttentionEfficiency(kernel, isBackward, shape);
    }
    default:
        return op.precision == DataType::FP32
                   ? m_efficiency.gemmFp32
                   : m_efficiency.sustained * m_efficiency.GetGemmEfficiency(ideal);
    }
}

std::string RooflineComputeModel::DescribeExtrapolation(const WorkloadGraph& workload) const
{
    const double shortest = m_efficiency.gemm.front().ideal.GetSeconds() / 3.16;
    const double longest = m_efficiency.gemm.back().ideal.GetSeconds() * 3.16;
    uint64_t products = 0;
    uint64_t outside = 0;
    uint64_t distant = 0;
    for (const ExecutionGraphPtr& program : workload.GetDistinctPrograms())
    {
        for (const Operator& op : program->GetOperators())
        {
            const auto peak = m_gpu.peakFlops.find(op.precision);
            if ((op.kernel != KernelKind::GEMM && op.kernel != KernelKind::GROUPED_GEMM) ||
                !op.duration.IsZero() || peak == m_gpu.peakFlops.end())
            {
                continue;
            }
            const double ideal = op.flops / peak->second;
            ++products;
            outside += ideal < shortest || ideal > longest ? 1 : 0;
            const bool isPoint = op.kernel == KernelKind::GEMM && op.shape.batch == 1;
            distant += isPoint && !m_points.IsEmpty() && GetCorrection(op).distance > 1 ? 1 : 0;
        }
    }
    const std::string of = " of " + std::to_string(products) + " matrix products are ";
    std::string sentence;
    if (outside > 0)
    {
        sentence = std::to_string(outside) + of + "smaller or larger than those measured on " +
                   m_efficiency.name + ": their times are extrapolated";
    }
    if (distant > 0)
    {
        sentence += (sentence.empty() ? "" : "; ") + std::to_string(distant) + of +
                    "of other shapes than those measured on " + m_efficiency.name +
                    ": their times follow its curve of efficiency";
    }
    return sentence;
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
        const bool isGemm = op.kernel == KernelKind::GEMM || op.kernel == KernelKind::GROUPED_GEMM;
        if (isGemm && op.precision != DataType::FP32 && m_efficiency.gemmEpilogue > 0 &&
            op.shape.rows > 0)
        {
            return GetCorrection(op).factor * (GetGemmSeconds(op, ideal, m_efficiency.sustained) +
                                               m_efficiency.launchOverhead.GetSeconds());
        }
        seconds = ideal / GetArithmeticEfficiency(op, ideal);
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
    for (const ExecutionGraphPtr& program : workload.GetDistinctPrograms())
    {
        for (const Operator& op : program->GetOperators())
        {
            if ((op.type != OperatorType::COMPUTE && op.type != OperatorType::COPY) ||
                !op.duration.IsZero())
            {
                continue;
            }
            const double seconds = GetSeconds(op);
            if (seconds < 0)
            {
                throw UnsupportedError("operator '" + program->GetName(op) + "' multiplies in " +
                                       ToString(op.precision) + ", but gpu " + m_gpu.name +
                                       " has no peak_tflops." + ToString(op.precision));
            }
            if (seconds > LONGEST || seconds * m_scale > LONGEST)
            {
                const SourceLocation where{program->GetSource(), op.line, ""};
                const std::string place = where.ToString();
                throw UnsupportedError(place + (place.empty() ? "" : ": ") + "operator '" +
                                       program->GetName(op) +
                                       "' would take longer than 1000000 s on gpu " + m_gpu.name);
            }
        }
    }
}

} // namespace echo
} // namespace ns3
