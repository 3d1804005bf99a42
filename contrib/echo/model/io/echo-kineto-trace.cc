// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-trace.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

void SortTimes(KinetoTrace& trace)
{
    for (auto& thread : trace.threads)
    {
        std::sort(thread.boundaries.begin(), thread.boundaries.end());
    }
    // The big ones without the copy that a stable sort makes; their keys tell equal starts apart.
    std::sort(trace.activities.begin(), trace.activities.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start, a.correlation, a.end, a.stream, a.name, a.record) <
               std::tie(b.start, b.correlation, b.end, b.stream, b.name, b.record);
    });
    std::sort(trace.calls.begin(), trace.calls.end(), [](const auto& a, const auto& b) {
        return std::tie(a.start, a.correlation, a.end, a.thread, a.name) <
               std::tie(b.start, b.correlation, b.end, b.thread, b.name);
    });
    auto byStart = [](const auto& a, const auto& b) { return a.start < b.start; };
    std::stable_sort(trace.ranges.begin(), trace.ranges.end(), byStart);
    std::stable_sort(trace.steps.begin(), trace.steps.end(), byStart);
}

/** Forgets calls that neither launched one of the activities nor matter for order. */
void ForgetUnusedCalls(KinetoTrace& trace)
{
    std::vector<int64_t> launched;
    launched.reserve(trace.activities.size());
    for (const auto& activity : trace.activities)
    {
        launched.push_back(activity.correlation);
    }
    std::sort(launched.begin(), launched.end());
    auto isUnused = [&launched](const HostCall& call) {
        return call.kind == HostCall::Kind::OTHER &&
               !std::binary_search(launched.begin(), launched.end(), call.correlation);
    };
    auto& calls = trace.calls;
    calls.erase(std::remove_if(calls.begin(), calls.end(), isUnused), calls.end());
}

} // namespace

void ThinOutBoundaries(std::vector<int64_t>& times)
{
    std::sort(times.begin(), times.end());
    auto slotOf = [](int64_t time) { return time / (SHORTEST_PAUSE / 2) - (time < 0 ? 1 : 0); };
    std::vector<int64_t> kept;
    for (size_t i = 0; i < times.size(); ++i)
    {
        const bool isFirst = i == 0 || slotOf(times[i - 1]) != slotOf(times[i]);
        const bool isLast = i + 1 == times.size() || slotOf(times[i + 1]) != slotOf(times[i]);
        if (isFirst || isLast)
        {
            kept.push_back(times[i]);
        }
    }
    times = std::move(kept);
}

void FinishKinetoTrace(KinetoTrace& trace, int64_t base)
{
    ForgetUnusedCalls(trace);
    SortTimes(trace);
    auto shift = [base](auto& items) {
        for (auto& item : items)
        {
            item.start += base;
            item.end += base;
        }
    };
    shift(trace.activities);
    shift(trace.calls);
    shift(trace.ranges);
    shift(trace.steps);
    for (auto& thread : trace.threads)
    {
        for (auto& boundary : thread.boundaries)
        {
            boundary += base;
        }
    }
    if (trace.callsStart <= trace.callsEnd)
    {
        trace.callsStart += base;
        trace.callsEnd += base;
    }
}

std::optional<int64_t> ParseFixedPoint(const std::string& number, uint32_t decimals)
{
    // By hand: a double holds a date in microseconds to a quarter of one only.
    int64_t unit = 1;
    for (uint32_t i = 0; i < decimals; ++i)
    {
        unit *= 10;
    }
    size_t at = 0;
    const bool isNegative = !number.empty() && number[0] == '-';
    at += isNegative ? 1 : 0;
    const int64_t limit = std::numeric_limits<int64_t>::max() / unit - 1;
    int64_t whole = 0;
    const size_t firstDigit = at;
    for (; at < number.size() && std::isdigit(static_cast<unsigned char>(number[at])); ++at)
    {
        const int digit = number[at] - '0';
        if (whole > (limit - digit) / 10)
        {
            return std::nullopt;
        }
        whole = whole * 10 + digit;
    }
    if (at == firstDigit)
    {
        return std::nullopt;
    }
    int64_t value = whole * unit;
    if (at < number.size() && number[at] == '.')
    {
        int64_t scale = unit / 10;
        for (++at; at < number.size() && std::isdigit(static_cast<unsigned char>(number[at])); ++at)
        {
            value += (number[at] - '0') * scale;
            scale /= 10;
        }
    }
    if (at != number.size()) // an exponent, or no number
    {
        if (number[at] != 'e' && number[at] != 'E')
        {
            return std::nullopt;
        }
        char* end = nullptr;
        const double real = std::strtod(number.c_str(), &end);
        if (*end != '\0' || !(std::abs(real) < static_cast<double>(limit)))
        {
            return std::nullopt;
        }
        return static_cast<int64_t>(std::floor(real * static_cast<double>(unit)));
    }
    return isNegative ? -value : value;
}

std::optional<int64_t> ParseMicroseconds(const std::string& number)
{
    return ParseFixedPoint(number, 3);
}

std::vector<uint64_t> ParseNumberList(const std::string& text)
{
    std::vector<uint64_t> numbers;
    if (text.find("...") != std::string::npos || text.find('-') != std::string::npos)
    {
        return numbers;
    }
    for (size_t at = 0; at < text.size();)
    {
        if (std::isdigit(static_cast<unsigned char>(text[at])))
        {
            char* end = nullptr;
            numbers.push_back(std::strtoull(text.c_str() + at, &end, 10));
            at = static_cast<size_t>(end - text.c_str());
        }
        else
        {
            ++at;
        }
    }
    return numbers;
}

std::vector<uint32_t> ToRanks(const std::vector<uint64_t>& numbers)
{
    std::vector<uint32_t> ranks;
    ranks.reserve(numbers.size());
    for (uint64_t number : numbers)
    {
        ranks.push_back(static_cast<uint32_t>(std::min<uint64_t>(number, KINETO_NONE)));
    }
    return ranks;
}

} // namespace echo
} // namespace ns3
