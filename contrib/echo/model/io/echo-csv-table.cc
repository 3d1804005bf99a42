// SPDX-License-Identifier: GPL-2.0-only
#include "echo-csv-table.h"

#include "echo-input-file.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

/** Reads one record from @p at on; @return its cells; @p line counts line ends. */
std::vector<std::string> ReadRecord(const std::string& text, size_t& at, uint32_t& line)
{
    std::vector<std::string> cells(1);
    bool isQuoted = false;
    for (; at < text.size(); ++at)
    {
        const char c = text[at];
        line += c == '\n' ? 1 : 0;
        if (c == '"' && isQuoted && at + 1 < text.size() && text[at + 1] == '"')
        {
            cells.back() += c;
            ++at;
        }
        else if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && !isQuoted)
        {
            cells.emplace_back();
        }
        else if (c == '\n' && !isQuoted)
        {
            ++at;
            break;
        }
        else if (c != '\r')
        {
            cells.back() += c;
        }
    }
    return cells;
}

} // namespace

CsvTable::CsvTable(const std::string& path) : m_path(path)
{
    const std::string text = ReadInputFile(path);
    uint32_t line = 1;
    for (size_t at = 0; at < text.size();)
    {
        const uint32_t begin = line;
        const bool isNote = text[at] == '#';
        if (isNote)
        {
            const size_t end = text.find('\n', at);
            at = end == std::string::npos ? text.size() : end + 1;
            ++line;
            continue;
        }
        std::vector<std::string> cells = ReadRecord(text, at, line);
        if (cells.size() == 1 && cells[0].empty())
        {
            continue;
        }
        if (m_names.empty())
        {
            m_names = std::move(cells);
            continue;
        }
        if (cells.size() != m_names.size())
        {
            throw InputError({path, begin, ""},
                             std::to_string(cells.size()) + " cells",
                             std::to_string(m_names.size()) + ", one a column");
        }
        m_rows.push_back(std::move(cells));
        m_lines.push_back(begin);
    }
    for (const auto& name : m_names)
    {
        if (std::count(m_names.begin(), m_names.end(), name) > 1)
        {
            throw InputError({path, 0, ""}, "column '" + name + "' twice", "each name once");
        }
    }
    if (m_rows.empty())
    {
        throw InputError({path, 0, ""}, "no row", "a line of names and one or more rows");
    }
}

bool CsvTable::Has(const std::string& column) const
{
    return std::find(m_names.begin(), m_names.end(), column) != m_names.end();
}

size_t CsvTable::Find(const std::string& column) const
{
    const auto it = std::find(m_names.begin(), m_names.end(), column);
    if (it == m_names.end())
    {
        std::string names;
        for (const auto& name : m_names)
        {
            names += (names.empty() ? "" : ", ") + name;
        }
        throw InputError(
            {m_path, 0, ""}, "no column '" + column + "' (columns: " + names + ")", "it");
    }
    return static_cast<size_t>(it - m_names.begin());
}

void CsvTable::Fail(size_t row,
                    const std::string& column,
                    const std::string& found,
                    const std::string& expected) const
{
    throw InputError({m_path, m_lines[row], "column " + column}, found, expected);
}

const std::string& CsvTable::GetText(size_t row, const std::string& column) const
{
    return m_rows[row][Find(column)];
}

double CsvTable::GetNumber(size_t row,
                           const std::string& column,
                           double minimum,
                           double maximum) const
{
    const std::string& text = GetText(row, column);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= minimum && value <= maximum))
    {
        std::ostringstream expected;
        expected << "a number from " << minimum << " to " << maximum;
        Fail(row, column, "'" + text + "'", expected.str());
    }
    return value;
}

double CsvTable::FindNumber(size_t row,
                            const std::string& column,
                            double minimum,
                            double maximum) const
{
    if (!Has(column) || GetText(row, column).empty())
    {
        return NAN;
    }
    return GetNumber(row, column, minimum, maximum);
}

} // namespace echo
} // namespace ns3
