// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kernel-features.h"

namespace ns3
{
namespace echo
{

namespace
{

/** GPUs by the beginnings of their names; their places are the categories, so only append. */
const char* const GPUS[] =
    {"V100", "A100", "A800", "RTX 3090", "H100", "H800", "H200", "GH200", "B200", "H20"};

} // namespace

void OverlapDescription::SetCommunication(const CollectiveSpec& spec)
{
    collective = static_cast<double>(spec.kind);
    bytes = static_cast<double>(spec.bytes);
    algorithm =
        spec.algorithm == CollectiveAlgorithmKind::AUTO ? NAN : static_cast<double>(spec.algorithm);
    protocol = spec.protocol == CollectiveProtocol::AUTO ? NAN : static_cast<double>(spec.protocol);
    channels = spec.channels == 0 ? NAN : spec.channels;
}

const std::vector<std::string>& GetFeatureNames()
{
    static const std::vector<std::string> NAMES = [] {
        std::vector<std::string> names{"duration_us"};
        for (const auto& field : GetKernelCounterFields())
        {
            names.emplace_back(field.name);
        }
        for (const char* name :
             {"kernel_class", "gpu", "algorithm", "protocol", "collective", "bytes", "channels"})
        {
            names.emplace_back(name);
        }
        return names;
    }();
    return NAMES;
}

std::vector<float> MakeFeatures(const OverlapDescription& description)
{
    std::vector<float> values{static_cast<float>(description.durationUs)};
    for (const auto& field : GetKernelCounterFields())
    {
        values.push_back(static_cast<float>(description.counters.*field.value));
    }
    for (const double value : {static_cast<double>(GetKernelClass(description.kernel)),
                               description.gpu,
                               description.algorithm,
                               description.protocol,
                               description.collective,
                               description.bytes,
                               description.channels})
    {
        values.push_back(static_cast<float>(value));
    }
    return values;
}

KernelKind GetKernelClass(KernelKind kind)
{
    const std::string name = ToString(kind);
    for (const KernelKind whole : {KernelKind::ATTENTION, KernelKind::GEMM})
    {
        if (name.find(ToString(whole)) != std::string::npos)
        {
            return whole;
        }
    }
    return kind;
}

double GetGpuCategory(const std::string& name)
{
    double category = 0;
    for (const char* gpu : GPUS)
    {
        if (name.rfind(gpu, 0) == 0)
        {
            return category;
        }
        ++category;
    }
    return NAN;
}

} // namespace echo
} // namespace ns3
