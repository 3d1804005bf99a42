// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_TABLES_H
#define ECHO_JOB_TABLES_H

#include "echo-json-writer.h"
#include "echo-report-column.h"

#include "ns3/echo-records.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

// What outputs say of several jobs that share a run; of a single job they say nothing.

/** Whose a row of a table is. */
struct JobRow
{
    const JobSpan& job;
    RankId rank;
};

/** @return the columns that collectives.csv begins with */
const ReportColumns<JobRow>& GetCollectiveJobColumns();
/** @return the columns that ranks.csv begins with */
const ReportColumns<JobRow>& GetRankJobColumns();

/** @return step time over that without the other jobs; 0 if not known */
double SlowdownOf(const JobRecord& job);

/** Writes `jobs` of summary.json: a list of objects. */
void WriteJobs(JsonWriter& json, const std::vector<JobRecord>& jobs);
/** @return the keys of these as a Markdown table */
std::string DescribeJobKeys();
/** @return a table for a terminal */
std::string FormatJobs(const std::vector<JobRecord>& jobs);

} // namespace echo
} // namespace ns3

#endif /* ECHO_JOB_TABLES_H */
