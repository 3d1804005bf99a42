// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kernel.h"

#include "ns3/echo-error.h"

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

const char* ToString(MatmulPrecision precision)
{
    switch (precision)
    {
    case MatmulPrecision::FP32:
        return "fp32";
    case MatmulPrecision::TF32:
        return "tf32";
    case MatmulPrecision::FP16:
        return "fp16";
    case MatmulPrecision::BF16:
        return "bf16";
    case MatmulPrecision::FP8:
        return "fp8";
    case MatmulPrecision::UNKNOWN:
        break;
    }
    return "unknown";
}

MatmulPrecision ParseMatmulPrecision(const std::string& text)
{
    for (auto precision : {MatmulPrecision::FP32,
                           MatmulPrecision::TF32,
                           MatmulPrecision::FP16,
                           MatmulPrecision::BF16,
                           MatmulPrecision::FP8})
    {
        if (text == ToString(precision))
        {
            return precision;
        }
    }
    throw InputError({}, "'" + text + "'", "one of fp32, tf32, fp16, bf16, fp8");
}

} // namespace echo
} // namespace ns3
