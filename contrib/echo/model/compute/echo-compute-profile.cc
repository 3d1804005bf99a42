// SPDX-License-Identifier: GPL-2.0-only
#include "echo-compute-profile.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

double KernelEfficiency::GetGemmEfficiency(double ideal) const
{
    const auto above = std::find_if(gemm.begin(), gemm.end(), [&](const Point& point) {
        return point.ideal.GetSeconds() >= ideal;
    });
    if (above == gemm.begin())
    {
        return gemm.front().efficiency;
    }
    if (above == gemm.end())
    {
        return gemm.back().efficiency;
    }
    const Point& below = *std::prev(above);
    const double share = std::log(ideal / below.ideal.GetSeconds()) /
                         std::log(above->ideal.GetSeconds() / below.ideal.GetSeconds());
    return below.efficiency + share * (above->efficiency - below.efficiency);
}

double KernelEfficiency::GetMemoryEfficiency(KernelKind kind) const
{
    if (kind == KernelKind::GEMM)
    {
        return gemmMemory;
    }
    const auto known = memory.find(kind);
    return known != memory.end() ? known->second : memory.at(KernelKind::OTHER);
}

const KernelEfficiency& ComputeProfile::Find(const std::string& gpu, bool& isMeasured) const
{
    for (const auto& architecture : architectures)
    {
        for (const auto& beginning : architecture.gpus)
        {
            if (gpu.compare(0, beginning.size(), beginning) == 0)
            {
                isMeasured = true;
                return architecture;
            }
        }
    }
    isMeasured = false;
    return architectures.at(fallback);
}

} // namespace echo
} // namespace ns3
