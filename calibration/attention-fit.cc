// SPDX-License-Identifier: GPL-2.0-only
#include "attention-fit.h"

#include <algorithm>
#include <ostream>
#include <tuple>

namespace ns3
{
namespace echo
{

AttentionTable::AttentionTable(const std::vector<Row>& rows, const std::string& gpu, double peak)
{
    for (const Row& row : rows)
    {
        if (row.at("gpu").rfind(gpu, 0) == 0)
        {
            m_shares[{row.at("kernel") + " " + row.at("pass"),
                      {row.at("causal"),
                       {static_cast<int>(Number(row, "head_dim")),
                        static_cast<int>(Number(row, "seq"))}}}] =
                Number(row, "tflops") * 1e12 / peak;
        }
    }
}

double AttentionTable::Get(const std::string& kernel, bool causal, int head, int sequence) const
{
    const auto found = m_shares.find({kernel, {causal ? "1" : "0", {head, sequence}}});
    return found == m_shares.end() ? 0 : found->second;
}

std::vector<AttentionShare> GetAttention(const AttentionTable& table,
                                         const AttentionTable& reference)
{
    std::vector<AttentionShare> points;
    for (const bool causal : {false, true})
    {
        for (const int head : {64, 128, 256})
        {
            for (const int sequence : {512, 1024, 2048, 4096, 8192, 16384})
            {
                const double forward = reference.Get("FA2 fwd", causal, head, sequence);
                const double both = reference.Get("FA2 fwd+bwd", causal, head, sequence);
                const double ratio =
                    forward > 0 && both > 0 ? 2.5 / (3.5 / both - 1 / forward) / forward : 0.85;
                const auto add = [&](const char* kernel, double share) {
                    if (share > 0)
                    {
                        points.push_back(
                            {kernel, "16-bit", head, causal, 0, sequence, share, share * ratio});
                    }
                };
                const double ownBoth = table.Get("FA2 fwd+bwd", causal, head, sequence);
                const double own = table.Get("FA2 fwd", causal, head, sequence);
                const double flash = own > 0 ? own : ownBoth * (1 + 2.5 / ratio) / 3.5;
                const double fused = std::max(table.Get("FA3 fwd", causal, head, sequence),
                                              table.Get("cuDNN fwd", causal, head, sequence));
                add("flash", flash);
                add("cudnn", fused > 0 ? fused : flash);
            }
        }
    }
    return points;
}

std::vector<AttentionShare> GetCudnnAttention(const std::vector<Row>& rows,
                                              const std::map<std::string, double>& peaks)
{
    std::vector<AttentionShare> points;
    for (const Row& row : rows)
    {
        const auto peak = peaks.find(row.at("gpu"));
        if (peak != peaks.end())
        {
            const double flops = peak->second * (row.at("precision") == "fp8" ? 2 : 1) / 1e12;
            points.push_back({"cudnn",
                              row.at("precision"),
                              static_cast<int>(Number(row, "head")),
                              Number(row, "causal") > 0,
                              static_cast<int>(Number(row, "window")),
                              static_cast<int>(Number(row, "sequence")),
                              Number(row, "forward") / flops,
                              Number(row, "backward") / flops});
        }
    }
    for (AttentionShare& point : points)
    {
        const AttentionShare* nearest = nullptr;
        for (const AttentionShare& other : points)
        {
            const bool isKin = other.head == 128 && other.backward > 0 && other.window == 0 &&
                               other.causal == point.causal && other.precision == point.precision &&
                               other.sequence >= point.sequence;
            if (isKin && (!nearest || other.sequence < nearest->sequence))
            {
                nearest = &other;
            }
        }
        if (point.backward == 0 && nearest)
        {
            point.backward = point.forward * nearest->backward / nearest->forward;
        }
    }
    return points;
}

namespace
{

/** @return whether they differ in nothing but the sequence */
bool IsSameKernel(const AttentionShare& one, const AttentionShare& other)
{
    return std::tie(one.kernel, one.precision, one.head, one.causal, one.window) ==
           std::tie(other.kernel, other.precision, other.head, other.causal, other.window);
}

} // namespace

void Overlay(std::vector<AttentionShare>& points, const std::vector<AttentionShare>& newer)
{
    std::vector<AttentionShare> kept;
    for (AttentionShare point : points)
    {
        const AttentionShare* shortest = nullptr;
        for (const AttentionShare& other : newer)
        {
            if (IsSameKernel(point, other) && (!shortest || other.sequence < shortest->sequence))
            {
                shortest = &other;
            }
        }
        if (!shortest)
        {
            kept.push_back(point);
        }
        else if (point.sequence < shortest->sequence)
        {
            for (const AttentionShare& old : points)
            {
                if (IsSameKernel(point, old) && old.sequence == shortest->sequence)
                {
                    point.forward *= shortest->forward / old.forward;
                    point.backward *= shortest->backward / old.backward;
                    kept.push_back(point);
                    break;
                }
            }
        }
    }
    kept.insert(kept.end(), newer.begin(), newer.end());
    points = std::move(kept);
}

void WriteAttention(std::ostream& out, const std::vector<AttentionShare>& points)
{
    out << "    attention:\n";
    for (const AttentionShare& point : points)
    {
        out << "      - {kernel: " << point.kernel
            << (point.precision == "fp8" ? ", precision: fp8" : "") << ", head: " << point.head
            << ", causal: " << (point.causal ? "true" : "false");
        if (point.window > 0)
        {
            out << ", window: " << point.window;
        }
        out << ", sequence: " << point.sequence << ", forward: " << Format("%#.3g", point.forward)
            << ", backward: " << Format("%#.3g", point.backward) << "}\n";
    }
}

} // namespace echo
} // namespace ns3
