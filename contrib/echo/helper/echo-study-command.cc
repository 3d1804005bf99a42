// SPDX-License-Identifier: GPL-2.0-only
#include "echo-study-command.h"

#include "echo-scenario-runner.h"

#include "ns3/echo-output-folder.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-study-reader.h"

#include <unistd.h>

#include <iostream>

namespace ns3
{
namespace echo
{

namespace
{

/** One value of each of some axes. */
struct Combination
{
    std::vector<std::string> names;
    std::vector<std::string> sets;
};

/** @return all combinations, the last axis changing fastest */
std::vector<Combination> Combine(const std::vector<StudyAxis>& axes)
{
    std::vector<Combination> all{{}};
    for (const StudyAxis& axis : axes)
    {
        std::vector<Combination> next;
        for (const Combination& begun : all)
        {
            for (const StudyAxis::Value& value : axis.values)
            {
                Combination combination = begun;
                combination.names.push_back(value.name);
                combination.sets.insert(
                    combination.sets.end(), value.sets.begin(), value.sets.end());
                next.push_back(std::move(combination));
            }
        }
        all = std::move(next);
    }
    return all;
}

std::vector<std::string> NamesOf(const std::vector<StudyAxis>& axes)
{
    std::vector<std::string> names;
    for (const StudyAxis& axis : axes)
    {
        names.push_back(axis.name);
    }
    return names;
}

RunRecord RunOne(const std::string& base, const std::vector<std::string>& sets)
{
    ScenarioOverrides overrides;
    overrides.sets = sets;
    ScenarioRunner runner(ReadScenario(base, overrides));
    RecordSink ignore;
    return runner.Run([&]() -> RecordSink& { return ignore; });
}

} // namespace

StudyGrid StudyCommand::RunAll() const
{
    const Study study = ReadStudy(file);
    StudyGrid grid;
    grid.name = study.name;
    grid.title = study.title;
    grid.rowAxes = NamesOf(study.rows);
    grid.columnAxes = NamesOf(study.columns);
    const std::vector<Combination> rows = Combine(study.rows);
    const std::vector<Combination> columns = Combine(study.columns);
    for (const Combination& column : columns)
    {
        grid.columnNames.push_back(column.names);
    }
    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    size_t done = 0;
    for (const Combination& row : rows)
    {
        grid.rowNames.push_back(row.names);
        grid.runs.emplace_back();
        for (const Combination& column : columns)
        {
            std::vector<std::string> all = row.sets;
            all.insert(all.end(), column.sets.begin(), column.sets.end());
            all.insert(all.end(), sets.begin(), sets.end());
            grid.runs.back().push_back(RunOne(study.base, all));
            ++done;
            if (showsProgress)
            {
                std::cerr << '\r' << done << " of " << rows.size() * columns.size() << " runs"
                          << (done == rows.size() * columns.size() ? "\r\033[K" : "") << std::flush;
            }
        }
    }
    return grid;
}

int StudyCommand::Run()
{
    const StudyGrid grid = RunAll();
    std::cout << grid.title << "\nStep time, us:\n\n" << FormatStudyTable(grid);
    if (out != "none")
    {
        OutputFolder folder(out.empty() ? "echo-out/" + grid.name : out);
        folder.Create("study.md").Write(FormatStudyTable(grid));
        folder.Create("study.csv").Write(FormatStudyCsv(grid));
        folder.Create("study.svg").Write(DrawStudy(grid));
        folder.Commit();
        std::cout << "\nResults: " << folder.GetDirectory()
                  << "/study.svg (picture), study.md, study.csv\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
