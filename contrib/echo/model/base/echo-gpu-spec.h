// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GPU_SPEC_H
#define ECHO_GPU_SPEC_H

#include "echo-enums.h"

#include <cstdint>
#include <map>
#include <string>

namespace ns3
{
namespace echo
{

/** A GPU model as its vendor states it; all GPUs of a cluster are alike. */
struct GpuSpec
{
    std::string name;                        //!< e.g. "A100-SXM4-40GB"
    std::map<DataType, double> peakFlops;    //!< dense matrix FLOP/s by element type
    double memoryBandwidthBytesPerSecond{0}; //!< HBM
    uint64_t memoryBytes{0};                 //!< HBM capacity
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_GPU_SPEC_H */
