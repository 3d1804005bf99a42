// SPDX-License-Identifier: GPL-2.0-only
// Studies: every combination is run, the table, the lines and the picture hold all of them. And the
// files of flow sizes.

#include "case-harness.h"

#include "ns3/echo-fabric-settings-reader.h"
#include "ns3/echo-size-distribution.h"
#include "ns3/echo-study-command.h"

#include <fstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

std::string WriteFile(const std::string& name, const std::string& text)
{
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
}

const std::string STUDY = "echo_study: 1\n"
                          "name: small\n"
                          "title: oversubscription & balancing\n"
                          "base: echo-study-base.yaml\n"
                          "rows:\n"
                          "  - axis: uplinks\n"
                          "    values:\n"
                          "      - {name: four, set: [cluster.fabric.uplinks=4]}\n"
                          "      - {name: two, set: [cluster.fabric.uplinks=2]}\n"
                          "columns:\n"
                          "  - axis: bytes\n"
                          "    values:\n"
                          "      - {name: small, set: ['workload.collectives=[{op: all-to-all, "
                          "bytes: 64KiB}]']}\n"
                          "      - {name: large, set: ['workload.collectives=[{op: all-to-all, "
                          "bytes: 1MiB}]']}\n"
                          "  - axis: balancing\n"
                          "    values:\n"
                          "      - {name: ecmp, set: [network.load_balancing=ecmp]}\n"
                          "      - {name: 'spray, all', set: [network.load_balancing=spray]}\n";

// Two jobs on one uplink lose half of it each; on hosts of one leaf nothing.
TEST(Study, ShowsWhatJobsLose)
{
    WriteFile("echo-study-jobs-base.yaml",
              "echo: 1\nfidelity: flow\ncompare_alone: true\n" +
                  CaseCluster(8,
                              "{type: leaf-spine, hosts_per_leaf: 4, spines: 1, uplinks: 1, "
                              "link_delay: 1us}") +
                  "jobs:\n"
                  "  - {name: a, placement: {hosts: [0, 4]}, workload: {collectives: [{op: "
                  "send-recv, bytes: 64MiB, pairs: [[0, 1]]}]}}\n"
                  "  - {name: b, placement: {hosts: [1, 5]}, workload: {collectives: [{op: "
                  "send-recv, bytes: 64MiB, pairs: [[0, 1]]}]}}\n");
    StudyCommand command;
    command.file = WriteFile("echo-study-jobs.yaml",
                             "echo_study: 1\nbase: echo-study-jobs-base.yaml\n"
                             "rows:\n  - axis: b\n    values:\n"
                             "      - {name: across, set: [seed=1]}\n"
                             "      - {name: inside, set: ['jobs.1.placement.hosts=[5, 6]']}\n"
                             "columns:\n  - axis: fidelity\n    values:\n"
                             "      - {name: flow, set: [fidelity=flow]}\n");
    const StudyGrid grid = command.RunAll();
    EXPECT_THAT(FormatStudyTable(grid), HasSubstr("(a x 1.9"));
    EXPECT_THAT(FormatStudyTable(grid), HasSubstr("(a x 1.000, b x 1.000) |"));
    const std::string csv = FormatStudyCsv(grid);
    EXPECT_THAT(csv, HasSubstr(",a_step_time_us,a_slowdown,b_step_time_us,b_slowdown\n"));
    EXPECT_THAT(csv, HasSubstr(",1\n"));
}

TEST(Study, RunsEveryCombination)
{
    WriteFile("echo-study-base.yaml",
              "echo: 1\nfidelity: packet\n" +
                  CaseCluster(8, "{type: leaf-spine, leaves: 2, hosts_per_leaf: 4}") +
                  "workload: {collectives: [{op: barrier}]}\n");
    StudyCommand command;
    command.file = WriteFile("echo-study.yaml", STUDY);
    const StudyGrid grid = command.RunAll();
    ASSERT_EQ(grid.runs.size(), 2u);
    ASSERT_EQ(grid.columnNames.size(), 4u);
    EXPECT_EQ(grid.columnNames[1], (std::vector<std::string>{"small", "spray, all"}));
    for (const auto& row : grid.runs)
    {
        ASSERT_EQ(row.size(), 4u);
        EXPECT_GT(row[2].stepTime, row[0].stepTime);
        EXPECT_GT(row[3].packets, row[1].packets);
    }
    // Half of the uplinks: 4 of the 7 receivers of each host are on the other leaf.
    EXPECT_GT(grid.runs[1][3].stepTime, grid.runs[0][3].stepTime);
    // The same as the scenario by itself.
    const CapturedRun alone =
        RunText("echo: 1\nfidelity: packet\nnetwork: {load_balancing: spray}\n" +
                CaseCluster(8, "{type: leaf-spine, leaves: 2, hosts_per_leaf: 4, uplinks: 2}") +
                "workload: {collectives: [{op: all-to-all, bytes: 1MiB}]}\n");
    EXPECT_EQ(alone.run.stepTime, grid.runs[1][3].stepTime);

    const std::string table = FormatStudyTable(grid);
    EXPECT_THAT(table, HasSubstr("| uplinks | small, ecmp | small, spray, all | large, ecmp |"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4);
    const std::string csv = FormatStudyCsv(grid);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9);
    EXPECT_THAT(csv, HasSubstr("two,large,\"spray, all\","));
    const std::string svg = DrawStudy(grid);
    EXPECT_THAT(svg, HasSubstr("oversubscription &amp; balancing"));
    size_t bars = 0;
    for (size_t at = svg.find("<title>"); at != std::string::npos; at = svg.find("<title>", at + 1))
    {
        ++bars;
    }
    EXPECT_EQ(bars, 8u);
    EXPECT_THAT(svg, HasSubstr(">bytes: small</text>"));
}

