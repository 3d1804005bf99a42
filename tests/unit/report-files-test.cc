// SPDX-License-Identifier: GPL-2.0-only
// The folder that a run leaves.

#include "error-message.h"
#include "synthetic-run.h"
#include "test-file.h"

#include "ns3/echo-error.h"
#include "ns3/echo-output-folder.h"
#include "ns3/echo-report-tables.h"
#include "ns3/echo-report-writer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

namespace
{

void WriteText(const fs::path& path, const std::string& text)
{
    std::ofstream(path) << text;
}

/** The rows of a table without quoted fields, each by column name. */
std::vector<std::map<std::string, std::string>> RowsOf(const fs::path& path)
{
    const auto split = [](const std::string& line) {
        std::vector<std::string> fields(1);
        for (const char c : line)
        {
            if (c == ',')
            {
                fields.emplace_back();
            }
            else
            {
                fields.back() += c;
            }
        }
        return fields;
    };
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    const auto names = split(line);
    std::vector<std::map<std::string, std::string>> rows;
    while (std::getline(in, line))
    {
        const auto fields = split(line);
        EXPECT_EQ(fields.size(), names.size()) << line;
        rows.emplace_back();
        for (size_t i = 0; i < std::min(names.size(), fields.size()); ++i)
        {
            rows.back()[names[i]] = fields[i];
        }
    }
    return rows;
}

/** "12.345678" microseconds as picoseconds, exact. */
int64_t Picoseconds(const std::string& text)
{
    const size_t point = text.find('.');
    EXPECT_EQ(text.size() - point, 7u) << text;
    return std::stoll(text.substr(0, point)) * 1000000 + std::stoll(text.substr(point + 1));
}

std::vector<std::string> NamesIn(const fs::path& folder)
{
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
    {
        names.insert(entry.path().filename().string());
    }
    return {names.begin(), names.end()};
}

class ReportFilesTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        folder = fs::path(testing::TempDir()) /
                 ("echo-report-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::remove_all(folder);
    }

    void TearDown() override
    {
        fs::remove_all(folder);
    }

    void Write(const SyntheticRun& run, const fs::path& directory)
    {
        ReportOptions options;
        options.cluster = "made-up";
        options.ranks = run.run.ranks;
        options.network = run.network;
        options.jobs = {run.run.jobs.begin(), run.run.jobs.end()};
        ReportWriter writer(directory.string(), options);
        run.Replay(writer);
        writer.Finish();
    }

    fs::path folder;
};

SyntheticShape TwoHosts()
{
    SyntheticShape shape;
    shape.ranks = 16;
    return shape;
}

const std::vector<std::string> ALL_FILES{"collectives.csv",
                                         "columns.md",
                                         "flows.csv",
                                         "links.csv",
                                         "ranks.csv",
                                         "report.html",
                                         "run.json",
                                         "summary.json",
                                         "timeline.json"};

TEST_F(ReportFilesTest, EqualFromRunToRun)
{
    SyntheticRun run(TwoHosts());
    Write(run, folder / "a" / "deep");
    run.run.wallSeconds = 77; // only run.json may show it
    run.run.events = 5;
    Write(run, folder / "b");
    EXPECT_EQ(NamesIn(folder / "a" / "deep"), ALL_FILES);
    EXPECT_EQ(NamesIn(folder / "b"), ALL_FILES);
    for (const auto& name : ALL_FILES)
    {
        const bool equal = TextOf(folder / "a" / "deep" / name) == TextOf(folder / "b" / name);
        EXPECT_EQ(equal, name != "run.json") << name;
    }
}

