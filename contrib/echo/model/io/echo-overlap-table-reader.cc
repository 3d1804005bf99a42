// SPDX-License-Identifier: GPL-2.0-only
#include "echo-overlap-table-reader.h"

#include "echo-csv-table.h"
#include "echo-yaml.h"

#include "ns3/echo-clock-estimate.h"
#include "ns3/echo-enums.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

const double LONGEST_NS = 1e15; //!< of a kernel; more is no time in ns

/** A counter's column in the published set, and the name that Echo gives it. */
const std::pair<const char*, double KernelCounters::*> COUNTERS[] = {
    {"Compute throughput", &KernelCounters::computeThroughput},
    {"Memory throughput", &KernelCounters::memoryThroughput},
    {"DRAM throughput", &KernelCounters::dramThroughput},
    {"Achieved occupancy", &KernelCounters::achievedOccupancy},
    {"Maximum occupancy", &KernelCounters::maximumOccupancy},
    {"L1 hit rate", &KernelCounters::l1HitRate},
    {"L2 hit rate", &KernelCounters::l2HitRate},
};

template <typename Value>
double FindCategory(const CsvTable& table,
                    size_t row,
                    const std::string& column,
                    Value (*parse)(const std::string&))
{
    if (!table.Has(column) || table.GetText(row, column).empty())
    {
        return NAN;
    }
    const std::string& text = table.GetText(row, column);
    try
    {
        return static_cast<double>(parse(text));
    }
    catch (const InputError&)
    {
        table.Fail(row, column, "'" + text + "'", "a name that Echo knows (doc/formats)");
    }
}

/** The stored factor tells which of the two times is which. */
void CheckSlowdown(const CsvTable& table, size_t row, double alone, double together, double overlap)
{
    if (overlap == 0 || !table.Has("slowdown"))
    {
        return;
    }
    const double stored = table.GetNumber(row, "slowdown", -1e9, 1e9);
    const double derived = (together - alone) / (overlap * alone);
    if (std::fabs(stored - derived) > 1e-3 * std::max(1.0, std::fabs(derived)))
    {
        table.Fail(row,
                   "slowdown",
                   table.GetText(row, "slowdown"),
                   "(duration - ground_truth) / (overlap_ratio x ground_truth) = " +
                       std::to_string(derived));
    }
}

OverlapSample ReadSample(const CsvTable& table, size_t row)
{
    OverlapSample sample;
    sample.line = table.GetLine(row);
    sample.name = table.GetText(row, table.Has("kDemangledName") ? "kDemangledName" : "kShortName");
    const double alone = table.GetNumber(row, "ground_truth", 1, LONGEST_NS);
    const double together = table.GetNumber(row, "duration", 1, LONGEST_NS);
    sample.overlap = table.GetNumber(row, "overlap_ratio", 0, 1 + 1e-9);
    sample.overlap = std::min(sample.overlap, 1.0);
    CheckSlowdown(table, row, alone, together, sample.overlap);
    sample.measuredUs = together / 1e3;
    OverlapDescription& description = sample.description;
    description.durationUs = alone / 1e3;
    description.kernel = ClassifyKernel(sample.name);
    for (const auto& [column, counter] : COUNTERS)
    {
        description.counters.*counter = table.FindNumber(row, column, 0, 110);
    }
    description.counters.clock = table.FindNumber(row, "clock", 0, 1);
    description.gpu = table.Has("gpu") ? GetGpuCategory(table.GetText(row, "gpu")) : NAN;
    description.algorithm = FindCategory(table, row, "algorithm", ParseCollectiveAlgorithm);
    description.protocol = FindCategory(table, row, "protocol", ParseCollectiveProtocol);
    description.collective = FindCategory(table, row, "collective", ParseCollectiveKind);
    description.bytes = table.FindNumber(row, "bytes", 0, 1e18);
    description.channels = table.FindNumber(row, "channels", 0, 1024);
    return sample;
}

KernelKind ParseKernelKind(const YamlNode& node, const std::string& text)
{
    for (const KernelKind kind : {KernelKind::GEMM,
                                  KernelKind::ATTENTION,
                                  KernelKind::ELEMENTWISE,
                                  KernelKind::NORMALIZATION,
                                  KernelKind::EMBEDDING})
    {
        if (text == ToString(kind))
        {
            return kind;
        }
    }
    node.Fail("'" + text + "'", "one of gemm, attention, elementwise, normalization, embedding");
}

} // namespace

std::vector<OverlapSample> ReadOverlapTable(const std::string& path)
{
    const CsvTable table(path);
    std::vector<OverlapSample> samples;
    for (size_t row = 0; row < table.GetRowCount(); ++row)
    {
        samples.push_back(ReadSample(table, row));
        samples.back().file = path;
        samples.back().place =
            table.Has("id") ? table.GetNumber(row, "id", 0, 1e9) : static_cast<double>(row);
    }
    if (!table.Has("clock"))
    {
        EstimateClocks(samples);
    }
    return samples;
}

SlowdownFactors ReadSlowdownFactors(const std::string& path, const std::string& gpu)
{
    const YamlNode root = YamlNode::LoadFile(path);
    root.RequireMap();
    root.Get("echo_slowdown").AsInteger(1, 1);
    root.GetString("source", "");
    SlowdownFactors found;
    std::string known;
    for (const YamlNode& entry : root.Get("gpus").GetEntries())
    {
        SlowdownFactors factors;
        for (const YamlNode& name : entry.Get("names").GetEntries())
        {
            factors.gpus.push_back(name.AsString());
            known += (known.empty() ? "" : ", ") + factors.gpus.back();
        }
        entry.GetString("source", "");
        factors.other = entry.Get("other").AsNumber(1, 1000);
        const YamlNode kernels = entry.Get("kernels");
        for (const auto& key : kernels.GetKeys())
        {
            factors.byKernel[ParseKernelKind(kernels, key)] = kernels.Get(key).AsNumber(1, 1000);
        }
        entry.RefuseUnknownKeys();
        const bool isMeant = std::any_of(factors.gpus.begin(), factors.gpus.end(), [&](auto& name) {
            return gpu.rfind(name, 0) == 0;
        });
        if (isMeant && found.gpus.empty())
        {
            found = factors;
        }
    }
    root.RefuseUnknownKeys();
    if (found.gpus.empty())
    {
        throw InputError(
            {path, 0, "gpus"}, "none for a GPU '" + gpu + "'", "one of its names (" + known + ")");
    }
    return found;
}

} // namespace echo
} // namespace ns3
