// SPDX-License-Identifier: GPL-2.0-only
#include "echo-clock-estimate.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

const double LARGEST_DRAM = 30;  //!< % of DRAM's peak, above which memory holds kernels up
const double ALIKE = 0.02;       //!< relative difference of counters of like kernels
const double ALIKE_POINTS = 0.1; //!< the same in percentage points, where counters are small
const size_t NEAREST = 7;        //!< kernels that tell the clock at a place
const double STEP = 0.05;        //!< of results: finer differences are noise
const uint32_t MOST_ROUNDS = 60;

double MedianOf(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const size_t count = values.size();
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

bool AreAlike(const KernelCounters& one, const KernelCounters& other)
{
    for (const auto counter : {&KernelCounters::computeThroughput,
                               &KernelCounters::memoryThroughput,
                               &KernelCounters::dramThroughput,
                               &KernelCounters::achievedOccupancy})
    {
        const double allowed = std::max(ALIKE * one.*counter, ALIKE_POINTS);
        if (!(std::fabs(one.*counter - other.*counter) <= allowed))
        {
            return false; // unknown counters too
        }
    }
    return true;
}

/** @return kinds of like kernels that memory does not hold up, of two or more each */
std::vector<std::vector<size_t>> FindKinds(const std::vector<OverlapSample>& samples)
{
    std::map<std::string, std::vector<std::vector<size_t>>> byName;
    for (size_t i = 0; i < samples.size(); ++i)
    {
        const KernelCounters& counters = samples[i].description.counters;
        if (!(counters.dramThroughput < LARGEST_DRAM))
        {
            continue;
        }
        auto& kinds = byName[samples[i].name];
        const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& members) {
            return AreAlike(samples[members.front()].description.counters, counters);
        });
        if (kind != kinds.end())
        {
            kind->push_back(i);
        }
        else
        {
            kinds.push_back({i});
        }
    }
    std::vector<std::vector<size_t>> repeated;
    for (const auto& [name, kinds] : byName)
    {
        std::copy_if(kinds.begin(),
                     kinds.end(),
                     std::back_inserter(repeated),
                     [](const auto& kind) { return kind.size() > 1; });
    }
    return repeated;
}

/** @return of each place the nearest members of kinds */
std::vector<std::vector<size_t>> FindNeighbours(const std::vector<OverlapSample>& samples,
                                                const std::vector<size_t>& members)
{
    std::vector<std::vector<size_t>> neighbours;
    for (const OverlapSample& sample : samples)
    {
        std::vector<size_t> nearest = members;
        const size_t count = std::min(NEAREST, nearest.size());
        const auto key = [&](size_t i) {
            const double place = samples[i].place;
            return std::make_tuple(std::fabs(place - sample.place), place, i);
        };
        std::partial_sort(nearest.begin(),
                          nearest.begin() + static_cast<ptrdiff_t>(count),
                          nearest.end(),
                          [&](size_t a, size_t b) { return key(a) < key(b); });
        nearest.resize(count);
        neighbours.push_back(std::move(nearest));
    }
    return neighbours;
}

/** @return logarithms of clocks, up to a constant */
std::vector<double> Polish(const std::vector<OverlapSample>& samples,
                           const std::vector<std::vector<size_t>>& kinds)
{
    std::vector<size_t> members;
    std::vector<size_t> kindOf(samples.size(), 0);
    for (size_t k = 0; k < kinds.size(); ++k)
    {
        for (const size_t i : kinds[k])
        {
            members.push_back(i);
            kindOf[i] = k;
        }
    }
    const auto neighbours = FindNeighbours(samples, members);
    const auto medianOver = [](const std::vector<size_t>& list, const auto& value) {
        std::vector<double> values;
        std::transform(list.begin(), list.end(), std::back_inserter(values), value);
        return MedianOf(std::move(values));
    };
    const auto logTime = [&](size_t i) { return std::log(samples[i].description.durationUs); };
    std::vector<double> clocks(samples.size(), 0);
    std::vector<double> times(kinds.size()); // logarithms, at the clock 0
    for (uint32_t round = 0; round < MOST_ROUNDS; ++round)
    {
        const std::vector<double> before = clocks;
        for (size_t k = 0; k < kinds.size(); ++k)
        {
            times[k] = medianOver(kinds[k], [&](size_t i) { return logTime(i) + clocks[i]; });
        }
        for (size_t i = 0; i < samples.size(); ++i)
        {
            clocks[i] =
                medianOver(neighbours[i], [&](size_t j) { return times[kindOf[j]] - logTime(j); });
        }
        if (clocks == before)
        {
            break;
        }
    }
    return clocks;
}

} // namespace

void EstimateClocks(std::vector<OverlapSample>& samples)
{
    const auto kinds = FindKinds(samples);
    std::vector<double> clocks(samples.size(), NAN);
    if (!kinds.empty())
    {
        clocks = Polish(samples, kinds);
        std::vector<double> sorted = clocks;
        std::sort(sorted.begin(), sorted.end());
        const double fastest = sorted[(sorted.size() - 1) * 95 / 100];
        for (double& clock : clocks)
        {
            clock = std::min(1.0, STEP * std::round(std::exp(clock - fastest) / STEP));
        }
    }
    for (size_t i = 0; i < samples.size(); ++i)
    {
        samples[i].description.counters.clock = clocks[i];
        samples[i].isClockEstimated = true;
    }
}

} // namespace echo
} // namespace ns3