TEST_F(ReportFilesTest, SayWhichJob)
{
    SyntheticShape shape = TwoHosts();
    shape.jobs = 2;
    Write(SyntheticRun(shape), folder);
    const json jobs = json::parse(TextOf(folder / "summary.json"))["jobs"];
    ASSERT_EQ(jobs.size(), 2u);
    EXPECT_NEAR(jobs[0]["slowdown"].get<double>(), 2, 1e-6);
    EXPECT_EQ(jobs[1]["first_rank"], 8);
    EXPECT_FALSE(jobs[1].contains("slowdown"));
    for (const char* job : {"job0", "job1"})
    {
        EXPECT_THAT(TextOf(folder / "report.html"),
                    HasSubstr("{\"job\":\"" + std::string(job) + "\",\"operation\":"));
    }
    for (const auto& row : RowsOf(folder / "ranks.csv"))
    {
        const int rank = std::stoi(row.at("rank"));
        EXPECT_EQ(row.at("job"), rank < 8 ? "job0" : "job1");
        EXPECT_EQ(row.at("job_rank"), std::to_string(rank % 8));
    }
    for (const auto& row : RowsOf(folder / "collectives.csv"))
    {
        // The made-up groups are called after their first member.
        const std::string& group = row.at("group");
        const int first = std::stoi(group.substr(group.find_first_of("0123456789")));
        EXPECT_EQ(row.at("job"), first < 8 ? "job0" : "job1");
    }
    EXPECT_THAT(TextOf(folder / "timeline.json"), HasSubstr("job1: rank 8"));
    EXPECT_THAT(TextOf(folder / "columns.md"), HasSubstr("`alone_step_time_us`"));
    Write(SyntheticRun(TwoHosts()), folder / "one");
    for (const auto& name : {"summary.json", "ranks.csv", "collectives.csv", "columns.md"})
    {
        EXPECT_THAT(TextOf(folder / "one" / name), Not(HasSubstr("job_rank"))) << name;
        EXPECT_THAT(TextOf(folder / "one" / name), Not(HasSubstr("job0"))) << name;
    }
}

TEST_F(ReportFilesTest, SummaryIsWhatTheRowsAddUpTo)
{
    Write(SyntheticRun(TwoHosts()), folder);
    const json summary = json::parse(TextOf(folder / "summary.json"));

    const auto ranks = RowsOf(folder / "ranks.csv");
    ASSERT_EQ(ranks.size(), 16u);
    EXPECT_EQ(summary["ranks"], 16);
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (const auto& row : ranks)
    {
        first = std::min(first, Picoseconds(row.at("first_start_us")));
        last = std::max(last, Picoseconds(row.at("last_end_us")));
    }
    EXPECT_NEAR(
        summary["step_time_us"].get<double>(), static_cast<double>(last - first) * 1e-6, 1e-6);
    for (const auto& row : ranks)
    {
        EXPECT_EQ(Picoseconds(row.at("compute_us")) +
                      Picoseconds(row.at("exposed_communication_us")) +
                      Picoseconds(row.at("waiting_us")) + Picoseconds(row.at("idle_us")),
                  last - first);
    }
    for (const std::string part : {"compute_us",
                                   "communication_us",
                                   "exposed_communication_us",
                                   "waiting_us",
                                   "idle_us",
                                   "slowdown_us"})
    {
        int64_t sum = 0;
        int64_t largest = 0;
        for (const auto& row : ranks)
        {
            sum += Picoseconds(row.at(part));
            largest = std::max(largest, Picoseconds(row.at(part)));
        }
        EXPECT_GT(largest, 0) << part;
        EXPECT_NEAR(summary[part].get<double>(), static_cast<double>(sum / 16) * 1e-6, 1e-6);
        EXPECT_NEAR(
            summary[part + "_max"].get<double>(), static_cast<double>(largest) * 1e-6, 1e-6);
    }

    std::map<std::string, uint64_t> byFidelity;
    std::map<std::string, uint64_t> flags;
    const auto collectives = RowsOf(folder / "collectives.csv");
    for (const auto& row : collectives)
    {
        ++byFidelity[row.at("fidelity")];
        for (const char* flag : {"extrapolated", "contended", "uncoupled"})
        {
            flags[flag] += std::stoull(row.at(flag));
        }
    }
    EXPECT_EQ(summary["collectives"], collectives.size());
    EXPECT_EQ(summary["by_fidelity"], json(byFidelity));
    EXPECT_GT(flags["extrapolated"], 0u);
    for (const auto& [flag, count] : flags)
    {
        EXPECT_EQ(summary[flag], count) << flag;
    }

    const auto flows = RowsOf(folder / "flows.csv");
    uint64_t packets = 0;
    for (const auto& row : flows)
    {
        packets += std::stoull(row.at("packets"));
    }
    EXPECT_EQ(summary["flows"], flows.size());
    EXPECT_EQ(summary["packets"], packets);

    std::map<std::string, uint64_t> sums;
    const std::set<std::string> fabric{"nic", "leaf", "spine", "core"};
    for (const auto& row : RowsOf(folder / "links.csv"))
    {
        if (fabric.count(row.at("from_role")) > 0 && fabric.count(row.at("to_role")) > 0)
        {
            sums["bytes_on_wire"] += std::stoull(row.at("wire_bytes"));
        }
        for (const char* counter : {"drops", "pauses", "ecn_marks"})
        {
            sums[counter] += std::stoull(row.at(counter));
        }
    }
    for (const auto& [key, sum] : sums)
    {
        EXPECT_GT(sum, 0u) << key;
        EXPECT_EQ(summary[key], sum) << key;
    }
}

