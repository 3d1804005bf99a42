// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kernel.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace ns3
{
namespace echo
{

const char* ToString(KernelKind kind)
{
    switch (kind)
    {
    case KernelKind::GEMM:
        return "gemm";
    case KernelKind::ATTENTION:
        return "attention";
    case KernelKind::ELEMENTWISE:
        return "elementwise";
    case KernelKind::NORMALIZATION:
        return "normalization";
    case KernelKind::EMBEDDING:
        return "embedding";
    case KernelKind::ATTENTION_BACKWARD:
        return "attention-backward";
    case KernelKind::CUDNN_ATTENTION:
        return "cudnn-attention";
    case KernelKind::CUDNN_ATTENTION_BACKWARD:
        return "cudnn-attention-backward";
    case KernelKind::FLASH1_ATTENTION:
        return "flash1-attention";
    case KernelKind::FLASH1_ATTENTION_BACKWARD:
        return "flash1-attention-backward";
    case KernelKind::GROUPED_GEMM:
        return "grouped-gemm";
    case KernelKind::OTHER:
        break;
    }
    return "other";
}

KernelKind ClassifyKernel(const std::string& name)
{
    std::string text = name;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    // The first that matches; attention kernels of CUTLASS also hold "gemm".
    static const std::pair<const char*, KernelKind> PARTS[] = {
        {"fmha", KernelKind::ATTENTION},
        {"flash", KernelKind::ATTENTION},
        {"attention", KernelKind::ATTENTION},
        {"layer_norm", KernelKind::NORMALIZATION},
        {"layernorm", KernelKind::NORMALIZATION},
        {"gammabeta", KernelKind::NORMALIZATION},
        {"rms_norm", KernelKind::NORMALIZATION},
        {"rmsnorm", KernelKind::NORMALIZATION},
        {"batch_norm", KernelKind::NORMALIZATION},
        {"gemm", KernelKind::GEMM},
        {"cutlass", KernelKind::GEMM},
        {"wgrad", KernelKind::GEMM},
        {"convolve", KernelKind::GEMM},
        {"addmm", KernelKind::GEMM},
        {"bmm", KernelKind::GEMM},
        {"aten::mm", KernelKind::GEMM},
        {"matmul", KernelKind::GEMM},
        {"embedding", KernelKind::EMBEDDING},
        {"indexselect", KernelKind::EMBEDDING},
        {"elementwise", KernelKind::ELEMENTWISE},
        {"multi_tensor_apply", KernelKind::ELEMENTWISE},
        {"dropout", KernelKind::ELEMENTWISE},
        {"catarray", KernelKind::ELEMENTWISE},
    };
    for (const auto& [part, kind] : PARTS)
    {
        if (text.find(part) != std::string::npos)
        {
            return kind;
        }
    }
    return KernelKind::OTHER;
}

const std::vector<KernelCounterField>& GetKernelCounterFields()
{
    static const std::vector<KernelCounterField> FIELDS{
        {"compute_throughput", &KernelCounters::computeThroughput, 110},
        {"memory_throughput", &KernelCounters::memoryThroughput, 110},
        {"dram_throughput", &KernelCounters::dramThroughput, 110},
        {"achieved_occupancy", &KernelCounters::achievedOccupancy, 110},
        {"maximum_occupancy", &KernelCounters::maximumOccupancy, 110},
        {"l1_hit_rate", &KernelCounters::l1HitRate, 110},
        {"l2_hit_rate", &KernelCounters::l2HitRate, 110},
        {"clock", &KernelCounters::clock, 1},
    };
    return FIELDS;
}

} // namespace echo
} // namespace ns3
