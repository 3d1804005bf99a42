// SPDX-License-Identifier: GPL-2.0-only
#include "step-table.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace ns3
{
namespace echo
{

namespace
{

std::vector<std::string> SplitCells(const std::string& line)
{
    std::vector<std::string> cells(1);
    int depth = 0;
    bool isQuoted = false;
    for (char c : line)
    {
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && depth == 0 && !isQuoted)
        {
            cells.emplace_back();
        }
        else
        {
            cells.back() += c;
        }
    }
    return cells;
}

} // namespace

StepTable ReadStepTable(const std::string& path)
{
    std::ifstream in(path);
    if (!in)
    {
        throw InputError({path, 0, ""}, "no readable file", "one");
    }
    StepTable table;
    table.file = path;
    std::string line;
    for (uint32_t number = 1; std::getline(in, line); ++number)
    {
        if (line.rfind("#", 0) == 0)
        {
            table.source += line.substr(std::min<size_t>(2, line.size())) + "\n";
        }
        else if (table.columns.empty())
        {
            table.columns = SplitCells(line);
        }
        else if (!line.empty())
        {
            table.rows.push_back(SplitCells(line));
            table.lines.push_back(number);
            if (table.rows.back().size() != table.columns.size())
            {
                throw InputError({path, number, ""},
                                 std::to_string(table.rows.back().size()) + " cells",
                                 std::to_string(table.columns.size()) + ", as the first line has");
            }
        }
    }
    return table;
}

StepRow ReadStepRow(const StepTable& table, size_t index, const std::vector<std::string>& results)
{
    StepRow row;
    row.overrides.fidelity = "analytical";
    for (size_t i = 0; i < table.columns.size(); ++i)
    {
        const std::string& key = table.columns[i];
        const std::string& value = table.rows[index][i];
        if (value.empty() || key == "note")
        {
            continue;
        }
        if (std::find(results.begin(), results.end(), key) != results.end())
        {
            row.results[key] = value;
            continue;
        }
        const bool isTop = key == "hosts" || key == "cluster" || key == "ranks" ||
                           key.rfind("workload.", 0) == 0 || key.rfind("compute.", 0) == 0;
        row.overrides.sets.push_back((isTop ? key : "workload.generate." + key) + "=" + value);
        const size_t dot = key.rfind('.');
        row.label +=
            (row.label.empty() ? "" : ", ") +
            (key == "model.preset" ? ""
                                   : key.substr(dot == std::string::npos ? 0 : dot + 1) + " ") +
            (key == "cluster" ? value.substr(value.rfind('/') + 1) : value);
    }
    return row;
}

double GetPositive(const StepTable& table,
                   size_t index,
                   const StepRow& row,
                   const std::string& column)
{
    const auto found = row.results.find(column);
    const double value =
        found == row.results.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
    if (!(value > 0))
    {
        throw InputError({table.file, table.lines[index], column}, "no number", "one above 0");
    }
    return value;
}

} // namespace echo
} // namespace ns3
