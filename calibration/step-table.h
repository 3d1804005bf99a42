// SPDX-License-Identifier: GPL-2.0-only
#ifndef STEP_TABLE_H
#define STEP_TABLE_H

#include "ns3/echo-scenario-reader.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A table of text: commas inside brackets, braces or quotes do not part cells. */
struct StepTable
{
    std::string file;
    std::string source; //!< its comment lines
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<uint32_t> lines;
};

/** @throws InputError naming file and line, if a row has not the first line's cells */
StepTable ReadStepTable(const std::string& path);

/** A row's settings over the scenario that its source's rows share. */
struct StepRow
{
    ScenarioOverrides overrides;
    std::string label;
    std::map<std::string, std::string> results; //!< cells that are no settings, by column
};

/**
 * @param results columns that are no settings; `note` is not read
 * @return row @p index of @p table
 */
StepRow ReadStepRow(const StepTable& table, size_t index, const std::vector<std::string>& results);

/** @return the number above 0 in cell @p column of @p row. @throws InputError if there is none */
double GetPositive(const StepTable& table,
                   size_t index,
                   const StepRow& row,
                   const std::string& column);

} // namespace echo
} // namespace ns3

#endif /* STEP_TABLE_H */
