// SPDX-License-Identifier: GPL-2.0-only
#include "echo-text-table.h"

#include "ns3/assert.h"

#include <algorithm>
#include <charconv>

namespace ns3
{
namespace echo
{

namespace
{

/** @return how many columns of a terminal the text takes: bytes that begin a UTF-8 character */
size_t WidthOf(const std::string& text)
{
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    }));
}

} // namespace

TextTable::TextTable(std::vector<Column> columns, size_t indent)
    : m_columns(std::move(columns)), m_indent(indent)
{
}

void TextTable::Add(std::vector<std::string> cells)
{
    NS_ASSERT_MSG(cells.size() == m_columns.size(), "a row of another number of cells");
    m_rows.push_back(std::move(cells));
}

std::string TextTable::ToString() const
{
    std::vector<std::vector<std::string>> rows;
    rows.emplace_back();
    bool titled = false;
    for (const auto& column : m_columns)
    {
        rows.front().push_back(column.title);
        titled = titled || !column.title.empty();
    }
    rows.insert(rows.end(), m_rows.begin(), m_rows.end());
    if (!titled)
    {
        rows.erase(rows.begin());
    }
    std::vector<size_t> widths(m_columns.size(), 0);
    for (const auto& row : rows)
    {
        for (size_t i = 0; i < row.size(); ++i)
        {
            widths[i] = std::max(widths[i], WidthOf(row[i]));
        }
    }
    std::string text;
    for (const auto& row : rows)
    {
        std::string line(m_indent, ' ');
        for (size_t i = 0; i < row.size(); ++i)
        {
            const std::string padding(widths[i] - WidthOf(row[i]), ' ');
            line += i == 0 ? "" : "  ";
            line += m_columns[i].align == RIGHT ? padding + row[i] : row[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string FormatCount(uint64_t number)
{
    std::string text = std::to_string(number);
    for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    {
        text.insert(static_cast<size_t>(at), ",");
    }
    return text;
}

std::string FormatPercent(double part, double whole)
{
    return whole > 0 ? FormatFixed(100 * part / whole, 1) + " %" : "-";
}

std::string FormatFixed(double number, int digits)
{
    char text[400]; // the largest double has 309 digits
    const auto result =
        std::to_chars(text, text + sizeof(text), number, std::chars_format::fixed, digits);
    return std::string(text, result.ptr);
}

std::string FormatLabel(const std::string& text, size_t width)
{
    std::string label = text;
    for (char& c : label)
    {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        {
            c = ' ';
        }
    }
    if (label.size() > width)
    {
        const auto begins = [&](size_t at) {
            return (static_cast<unsigned char>(label[at]) & 0xc0) != 0x80;
        };
        size_t head = (width - 2) / 2;
        size_t tail = label.size() - (width - 2 - head);
        while (head > 0 && !begins(head))
        {
            --head;
        }
        while (tail < label.size() && !begins(tail))
        {
            ++tail;
        }
        label = label.substr(0, head) + ".." + label.substr(tail);
    }
    return label;
}

} // namespace echo
} // namespace ns3