TEST_F(ReportFilesTest, SummaryHasTheKeysThatToolsRelyOn)
{
    Write(SyntheticRun(TwoHosts()), folder);
    const json summary = json::parse(TextOf(folder / "summary.json"));
    for (const char* key : {"scenario",
                            "fidelity",
                            "seed",
                            "ranks",
                            "hosts",
                            "step_time_us",
                            "compute_us",
                            "compute_us_max",
                            "communication_us",
                            "communication_us_max",
                            "waiting_us",
                            "waiting_us_max",
                            "idle_us",
                            "idle_us_max",
                            "collectives",
                            "exposed_communication_us",
                            "bytes_on_wire",
                            "exposed_communication_us_max",
                            "packets",
                            "packet_hops",
                            "drops",
                            "pauses",
                            "ecn_marks",
                            "cnps",
                            "zero_counters",
                            "extrapolated",
                            "by_fidelity",
                            "slowdown_us",
                            "congestion_control",
                            "estimator_profile",
                            "fingerprint",
                            "warnings",
                            "notes"})
    {
        EXPECT_TRUE(summary.contains(key)) << key;
    }
    EXPECT_EQ(summary["scenario"], "synthetic");
    EXPECT_EQ(summary["fidelity"], "hybrid");
    EXPECT_EQ(summary["congestion_control"], "dcqcn");
    EXPECT_EQ(summary["warnings"][0],
              "the scenario is made up: \"<script>alert(1)</script>\" & more");
    const json run = json::parse(TextOf(folder / "run.json"));
    EXPECT_EQ(run["wall_seconds"], 2);
    EXPECT_EQ(run["peak_memory_bytes"], 123456789);
    EXPECT_EQ(run["events_per_second"], 500);
    EXPECT_EQ(run["fingerprint"], summary["fingerprint"]);
    EXPECT_TRUE(run["versions"].contains("ns3"));
}

TEST_F(ReportFilesTest, ColumnsDocumentNamesEveryColumnOfEveryFile)
{
    Write(SyntheticRun(TwoHosts()), folder);
    const std::string document = TextOf(folder / "columns.md");
    const auto section = [&](const std::string& name) {
        const size_t begin = document.find("\n## " + name + "\n");
        EXPECT_NE(begin, std::string::npos) << name;
        return document.substr(begin, document.find("\n## ", begin + 1) - begin);
    };
    for (const std::string name : {"collectives.csv", "flows.csv", "links.csv", "ranks.csv"})
    {
        std::string header = TextOf(folder / name);
        header.resize(header.find('\n'));
        std::istringstream columns(header);
        std::string column;
        while (std::getline(columns, column, ','))
        {
            EXPECT_THAT(section(name), HasSubstr("| `" + column + "` | ")) << name;
        }
    }
    for (const std::string name : {"summary.json", "run.json"})
    {
        const json keys = json::parse(TextOf(folder / name));
        for (const auto& [key, value] : keys.items())
        {
            EXPECT_THAT(section(name), HasSubstr("| `" + key + "` | ")) << name;
        }
    }
    std::set<std::string> fields;
    const json timeline = json::parse(TextOf(folder / "timeline.json"));
    for (const auto& event : timeline["traceEvents"])
    {
        for (const auto& [key, value] : event["args"].items())
        {
            if (event["ph"] == "X")
            {
                fields.insert("args." + key);
            }
        }
    }
    for (const auto& field : fields)
    {
        EXPECT_THAT(section("timeline.json"), HasSubstr("| `" + field + "` | "));
    }
}

