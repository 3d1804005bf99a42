// SPDX-License-Identifier: GPL-2.0-only
#include "step-composition.h"

#include "ns3/echo-text-table.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

/** Least and largest of some values. */
struct Range
{
    double least{1e300};
    double largest{-1e300};
    uint32_t count{0};

    void Add(double value)
    {
        least = std::min(least, value);
        largest = std::max(largest, value);
        ++count;
    }
};

/** What a row's step depends on. */
struct Plan
{
    uint32_t hidden;
    uint32_t tensor;
    uint32_t microBatch;
    uint32_t pipeline;
    uint32_t data;
    uint32_t stageLayers; //!< layers of a stage
    uint32_t microBatches;
    double ms; //!< the step
};

std::vector<Plan> ReadPlans(const StepTable& table)
{
    std::vector<Plan> plans;
    for (const auto& row : table.rows)
    {
        const auto cell = [&](const char* column) {
            const auto found = std::find(table.columns.begin(), table.columns.end(), column);
            return found == table.columns.end()
                       ? 1.0
                       : std::strtod(
                             row[static_cast<size_t>(found - table.columns.begin())].c_str(),
                             nullptr);
        };
        const auto count = [&](const char* column) { return static_cast<uint32_t>(cell(column)); };
        const uint32_t stages = count("parallel.pp");
        const uint32_t data = count("parallel.dp");
        const uint32_t microBatch = count("batch.micro_batch");
        plans.push_back({count("model.hidden"),
                         count("parallel.tp"),
                         microBatch,
                         stages,
                         data,
                         count("model.layers") / stages,
                         count("batch.global_batch") / data / microBatch,
                         cell("step_s") * 1e3});
    }
    return plans;
}

using LayerKey = std::tuple<uint32_t, uint32_t, uint32_t>;

/** @return ms of a layer and micro-batch, by hidden size, tensor degree and micro-batch */
std::map<LayerKey, Range> GetLayerTimes(const std::vector<Plan>& plans)
{
    std::map<std::tuple<LayerKey, uint32_t, uint32_t>, std::vector<Plan>> families;
    for (const Plan& plan : plans)
    {
        families[{{plan.hidden, plan.tensor, plan.microBatch}, plan.pipeline, plan.data}].push_back(
            plan);
    }
    std::map<LayerKey, Range> times;
    for (const auto& [family, members] : families)
    {
        std::map<std::pair<uint32_t, uint32_t>, double> steps;
        for (const Plan& plan : members)
        {
            steps[{plan.stageLayers, plan.microBatches}] = plan.ms;
        }
        for (const auto& [one, ms] : steps)
        {
            for (const auto& [other, otherMs] : steps)
            {
                const auto left = steps.find({one.first, other.second});
                const auto right = steps.find({other.first, one.second});
                if (one.first > other.first && one.second > other.second && left != steps.end() &&
                    right != steps.end())
                {
                    times[std::get<0>(family)].Add((ms - left->second - right->second + otherMs) /
                                                   (one.first - other.first) /
                                                   (one.second - other.second));
                }
            }
        }
    }
    return times;
}

/** @return differences between data ranks that should be one all-reduce each; pairs of rows */
std::vector<Range> GetReductionTimes(const std::vector<Plan>& plans)
{
    using Family = std::tuple<LayerKey, uint32_t, uint32_t>; // the rows of one all-reduce
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, std::vector<const Plan*>> models;
    for (const Plan& plan : plans)
    {
        models[{plan.hidden, plan.tensor, plan.pipeline, plan.stageLayers}].push_back(&plan);
    }
    std::map<Family, Range> families;
    for (const auto& [model, members] : models)
    {
        for (const Plan* one : members)
        {
            for (const Plan* other : members)
            {
                if (one->microBatch == other->microBatch &&
                    one->microBatches == other->microBatches && one->data < other->data)
                {
                    families[{{one->hidden, one->tensor, one->pipeline},
                              one->stageLayers,
                              one->data * 1000 + other->data}]
                        .Add(other->ms - one->ms);
                }
            }
        }
    }
    std::vector<Range> ranges;
    for (const auto& [family, range] : families)
    {
        if (range.count > 1)
        {
            ranges.push_back(range);
        }
    }
    return ranges;
}

} // namespace

void WriteStepComposition(std::ostream& out, const StepTable& table)
{
    const std::vector<Plan> plans = ReadPlans(table);
    uint32_t pairs = 0;
    double spread = 0;
    double longest = 0;
    const auto reductions = GetReductionTimes(plans);
    for (const Range& range : reductions)
    {
        pairs += range.count;
        spread = std::max(spread, range.largest - range.least);
    }
    for (const Plan& plan : plans)
    {
        longest = std::max(longest, plan.ms);
    }
    out << "These rows are not steps that were measured one by one: they add up, to a few "
           "microseconds, from times of single layers, ends of the model and all-reduces. Of "
        << pairs << " pairs of rows that differ in data ranks only, the differences are "
        << reductions.size() << " times, each the same to " << FormatFixed(1e3 * spread, 0)
        << " us whatever the micro-batch and their number, in steps of up to "
        << FormatFixed(longest, 0)
        << " ms. A layer and micro-batch, from corners of plans with other layers and "
           "micro-batches, takes:\n\n"
           "| hidden | tp | micro-batch | corners | least ms | largest ms |\n"
           "|---:|---:|---:|---:|---:|---:|\n";
    for (const auto& [key, range] : GetLayerTimes(plans))
    {
        const auto& [hidden, tensor, microBatch] = key;
        out << "| " << hidden << " | " << tensor << " | " << microBatch << " | " << range.count
            << " | " << FormatFixed(range.least, 3) << " | " << FormatFixed(range.largest, 3)
            << " |\n";
    }
    out << "\n";
}

} // namespace echo
} // namespace ns3
