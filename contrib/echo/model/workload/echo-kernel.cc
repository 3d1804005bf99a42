// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kernel.h"

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

} // namespace echo
} // namespace ns3
