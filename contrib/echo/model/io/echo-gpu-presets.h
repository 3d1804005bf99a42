// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GPU_PRESETS_H
#define ECHO_GPU_PRESETS_H

#include "ns3/echo-gpu-spec.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A GPU that a cluster may name instead of describing it, and what was measured on it. */
struct GpuPreset
{
    std::string key; //!< what a cluster says, e.g. "h100-sxm"
    GpuSpec spec;    //!< as its vendor states it, without sparsity
    double
        bestTeraflops16;   //!< fastest product in 16 bits that was measured, TFLOP/s; 0: none known
    double bestTeraflops8; //!< the same in FP8
};

/** @return all presets, by generation */
const std::vector<GpuPreset>& GetGpuPresets();

/** @throws InputError that lists the presets, if @p key is none */
const GpuPreset& FindGpuPreset(const std::string& key);

} // namespace echo
} // namespace ns3

#endif /* ECHO_GPU_PRESETS_H */
