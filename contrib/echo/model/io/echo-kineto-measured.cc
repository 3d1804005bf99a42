// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-measured.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** Nothing of a step is farther from another's; also keeps picoseconds within 64 bits. */
const int64_t ONE_DAY = 86400LL * 1000000000;

/** Ends of collectives that differ by less on two ranks are on one clock. */
const int64_t SAME_CLOCK = 100000;

} // namespace

void DropCommonBacklog(std::vector<KinetoRankStep>& steps, KinetoHealth& health)
{
    int64_t common = std::numeric_limits<int64_t>::max();
    for (const auto& step : steps)
    {
        const auto& busy = step.timeline.busyUntil;
        const int64_t latest = busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end());
        common = std::min(common, std::max<int64_t>(latest - step.timeline.window.start, 0));
    }
    if (common == 0)
    {
        return;
    }
    for (auto& step : steps)
    {
        step.timeline.droppedBacklog = common;
        for (int64_t& busy : step.timeline.busyUntil)
        {
            busy -= common; // no later than the start: none
        }
    }
    health.warnings.push_back("GPUs were busy with earlier steps for the first " +
                              FormatTime(NanoSeconds(common)) +
                              " of the step, on every rank: left out");
}

void AddRankHealth(const KinetoRankStep& step, const std::string& stepName, KinetoHealth& health)
{
    const KinetoTrace& trace = step.files->trace;
    KinetoHealth::Rank rank;
    rank.rank = step.files->rank;
    rank.file = trace.file;
    rank.executionTrace = step.files->executionTrace ? step.files->executionTrace->file : "";
    rank.gpu = trace.gpu;
    rank.step = stepName;
    rank.span = NanoSeconds(step.timeline.window.end - step.timeline.window.start);
    std::set<uint32_t> streams;
    std::map<uint32_t, KinetoHealth::Kernels> launches; // by name
    int64_t busy = 0;
    for (const auto& entry : step.timeline.activities)
    {
        const GpuActivity& activity = trace.activities[entry.activity];
        streams.insert(activity.stream);
        if (activity.kind == GpuActivity::Kind::COMMUNICATION)
        {
            ++rank.communications;
            continue;
        }
        ++(activity.kind == GpuActivity::Kind::KERNEL ? rank.kernels : rank.copies);
        ++launches[activity.name].count;
        launches[activity.name].time += NanoSeconds(activity.end - activity.start);
        busy += activity.end - activity.start;
    }
    for (const auto& [name, kernels] : launches)
    {
        if (LooksLikeCommunication(trace.names[name]))
        {
            const std::string shown = ShortKernelName(trace.names[name]);
            auto& all = health.otherCommunications[shown.substr(0, shown.find_first_of("<("))];
            all.count += kernels.count;
            all.time += kernels.time;
        }
    }
    rank.streams = static_cast<uint32_t>(streams.size());
    rank.threads = static_cast<uint32_t>(step.timeline.threads.size());
    rank.kernelTime = NanoSeconds(busy);
    rank.launchLatency = NanoSeconds(step.timeline.launchLatency);
    rank.longGaps = step.timeline.longGaps;
    rank.longGapTime = NanoSeconds(step.timeline.longGapTime);
    health.ranks.push_back(rank);
    health.droppedDependencies += step.timeline.droppedDependencies;
    health.inferredByTime += step.timeline.inferredByTime;
    const std::string name = "rank " + std::to_string(rank.rank);
    if (step.timeline.launchedBefore > 0)
    {
        health.ignored["GPU activities launched before the step"] += step.timeline.launchedBefore;
    }
    if (step.timeline.unlaunched > 0)
    {
        health.warnings.push_back(name + ": " + std::to_string(step.timeline.unlaunched) +
                                  " GPU activities without a recorded launch only follow the one "
                                  "before them on their stream");
    }
    for (const auto& [reason, count] : trace.ignored)
    {
        health.ignored[reason] += count;
    }
    if (step.timeline.unorderedThreads > 0)
    {
        health.warnings.push_back(name + ": " + std::to_string(step.timeline.unorderedThreads) +
                                  " threads launch work without a known order to the main one");
    }
    health.warnings.insert(
        health.warnings.end(), step.links.warnings.begin(), step.links.warnings.end());
    if (rank.kernels + rank.communications == 0)
    {
        throw InputError(
            {trace.file, 0, "step " + rank.step}, "no GPU kernels in the step", "some");
    }
}

