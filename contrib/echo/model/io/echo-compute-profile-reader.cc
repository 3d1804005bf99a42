// SPDX-License-Identifier: GPL-2.0-only
#include "echo-compute-profile-reader.h"

#include "echo-csv-table.h"

#include <cmath>
#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

double ReadEfficiency(const YamlNode& node, const std::string& key)
{
    return node.Get(key).AsNumber(0.001, 1);
}

/** Points as maps {ideal: 10us, efficiency: 0.5}. */
std::vector<KernelEfficiency::Point> ReadCurve(const YamlNode& node)
{
    std::vector<KernelEfficiency::Point> curve;
    for (const YamlNode& entry : node.GetEntries())
    {
        KernelEfficiency::Point point;
        point.ideal = entry.Get("ideal").AsTime();
        point.efficiency = ReadEfficiency(entry, "efficiency");
        entry.RefuseUnknownKeys();
        const auto shown = [&] { return "'" + entry.Get("ideal").AsString() + "'"; };
        if (point.ideal.IsZero() || (!curve.empty() && point.ideal <= curve.back().ideal))
        {
            entry.Get("ideal").Fail(shown(), "a time above zero and above the one before");
        }
        if (!curve.empty())
        {
            // Between two points time is x / (a + m ln x): it grows with x while m is below the
            // efficiency.
            const double slope =
                (point.efficiency - curve.back().efficiency) /
                std::log(point.ideal.GetSeconds() / curve.back().ideal.GetSeconds());
            if (slope >= curve.back().efficiency)
            {
                entry.Get("efficiency")
                    .Fail("'" + entry.Get("efficiency").AsString() + "'",
                          "a smaller step: more work would take less time");
            }
        }
        curve.push_back(point);
    }
    if (curve.empty())
    {
        node.Fail("no points", "at least one");
    }
    return curve;
}

/** A number, or measured kernels as a list of maps. */
void ReadAttention(const YamlNode& node, KernelEfficiency& efficiency)
{
    if (!node.IsSequence())
    {
        efficiency.attention = node.AsNumber(0.001, 1);
        return;
    }
    double sum = 0;
    for (const YamlNode& entry : node.GetEntries())
    {
        KernelEfficiency::AttentionPoint point;
        const YamlNode kernel = entry.Get("kernel");
        if (kernel.AsString() != "flash" && kernel.AsString() != "cudnn")
        {
            kernel.Fail("'" + kernel.AsString() + "'", "flash or cudnn");
        }
        point.isCudnn = kernel.AsString() == "cudnn";
        point.isCausal = entry.GetBool("causal", false);
        if (entry.Has("precision"))
        {
            const YamlNode precision = entry.Get("precision");
            if (precision.AsString() != "fp8" && precision.AsString() != "16-bit")
            {
                precision.Fail("'" + precision.AsString() + "'", "fp8 or 16-bit (default)");
            }
            point.isFp8 = precision.AsString() == "fp8";
        }
        point.window = static_cast<uint32_t>(entry.GetInteger("window", 0, 0, 1 << 30));
        if (point.window > 0 && !point.isCausal)
        {
            entry.Get("window").Fail("'" + entry.Get("window").AsString() + "'",
                                     "causal: true beside it");
        }
        point.headSize = static_cast<uint32_t>(entry.Get("head").AsInteger(1, 65536));
        point.sequence = static_cast<uint32_t>(entry.Get("sequence").AsInteger(1, 1 << 30));
        point.forward = ReadEfficiency(entry, "forward");
        point.backward = ReadEfficiency(entry, "backward");
        entry.RefuseUnknownKeys();
        sum += point.forward;
        efficiency.attentionPoints.push_back(point);
    }
    if (efficiency.attentionPoints.empty())
    {
        node.Fail("no kernels", "at least one, or a number");
    }
    efficiency.attention = sum / double(efficiency.attentionPoints.size());
}

