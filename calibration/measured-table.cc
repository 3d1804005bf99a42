// SPDX-License-Identifier: GPL-2.0-only
#include "measured-table.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace ns3
{
namespace echo
{

namespace
{

/** @return cells of a line; a cell in quotes may hold commas */
std::vector<std::string> Split(const std::string& line)
{
    std::vector<std::string> cells(1);
    bool isQuoted = false;
    for (char c : line)
    {
        if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && !isQuoted)
        {
            cells.emplace_back();
        }
        else if (c != '\r')
        {
            cells.back() += c;
        }
    }
    return cells;
}

} // namespace

std::vector<Row> ReadTable(const std::string& path, const std::vector<std::string>& columns)
{
    std::ifstream in(path);
    if (!in)
    {
        throw std::runtime_error(path + ": cannot be read");
    }
    std::vector<Row> rows;
    std::vector<std::string> header;
    for (std::string line; std::getline(in, line);)
    {
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        const std::vector<std::string> cells = Split(line);
        if (header.empty())
        {
            header = cells;
            for (const auto& column : columns)
            {
                if (std::find(header.begin(), header.end(), column) == header.end())
                {
                    throw std::runtime_error(path + ": no column '" + column + "'");
                }
            }
            continue;
        }
        Row row;
        for (size_t i = 0; i < header.size() && i < cells.size(); ++i)
        {
            row[header[i]] = cells[i];
        }
        rows.push_back(row);
    }
    return rows;
}

double Number(const Row& row, const std::string& column)
{
    const std::string& text = row.at(column);
    size_t used = 0;
    const double value = std::stod(text, &used);
    if (used != text.size())
    {
        throw std::runtime_error("column '" + column + "': '" + text + "' is no number");
    }
    return value;
}

std::string Format(const char* format, double value)
{
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

} // namespace echo
} // namespace ns3
