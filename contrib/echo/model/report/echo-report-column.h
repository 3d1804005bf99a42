// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REPORT_COLUMN_H
#define ECHO_REPORT_COLUMN_H

#include "ns3/nstime.h"

#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * One column of a table file: its name, what stands in it, and how it is made from a row. Headers,
 * rows and columns.md all come from the same list of columns, so they cannot differ.
 */
template <typename Row>
struct ReportColumn
{
    const char* name;    //!< as in the header, with its unit: "start_us"
    const char* unit;    //!< "us", "bytes", "GB/s (10^9 bytes/s)", "count", "0..1", "text"
    const char* meaning; //!< one sentence
    std::string (*format)(const Row& row); //!< the value; empty if it is not known
};

template <typename Row>
using ReportColumns = std::vector<ReportColumn<Row>>;

/** Appends a field to a line of CSV (RFC 4180: quoted only where needed). */
void AppendCsvField(std::string& line, std::string_view field);

/** @return @p number with nine significant digits, for rates and shares */
std::string FormatShare(double number);
/** @return @p bytes over @p time in GB/s (10^9 bytes per second); 0 if the time is 0 */
double RateGBps(double bytes, Time time);

/** @return the header line */
template <typename Row>
std::string CsvHeader(const ReportColumns<Row>& columns)
{
    std::string line;
    for (const auto& column : columns)
    {
        line += (line.empty() ? "" : ",") + std::string(column.name);
    }
    return line + "\n";
}

/** @return one line of values */
template <typename Row>
std::string CsvLine(const ReportColumns<Row>& columns, const Row& row)
{
    std::string line;
    for (const auto& column : columns)
    {
        if (&column != &columns.front())
        {
            line += ',';
        }
        AppendCsvField(line, column.format(row));
    }
    return line + "\n";
}

/** @return the columns as a Markdown table: column, unit, meaning */
template <typename Row>
std::string DescribeColumns(const ReportColumns<Row>& columns)
{
    std::string text = "| column | unit | meaning |\n|---|---|---|\n";
    for (const auto& column : columns)
    {
        text += std::string("| `") + column.name + "` | " + column.unit + " | " + column.meaning +
                " |\n";
    }
    return text;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_REPORT_COLUMN_H */