TEST(Study, TicksAreRoundAndPanelsThatCanShareAScaleDo)
{
    const auto draw = [](const std::vector<Time>& steps) {
        StudyGrid grid;
        grid.title = "title";
        grid.rowAxes = {"row"};
        grid.rowNames = {{"one"}};
        grid.columnAxes = {"size"};
        grid.runs.resize(1);
        for (size_t i = 0; i < steps.size(); ++i)
        {
            grid.columnNames.push_back({"c" + std::to_string(i)});
            grid.runs[0].emplace_back().stepTime = steps[i];
        }
        return DrawStudy(grid);
    };
    // Up to 41.1 ms: five steps of 10 ms; up to 1.21 ms of 0.5 ms; up to 7 us of 2 us; 2.3 s.
    EXPECT_THAT(draw({MicroSeconds(41100)}),
                testing::AllOf(HasSubstr(">0 ms<"), HasSubstr(">10 ms<"), HasSubstr(">50 ms<")));
    EXPECT_THAT(draw({MicroSeconds(1210)}),
                testing::AllOf(HasSubstr(">0.5 ms<"), HasSubstr(">1.5 ms<")));
    EXPECT_THAT(draw({MicroSeconds(7)}), testing::AllOf(HasSubstr(">2 us<"), HasSubstr(">8 us<")));
    EXPECT_THAT(draw({MilliSeconds(2300)}), HasSubstr(">2.5 s<"));
    // 12 and 41 ms are drawn on one scale, 1.2 and 41 ms each on its own.
    EXPECT_THAT(draw({MilliSeconds(12), MilliSeconds(41)}), Not(HasSubstr(">15 ms<")));
    EXPECT_THAT(draw({MicroSeconds(1200), MilliSeconds(41)}), HasSubstr(">1.5 ms<"));
}

TEST(Study, BadFilesAreRefused)
{
    const auto error = [](std::string text, const std::string& from, const std::string& to) {
        text.replace(text.find(from), from.size(), to);
        StudyCommand command;
        command.file = WriteFile("echo-study-bad.yaml", text);
        try
        {
            command.RunAll();
        }
        catch (const InputError& e)
        {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_THAT(error(STUDY, "name: two,", "name: four,"), HasSubstr("'four' a second time"));
    EXPECT_THAT(error(STUDY, "axis: balancing", "axes: balancing"), HasSubstr("axis"));
    EXPECT_THAT(error(STUDY, "load_balancing=ecmp", "load_balance=ecmp"),
                HasSubstr("load_balance"));
    EXPECT_THAT(error(STUDY, "echo-study-base", "no-such-file"), HasSubstr("no-such-file"));
}

TEST(SizeDistribution, ShippedFilesHaveTheirMeans)
{
    // By hand from the points: sum of (p2 - p1) (b1 + b2) / 2.
    const std::string folder = std::string(ECHO_SOURCE_DIR) + "/scenarios/traffic/";
    const SizeDistribution web = ReadSizeDistribution(folder + "websearch.cdf");
    EXPECT_NEAR(web.GetMean(), 1711250, 1);
    EXPECT_EQ(web.At(0), 1u);
    EXPECT_EQ(web.At(0.15), 10000u);
    // Between 200 kB at 60 % and 1 MB at 70 %.
    EXPECT_NEAR(static_cast<double>(web.At(0.65)), 600000, 1);
    EXPECT_LE(web.At(0.999999), 30000000u);
    const SizeDistribution hadoop = ReadSizeDistribution(folder + "hadoop.cdf");
    EXPECT_EQ(hadoop.At(0.5), 700u);
    // Draws have the mean of the points.
    double sum = 0;
    for (int i = 0; i < 100000; ++i)
    {
        sum += static_cast<double>(hadoop.At((i + 0.5) / 100000));
    }
    EXPECT_NEAR(sum / 100000 / hadoop.GetMean(), 1, 0.001);
}

TEST(SizeDistribution, BadFilesAreRefusedWithTheLine)
{
    const auto error = [](const std::string& text) {
        try
        {
            ReadSizeDistribution(WriteFile("echo-bad.cdf", text));
        }
        catch (const InputError& e)
        {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(error("# c\n0 0\n\n100 100 # all\n"), "");
    EXPECT_THAT(error("0 0\nx 100\n"), HasSubstr(".cdf:2: found 'x 100'"));
    EXPECT_THAT(error("0 0\n100 100 7\n"), HasSubstr(".cdf:2"));
    EXPECT_THAT(error("0 0\n100\n"), HasSubstr(".cdf:2"));
    EXPECT_THAT(error("0 0\n100 90\n50 100\n"), HasSubstr("point 3"));
    EXPECT_THAT(error("0 0\n100 90\n"), HasSubstr("chance of 1"));
    EXPECT_THAT(error(""), HasSubstr("none"));
}

} // namespace
