// SPDX-License-Identifier: GPL-2.0-only
#include "training-constants.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/echo-text-table.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace ns3
{
namespace echo
{

namespace
{

/** @return mean absolute error in percent; not a number without rows */
double GetMeanError(const ConstantSource& source)
{
    double sum = 0;
    const std::vector<SimulatedStep> steps =
        SimulateSteps(source.steps, source.part, source.stride);
    for (const SimulatedStep& step : steps)
    {
        sum += std::abs(step.simulated / step.measured - 1);
    }
    return 100 * sum / double(steps.size());
}

/** @return errors by value, then source */
std::vector<std::vector<double>> GetErrors(const StepConstant& constant)
{
    const std::string attribute = "ns3::echo::RooflineComputeModel::" + constant.attribute;
    std::vector<std::vector<double>> errors;
    for (double value : constant.values)
    {
        Config::SetDefault(attribute, DoubleValue(value));
        errors.emplace_back();
        for (const ConstantSource& source : constant.sources)
        {
            errors.back().push_back(GetMeanError(source));
        }
    }
    Config::SetDefault(attribute, DoubleValue(0));
    return errors;
}

/** @return the value with the least mean error of all sources but @p without */
size_t Choose(const std::vector<std::vector<double>>& errors, size_t without)
{
    const auto total = [without](const std::vector<double>& ofValue) {
        double sum = 0;
        for (size_t i = 0; i < ofValue.size(); ++i)
        {
            sum += i == without ? 0 : ofValue[i];
        }
        return sum;
    };
    size_t best = 0;
    for (size_t i = 1; i < errors.size(); ++i)
    {
        best = total(errors[i]) < total(errors[best]) ? i : best;
    }
    return best;
}

} // namespace

void WriteConstantAccuracy(std::ostream& out, const std::vector<StepConstant>& constants)
{
    out << "## Constants set from steps\n\nWhat the other sources alone choose for each source "
           "that "
           "is held out, and its mean absolute error in percent with that value and with the one "
           "that ships. Where a source has many rows, every so many of them are simulated.\n\n"
           "| constant | held out | chosen by the others | error with it | shipped | error with it "
           "|\n|---|---|---:|---:|---:|---:|\n";
    for (const StepConstant& constant : constants)
    {
        const auto errors = GetErrors(constant);
        const auto shipped = static_cast<size_t>(
            std::find(constant.values.begin(), constant.values.end(), constant.shipped) -
            constant.values.begin());
        for (size_t i = 0; i < constant.sources.size(); ++i)
        {
            const size_t chosen = Choose(errors, i);
            out << "| " << constant.title << " | " << constant.sources[i].title << " | "
                << FormatFixed(constant.values[chosen], 2) << " | "
                << FormatFixed(errors[chosen][i], 1) << " | " << FormatFixed(constant.shipped, 2)
                << " | " << FormatFixed(errors.at(shipped)[i], 1) << " |\n";
        }
    }
    out << "\n";
}

} // namespace echo
} // namespace ns3
