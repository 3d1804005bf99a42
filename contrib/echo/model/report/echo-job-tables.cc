// SPDX-License-Identifier: GPL-2.0-only
#include "echo-job-tables.h"

#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

const ReportColumns<JobRow> COLLECTIVE_COLUMNS{
    {"job", "text", "name of its job", [](const JobRow& r) { return r.job.name; }},
};

const ReportColumns<JobRow> RANK_COLUMNS{
    {"job", "text", "name of its job", [](const JobRow& r) { return r.job.name; }},
    {"job_rank",
     "id",
     "number of the rank within its job",
     [](const JobRow& r) { return std::to_string(r.job.NumberOf(r.rank)); }},
};

/** One key of a job in summary.json. */
struct JobKey
{
    const char* key;
    const char* unit;
    const char* meaning;
    void (*write)(JsonWriter& json, const JobRecord& job);
};

const std::vector<JobKey> JOB_KEYS{
    {"name", "text", "its name", [](JsonWriter& j, const JobRecord& r) { j.Value(r.name); }},
    {"first_rank",
     "id",
     "rank that is its rank 0",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.firstRank.Get()); }},
    {"ranks",
     "count",
     "its processes",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.ranks); }},
    {"hosts",
     "count",
     "servers that they run on",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.hosts); }},
    {"start_us",
     "us",
     "simulated time at which its first operator began",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.start); }},
    {"step_time_us",
     "us",
     "latest end less earliest start of an operator, over its ranks",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.stepTime); }},
    {"compute_us",
     "us",
     "mean over its ranks, as the key of all ranks",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.compute); }},
    {"exposed_communication_us",
     "us",
     "the same",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.exposedCommunication); }},
    {"waiting_us", "us", "the same", [](JsonWriter& j, const JobRecord& r) { j.Value(r.waiting); }},
    {"idle_us",
     "us",
     "the same, within the job's own step; the four add up to it",
     [](JsonWriter& j, const JobRecord& r) { j.Value(r.idle); }},
};

const std::vector<JobKey> COMPARISON_KEYS{
    {"alone_step_time_us",
     "us",
     "step time without the other jobs, all else the same (`compare_alone`)",
     [](JsonWriter& j, const JobRecord& r) { j.Value(*r.alone); }},
    {"slowdown",
     "ratio",
     "step_time_us over alone_step_time_us; 0 if that is 0",
     [](JsonWriter& j, const JobRecord& r) { j.Value(SlowdownOf(r)); }},
};

} // namespace

double SlowdownOf(const JobRecord& job)
{
    return job.alone && job.alone->IsStrictlyPositive()
               ? job.stepTime.GetDouble() / job.alone->GetDouble()
               : 0;
}

const ReportColumns<JobRow>& GetCollectiveJobColumns()
{
    return COLLECTIVE_COLUMNS;
}

const ReportColumns<JobRow>& GetRankJobColumns()
{
    return RANK_COLUMNS;
}

void WriteJobs(JsonWriter& json, const std::vector<JobRecord>& jobs)
{
    json.BeginArray();
    for (const JobRecord& job : jobs)
    {
        json.BeginObject();
        const auto write = [&](const std::vector<JobKey>& keys) {
            for (const JobKey& key : keys)
            {
                json.Key(key.key);
                key.write(json, job);
            }
        };
        write(JOB_KEYS);
        if (job.alone)
        {
            write(COMPARISON_KEYS);
        }
        json.EndObject();
    }
    json.EndArray();
}

std::string DescribeJobKeys()
{
    std::string text = "| key | unit | meaning |\n|---|---|---|\n";
    for (const auto* keys : {&JOB_KEYS, &COMPARISON_KEYS})
    {
        for (const JobKey& key : *keys)
        {
            text += std::string("| `") + key.key + "` | " + key.unit + " | " + key.meaning + " |\n";
        }
    }
    return text;
}

std::string FormatJobs(const std::vector<JobRecord>& jobs)
{
    std::vector<TextTable::Column> columns{{"job", TextTable::LEFT},
                                           {"ranks", TextTable::RIGHT},
                                           {"hosts", TextTable::RIGHT},
                                           {"start", TextTable::RIGHT},
                                           {"step time", TextTable::RIGHT}};
    const bool isCompared =
        std::any_of(jobs.begin(), jobs.end(), [](const JobRecord& job) { return job.alone; });
    if (isCompared)
    {
        columns.push_back({"alone", TextTable::RIGHT});
        columns.push_back({"slowdown", TextTable::RIGHT});
    }
    for (const char* part : {"compute", "exposed", "waiting", "idle"})
    {
        columns.push_back({part, TextTable::RIGHT});
    }
    TextTable table(std::move(columns));
    const auto shown = [](Time time) { return time.IsZero() ? "0" : FormatTime(time); };
    for (const JobRecord& job : jobs)
    {
        std::vector<std::string> cells{job.name,
                                       FormatCount(job.ranks),
                                       FormatCount(job.hosts),
                                       shown(job.start),
                                       shown(job.stepTime)};
        if (isCompared)
        {
            const double slowdown = SlowdownOf(job);
            cells.push_back(job.alone ? shown(*job.alone) : "-");
            cells.push_back(slowdown > 0 ? FormatFixed(slowdown, 3) : "-");
        }
        for (const Time& part : {job.compute, job.exposedCommunication, job.waiting, job.idle})
        {
            cells.push_back(FormatPercent(part.GetDouble(), job.stepTime.GetDouble()));
        }
        table.Add(std::move(cells));
    }
    return table.ToString();
}

} // namespace echo
} // namespace ns3
