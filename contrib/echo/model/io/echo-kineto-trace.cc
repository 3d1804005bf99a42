// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-trace.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace ns3
{
namespace echo
{

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
    if (text.find("...") != std::string::npos)
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

} // namespace echo
} // namespace ns3
