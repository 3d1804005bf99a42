// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KERNEL_H
#define ECHO_KERNEL_H

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** What sort of kernel a COMPUTE operator is, as far as its efficiency depends on it. */
enum class KernelKind : uint8_t
{
    OTHER,         //!< unknown (traces)
    GEMM,          //!< matrix multiplication
    ATTENTION,     //!< fused attention (flash attention)
    ELEMENTWISE,   //!< reads and writes each element once
    NORMALIZATION, //!< layer norm, RMS norm
    EMBEDDING,     //!< gathers or scatters rows of a table
};

/** Number format in which a GPU multiplies matrices; decides which of its peaks applies. */
enum class MatmulPrecision : uint8_t
{
    UNKNOWN,
    FP32, //!< FP32 on the CUDA cores
    TF32, //!< FP32 data, rounded to TF32 for the tensor cores
    FP16,
    BF16,
    FP8,
};

const char* ToString(KernelKind kind);
const char* ToString(MatmulPrecision precision);
/** @throws InputError if @p text is none of fp32, tf32, fp16, bf16, fp8 */
MatmulPrecision ParseMatmulPrecision(const std::string& text);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KERNEL_H */
