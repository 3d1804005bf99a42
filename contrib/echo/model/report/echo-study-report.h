// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STUDY_REPORT_H
#define ECHO_STUDY_REPORT_H

#include "ns3/echo-records.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** The runs of a study, as a grid: a row and a column for each combination of values of the axes.
 */
struct StudyGrid
{
    std::string name;
    std::string title;
    std::vector<std::string> rowAxes;                  //!< names
    std::vector<std::string> columnAxes;               //!< names
    std::vector<std::vector<std::string>> rowNames;    //!< by row: a value an axis
    std::vector<std::vector<std::string>> columnNames; //!< by column: a value an axis
    std::vector<std::vector<RunRecord>> runs;          //!< by row, then column
};

/**
 * @return the step times in microseconds as a table in Markdown; of several jobs each one's
 * slowdown beside, or its step time where none ran alone
 */
std::string FormatStudyTable(const StudyGrid& grid);
/** @return a line a run: values of the axes, step time, counters, step time and slowdown of jobs */
std::string FormatStudyCsv(const StudyGrid& grid);
/**
 * @return a picture (SVG): a panel for each value of the first column axis, in it a group of bars
 * for each row, a bar for each of the other columns
 */
std::string DrawStudy(const StudyGrid& grid);

} // namespace echo
} // namespace ns3

#endif /* ECHO_STUDY_REPORT_H */
