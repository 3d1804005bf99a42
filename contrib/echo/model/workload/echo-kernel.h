// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KERNEL_H
#define ECHO_KERNEL_H

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

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
 * attention: queries, keys (fewer than queries: those of a window), size of a head, heads times
 * sequences. All 0 if unknown.
 */
struct KernelShape
{
    uint32_t rows{0};
    uint32_t columns{0};
    uint32_t inner{0};
    uint32_t batch{0};
};

const char* ToString(KernelKind kind);

/**
 * @return what sort of kernel a CUDA kernel's name says it is (cuBLAS, CUTLASS, flash attention,
 *         PyTorch's own); OTHER if it says nothing
 */
KernelKind ClassifyKernel(const std::string& name);

/**
 * What a profiler measured of a kernel alone, as Nsight Compute's sections SpeedOfLight, Occupancy
 * and MemoryWorkloadAnalysis name it. Percent; not a number where unknown.
 */
struct KernelCounters
{
    double computeThroughput{NAN}; //!< of the multiprocessors' peak
    double memoryThroughput{NAN};  //!< of the busiest memory unit's peak
    double dramThroughput{NAN};    //!< of DRAM's peak
    double achievedOccupancy{NAN}; //!< of the multiprocessors' warps, as measured
    double maximumOccupancy{NAN};  //!< the same, as the kernel's resources allow
    double l1HitRate{NAN};
    double l2HitRate{NAN};
    double clock{NAN}; //!< of the multiprocessors over their usual one, 0 to 1
};

/** A member of KernelCounters and its name in files. */
struct KernelCounterField
{
    const char* name;
    double KernelCounters::*value;
    double maximum; //!< largest value that makes sense (hit rates of 100 % round above it)
};

/** @return all members, in the order of features */
const std::vector<KernelCounterField>& GetKernelCounterFields();

} // namespace echo
} // namespace ns3

#endif /* ECHO_KERNEL_H */