/** A CSV file of measured products: type, rows, columns, inner, us. */
std::vector<GemmPoint> ReadGemmPoints(const YamlNode& node)
{
    const CsvTable table(node.ResolvePath(node.AsString()));
    std::vector<GemmPoint> points;
    std::map<std::tuple<DataType, uint32_t, uint32_t, uint32_t>, const GemmPoint*> known;
    points.reserve(table.GetRowCount()); // known points into it
    for (size_t row = 0; row < table.GetRowCount(); ++row)
    {
        const auto size = [&](const char* column) {
            const double number = table.GetNumber(row, column, 1, 4e9);
            if (number != std::floor(number))
            {
                table.Fail(row, column, "'" + table.GetText(row, column) + "'", "a whole number");
            }
            return static_cast<uint32_t>(number);
        };
        GemmPoint point;
        const std::string& type = table.GetText(row, "type");
        try
        {
            point.type = ParseDataType(type);
        }
        catch (const std::exception&)
        {
            table.Fail(row, "type", "'" + type + "'", "a number format, as fp16");
        }
        point.rows = size("rows");
        point.columns = size("columns");
        point.inner = size("inner");
        point.time = PicoSeconds(std::llround(1e6 * table.GetNumber(row, "us", 1e-3, 1e9)));
        point.line = table.GetLine(row);
        points.push_back(point);
        const auto [earlier, isNew] = known.emplace(
            std::make_tuple(point.type, point.rows, point.columns, point.inner), &points.back());
        if (!isNew && earlier->second->time != point.time)
        {
            table.Fail(row,
                       "us",
                       "another time than in line " + std::to_string(earlier->second->line) +
                           " for the same product",
                       "each product once");
        }
    }
    return points;
}

KernelEfficiency ReadArchitecture(const YamlNode& node)
{
    KernelEfficiency efficiency;
    efficiency.name = node.Get("name").AsString();
    efficiency.measuredOn = node.GetString("measured_on", "");
    for (const YamlNode& gpu : node.Get("gpus").GetEntries())
    {
        efficiency.gpus.push_back(gpu.AsString());
    }
    efficiency.launchOverhead = node.Get("launch_overhead").AsTime();
    efficiency.gemm = ReadCurve(node.Get("gemm"));
    if (node.Has("gemm_points"))
    {
        efficiency.gemmPointsFile =
            node.Get("gemm_points").ResolvePath(node.Get("gemm_points").AsString());
        efficiency.gemmPoints = ReadGemmPoints(node.Get("gemm_points"));
    }
    efficiency.gemmFp32 = ReadEfficiency(node, "gemm_fp32");
    efficiency.gemmMemory = ReadEfficiency(node, "gemm_memory");
    ReadAttention(node.Get("attention"), efficiency);
    efficiency.flash1 = node.GetNumber("flash1", 0.5, 0.001, 1);
    efficiency.gemmEpilogue = node.GetNumber("gemm_epilogue", 0, 0.001, 1);
    efficiency.gemmUnaligned = node.GetNumber("gemm_unaligned", 1, 0.001, 1);
    efficiency.groupedGemm = node.GetNumber("grouped_gemm", 1, 0.001, 1);
    efficiency.sustained = node.GetNumber("sustained", 1, 0.001, 1);
    efficiency.processors = static_cast<uint32_t>(node.GetInteger("processors", 0, 0, 100000));
    for (KernelKind kind : {KernelKind::ELEMENTWISE,
                            KernelKind::NORMALIZATION,
                            KernelKind::EMBEDDING,
                            KernelKind::OTHER})
    {
        efficiency.memory[kind] = ReadEfficiency(node, ToString(kind));
    }
    node.RefuseUnknownKeys();
    return efficiency;
}

} // namespace

ComputeProfile ReadComputeProfile(const YamlNode& node)
{
    ComputeProfile profile;
    node.Get("echo_compute_profile").AsInteger(1, 1);
    profile.file = node.GetLocation().file;
    profile.source = node.GetString("source", "");
    for (const YamlNode& entry : node.Get("architectures").GetEntries())
    {
        profile.architectures.push_back(ReadArchitecture(entry));
    }
    if (profile.architectures.empty())
    {
        node.Get("architectures").Fail("no architectures", "at least one");
    }
    if (node.Has("fallback"))
    {
        const YamlNode fallback = node.Get("fallback");
        std::string known;
        while (profile.fallback < profile.architectures.size() &&
               profile.architectures[profile.fallback].name != fallback.AsString())
        {
            const std::string& name = profile.architectures[profile.fallback++].name;
            known += (known.empty() ? "" : ", ") + name;
        }
        if (profile.fallback == profile.architectures.size())
        {
            fallback.Fail("'" + fallback.AsString() + "'", "one of " + known);
        }
    }
    node.RefuseUnknownKeys();
    return profile;
}

} // namespace echo
} // namespace ns3
