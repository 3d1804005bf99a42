// SPDX-License-Identifier: GPL-2.0-only
#include "echo-gpu-presets.h"

#include "ns3/echo-error.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Dense matrix rates in TFLOP/s; 0: the GPU has none. FP16 is as fast as BF16 where there is. */
struct Rates
{
    double fp64;
    double fp32;
    double tf32;
    double bf16;
    double fp16;
    double fp8;
    double fp4;
    double int8;
};

const Rates V100{7.8, 15.7, 0, 0, 125, 0, 0, 0};
const Rates A100{19.5, 19.5, 156, 312, 312, 0, 0, 624};
const Rates H100{66.9, 66.9, 494.7, 989.4, 989.4, 1978.9, 0, 1978.9};
const Rates H800{1, 66.9, 494.7, 989.4, 989.4, 1978.9, 0, 1978.9};
const Rates B200{37, 75, 1125, 2250, 2250, 4500, 9000, 4500};
const Rates GB200{40, 80, 1250, 2500, 2500, 5000, 10000, 5000};
const Rates B300{1.25, 75, 1125, 2250, 2250, 4500, 13500, 150};
const Rates GB300{1.3, 80, 1250, 2500, 2500, 5000, 15000, 165};
const Rates MI300X{163.4, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 0, 2614.9};

constexpr uint64_t GIB = 1ULL << 30;
constexpr uint64_t GB = 1'000'000'000;

GpuPreset Make(const char* key,
               const char* name,
               uint64_t memoryBytes,
               double gigabytesPerSecond,
               const Rates& rates,
               double best16,
               double best8)
{
    GpuPreset preset{key, {}, best16, best8};
    preset.spec.name = name;
    preset.spec.memoryBytes = memoryBytes;
    preset.spec.memoryBandwidthBytesPerSecond = gigabytesPerSecond * 1e9;
    for (const auto& [type, teraflops] :
         std::initializer_list<std::pair<DataType, double>>{{DataType::FP64, rates.fp64},
                                                            {DataType::FP32, rates.fp32},
                                                            {DataType::TF32, rates.tf32},
                                                            {DataType::BF16, rates.bf16},
                                                            {DataType::FP16, rates.fp16},
                                                            {DataType::FP8, rates.fp8},
                                                            {DataType::FP4, rates.fp4},
                                                            {DataType::INT8, rates.int8}})
    {
        if (teraflops > 0)
        {
            preset.spec.peakFlops[type] = teraflops * 1e12;
        }
    }
    return preset;
}

} // namespace

// Figures of data sheets (doc/formats/cluster.md says of which); fastest products: stas00's
// ml-engineering, compute/accelerator/README.md @744d01e.
const std::vector<GpuPreset>& GetGpuPresets()
{
    static const std::vector<GpuPreset> presets{
        Make("v100-sxm-32gb", "V100-SXM2-32GB", 32 * GIB, 900, V100, 0, 0),
        Make("a100-sxm-40gb", "A100-SXM4-40GB", 40 * GIB, 1555, A100, 271.2, 0),
        Make("a100-sxm-80gb", "A100-SXM4-80GB", 80 * GIB, 2039, A100, 271.2, 0),
        Make("a100-pcie-40gb", "A100-PCIe-40GB", 40 * GIB, 1555, A100, 252.9, 0),
        Make("a800-sxm", "A800-SXM4-80GB", 80 * GIB, 2039, A100, 0, 0),
        Make("h100-sxm", "H100-SXM5-80GB", 80 * GIB, 3350, H100, 794.5, 1402.6),
        Make("h800-sxm", "H800-SXM5-80GB", 80 * GIB, 3350, H800, 0, 0),
        Make("h200-sxm", "H200-SXM5-141GB", 141 * GB, 4800, H100, 0, 1453.4),
        Make("gh200", "GH200-96GB", 96 * GB, 4000, H100, 828.6, 1535),
        Make("b200", "B200-SXM-180GB", 180 * GB, 8000, B200, 1745, 3432.5),
        Make("gb200", "GB200-SXM-186GB", 186 * GB, 8000, GB200, 1822, 3615.6),
        Make("b300", "B300-SXM-288GB", 288 * GB, 8000, B300, 1769, 3353.3),
        Make("gb300", "GB300-SXM-288GB", 288 * GB, 8000, GB300, 0, 0),
        Make("mi300x", "MI300X-192GB", 192 * GB, 5300, MI300X, 668.4, 0),
    };
    return presets;
}

const GpuPreset& FindGpuPreset(const std::string& key)
{
    const auto& presets = GetGpuPresets();
    const auto found = std::find_if(
        presets.begin(), presets.end(), [&](const GpuPreset& preset) { return preset.key == key; });
    if (found == presets.end())
    {
        std::string known;
        for (const GpuPreset& preset : presets)
        {
            known += (known.empty() ? "" : ", ") + preset.key;
        }
        throw InputError(SourceLocation{}, "'" + key + "'", "one of " + known);
    }
    return *found;
}

} // namespace echo
} // namespace ns3
