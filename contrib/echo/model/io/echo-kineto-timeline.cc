// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ns3
{
namespace echo
{

void KinetoLaunches::Sort()
{
    std::sort(m_launches.begin(), m_launches.end(), [](const Launch& a, const Launch& b) {
        return std::tie(a.call, a.activity) < std::tie(b.call, b.activity);
    });
}

KinetoLaunches::Range KinetoLaunches::Find(uint32_t call) const
{
    const Launch* const end = m_launches.data() + m_launches.size();
    const Launch* const first =
        std::lower_bound(m_launches.data(), end, call, [](const Launch& launch, uint32_t c) {
            return launch.call < c;
        });
    const Launch* last = first;
    while (last != end && last->call == call)
    {
        ++last;
    }
    return {first, last};
}

namespace
{

/** Second half of AnalyseStep(): CPU threads, launch times and gaps. */
class TimelineBuilder
{
  public:
    TimelineBuilder(const KinetoTrace& trace,
                    const KinetoLinks& links,
                    const KinetoDependencies& dependencies,
                    StepTimeline& timeline)
        : m_trace(trace), m_links(links), m_dependencies(dependencies), m_timeline(timeline)
    {
    }

    void SetThreads();
    void SetLaunchTimes();
    void SetPoints();
    void SetGap(uint32_t activity);

  private:
    /** Something of a thread before it becomes a point. */
    struct Event
    {
        int64_t time;
        uint32_t call;
        bool isWait; //!< for activities, else a launch
    };

    /** A pause of the main thread with another thread's work in it. */
    struct Pause
    {
        int64_t start;
        int64_t lastWork; //!< end of the other thread's work
        uint32_t worker;  //!< index in m_timeline.threads
    };

    const GpuActivity& Get(uint32_t activity) const
    {
        return m_trace.activities[m_timeline.activities[activity].activity];
    }

    uint32_t AddPoint(HostThread& thread, int64_t time, uint32_t name);
    PointWait& WaitOf(uint32_t point);
    std::vector<Event> EventsOf(uint32_t thread) const;
    void AddEvent(HostThread& thread, const Event& event);
    std::vector<Pause> PausesOf(uint32_t worker, const std::vector<Event>& events) const;
    bool IsIdleLaunch(uint32_t activity) const;

    const KinetoTrace& m_trace;
    const KinetoLinks& m_links;
    const KinetoDependencies& m_dependencies;
    StepTimeline& m_timeline;
    std::vector<std::vector<int64_t>> m_blocking; //!< by thread: starts of calls that wait
};

void TimelineBuilder::SetThreads()
{
    std::vector<int64_t> first(m_trace.threads.size(), std::numeric_limits<int64_t>::max());
    std::vector<uint64_t> launches(m_trace.threads.size(), 0);
    m_blocking.resize(m_trace.threads.size());
    auto visit = [this, &first](uint32_t call) {
        const HostCall& host = m_trace.calls[call];
        first[host.thread] = std::min(first[host.thread], host.start);
        return host.thread;
    };
    for (const auto& launch : m_dependencies.GetLaunches().GetAll())
    {
        launches[visit(launch.call)] += m_dependencies.GetLaunches().IsFirst(launch) ? 1 : 0;
    }
    for (const auto& [call, wait] : m_dependencies.GetWaits())
    {
        m_blocking[visit(call)].push_back(m_trace.calls[call].start);
    }
    uint32_t main = m_timeline.window.mainThread;
    std::vector<uint32_t> threads;
    for (uint32_t i = 0; i < first.size(); ++i)
    {
        if (first[i] != std::numeric_limits<int64_t>::max())
        {
            threads.push_back(i);
        }
    }
    if (main == KINETO_NONE && !threads.empty())
    {
        main = *std::min_element(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) {
            return std::make_tuple(m_trace.threads[a].isAutograd, launches[b], a) <
                   std::make_tuple(m_trace.threads[b].isAutograd, launches[a], b);
        });
    }
    if (main != KINETO_NONE && std::find(threads.begin(), threads.end(), main) == threads.end())
    {
        threads.push_back(main);
    }
    std::sort(threads.begin(), threads.end(), [&](uint32_t a, uint32_t b) {
        return std::make_tuple(a != main, first[a], a) < std::make_tuple(b != main, first[b], b);
    });
    for (uint32_t thread : threads)
    {
        m_timeline.threads.push_back({thread, m_timeline.window.start, {}});
    }
}

/** Whether the stream had nothing else to do when the call came: it started as fast as it could. */
bool TimelineBuilder::IsIdleLaunch(uint32_t activity) const
{
    const StepActivity& step = m_timeline.activities[activity];
    const HostCall& call = m_trace.calls[m_links.callOf[step.activity]];
    int64_t ready = m_timeline.busyUntil[Get(activity).stream];
    if (step.previous != KINETO_NONE)
    {
        ready = std::max(ready, Get(step.previous).end);
    }
    for (uint32_t on : step.dependencies)
    {
        ready = std::max(ready, Get(on).end);
    }
    return ready <= call.start && Get(activity).start <= call.end + LONG_GAP;
}

void TimelineBuilder::SetLaunchTimes()
{
    std::vector<int64_t> latencies;
    std::vector<bool> isIdle(m_timeline.activities.size(), false);
    for (uint32_t i = 0; i < m_timeline.activities.size(); ++i)
    {
        StepActivity& step = m_timeline.activities[i];
        const uint32_t call = m_links.callOf[step.activity];
        if (call == KINETO_NONE)
        {
            continue;
        }
        isIdle[i] = IsIdleLaunch(i);
        if (isIdle[i])
        {
            latencies.push_back(std::max<int64_t>(Get(i).start - m_trace.calls[call].start, 0));
        }
    }
    if (!latencies.empty())
    {
        std::nth_element(latencies.begin(),
                         latencies.begin() + static_cast<long>(latencies.size() / 2),
                         latencies.end());
        m_timeline.launchLatency = latencies[latencies.size() / 2];
    }
    for (uint32_t i = 0; i < m_timeline.activities.size(); ++i)
    {
        StepActivity& step = m_timeline.activities[i];
        const uint32_t index = m_links.callOf[step.activity];
        if (index == KINETO_NONE)
        {
            step.launch = std::min(m_timeline.window.start, Get(i).start);
            continue;
        }
        const HostCall& call = m_trace.calls[index];
        const int64_t guess = call.start + m_timeline.launchLatency;
        step.launch = isIdle[i] ? Get(i).start : std::min(guess, Get(i).start);
        // A thread that waits next has launched before.
        const auto& blocking = m_blocking[call.thread];
        const auto next = std::upper_bound(blocking.begin(), blocking.end(), call.start);
        if (next != blocking.end())
        {
            step.launch = std::min(step.launch, *next);
        }
        step.launch = std::max(step.launch, call.start);
        const auto wait = m_dependencies.GetWaits().find(index);
        if (wait != m_dependencies.GetWaits().end() && wait->second.isBeforeLaunch)
        {
            int64_t until = wait->second.outsideUntil;
            for (uint32_t on : wait->second.activities)
            {
                until = std::max(until, Get(on).end);
            }
            step.launch = std::min(std::max(step.launch, until), Get(i).start);
        }
    }
}

std::vector<TimelineBuilder::Event> TimelineBuilder::EventsOf(uint32_t thread) const
{
    std::vector<Event> events;
    const KinetoLaunches& launches = m_dependencies.GetLaunches();
    for (const auto& launch : launches.GetAll())
    {
        if (launches.IsFirst(launch) && m_trace.calls[launch.call].thread == thread)
        {
            events.push_back({m_timeline.activities[launch.activity].launch, launch.call, false});
        }
    }
    for (const auto& [call, wait] : m_dependencies.GetWaits())
    {
        if (m_trace.calls[call].thread != thread)
        {
            continue;
        }
        // A copy waits from its own launch on.
        const auto launched = launches.Find(call);
        const int64_t time = wait.isBeforeLaunch || launched.first == launched.second
                                 ? m_trace.calls[call].start
                                 : m_timeline.activities[launched.first->activity].launch;
        events.push_back({time, call, true});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::make_tuple(a.time, a.call, a.isWait) <
               std::make_tuple(b.time, b.call, b.isWait);
    });
    return events;
}

uint32_t TimelineBuilder::AddPoint(HostThread& thread, int64_t time, uint32_t name)
{
    const auto index = static_cast<uint32_t>(m_timeline.points.size());
    m_timeline.points.push_back({time, name, KINETO_NONE});
    thread.points.push_back(index);
    return index;
}

void TimelineBuilder::AddEvent(HostThread& thread, const Event& event)
{
    const uint32_t point = AddPoint(thread, event.time, m_trace.calls[event.call].name);
    if (event.isWait)
    {
        const HostWait& wait = m_dependencies.GetWaits().at(event.call);
        WaitOf(point).activities = wait.activities;
        WaitOf(point).outsideUntil = wait.outsideUntil;
        return;
    }
    const auto launched = m_dependencies.GetLaunches().Find(event.call);
    for (const auto* launch = launched.first; launch != launched.second; ++launch)
    {
        m_timeline.activities[launch->activity].point = point;
    }
}

/** @return what a point waits for, to be filled */
PointWait& TimelineBuilder::WaitOf(uint32_t point)
{
    uint32_t& wait = m_timeline.points[point].wait;
    if (wait == KINETO_NONE)
    {
        wait = static_cast<uint32_t>(m_timeline.waits.size());
        m_timeline.waits.emplace_back();
    }
    return m_timeline.waits[wait];
}

/** Pauses of the main thread that hold work of an autograd thread; their start is the hand-over. */
std::vector<TimelineBuilder::Pause> TimelineBuilder::PausesOf(
    uint32_t worker,
    const std::vector<Event>& events) const
{
    std::vector<Pause> pauses;
    const KinetoThread& thread = m_trace.threads[m_timeline.threads[worker].thread];
    const auto& main = m_trace.threads[m_timeline.threads[0].thread].boundaries;
    if (!thread.isAutograd)
    {
        return pauses;
    }
    for (const Event& event : events)
    {
        const int64_t time = m_trace.calls[event.call].start;
        const auto after = std::upper_bound(main.begin(), main.end(), time);
        if (after == main.begin() || after == main.end() || *after - *(after - 1) < SHORTEST_PAUSE)
        {
            continue;
        }
        const int64_t start = std::max(*(after - 1), m_timeline.window.start);
        if (pauses.empty() || pauses.back().start != start)
        {
            const auto last =
                std::upper_bound(thread.boundaries.begin(), thread.boundaries.end(), *after);
            pauses.push_back({start, std::max(time, *(last - 1)), worker});
        }
    }
    return pauses;
}

void TimelineBuilder::SetPoints()
{
    // Workers first: the main thread's waits name their points.
    std::map<int64_t, std::vector<uint32_t>> joins; // start of a pause: points that end it
    std::map<int64_t, std::vector<uint32_t>> forks; // start of a pause: points that wait for it
    for (uint32_t w = 1; w < m_timeline.threads.size(); ++w)
    {
        HostThread& worker = m_timeline.threads[w];
        const auto events = EventsOf(worker.thread);
        const auto pauses = PausesOf(w, events);
        m_timeline.unorderedThreads += pauses.empty() ? 1 : 0;
        size_t next = 0;
        auto endPause = [&](const Pause& pause) {
            const int64_t time =
                std::max(pause.lastWork, m_timeline.points[worker.points.back()].time);
            joins[pause.start].push_back(AddPoint(worker, time, KINETO_NONE));
        };
        size_t open = pauses.size(); // the pause that we are in
        for (const Event& event : events)
        {
            // By the call: a launch takes effect a little after it.
            const int64_t called = m_trace.calls[event.call].start;
            if (open < pauses.size() && called > pauses[open].lastWork)
            {
                endPause(pauses[open]);
                open = pauses.size();
            }
            if (next < pauses.size() && called >= pauses[next].start)
            {
                if (open < pauses.size())
                {
                    endPause(pauses[open]);
                }
                open = next++;
                const int64_t before = worker.points.empty()
                                           ? worker.start
                                           : m_timeline.points[worker.points.back()].time;
                forks[pauses[open].start].push_back(AddPoint(worker, before, KINETO_NONE));
            }
            AddEvent(worker, event);
        }
        if (open < pauses.size())
        {
            endPause(pauses[open]);
        }
    }
    HostThread& main = m_timeline.threads[0];
    auto addPausesBefore = [&](int64_t time) {
        while (!forks.empty() && forks.begin()->first <= time)
        {
            const int64_t start = forks.begin()->first;
            const uint32_t point = AddPoint(main, start, KINETO_NONE);
            for (uint32_t waiter : forks.begin()->second)
            {
                WaitOf(waiter).points.push_back(point);
            }
            const uint32_t wait = AddPoint(main, start, KINETO_NONE);
            WaitOf(wait).points = joins[start];
            forks.erase(forks.begin());
        }
    };
    for (const Event& event : EventsOf(main.thread))
    {
        addPausesBefore(m_trace.calls[event.call].start);
        AddEvent(main, event);
    }
    addPausesBefore(std::numeric_limits<int64_t>::max());
}

void TimelineBuilder::SetGap(uint32_t activity)
{
    StepActivity& step = m_timeline.activities[activity];
    int64_t inOrder = m_timeline.busyUntil[Get(activity).stream];
    if (step.previous != KINETO_NONE)
    {
        inOrder = std::max(inOrder, Get(step.previous).end);
    }
    int64_t ready = step.launch;
    for (uint32_t on : step.dependencies)
    {
        ready = std::max(ready, Get(on).end);
    }
    step.isGapAfterDependencies = ready > inOrder;
    step.gap = std::max<int64_t>(Get(activity).start - std::max(ready, inOrder), 0);
}

} // namespace

StepTimeline AnalyseStep(const KinetoTrace& trace,
                         const KinetoLinks& links,
                         const StepWindow& window)
{
    StepTimeline timeline;
    timeline.window = window;
    KinetoDependencies dependencies(trace, links, timeline);
    dependencies.Find();
    TimelineBuilder builder(trace, links, dependencies, timeline);
    builder.SetThreads();
    builder.SetLaunchTimes();
    if (!timeline.threads.empty())
    {
        builder.SetPoints();
    }
    for (uint32_t i = 0; i < timeline.activities.size(); ++i)
    {
        builder.SetGap(i);
        // Where waits are recorded, what is not recorded is no wait.
        if (timeline.activities[i].gap > LONG_GAP && trace.syncs.empty() &&
            dependencies.InferByTime(i))
        {
            builder.SetGap(i);
        }
        if (timeline.activities[i].gap > LONG_GAP)
        {
            ++timeline.longGaps;
            timeline.longGapTime += timeline.activities[i].gap;
        }
    }
    return timeline;
}

} // namespace echo
} // namespace ns3
