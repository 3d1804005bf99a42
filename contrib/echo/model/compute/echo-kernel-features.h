// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KERNEL_FEATURES_H
#define ECHO_KERNEL_FEATURES_H

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-kernel.h"

#include <cmath>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A kernel and the communication beside it, as a learned slowdown sees them (the paper, Table 4).
 * Not a number: unknown. Categories are numbers: the places of ToString's values.
 */
struct OverlapDescription
{
    double durationUs{NAN}; //!< of the kernel alone, microseconds
    KernelCounters counters;
    KernelKind kernel{KernelKind::OTHER};
    double gpu{NAN};        //!< GetGpuCategory()
    double algorithm{NAN};  //!< CollectiveAlgorithmKind; unknown where the selector decides
    double protocol{NAN};   //!< CollectiveProtocol; unknown where the selector decides
    double collective{NAN}; //!< CollectiveKind
    double bytes{NAN};      //!< nccl-tests' size
    double channels{NAN};   //!< count; unknown where the selector decides

    /** Takes over what a collective says of itself. */
    void SetCommunication(const CollectiveSpec& spec);
};

/** A kernel that was measured alone and beside communication. */
struct OverlapSample
{
    OverlapDescription description;
    std::string name;             //!< of the kernel, in full: what cross-validation keeps together
    double overlap{0};            //!< share of the measured time with communication, 0 to 1
    double measuredUs{0};         //!< time beside communication, microseconds
    double place{0};              //!< in the step: like kernels are put in order by it
    bool isClockEstimated{false}; //!< EstimateClocks() found the clock
    std::string file;             //!< for messages
    uint32_t line{0};             //!< for messages

    /**
     * @return time that the timeline gives it, microseconds: during the share `overlap` of the time
     *         T it runs at 1/factor, so durationUs = T (1 - overlap + overlap / factor)
     */
    double GetTimeUs(double factor) const
    {
        return description.durationUs / (1 - overlap + overlap / factor);
    }
};

/** @return names of all features, in the order of MakeFeatures() */
const std::vector<std::string>& GetFeatureNames();

/** @return the values of all features; not a number where unknown */
std::vector<float> MakeFeatures(const OverlapDescription& description);

/** @return the kind for finer ones: all kinds of attention and of products are one each */
KernelKind GetKernelClass(KernelKind kind);

/** @return a number for a GPU by its name ("A100-SXM4-40GB"); not a number if it is not known */
double GetGpuCategory(const std::string& name);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KERNEL_FEATURES_H */
