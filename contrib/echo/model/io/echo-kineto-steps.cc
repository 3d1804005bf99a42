// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** The marks of one number in one file. */
struct StepMarks
{
    StepWindow last;
    uint32_t separate{0}; //!< that do not overlap
};

StepMarks FindMarks(const KinetoTrace& trace, int64_t number)
{
    StepMarks marks;
    for (const ProfilerStep& step : trace.steps) // by start
    {
        if (step.number != number)
        {
            continue;
        }
        if (marks.separate == 0 || step.start >= marks.last.end)
        {
            ++marks.separate;
            marks.last = {step.start, step.end, step.thread};
        }
        marks.last.end = std::max(marks.last.end, step.end);
        marks.last.mainThread = step.thread;
    }
    return marks;
}

/** @return sorted times at which a rank's kernels were launched */
std::vector<int64_t> LaunchTimes(const KinetoRankStep& rank)
{
    const KinetoTrace& trace = rank.files->trace;
    std::vector<int64_t> times;
    for (uint32_t i = 0; i < trace.activities.size(); ++i)
    {
        const GpuActivity& activity = trace.activities[i];
        if (activity.kind == GpuActivity::Kind::KERNEL ||
            activity.kind == GpuActivity::Kind::COMMUNICATION)
        {
            const uint32_t call = rank.links.callOf[i];
            times.push_back(call == KINETO_NONE ? activity.start : trace.calls[call].start);
        }
    }
    std::sort(times.begin(), times.end());
    return times;
}

/** @return the steps in which a rank launches kernels */
std::set<int64_t> FindBusySteps(const KinetoRankStep& rank, const std::set<int64_t>& numbers)
{
    const std::vector<int64_t> times = LaunchTimes(rank);
    std::set<int64_t> busy;
    for (int64_t number : numbers)
    {
        const StepWindow window = FindMarks(rank.files->trace, number).last;
        const auto first = std::lower_bound(times.begin(), times.end(), window.start);
        if (first != times.end() && *first < window.end)
        {
            busy.insert(number);
        }
    }
    return busy;
}

std::set<int64_t> Intersect(const std::set<int64_t>& a, const std::set<int64_t>& b)
{
    std::set<int64_t> both;
    std::set_intersection(
        a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.begin()));
    return both;
}

/** @return the steps that every file marks */
std::set<int64_t> FindCommonSteps(const std::vector<KinetoRankStep>& ranks)
{
    std::set<int64_t> common;
    for (const auto& rank : ranks)
    {
        std::set<int64_t> own;
        for (const auto& step : rank.files->trace.steps)
        {
            own.insert(step.number);
        }
        common = &rank == &ranks.front() ? own : Intersect(common, own);
    }
    return common;
}

void ChooseLast(const std::vector<KinetoRankStep>& ranks,
                const std::set<int64_t>& common,
                KinetoStepChoice& choice)
{
    std::set<int64_t> busy = common;
    for (const auto& rank : ranks)
    {
        busy = Intersect(busy, FindBusySteps(rank, busy));
    }
    const int64_t last = *common.rbegin();
    choice.numbers = {busy.empty() ? last : *busy.rbegin()};
    if (choice.numbers.front() != last)
    {
        choice.warnings.push_back("steps after " + std::to_string(choice.numbers.front()) +
                                  " are not used: not every rank launches kernels in them");
    }
}

void ChooseNumber(const std::string& file,
                  const std::set<int64_t>& common,
                  const std::string& wanted,
                  KinetoStepChoice& choice)
{
    const auto number = ParseFixedPoint(wanted, 0);
    const bool isNumber = wanted.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber || !number || common.count(*number) == 0)
    {
        std::string known;
        for (int64_t each : common)
        {
            known += ", " + std::to_string(each);
        }
        throw InputError({file, 0, "step"},
                         common.empty() ? "no step marks that all files have" : "'" + wanted + "'",
                         common.empty() ? "ProfilerStep#" + wanted : "one of last, all" + known);
    }
    choice.numbers = {*number};
}

} // namespace

std::string KinetoStepChoice::GetName() const
{
    return numbers.empty()       ? "whole file"
           : numbers.size() == 1 ? std::to_string(numbers.front())
                                 : "all";
}

KinetoStepChoice ChooseKinetoSteps(const std::vector<KinetoRankStep>& ranks,
                                   const std::string& wanted)
{
    KinetoStepChoice choice;
    const std::set<int64_t> common = FindCommonSteps(ranks);
    if (wanted != "last" && wanted != "all")
    {
        ChooseNumber(ranks.front().files->trace.file, common, wanted, choice);
    }
    else if (common.empty())
    {
        choice.warnings.push_back(
            "the files have no step marks in common: each is taken as a whole");
    }
    else if (wanted == "last")
    {
        ChooseLast(ranks, common, choice);
    }
    else
    {
        choice.numbers.assign(common.begin(), common.end());
    }
    for (const auto& rank : ranks)
    {
        const uint32_t marks = choice.numbers.size() == 1
                                   ? FindMarks(rank.files->trace, choice.numbers.front()).separate
                                   : 1;
        if (marks > 1)
        {
            choice.warnings.push_back("rank " + std::to_string(rank.files->rank) +
                                      ": ProfilerStep#" + choice.GetName() + " stands " +
                                      std::to_string(marks) + " times: the last is taken");
        }
    }
    return choice;
}

StepWindow WindowOfSteps(const KinetoTrace& trace, const KinetoStepChoice& choice)
{
    if (choice.numbers.size() == 1)
    {
        return FindMarks(trace, choice.numbers.front()).last;
    }
    StepWindow window;
    window.start = std::numeric_limits<int64_t>::max();
    window.end = std::numeric_limits<int64_t>::min();
    auto extend = [&window](int64_t start, int64_t end) {
        window.start = std::min(window.start, start);
        window.end = std::max(window.end, end);
    };
    for (const auto& step : trace.steps)
    {
        if (std::binary_search(choice.numbers.begin(), choice.numbers.end(), step.number))
        {
            extend(step.start, step.end);
            window.mainThread = step.thread;
        }
    }
    if (choice.numbers.empty())
    {
        for (const auto& activity : trace.activities)
        {
            extend(activity.start, activity.end);
        }
        if (trace.callsStart <= trace.callsEnd)
        {
            extend(trace.callsStart, trace.callsEnd);
        }
        ++window.end; // calls in [start, end) belong to it
    }
    return window;
}

} // namespace echo
} // namespace ns3
