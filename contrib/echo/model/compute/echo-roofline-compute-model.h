// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROOFLINE_COMPUTE_MODEL_H
#define ECHO_ROOFLINE_COMPUTE_MODEL_H

#include "echo-compute-model.h"
#include "echo-compute-profile.h"

#include "ns3/echo-gpu-spec.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * Durations from what kernels do:
 *
 *   launch overhead + max(flops / (peak * efficiency), bytes / (bandwidth * efficiency)),
 *
 * peak by the operator's number format, efficiencies as measured (KernelEfficiency). A matrix
 * product of known sizes reads its inputs beside its arithmetic, but writes its result behind it:
 *
 *   launch overhead + max(flops / (peak * efficiency) * quantisation, input bytes / ...)
 *     + output bytes / (bandwidth * epilogue).
 *
 * Measured products with few steps (K of 512 to 8192 at equal flops) fit a sum, not a maximum.
 * Where the profile holds measured products, they correct that (GemmPoints). The attribute Scale
 * multiplies COMPUTE and COPY. An operator that has a duration keeps it (a profiler measured it);
 * so does HOST.
 *
 * The roofline is that of Williams et al., CACM 52(4), 2009.
 */
class RooflineComputeModel : public ComputeModel
{
  public:
    static TypeId GetTypeId();

    /**
     * Sets the GPU and its efficiencies.
     * @throws InputError if the GPU has no memory bandwidth
     */
    void Configure(const GpuSpec& gpu, const ComputeProfile& profile);

    /**
     * Whether every operator's duration can be given: to be asked before time zero.
     * @throws UnsupportedError naming an operator, if the GPU has no peak for its number format or
     *         it would take longer than 1e6 s
     */
    void Check(const WorkloadGraph& workload) const;

    /** @return a sentence if the profile does not name the GPU, so that efficiencies of another
     * one are used; else empty */
    std::string GetWarning() const;

    /**
     * @return a sentence if matrix products lie outside the measured range (by more than half a
     *         decade of ideal time) or far from every measured product (a factor of e in their
     *         sizes), with how many; else empty
     */
    std::string DescribeExtrapolation(const WorkloadGraph& workload) const;

    Time GetDuration(const Operator& op, RankId rank) const override;

    bool IsSameForAllRanks() const override
    {
        return true;
    }

    /** @return a measured product as an operator: its result is 16 bits wide or more */
    static Operator MakeProduct(const GemmPoint& point);

    /** @return time of @p op on the GPU, in seconds; a negative number if there is no peak */
    double GetSeconds(const Operator& op) const;

  private:
    /**
     * @return seconds of a product of known sizes by the curve, without launching
     * @param sustained share of the peak under lasting load
     */
    double GetGemmSeconds(const Operator& op, double ideal, double sustained) const;
    /**
     * @param ideal seconds of the product's operations at the GPU's peak
     * @throws InputError naming file and line, if the product was measured in less
     */
    void CheckPoint(const GemmPoint& point, double ideal) const;
    /** @return the factor on a product's time that measured products near it suggest */
    GemmPoints::Correction GetCorrection(const Operator& op) const;
    /** @return share of the peak that @p op reaches */
    double GetArithmeticEfficiency(const Operator& op, double ideal) const;

    double m_scale{1};       //!< factor on GPU time
    double m_sustained{0};   //!< instead of the profile's; 0: the profile's
    double m_groupedGemm{0}; //!< the same
    GpuSpec m_gpu;
    KernelEfficiency m_efficiency;
    GemmPoints m_points;     //!< of this GPU's architecture
    bool m_isMeasured{true}; //!< the profile names the GPU
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROOFLINE_COMPUTE_MODEL_H */
