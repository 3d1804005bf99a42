// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KERNEL_H
#define ECHO_KERNEL_H

#include <cstdint>

namespace ns3
{
namespace echo
{

/** What sort of kernel a COMPUTE operator is, as far as its efficiency depends on it. */
enum class KernelKind : uint8_t
{
    OTHER,              //!< unknown (traces)
    GEMM,               //!< matrix multiplication
    ATTENTION,          //!< fused attention (flash attention), forward
    ELEMENTWISE,        //!< reads and writes each element once
    NORMALIZATION,      //!< layer norm, RMS norm
    EMBEDDING,          //!< gathers or scatters rows of a table
    ATTENTION_BACKWARD, //!< backward pass of fused attention
    CUDNN_ATTENTION,    //!< fused attention made for the GPU's generation, forward
    CUDNN_ATTENTION_BACKWARD,
    FLASH1_ATTENTION, //!< FlashAttention of 2022 and its Triton version, forward
    FLASH1_ATTENTION_BACKWARD,
    GROUPED_GEMM, //!< matrix multiplications of several experts in one launch
};

/**
 * Sizes of a kernel that multiplies: [rows x inner] by [inner x columns], batch times. Of fused
 * attention: queries, keys, size of a head, heads times sequences. All 0 if unknown.
 */
struct KernelShape
{
    uint32_t rows{0};
    uint32_t columns{0};
    uint32_t inner{0};
    uint32_t batch{0};
};

const char* ToString(KernelKind kind);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KERNEL_H */