TEST_F(ReportFilesTest, TimelineHoldsEveryOperatorOnAThreadWhereNothingOverlaps)
{
    const SyntheticRun run(TwoHosts());
    Write(run, folder);
    const json events = json::parse(TextOf(folder / "timeline.json"))["traceEvents"];
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
    std::map<std::pair<int, int>, std::string> names;
    std::set<std::string> processes;
    size_t operators = 0;
    for (const auto& event : events)
    {
        const std::pair<int, int> thread{event["pid"], event["tid"]};
        if (event["ph"] == "X")
        {
            const double begin = event["ts"];
            threads[thread].emplace_back(begin, begin + event["dur"].get<double>());
            operators += event["name"] != "waiting";
        }
        else if (event["name"] == "thread_name")
        {
            names[thread] = event["args"]["name"];
        }
        else if (event["name"] == "process_name")
        {
            processes.insert(event["args"]["name"]);
        }
    }
    EXPECT_EQ(operators, run.operators.size());
    EXPECT_EQ(processes.size(), 16u);
    EXPECT_EQ(processes.count("rank 15 (host 1)"), 1u);
    EXPECT_EQ(names.size(), threads.size());
    EXPECT_EQ((names[{0, 0}]), "compute (stream 0)");
    for (auto& [thread, spans] : threads)
    {
        std::sort(spans.begin(), spans.end());
        for (size_t i = 1; i < spans.size(); ++i)
        {
            EXPECT_LE(spans[i - 1].second, spans[i].first + 1e-5) << names[thread];
        }
    }
}

TEST_F(ReportFilesTest, TimelineOfALargeJobHoldsSomeRanks)
{
    const SyntheticRun run(TwoHosts());
    ReportOptions options;
    options.ranks = 16;
    options.timelineRanks = 4;
    ReportWriter writer(folder.string(), options);
    run.Replay(writer);
    writer.Finish();
    std::set<int> processes;
    const json timeline = json::parse(TextOf(folder / "timeline.json"));
    for (const auto& event : timeline["traceEvents"])
    {
        processes.insert(event["pid"].get<int>());
    }
    EXPECT_THAT(processes, ElementsAre(0, 4, 8, 12));
    EXPECT_EQ(RowsOf(folder / "ranks.csv").size(), 16u);
}

TEST_F(ReportFilesTest, LimitsAreKeptAndSaid)
{
    const SyntheticRun run(TwoHosts());
    std::vector<SimulatedRank> simulated;
    std::map<RankId, uint64_t> operators;
    for (const auto& op : run.operators)
    {
        ++operators[op.rank];
    }
    for (const auto& [rank, count] : operators)
    {
        simulated.push_back({rank, 2, count});
    }
    ReportOptions options;
    options.ranks = 32;
    options.rows = 7;
    options.timelineEvents = simulated[0].operators - 5; // not even one rank fits
    ReportWriter writer(folder.string(), options);
    writer.OnBegin(simulated);
    run.Replay(writer);
    writer.Finish();
    EXPECT_EQ(RowsOf(folder / "collectives.csv").size(), 7u);
    EXPECT_EQ(RowsOf(folder / "flows.csv").size(), 7u);
    std::set<std::string> processes;
    const json timeline = json::parse(TextOf(folder / "timeline.json"));
    for (const auto& event : timeline["traceEvents"])
    {
        if (event["name"] == "process_name")
        {
            processes.insert(event["args"]["name"].get<std::string>());
        }
    }
    EXPECT_THAT(processes, ElementsAre(HasSubstr("rank 0 (host 0) and 1 equal")));
    const json summary = json::parse(TextOf(folder / "summary.json"));
    const std::string document = TextOf(folder / "columns.md");
    for (const std::string part : {"timeline.json shows 1 of 16 simulated ranks",
                                   "leaves out the last 5 operators",
                                   "collectives.csv holds the first 7 of ",
                                   "flows.csv holds the first 7 of "})
    {
        EXPECT_THAT(summary["notes"].dump(), HasSubstr(part));
        EXPECT_THAT(document, HasSubstr(part));
    }
    EXPECT_EQ(summary["collectives"], run.collectives.size());
}

TEST_F(ReportFilesTest, ReplacesItsOwnFilesAndNoOthers)
{
    fs::create_directories(folder);
    WriteText(folder / "mine.txt", "keep");
    Write(SyntheticRun(TwoHosts()), folder);
    const std::string first = TextOf(folder / "summary.json");
    SyntheticShape quiet = TwoHosts();
    quiet.communication = false;
    SyntheticRun second(quiet);
    second.run.fidelity = Fidelity::ANALYTICAL;
    Write(second, folder);
    EXPECT_NE(TextOf(folder / "summary.json"), first);
    EXPECT_EQ(TextOf(folder / "mine.txt"), "keep");
    EXPECT_FALSE(fs::exists(folder / "flows.csv")); // of the first run, not of this one
    EXPECT_EQ(RowsOf(folder / "links.csv").size(), 0u);
}

