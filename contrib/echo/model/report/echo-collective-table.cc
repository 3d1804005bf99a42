// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-table.h"

#include "echo-output-folder.h"
#include "echo-text-table.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <filesystem>

namespace ns3
{
namespace echo
{

namespace
{

/** Names that nccl-tests gives element types (src/common.cu, test_typenames). */
const char* NcclTypeName(DataType type)
{
    switch (type)
    {
    case DataType::INT8:
        return "int8";
    case DataType::FP8:
        return "f8e4m3";
    case DataType::FP16:
        return "half";
    case DataType::BF16:
        return "bfloat16";
    case DataType::FP32:
        return "float";
    case DataType::FP64:
        return "double";
    case DataType::INT32:
        return "int32";
    default:
        return "int64";
    }
}

bool Reduces(CollectiveKind kind)
{
    return kind == CollectiveKind::ALL_REDUCE || kind == CollectiveKind::REDUCE ||
           kind == CollectiveKind::REDUCE_SCATTER;
}

/**
 * Elements as nccl-tests counts them: of what one call is given; for all-gather, reduce-scatter
 * and all-to-all that is one rank's part.
 */
uint64_t CountOf(const CollectivePoint& point)
{
    const uint64_t elements = point.bytes / BytesOf(point.dataType);
    switch (point.kind)
    {
    case CollectiveKind::ALL_GATHER:
    case CollectiveKind::REDUCE_SCATTER:
    case CollectiveKind::ALL_TO_ALL:
    case CollectiveKind::ALL_TO_ALL_V:
        return elements / std::max(point.ranks, 1u);
    default:
        return elements;
    }
}

std::string Padded(const std::string& text, size_t width)
{
    return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text;
}

/** Microseconds with as many digits as nccl-tests shows: 24.11, 103.3, 2698.3, 52031. */
std::string FormatMicroseconds(Time time)
{
    const double us = static_cast<double>(time.GetPicoSeconds()) * 1e-6;
    return FormatFixed(us, us >= 10000 ? 0 : us >= 100 ? 1 : 2);
}

std::string Join(const std::vector<std::pair<std::string, size_t>>& cells)
{
    std::string line;
    for (const auto& [text, width] : cells)
    {
        line += (line.empty() ? "" : "  ") + Padded(text, width);
    }
    return line + "\n";
}

const ReportColumns<CollectivePoint> CSV_COLUMNS{
    {"size_bytes",
     "bytes",
     "size as nccl-tests defines it",
     [](const CollectivePoint& p) { return std::to_string(p.bytes); }},
    {"time_us", "us", "duration", [](const CollectivePoint& p) { return Microseconds(p.time); }},
    {"algbw_GBps",
     "GB/s",
     "size over duration",
     [](const CollectivePoint& p) { return FormatShare(AlgorithmBandwidth(p)); }},
    {"busbw_GBps",
     "GB/s",
     "algbw times the factor of the operation",
     [](const CollectivePoint& p) { return FormatShare(BusBandwidth(p)); }},
    {"algorithm",
     "text",
     "how the bytes move",
     [](const CollectivePoint& p) { return std::string(ToString(p.algorithm)); }},
    {"protocol",
     "text",
     "transport protocol",
     [](const CollectivePoint& p) { return std::string(ToString(p.protocol)); }},
    {"channels",
     "count",
     "channels side by side",
     [](const CollectivePoint& p) { return std::to_string(p.channels); }},
    {"max_link_utilisation",
     "0..1",
     "largest over the links that it loads; empty: it loads none",
     [](const CollectivePoint& p) {
         return p.linkUtilization > 0 ? FormatShare(p.linkUtilization) : "";
     }},
    {"extrapolated",
     "0 or 1",
     "1: outside the calibrated range",
     [](const CollectivePoint& p) { return std::string(p.extrapolated ? "1" : "0"); }},
};

} // namespace

double AlgorithmBandwidth(const CollectivePoint& point)
{
    return RateGBps(static_cast<double>(point.bytes), point.time);
}

double BusBandwidth(const CollectivePoint& point)
{
    return AlgorithmBandwidth(point) * BusBandwidthFactor(point.kind, point.ranks);
}

std::string FormatCollectiveHeader()
{
    return Join({{"#       size", 12},
                 {"count", 12},
                 {"type", 8},
                 {"redop", 6},
                 {"root", 6},
                 {"time", 7},
                 {"algbw", 6},
                 {"busbw", 6},
                 {"algorithm", 9},
                 {"protocol", 8},
                 {"channels", 8},
                 {"link use", 8},
                 {"extrapolated", 12}}) +
           Join({{"#        (B)", 12},
                 {"(elements)", 12},
                 {"", 8},
                 {"", 6},
                 {"", 6},
                 {"(us)", 7},
                 {"(GB/s)", 6},
                 {"(GB/s)", 6},
                 {"", 9},
                 {"", 8},
                 {"", 8},
                 {"(max)", 8},
                 {"", 12}});
}

std::string FormatCollectiveRow(const CollectivePoint& point)
{
    const bool rooted =
        point.kind == CollectiveKind::BROADCAST || point.kind == CollectiveKind::REDUCE;
    return Join({{std::to_string(point.bytes), 12},
                 {std::to_string(CountOf(point)), 12},
                 {NcclTypeName(point.dataType), 8},
                 {Reduces(point.kind) ? "sum" : "none", 6},
                 {rooted ? "0" : "-1", 6},
                 {FormatMicroseconds(point.time), 7},
                 {FormatFixed(AlgorithmBandwidth(point), 2), 6},
                 {FormatFixed(BusBandwidth(point), 2), 6},
                 {ToString(point.algorithm), 9},
                 {ToString(point.protocol), 8},
                 {std::to_string(point.channels), 8},
                 {point.linkUtilization > 0 ? FormatPercent(point.linkUtilization, 1) : "-", 8},
                 {point.extrapolated ? "yes" : "no", 12}});
}

const ReportColumns<CollectivePoint>& GetCollectivePointColumns()
{
    return CSV_COLUMNS;
}

std::string CollectiveCsvHeader()
{
    return CsvHeader(CSV_COLUMNS);
}

std::string CollectiveCsvRow(const CollectivePoint& point)
{
    return CsvLine(CSV_COLUMNS, point);
}

void WriteCollectiveCsv(const std::string& path, const std::vector<CollectivePoint>& points)
{
    const std::filesystem::path target(path);
    std::error_code ignored;
    if (!target.has_filename() || std::filesystem::is_directory(target, ignored))
    {
        throw InputError({path, 0, ""}, "no name of a file", "a file to write");
    }
    const auto writeTo = [&](OutputFile& file) {
        file.Write(CollectiveCsvHeader());
        for (const auto& point : points)
        {
            file.Write(CollectiveCsvRow(point));
        }
    };
    if (std::filesystem::exists(target, ignored) &&
        !std::filesystem::is_regular_file(target, ignored))
    {
        OutputFile file(path, path); // a pipe or /dev/stdout: must not be replaced
        writeTo(file);
        file.Close();
        return;
    }
    OutputFolder folder(target.has_parent_path() ? target.parent_path().string() : ".");
    writeTo(folder.Create(target.filename().string()));
    folder.Commit();
}

} // namespace echo
} // namespace ns3
