// SPDX-License-Identifier: GPL-2.0-only
#include "echo-units.h"

#include "echo-error.h"

#include "ns3/assert.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

__extension__ using uint128 = unsigned __int128;

using Suffixes = std::vector<std::pair<const char*, double>>;

/** Splits "1.5 GiB" into 1.5 and the factor of "GiB"; @return false if it is not of that form. */
bool SplitUnit(const std::string& text, const Suffixes& suffixes, double& value, double& factor)
{
    const size_t digits = text.find_first_not_of("0123456789.");
    const std::string number = text.substr(0, digits);
    if (number.empty() || number == "." || number.find('.') != number.rfind('.'))
    {
        return false;
    }
    value = std::strtod(number.c_str(), nullptr);
    std::string unit = digits == std::string::npos ? "" : text.substr(digits);
    const size_t first = unit.find_first_not_of(' ');
    unit = first == std::string::npos ? "" : unit.substr(first);
    for (const auto& [name, scale] : suffixes)
    {
        if (unit == name)
        {
            factor = scale;
            return true;
        }
    }
    return false;
}

const Suffixes BYTE_SUFFIXES{
    {"", 1},
    {"B", 1},
    {"KiB", 1024.0},
    {"MiB", 1048576.0},
    {"GiB", 1073741824.0},
    {"TiB", 1099511627776.0},
    {"KB", 1e3},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
};
const Suffixes RATE_SUFFIXES{
    {"bps", 1},
    {"b/s", 1},
    {"Kbps", 1e3},
    {"kbps", 1e3},
    {"Kb/s", 1e3},
    {"Mbps", 1e6},
    {"Mb/s", 1e6},
    {"Gbps", 1e9},
    {"Gb/s", 1e9},
    {"Tbps", 1e12},
    {"Tb/s", 1e12},
    {"B/s", 8},
    {"KB/s", 8e3},
    {"MB/s", 8e6},
    {"GB/s", 8e9},
    {"TB/s", 8e12},
    {"KiB/s", 8 * 1024.0},
    {"MiB/s", 8 * 1048576.0},
    {"GiB/s", 8 * 1073741824.0},
    {"TiB/s", 8 * 1099511627776.0},
};
const Suffixes TIME_SUFFIXES{
    {"ps", 1},
    {"ns", 1e3},
    {"us", 1e6},
    {"ms", 1e9},
    {"s", 1e12},
};

} // namespace

void UsePicoseconds()
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
}

Time TxTime(uint64_t bytes, DataRate rate)
{
    const uint64_t bitsPerSecond = rate.GetBitRate();
    NS_ASSERT_MSG(bitsPerSecond > 0, "TxTime needs a rate above zero");
    if (bitsPerSecond == 0)
    {
        return Time::Max();
    }
    const uint128 scaled = static_cast<uint128>(bytes) * 8 * 1000000000000ULL;
    const uint128 picoseconds = (scaled + bitsPerSecond - 1) / bitsPerSecond;
    if (picoseconds > static_cast<uint128>(std::numeric_limits<int64_t>::max()))
    {
        return Time::Max();
    }
    return PicoSeconds(static_cast<uint64_t>(picoseconds));
}

double BytesPerSecond(DataRate rate)
{
    return static_cast<double>(rate.GetBitRate()) / 8;
}

double GigabytesPerSecond(DataRate rate)
{
    return BytesPerSecond(rate) / 1e9;
}

uint64_t ParseBytes(const std::string& text)
{
    double value = 0;
    double factor = 1;
    if (!SplitUnit(text, BYTE_SUFFIXES, value, factor))
    {
        throw InputError(SourceLocation{}, "'" + text + "'", "a size such as 1024, 64MiB or 4MB");
    }
    const double bytes = value * factor;
    if (bytes != std::floor(bytes) || bytes >= 9.2e18)
    {
        throw InputError(SourceLocation{}, "'" + text + "'", "a whole number of bytes below 2^63");
    }
    const bool digitsOnly = text.find_first_not_of("0123456789") == std::string::npos;
    return digitsOnly ? std::stoull(text) : static_cast<uint64_t>(bytes);
}

