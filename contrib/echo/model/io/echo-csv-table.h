// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CSV_TABLE_H
#define ECHO_CSV_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A CSV file (RFC 4180: cells in quotes may hold commas, line ends and doubled quotes) with a line
 * of names first; lines that start with # are left out.
 */
class CsvTable
{
  public:
    /**
     * @throws InputError if it cannot be read, has no row, a name
     *         twice or rows of other lengths
     */
    explicit CsvTable(const std::string& path);

    size_t GetRowCount() const
    {
        return m_rows.size();
    }

    bool Has(const std::string& column) const;
    /** @throws InputError if there is no such column */
    const std::string& GetText(size_t row, const std::string& column) const;
    /** @throws InputError if the cell is no finite number within the bounds */
    double GetNumber(size_t row, const std::string& column, double minimum, double maximum) const;
    /** @return the number; not a number where the column is absent or the cell empty */
    double FindNumber(size_t row, const std::string& column, double minimum, double maximum) const;
    /** @return line of a row's begin in the file */
    uint32_t GetLine(size_t row) const
    {
        return m_lines[row];
    }

    [[noreturn]] void Fail(size_t row,
                           const std::string& column,
                           const std::string& found,
                           const std::string& expected) const;

  private:
    size_t Find(const std::string& column) const;

    std::string m_path;
    std::vector<std::string> m_names;
    std::vector<std::vector<std::string>> m_rows;
    std::vector<uint32_t> m_lines;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CSV_TABLE_H */
