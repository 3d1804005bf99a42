// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMPUTE_PROFILE_H
#define ECHO_COMPUTE_PROFILE_H

#include "echo-gemm-points.h"

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

    /** A measured fused attention kernel. */
    struct AttentionPoint
    {
        bool isCudnn{false};  //!< made for the GPU's generation; else FlashAttention-2
        bool isCausal{false}; //!< flops count what the mask leaves
        bool isFp8{false};    //!< multiplies in FP8, of whose peak its shares are
        uint32_t headSize{0}; //!< of queries and keys
        uint32_t window{0};   //!< tokens that a query looks back on; 0: all
        uint32_t sequence{0}; //!< tokens
        double forward{0};    //!< of the peak
        double backward{0};   //!< of the peak
    };

    std::string name;              //!< e.g. "a100"
    std::string measuredOn;        //!< GPUs whose measurements stand in; empty: its own
    std::vector<std::string> gpus; //!< beginnings of names of GPUs that it holds for
    Time launchOverhead;           //!< time of a kernel that does next to nothing
    std::vector<Point> gemm;       //!< by ascending ideal time; on tensor cores
    double gemmFp32{1};            //!< of the FP32 peak: products on CUDA cores
    double gemmMemory{1};          //!< of memory bandwidth: products with few rows
    double gemmEpilogue{0};        //!< of memory bandwidth, at which a product writes its
                                   //!< result behind its arithmetic; 0: beside it
    double gemmUnaligned{1};       //!< products whose rows of memory begin at no multiple of 16
                                   //!< bytes: of an aligned one's efficiency
    double groupedGemm{1};         //!< products of experts: of a plain product's efficiency
    double sustained{1};           //!< of the peak under lasting load of the tensor cores
    uint32_t processors{0};        //!< streaming multiprocessors; 0: unknown
    double flash1{0.5};            //!< the first FlashAttention, of the second's efficiency
    double attention{1};           //!< of the peak: fused attention that no point is near
    std::vector<AttentionPoint> attentionPoints; //!< measured kernels
    std::string gemmPointsFile;                  //!< that they were read from
    std::vector<GemmPoint> gemmPoints;           //!< measured products, which correct the curve
    std::map<KernelKind, double> memory;         //!< of memory bandwidth, by kind; OTHER: the rest

    /**
     * @return the curve at @p ideal, linear in the logarithm of time, constant outside of it
     * @param ideal seconds, above 0
     */
    double GetGemmEfficiency(double ideal) const;
    /**
     * @return share of an aligned product's efficiency that is left to one of @p elementBytes
     * where columns or inner size, which matrices lie in memory by, are no multiples of 16 bytes
     */
    double GetAlignment(const KernelShape& shape, double elementBytes) const;
    /**
     * @return how much longer a product takes because its result is cut into tiles of 128 x 128
     *         and tiles into waves over the processors: 1 for whole tiles and an average last wave
     */
    double GetQuantisation(const KernelShape& shape) const;
    /**
     * A kernel works on whole tiles of about 128 x 128 pairs (arXiv 2307.08691, 3.3). So a tile of
     * queries that look back on a window visits window + 2 x 128 keys; the share of what counts,
     * window / (window + 256), carries a measured kernel over to another window, or to one where
     * only kernels without a window were measured. A window that was not measured makes no kernel
     * slower than it is without: a mask does it too. One in FP8 takes as long as the measured one
     * in 16 bits where none in FP8 was measured.
     * @param kernel its make, mask, number format and window; the rest is not read
     * @param shape of the kernel: tokens, -, head size
     * @return share of the peak of the measured kernel of the nearest head size, linear in the
     *         logarithm of the sequence; @p attention if none was measured
     */
    double GetAttentionEfficiency(const AttentionPoint& kernel,
                                  bool isBackward,
                                  const KernelShape& shape) const;
    /** @return share of memory bandwidth that a kernel of @p kind reaches */
    double GetMemoryEfficiency(KernelKind kind) const;

  private:
    /** What the nearest kernels say; @p isOfWindow: they have that window. */
    double GetMeasuredAttention(const AttentionPoint& kernel,
                                bool isBackward,
                                const KernelShape& shape,
                                bool& isOfWindow) const;
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