std::vector<uint64_t> ParseByteSizes(const std::string& text)
{
    std::vector<uint64_t> sizes;
    const size_t first = text.find(':');
    if (first == std::string::npos)
    {
        for (size_t begin = 0; begin <= text.size();)
        {
            const size_t comma = std::min(text.find(',', begin), text.size());
            sizes.push_back(ParseBytes(text.substr(begin, comma - begin)));
            begin = comma + 1;
        }
        return sizes;
    }
    const size_t second = text.find(':', first + 1);
    const uint64_t begin = ParseBytes(text.substr(0, first));
    const uint64_t end = ParseBytes(text.substr(first + 1, second - first - 1));
    const uint64_t factor = second == std::string::npos ? 2 : ParseBytes(text.substr(second + 1));
    if (begin == 0 || begin > end || factor < 2)
    {
        throw InputError(SourceLocation{},
                         "'" + text + "'",
                         "begin:end:factor with begin above 0, end not below it, factor 2 or more");
    }
    for (uint64_t size = begin;; size *= factor)
    {
        sizes.push_back(size);
        if (size > end / factor)
        {
            break;
        }
    }
    return sizes;
}

DataRate ParseRate(const std::string& text)
{
    double value = 0;
    double factor = 1;
    if (!SplitUnit(text, RATE_SUFFIXES, value, factor) || value * factor < 1 ||
        value * factor > 1e18)
    {
        throw InputError(SourceLocation{},
                         "'" + text + "'",
                         "a rate above zero such as 400Gbps, 3.6Tbps or 50GB/s");
    }
    return DataRate(static_cast<uint64_t>(std::llround(value * factor)));
}

Time ParseTime(const std::string& text)
{
    double value = 0;
    double factor = 1;
    if (!SplitUnit(text, TIME_SUFFIXES, value, factor) || value * factor > 9e18)
    {
        throw InputError(SourceLocation{},
                         "'" + text + "'",
                         "a time of zero or more such as 500ns, 1.5us or 10ms");
    }
    return PicoSeconds(static_cast<int64_t>(std::llround(value * factor)));
}

std::string FormatBytes(uint64_t bytes)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1024 && unit < 5)
    {
        value /= 1024;
        ++unit;
    }
    char text[64];
    const char* format = value == std::floor(value) ? "%.0f %s" : "%.2f %s";
    std::snprintf(text, sizeof(text), format, value, units[unit]);
    return text;
}

std::string FormatRate(DataRate rate)
{
    static const char* const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s"};
    double value = static_cast<double>(rate.GetBitRate());
    int unit = 0;
    while (value >= 1000 && unit < 5)
    {
        value /= 1000;
        ++unit;
    }
    char text[64];
    std::snprintf(text, sizeof(text), "%.6g %s", value, units[unit]);
    return text;
}

std::string FormatTime(Time time)
{
    static const std::pair<double, const char*> units[] = {
        {1e12, "s"},
        {1e9, "ms"},
        {1e6, "us"},
        {1e3, "ns"},
        {1, "ps"},
    };
    const double ps = static_cast<double>(time.GetPicoSeconds());
    char text[64];
    for (const auto& [scale, name] : units)
    {
        if (std::fabs(ps) >= scale || scale == 1)
        {
            std::snprintf(text, sizeof(text), "%.3f %s", ps / scale, name);
            break;
        }
    }
    return text;
}

std::string Microseconds(Time time)
{
    const int64_t ps = time.GetPicoSeconds();
    const uint64_t magnitude = ps < 0 ? 0 - static_cast<uint64_t>(ps) : static_cast<uint64_t>(ps);
    char text[64];
    std::snprintf(text,
                  sizeof(text),
                  "%s%llu.%06llu",
                  ps < 0 ? "-" : "",
                  static_cast<unsigned long long>(magnitude / 1000000),
                  static_cast<unsigned long long>(magnitude % 1000000));
    return text;
}

} // namespace echo
} // namespace ns3
