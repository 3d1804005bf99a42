// SPDX-License-Identifier: GPL-2.0-only
#include "echo-columns-document.h"

#include "echo-collective-table.h"
#include "echo-job-tables.h"
#include "echo-report-tables.h"
#include "echo-summary-fields.h"
#include "echo-validation-report.h"

namespace ns3
{
namespace echo
{

namespace
{

const char* const INTRODUCTION = R"(# What the files hold

All times are simulated, from the start of the run, in microseconds with six digits: exact to the
picosecond. 1 GB = 10^9 bytes. All files but run.json are equal, byte for byte, from run to run of
the same scenario with the same seed. Tables are CSV as RFC 4180 defines it; an empty field means
not known.
)";

const char* const TIMELINE = R"(
## timeline.json

Chrome trace events, to be opened in Perfetto or chrome://tracing. A process (`pid`) is a rank. A
thread (`tid`) is a stream of the rank and what runs there: compute, copy, host, or communication of
one group kind. Of equal ranks that were folded, one. Of large jobs, as many ranks as have
`output.timeline_events` operators, spread evenly over the job.

| field | unit | meaning |
|---|---|---|
| `name` | text | operator; "waiting": a communication waits for its other members |
| `cat` | text | compute, copy, host, or group kind of a communication: tp, pp, dp ... |
| `ts` | us | start |
| `dur` | us | duration |
| `args.operator` | id | number of the operator in its rank's program |
| `args.bytes` | bytes | communication: its size |
| `args.collective` | id | communication: instance in collectives.csv |
| `args.slowdown_us` | us | part of the duration that is due to overlap with communication |
| `args.for` | text | waiting: the operator that waits |
)";

/** Where a run holds several jobs. */
const char* const JOBS = R"(
Each entry of `jobs` has:

)";

const char* const JOB_COLUMNS = R"(
With several jobs the rows begin with:

)";

} // namespace

std::string MakeColumnsDocument(const RunSummary& summary)
{
    std::string text = INTRODUCTION;
    for (const auto& note : summary.notes)
    {
        text += "\nOf this run: " + note + ".\n";
    }
    const bool hasJobs = !summary.run.jobs.empty();
    const auto ofJobs = [&](const char* begin, const std::string& table) {
        return hasJobs ? begin + table : "";
    };
    return text + "\n## summary.json\n\n" + DescribeFields(GetSummaryFields(), summary) +
           ofJobs(JOBS, DescribeJobKeys()) + "\n## run.json\n\nDiffers from run to run.\n\n" +
           DescribeFields(GetRunFields(), summary) +
           "\n## collectives.csv\n\nA row for each instance of a collective and each pair of send "
           "and receive, in order of end. Where equal ranks were folded, a row stands for as many "
           "instances as `replicas` says. At most `output.rows` rows of the scenario, those that "
           "end first.\n\n" +
           DescribeColumns(GetCollectiveColumns()) +
           ofJobs(JOB_COLUMNS, DescribeColumns(GetCollectiveJobColumns())) +
           "\n## flows.csv\n\nA row for each message, in order of end; flow and packet fidelity "
           "only. At most `output.rows` rows.\n\n" +
           DescribeColumns(GetFlowColumns()) +
           "\n## links.csv\n\nA row for each direction of each link that carried bytes.\n\n" +
           DescribeColumns(GetLinkColumns()) + "\n## ranks.csv\n\nA row for each rank.\n\n" +
           DescribeColumns(GetRankColumns()) +
           ofJobs(JOB_COLUMNS, DescribeColumns(GetRankJobColumns())) + TIMELINE +
           "\n## validation.csv\n\nA row for each distinct communication of a scenario; written by "
           "validate.\n\n" +
           DescribeColumns(GetValidationColumns()) +
           "\n## steps.csv\n\nA row for each set of models that predicted the whole step; written "
           "by "
           "`validate`.\n\n" +
           DescribeColumns(GetStepColumns()) +
           "\n## CSV of a sweep over sizes\n\nA row for each size; written by collective.\n\n" +
           DescribeColumns(GetCollectivePointColumns());
}

} // namespace echo
} // namespace ns3
