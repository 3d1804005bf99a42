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
    OTHER,         //!< unknown (traces)
    GEMM,          //!< matrix multiplication
    ATTENTION,     //!< fused attention (flash attention)
    ELEMENTWISE,   //!< reads and writes each element once
    NORMALIZATION, //!< layer norm, RMS norm
    EMBEDDING,     //!< gathers or scatters rows of a table
};

const char* ToString(KernelKind kind);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KERNEL_H */
