// SPDX-License-Identifier: GPL-2.0-only
#ifndef MEASURED_TABLE_H
#define MEASURED_TABLE_H

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Cells of a line of a CSV file, by column. */
using Row = std::map<std::string, std::string>;

/**
 * Reads a CSV file with a header line; lines that start with # are skipped.
 * @param columns that must be there
 * @throws std::runtime_error naming the file and what is missing
 */
std::vector<Row> ReadTable(const std::string& path, const std::vector<std::string>& columns);

/** @return the number in a cell. @throws std::runtime_error if it is none */
double Number(const Row& row, const std::string& column);

/** @return @p value by a format of printf */
std::string Format(const char* format, double value);

} // namespace echo
} // namespace ns3

#endif /* MEASURED_TABLE_H */
