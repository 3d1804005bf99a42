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
    case KernelKind::OTHER:
        break;
    }
    return "other";
}

} // namespace echo
} // namespace ns3
