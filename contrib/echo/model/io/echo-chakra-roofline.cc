// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-roofline.h"

#include "echo-yaml.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** What gives times to nodes without one. */
struct Roofline
{
    double operationsPerSecond{0};
    double bytesPerSecond{0};
};

/** Reads ASTRA-sim's system file: "peak-perf" in TFLOP/s, "local-mem-bw" in GB/s. */
Roofline ReadRoofline(const std::string& file)
{
    const YamlNode root = YamlNode::LoadFile(file);
    root.RequireMap();
    for (const char* key : {"peak-perf", "local-mem-bw"})
    {
        if (!root.Has(key))
        {
            root.Fail("no '" + std::string(key) + "'", "peak-perf and local-mem-bw");
        }
    }
    return {root.Get("peak-perf").AsNumber(1e-3, 1e9) * 1e12,
            root.Get("local-mem-bw").AsNumber(1e-3, 1e9) * 1e9};
}

} // namespace

void GiveChakraTimes(std::vector<ChakraTrace>& traces, const std::string& system)
{
    const Roofline roofline = ReadRoofline(system);
    for (ChakraTrace& trace : traces)
    {
        for (ChakraNode& node : trace.nodes)
        {
            const bool isKernel = node.type == ChakraNodeType::COMPUTE ||
                                  node.type == ChakraNodeType::MEMORY_LOAD ||
                                  node.type == ChakraNodeType::MEMORY_STORE;
            if (isKernel && !node.isOnCpu && node.duration.IsZero())
            {
                const double seconds =
                    std::max(node.operations / roofline.operationsPerSecond,
                             static_cast<double>(node.tensorBytes) / roofline.bytesPerSecond);
                if (!(seconds < 86400))
                {
                    throw InputError({trace.file, 0, "node " + std::to_string(node.id)},
                                     "more than a day of work",
                                     "less");
                }
                node.duration = PicoSeconds(static_cast<int64_t>(seconds * 1e12));
            }
        }
    }
}

std::string DescribeEmptyKernels(const std::vector<ChakraTrace>& traces)
{
    uint64_t kernels = 0;
    uint64_t empty = 0;
    std::string example;
    for (const ChakraTrace& trace : traces)
    {
        for (const ChakraNode& node : trace.nodes)
        {
            if (node.type != ChakraNodeType::COMPUTE || node.isOnCpu)
            {
                continue;
            }
            ++kernels;
            if (node.duration.IsZero() && node.operations == 0 && node.tensorBytes == 0)
            {
                ++empty;
                example = example.empty() ? trace.names[node.name] : example;
            }
        }
    }
    return empty == 0 ? ""
                      : std::to_string(empty) + " of " + std::to_string(kernels) +
                            " kernels (COMP_NODE, such as '" + example +
                            "') have neither a duration nor num_ops nor tensor_size: they take no "
                            "time";
}

} // namespace echo
} // namespace ns3