void AlignClocks(std::vector<KinetoRankStep>& steps,
                 const std::vector<KinetoInstance>& instances,
                 KinetoHealth& health)
{
    std::map<uint32_t, std::vector<int64_t>> offsets;
    auto endOf = [&steps](const std::pair<uint32_t, uint32_t>& member) {
        const KinetoRankStep& step = steps[member.first];
        return step.files->trace.activities[step.timeline.activities[member.second].activity].end;
    };
    for (const auto& instance : instances)
    {
        const CollectiveKind kind = steps[instance.members.front().first]
                                        .communications.at(instance.members.front().second)
                                        .spec.kind;
        // Members of the others may end apart.
        const bool endsTogether =
            kind == CollectiveKind::ALL_REDUCE || kind == CollectiveKind::ALL_GATHER ||
            kind == CollectiveKind::REDUCE_SCATTER || kind == CollectiveKind::ALL_TO_ALL ||
            kind == CollectiveKind::ALL_TO_ALL_V;
        if (instance.members.size() == steps.size() && endsTogether)
        {
            for (const auto& member : instance.members)
            {
                offsets[member.first].push_back(endOf(instance.members.front()) - endOf(member));
            }
        }
    }
    for (auto& [index, values] : offsets)
    {
        const auto middle = values.begin() + static_cast<long>(values.size() / 2);
        std::nth_element(values.begin(), middle, values.end());
        if (std::abs(*middle) > SAME_CLOCK)
        {
            steps[index].clockShift = *middle;
            health.warnings.push_back("rank " + std::to_string(steps[index].files->rank) +
                                      ": clock shifted by " + std::to_string(*middle / 1000) +
                                      " us so that collectives end together");
        }
    }
}

void SetMeasuredRanks(std::vector<KinetoRankStep>& steps, ImportedWorkload& result)
{
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const auto& step : steps)
    {
        first = std::min(first, step.timeline.window.start + step.clockShift);
    }
    for (auto& step : steps)
    {
        step.clockShift -= first; // from now on: time zero is the earliest start
        const int64_t start = step.timeline.window.start + step.clockShift;
        if (start > ONE_DAY)
        {
            throw InputError({step.files->trace.file, 0, "step"},
                             "a start more than a day after the first rank's",
                             "profiles of one run");
        }
        int64_t deviceEnd = step.timeline.window.start;
        for (const auto& entry : step.timeline.activities)
        {
            deviceEnd = std::max(deviceEnd, step.files->trace.activities[entry.activity].end);
        }
        MeasuredRank rank;
        rank.rank = step.files->rank;
        rank.start = NanoSeconds(step.timeline.window.start + step.clockShift);
        rank.end = NanoSeconds(step.timeline.window.end + step.clockShift);
        rank.deviceEnd = NanoSeconds(deviceEnd + step.clockShift);
        result.span = std::max(result.span, rank.end);
        result.spanWithDevice = std::max({result.spanWithDevice, rank.end, rank.deviceEnd});
        result.health.ranks[result.ranks.size()].start = rank.start;
        result.ranks.push_back(rank);
    }
}

void SetMeasuredCollectives(const std::vector<KinetoRankStep>& steps,
                            const std::vector<KinetoInstance>& instances,
                            const std::map<KinetoGroup, GroupId>& groups,
                            ImportedWorkload& result)
{
    for (const auto& instance : instances)
    {
        MeasuredCollective measured;
        measured.group = groups.at(instance.group);
        measured.sequence = instance.sequence;
        bool isFirst = true;
        for (const auto& [index, activity] : instance.members)
        {
            const KinetoRankStep& step = steps[index];
            const GpuActivity& gpu =
                step.files->trace.activities[step.timeline.activities[activity].activity];
            const CollectiveSpec& spec = step.communications.at(activity).spec;
            const Time start = NanoSeconds(gpu.start + step.clockShift);
            measured.kind = spec.kind;
            measured.bytes = std::max(measured.bytes, spec.bytes);
            measured.firstStart = isFirst ? start : std::min(measured.firstStart, start);
            measured.end = std::max(measured.end, NanoSeconds(gpu.end + step.clockShift));
            const Time duration = NanoSeconds(gpu.end - gpu.start);
            if (isFirst || start > measured.lastStart ||
                (start == measured.lastStart && duration < measured.transfer))
            {
                measured.lastStart = start;
                measured.transfer = duration;
            }
            isFirst = false;
        }
        result.collectives.push_back(measured);
    }
    std::sort(
        result.collectives.begin(), result.collectives.end(), [](const auto& a, const auto& b) {
            return std::make_tuple(a.group.Get(), a.sequence) <
                   std::make_tuple(b.group.Get(), b.sequence);
        });
}

} // namespace echo
} // namespace ns3
