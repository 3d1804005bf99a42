// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TEXT_TABLE_H
#define ECHO_TEXT_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A table for a terminal: columns as wide as they must be, two spaces between them. */
class TextTable
{
  public:
    enum Align
    {
        LEFT,
        RIGHT,
    };

    struct Column
    {
        std::string title;
        Align align;
    };

    /** @param indent spaces before each line */
    explicit TextTable(std::vector<Column> columns, size_t indent = 2);
    /** @param cells one a column */
    void Add(std::vector<std::string> cells);
    /** @return the lines, with the titles if any is not empty */
    std::string ToString() const;

  private:
    std::vector<Column> m_columns;
    size_t m_indent;
    std::vector<std::vector<std::string>> m_rows;
};

/** @return @p number with a comma before each three digits: "1,234,567" */
std::string FormatCount(uint64_t number);
/** @return @p part of @p whole in percent with one digit: "12.3 %"; "-" if @p whole is 0 */
std::string FormatPercent(double part, double whole);
/** @return @p number with @p digits after the point */
std::string FormatFixed(double number, int digits);
/** @return @p text for one line of a terminal: control characters replaced, at most @p width
 *          characters, the middle left out if it is longer */
std::string FormatLabel(const std::string& text, size_t width);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TEXT_TABLE_H */
