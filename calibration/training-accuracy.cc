// SPDX-License-Identifier: GPL-2.0-only
#include "training-accuracy.h"

#include "representative-ranks.h"
#include "step-table.h"

#include "ns3/echo-error.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-simulator-guard.h"
#include "ns3/echo-text-table.h"

#include <algorithm>
#include <cmath>
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

/** A row of a table of steps. */
struct Step
{
    ScenarioOverrides overrides;
    double measured{0}; //!< seconds
    std::string label;
};

Step ReadStep(const StepTable& table, size_t index)
{
    const StepRow row = ReadStepRow(table, index, {"step_s"});
    return {row.overrides, GetPositive(table, index, row, "step_s"), row.label};
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
        const Step step = ReadStep(table, i);
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
        const Step step = ReadStep(table, i);
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
