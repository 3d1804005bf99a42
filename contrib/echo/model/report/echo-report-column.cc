// SPDX-License-Identifier: GPL-2.0-only
#include "echo-report-column.h"

#include <charconv>

namespace ns3
{
namespace echo
{

void AppendCsvField(std::string& line, std::string_view field)
{
    if (field.find_first_of(",\"\r\n") == std::string_view::npos)
    {
        line += field;
        return;
    }
    line += '"';
    for (const char c : field)
    {
        line += c;
        if (c == '"')
        {
            line += '"';
        }
    }
    line += '"';
}

std::string FormatShare(double number)
{
    char text[40];
    const auto result =
        std::to_chars(text, text + sizeof(text), number, std::chars_format::general, 9);
    return std::string(text, result.ptr);
}

double RateGBps(double bytes, Time time)
{
    const int64_t ps = time.GetPicoSeconds();
    return ps > 0 ? bytes / (static_cast<double>(ps) * 1e-3) : 0;
}

} // namespace echo
} // namespace ns3