TEST_F(ReportFilesTest, ARunThatFailsLeavesNothing)
{
    {
        ReportWriter writer(folder.string());
        for (const auto& op : SyntheticRun(TwoHosts()).operators)
        {
            writer.OnOperator(op);
        }
        EXPECT_THAT(NamesIn(folder), ElementsAre(testing::StartsWith(".echo-partial-")));
    }
    EXPECT_FALSE(fs::exists(folder)); // it was not there before
    Write(SyntheticRun(TwoHosts()), folder);
    const std::string before = TextOf(folder / "summary.json");
    {
        ReportWriter writer(folder.string());
        writer.OnOperator(OperatorRecord());
    }
    EXPECT_EQ(NamesIn(folder), ALL_FILES);
    EXPECT_EQ(TextOf(folder / "summary.json"), before);
}

TEST_F(ReportFilesTest, WhatAKilledRunLeftIsRemoved)
{
    const pid_t child = fork();
    if (child == 0)
    {
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    const fs::path dead = folder / (".echo-partial-" + std::to_string(child));
    const fs::path alive = folder / ".echo-partial-1";
    const fs::path mine = folder / ".echo-partial-mine";
    for (const auto& path : {dead, alive, mine})
    {
        fs::create_directories(path / "inside");
    }
    Write(SyntheticRun(TwoHosts()), folder);
    EXPECT_FALSE(fs::exists(dead));
    EXPECT_TRUE(fs::exists(alive));
    EXPECT_TRUE(fs::exists(mine));
}

TEST_F(ReportFilesTest, FoldersThatCannotBeWrittenAreNamed)
{
    fs::create_directories(folder);
    WriteText(folder / "file", "");
    const std::string below = (folder / "file" / "out").string();
    EXPECT_EQ(MessageOf([&] { ReportWriter writer(below); }),
              below + ": found a folder that cannot be written (Not a directory), expected one "
                      "that can be made or written");
    const std::string file = (folder / "file").string();
    EXPECT_THAT(MessageOf([&] { ReportWriter writer(file); }),
                testing::StartsWith(file + ": found a folder that cannot be written ("));
    EXPECT_THAT(MessageOf([] { ReportWriter writer(""); }), HasSubstr("an empty folder name"));

    const std::string locked = (folder / "locked").string();
    fs::create_directories(locked);
    fs::permissions(locked, fs::perms::owner_read | fs::perms::owner_exec);
    fs::permissions(folder, fs::perms::all);
    const bool root = geteuid() == 0;
    if (root)
    {
        ASSERT_EQ(seteuid(65534), 0); // root may write anywhere; an ordinary user may not
    }
    const std::string message = MessageOf([&] { ReportWriter writer(locked); });
    if (root)
    {
        ASSERT_EQ(seteuid(0), 0);
    }
    fs::permissions(locked, fs::perms::owner_all);
    EXPECT_EQ(message,
              locked + ": found a folder that cannot be written (Permission denied), expected one "
                       "that can be made or written");
}

TEST_F(ReportFilesTest, AFullDiskIsAnError)
{
    OutputFile file("/dev/full", "out/table.csv");
    EXPECT_EQ(MessageOf([&] {
                  file.Write("text");
                  file.Close();
              }),
              "out/table.csv: found a file that cannot be written (No space left on device), "
              "expected a writable folder with room for it");
}

TEST_F(ReportFilesTest, LinkSharesAreOfTheStep)
{
    Write(SyntheticRun(TwoHosts()), folder);
    const json summary = json::parse(TextOf(folder / "summary.json"));
    const double step = summary["step_time_us"];
    uint64_t lastPort = 0;
    for (const auto& row : RowsOf(folder / "links.csv"))
    {
        const double share = std::stod(row.at("utilisation"));
        EXPECT_NEAR(share,
                    std::stod(row.at("wire_bytes")) / (std::stod(row.at("rate_GBps")) * step * 1e3),
                    1e-6);
        EXPECT_GT(share, 0);
        EXPECT_LE(share, 1);
        const uint64_t port = std::stoull(row.at("port"));
        EXPECT_TRUE(lastPort == 0 || port > lastPort);
        lastPort = port;
    }
}

} // namespace
