// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMPUTE_PROFILE_H
#define ECHO_COMPUTE_PROFILE_H

#include "ns3/echo-kernel.h"
#include "ns3/nstime.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Share of its GPU's peak that a kernel reaches, as measured on one generation of GPUs.
 *
 * The efficiency of a matrix product is a curve over its ideal time, operations / peak: small
 * products fill the GPU badly. Over ideal time the curves of different GPUs and number formats
 * nearly agree, which they do not over operations.
 */
struct KernelEfficiency
{
    /** A point of the curve. */
    struct Point
    {
        Time ideal;           //!< operations / peak, above 0
        double efficiency{1}; //!< 0 to 1
    };

    std::string name;                    //!< e.g. "a100"
    std::vector<std::string> gpus;       //!< beginnings of names of GPUs that it holds for
    Time launchOverhead;                 //!< time of a kernel that does next to nothing
    std::vector<Point> gemm;             //!< by ascending ideal time; on tensor cores
    double gemmFp32{1};                  //!< of the FP32 peak: products on CUDA cores
    double gemmMemory{1};                //!< of memory bandwidth: products with few rows
    double attention{1};                 //!< of the peak: fused attention
    std::map<KernelKind, double> memory; //!< of memory bandwidth, by kind; OTHER: the rest

    /**
     * @return the curve at @p ideal, linear in the logarithm of time, constant outside of it
     * @param ideal seconds, above 0
     */
    double GetGemmEfficiency(double ideal) const;
    /** @return share of memory bandwidth that a kernel of @p kind reaches */
    double GetMemoryEfficiency(KernelKind kind) const;
};

/** Efficiencies of several generations of GPUs. */
struct ComputeProfile
{
    std::string file;   //!< that it was read from
    std::string source; //!< where the measurements are from
    std::vector<KernelEfficiency> architectures;
    uint32_t fallback{0}; //!< index of the one for GPUs that none names

    /** @return the efficiencies for a GPU of that name; @p isMeasured: whether they name it */
    const KernelEfficiency& Find(const std::string& gpu, bool& isMeasured) const;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMPUTE_PROFILE_H */
