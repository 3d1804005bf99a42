// SPDX-License-Identifier: GPL-2.0-only
#include "training-accuracy.h"

#include "representative-ranks.h"

#include "ns3/echo-error.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-simulator-guard.h"
#include "ns3/echo-text-table.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <ostream>

namespace ns3
{
namespace echo
{

namespace
{

std::vector<std::string> SplitCells(const std::string& line)
{
    std::vector<std::string> cells(1);
    int depth = 0;
    bool isQuoted = false;
    for (char c : line)
    {
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (c == '"')
        {
            isQuoted = !isQuoted;
        }
        else if (c == ',' && depth == 0 && !isQuoted)
        {
            cells.emplace_back();
        }
        else
        {
            cells.back() += c;
        }
    }
    return cells;
}

/** A row's settings over the scenario that its source's rows share. */
struct Step
{
    ScenarioOverrides overrides;
    double measured{0}; //!< seconds
    std::string label;
};

Step ReadStep(const StepTable& table, size_t index, const std::string& file)
{
    Step step;
    step.overrides.fidelity = "analytical";
    for (size_t i = 0; i < table.columns.size(); ++i)
    {
        const std::string& key = table.columns[i];
        const std::string& value = table.rows[index][i];
        if (value.empty() || key == "note")
        {
            continue;
        }
        if (key == "step_s")
        {
            step.measured = std::strtod(value.c_str(), nullptr);
            continue;
        }
        const bool isTop = key == "hosts" || key == "cluster" || key == "ranks" ||
                           key.rfind("workload.", 0) == 0 || key.rfind("compute.", 0) == 0;
        step.overrides.sets.push_back((isTop ? key : "workload.generate." + key) + "=" + value);
        const size_t dot = key.rfind('.');
        step.label +=
            (step.label.empty() ? "" : ", ") +
            (key == "model.preset" ? ""
                                   : key.substr(dot == std::string::npos ? 0 : dot + 1) + " ") +
            (key == "cluster" ? value.substr(value.rfind('/') + 1) : value);
    }
    if (!(step.measured > 0))
    {
        throw InputError({file, table.lines[index], "step_s"}, "no time", "seconds above 0");
    }
    return step;
}

double Simulate(const MeasuredSteps& source, const Step& step, bool full)
{
    Scenario scenario = ReadScenario(source.scenario, step.overrides);
    for (const std::string& warning : scenario.warnings)
    {
        std::cerr << step.label << ": " << warning << "\n";
    }
    if (!full)
    {
        KeepRepresentatives(scenario);
    }
    ScenarioRunner runner(std::move(scenario));
    RecordSink nothing;
    return runner.Run([&nothing]() -> RecordSink& { return nothing; }).stepTime.GetSeconds();
}

/**
 * @param refusal why there is no time, which standard error says too
 * @return nothing if the step cannot be simulated; a signal ends the command
 */
std::optional<double> TrySimulate(const MeasuredSteps& source,
                                  const Step& step,
                                  bool full,
                                  std::string& refusal)
{
    try
    {
        return Simulate(source, step, full);
    }
    catch (const StoppedError&)
    {
        throw;
    }
    catch (const std::exception& error)
    {
        refusal = step.label + ": " + error.what();
        std::cerr << refusal << "\n";
        return std::nullopt;
    }
}

std::string Percent(double share)
{
    return FormatFixed(100 * share, 1);
}

double Percentile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    const auto index = static_cast<size_t>(std::ceil(share * double(values.size())));
    return values[std::max<size_t>(index, 1) - 1];
}

} // namespace

StepTable ReadStepTable(const std::string& path)
{
    std::ifstream in(path);
    if (!in)
    {
        throw InputError({path, 0, ""}, "no readable file", "one");
    }
    StepTable table;
    std::string line;
    for (uint32_t number = 1; std::getline(in, line); ++number)
    {
        if (line.rfind("#", 0) == 0)
        {
            table.source += line.substr(std::min<size_t>(2, line.size())) + "\n";
        }
        else if (table.columns.empty())
        {
            table.columns = SplitCells(line);
        }
        else if (!line.empty())
        {
            table.rows.push_back(SplitCells(line));
            table.lines.push_back(number);
            if (table.rows.back().size() != table.columns.size())
            {
                throw InputError({path, number, ""},
                                 std::to_string(table.rows.back().size()) + " cells",
                                 std::to_string(table.columns.size()) + ", as the first line has");
            }
        }
    }
    return table;
}

StepErrors WriteStepAccuracy(std::ostream& out, const MeasuredSteps& source, bool full)
{
    const StepTable table = ReadStepTable(source.table);
    out << "## " << source.title << "\n\n" << table.source << "\n";
    if (source.isListed)
    {
        out << "| step | measured s | simulated s | error % |\n|---|---:|---:|---:|\n";
    }
    StepErrors result;
    for (size_t i = 0; i < table.rows.size(); ++i)
    {
        const Step step = ReadStep(table, i, source.table);
        std::string refusal;
        const std::optional<double> simulated =
            TrySimulate(source, step, full || source.isFull, refusal);
        if (!simulated)
        {
            result.refused.push_back(refusal);
            continue;
        }
        const double error = *simulated / step.measured - 1;
        result.errors.push_back(error);
        if (source.isListed)
        {
            out << "| " << step.label << " | " << FormatFixed(step.measured, 3) << " | "
                << FormatFixed(*simulated, 3) << " | " << Percent(error) << " |\n";
        }
    }
    out << "\n";
    for (const std::string& refused : result.refused)
    {
        out << "Not simulated: " << refused << "\n\n";
    }
    return result;
}

std::vector<SimulatedStep> SimulateSteps(const MeasuredSteps& source,
                                         const std::string& part,
                                         uint32_t stride)
{
    const StepTable table = ReadStepTable(source.table);
    std::vector<SimulatedStep> steps;
    uint32_t matching = 0;
    for (size_t i = 0; i < table.rows.size(); ++i)
    {
        const Step step = ReadStep(table, i, source.table);
        if (step.label.find(part) == std::string::npos || matching++ % stride != 0)
        {
            continue;
        }
        std::string refusal;
        if (const auto simulated = TrySimulate(source, step, source.isFull, refusal))
        {
            steps.push_back({step.measured, *simulated});
        }
    }
    return steps;
}

void WriteStepSummary(std::ostream& out, const MeasuredSteps& source, const StepErrors& result)
{
    out << "| " << source.title << " | " << result.errors.size() << " | ";
    if (result.errors.empty())
    {
        out << "- | - | - | - | - | - |\n";
        return;
    }
    std::vector<double> sizes;
    for (double error : result.errors)
    {
        sizes.push_back(std::abs(error));
    }
    const auto sum = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    };
    out << Percent(sum(sizes)) << " | " << Percent(Percentile(sizes, 0.5)) << " | "
        << Percent(Percentile(sizes, 0.9)) << " | " << Percent(Percentile(sizes, 1)) << " | "
        << Percent(sum(result.errors)) << " | "
        << (source.meanBar > 0 ? FormatFixed(source.meanBar, 0) : "-")
        << (source.tailBar > 0 ? " (" + FormatFixed(source.tailBar, 0) + ")" : "") << " |\n";
}

} // namespace echo
} // namespace ns3
