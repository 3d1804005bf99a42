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

double KernelEfficiency::GetAlignment(const KernelShape& shape, double elementBytes) const
{
    const auto isAligned = [elementBytes](uint32_t size) {
        return std::fmod(size * elementBytes, 16) == 0;
    };
    return isAligned(shape.columns) && isAligned(shape.inner) ? 1 : gemmUnaligned;
}

double KernelEfficiency::GetQuantisation(const KernelShape& shape) const
{
    if (shape.rows == 0 || shape.columns == 0)
    {
        return 1;
    }
    const double tile = 128;
    const double rows = std::ceil(shape.rows / tile);
    const double columns = std::ceil(shape.columns / tile);
    const double padding = rows * columns * tile * tile / (double(shape.rows) * shape.columns);
    const double waves =
        processors > 0 ? rows * columns * std::max<uint32_t>(shape.batch, 1) / processors : 0;
    // The curve holds products of all sizes, whose last wave is half full on average.
    return waves >= 1 ? padding * std::ceil(waves - 1e-9) / (waves + 0.5) : padding;
}

namespace
{

/** @return share of the pairs in the tiles that a window touches that are in the window; 0: all */
double GetWindowShare(uint32_t window)
{
    const double tiles = 256; // half a tile too many at either end, and the queries' own
    return window > 0 ? window / (window + tiles) : 1;
}

} // namespace

double KernelEfficiency::GetMeasuredAttention(const AttentionPoint& kernel,
                                              bool isBackward,
                                              const KernelShape& shape,
                                              bool& isOfWindow) const
{
    isOfWindow = false;
    const auto distance = [&](const AttentionPoint& point) {
        // What it is, then its mask, its number format, whether there is a window, and sizes.
        const double window = kernel.window == 0 || point.window == 0
                                  ? (kernel.window == point.window ? 0 : 20)
                                  : 0.1 * std::abs(std::log(double(point.window) / kernel.window));
        return std::abs(std::log(double(point.headSize) / std::max(shape.inner, 1U))) + window +
               (point.isCudnn == kernel.isCudnn ? 0 : 1000) +
               (point.isCausal == kernel.isCausal ? 0 : 200) +
               (point.isFp8 == kernel.isFp8 ? 0 : 50);
    };
    double nearest = 1000; // of another make there is nothing to learn
    for (const AttentionPoint& point : attentionPoints)
    {
        nearest = std::min(nearest, distance(point));
    }
    const AttentionPoint* below = nullptr;
    const AttentionPoint* above = nullptr;
    for (const AttentionPoint& point : attentionPoints)
    {
        if (nearest >= 1000 || distance(point) > nearest)
        {
            continue;
        }
        if (point.sequence <= shape.rows && (!below || point.sequence > below->sequence))
        {
            below = &point;
        }
        if (point.sequence >= shape.rows && (!above || point.sequence < above->sequence))
        {
            above = &point;
        }
    }
    if (!below && !above)
    {
        return attention * GetWindowShare(kernel.window);
    }
    const AttentionPoint& point = below ? *below : *above;
    isOfWindow = below && above && point.window == kernel.window && point.headSize == shape.inner &&
                 point.isCausal == kernel.isCausal && point.isFp8 == kernel.isFp8;
    const auto value = [&](const AttentionPoint& near) {
        const double formats = near.isFp8 == kernel.isFp8 ? 1 : kernel.isFp8 ? 0.5 : 2;
        return (isBackward ? near.backward : near.forward) *
               (GetWindowShare(kernel.window) / GetWindowShare(near.window)) * formats;
    };
    double share = value(point);
    if (below && above && below != above)
    {
        share += (value(*above) - share) * std::log(double(shape.rows) / below->sequence) /
                 std::log(double(above->sequence) / below->sequence);
    }
    return std::min(share, 1.0);
}

double KernelEfficiency::GetAttentionEfficiency(const AttentionPoint& kernel,
                                                bool isBackward,
                                                const KernelShape& shape) const
{
    bool isOfWindow = false;
    const double own = GetMeasuredAttention(kernel, isBackward, shape, isOfWindow);
    if (kernel.window == 0 || isOfWindow)
    {
        return own;
    }
    AttentionPoint whole = kernel;
    whole.window = 0;
    const double part = std::min(double(kernel.window) / std::max(shape.rows, 1U), 1.0);
    const double pairs = part * (2 - part); // of those of a causal mask alone
    return std::max(own, pairs * GetMeasuredAttention(whole, isBackward, shape, isOfWindow));
}

double KernelEfficiency::GetMemoryEfficiency(KernelKind kind) const
{
    if (kind == KernelKind::GEMM || kind == KernelKind::GROUPED_GEMM)
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
