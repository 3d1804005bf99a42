// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-timeline.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Recorded starts and ends are rounded to a microsecond in many files. */
const int64_t ROUNDING = 1000;

} // namespace

KinetoDependencies::KinetoDependencies(const KinetoTrace& trace,
                                       const KinetoLinks& links,
                                       StepTimeline& timeline)
    : m_trace(trace),
      m_links(links),
      m_timeline(timeline),
      m_records(trace, false),
      m_annotations(trace, true),
      m_stepIndex(trace.activities.size(), KINETO_NONE),
      m_streams(trace.streams.size()),
      m_last(trace.streams.size(), KINETO_NONE),
      m_pending(trace.streams.size()),
      m_threadStreams(trace.threads.size()),
      m_lastStream(trace.threads.size(), KINETO_NONE)
{
}

const GpuActivity& KinetoDependencies::Get(uint32_t activity) const
{
    return m_trace.activities[m_timeline.activities[activity].activity];
}

bool KinetoDependencies::IsCommunication(uint32_t activity) const
{
    return Get(activity).kind == GpuActivity::Kind::COMMUNICATION;
}

void KinetoDependencies::SelectActivities()
{
    const StepWindow& window = m_timeline.window;
    const bool hasLaunches = std::any_of(m_links.callOf.begin(),
                                         m_links.callOf.end(),
                                         [](uint32_t call) { return call != KINETO_NONE; });
    m_timeline.busyUntil.assign(m_trace.streams.size(), 0);
    std::vector<bool> isStarted(m_trace.streams.size(), false); // by stream: work of the step has
    for (uint32_t i = 0; i < m_trace.activities.size(); ++i)
    {
        const GpuActivity& activity = m_trace.activities[i];
        const uint32_t call = m_links.callOf[i];
        // Without a recorded launch: what a file of the device only holds goes by its own times;
        // else it was launched before the step, unless its stream runs it behind work of the step.
        const bool isBefore = hasLaunches && !isStarted[activity.stream];
        const int64_t time = call != KINETO_NONE ? m_trace.calls[call].start
                             : isBefore          ? window.start - 1
                                                 : activity.start;
        isStarted[activity.stream] =
            isStarted[activity.stream] || (time >= window.start && time < window.end);
        if (time < window.start || time >= window.end)
        {
            if (time < window.start && activity.end > window.start)
            {
                int64_t& busy = m_timeline.busyUntil[activity.stream];
                busy = std::max(busy, activity.end);
                m_earlierEnds.push_back(activity.end);
                ++m_timeline.launchedBefore;
            }
            continue;
        }
        m_stepIndex[i] = static_cast<uint32_t>(m_timeline.activities.size());
        StepActivity step;
        step.activity = i;
        m_timeline.activities.push_back(step);
        m_timeline.unlaunched += call == KINETO_NONE && hasLaunches ? 1 : 0;
        if (call != KINETO_NONE)
        {
            m_launches.Add(call, m_stepIndex[i]);
        }
    }
    m_launches.Sort();
    std::sort(m_earlierEnds.begin(), m_earlierEnds.end());
}

void KinetoDependencies::SetStreams()
{
    for (uint32_t i = 0; i < m_timeline.activities.size(); ++i)
    {
        auto& stream = m_streams[Get(i).stream];
        m_timeline.activities[i].previous = stream.empty() ? KINETO_NONE : stream.back();
        stream.push_back(i);
    }
    for (const auto& launch : m_launches.GetAll())
    {
        if (m_launches.IsFirst(launch) && !IsCommunication(launch.activity))
        {
            const HostCall& call = m_trace.calls[launch.call];
            m_threadStreams[call.thread].emplace_back(call.start, Get(launch.activity).stream);
        }
    }
    for (auto& streams : m_threadStreams)
    {
        std::sort(streams.begin(), streams.end());
    }
}

/** PyTorch's current stream of a thread, by its launches: the next or the last one. */
uint32_t KinetoDependencies::CurrentStream(uint32_t thread, int64_t time, bool next) const
{
    const auto& streams = m_threadStreams[thread];
    const auto after =
        std::upper_bound(streams.begin(), streams.end(), std::make_pair(time, KINETO_NONE));
    if (streams.empty())
    {
        return KINETO_NONE;
    }
    if (next)
    {
        return after != streams.end() ? after->second : streams.back().second;
    }
    return after != streams.begin() ? (after - 1)->second : streams.front().second;
}

void KinetoDependencies::Depend(uint32_t activity, uint32_t on)
{
    if (Get(on).stream == Get(activity).stream)
    {
        return;
    }
    if (Get(on).end > Get(activity).start + ROUNDING)
    {
        ++m_timeline.droppedDependencies;
        return;
    }
    auto& dependencies = m_timeline.activities[activity].dependencies;
    if (std::find(dependencies.begin(), dependencies.end(), on) == dependencies.end())
    {
        dependencies.push_back(on);
    }
}

void KinetoDependencies::VisitLaunch(KinetoLaunches::Range launched)
{
    const uint32_t call = launched.first->call;
    const uint32_t thread = m_trace.calls[call].thread;
    for (const auto* launch = launched.first; launch != launched.second; ++launch)
    {
        const uint32_t activity = launch->activity;
        const uint32_t stream = Get(activity).stream;
        for (uint32_t on : m_pending[stream])
        {
            Depend(activity, on);
        }
        m_pending[stream].clear();
        if (IsCommunication(activity))
        {
            const uint32_t current = CurrentStream(thread, m_trace.calls[call].start, false);
            if (current != KINETO_NONE && current != stream)
            {
                for (uint32_t on : m_pending[current])
                {
                    Depend(activity, on);
                }
                if (m_last[current] != KINETO_NONE)
                {
                    Depend(activity, m_last[current]);
                }
            }
        }
        m_last[stream] = activity;
        m_lastStream[thread] = stream;
    }
}

void KinetoDependencies::VisitStreamWait(uint32_t call)
{
    const HostCall& wait = m_trace.calls[call];
    if (!m_trace.syncs.empty())
    {
        const auto sync = m_trace.syncs.find(wait.correlation);
        if (sync == m_trace.syncs.end() || sync->second.stream == KINETO_NONE ||
            sync->second.waitOnStream == KINETO_NONE)
        {
            return; // CUPTI leaves out waits for streams that ran nothing
        }
        const auto recorded = m_recorded.find(sync->second.recordCorrelation);
        const Snapshot& last = recorded == m_recorded.end() ? m_last : recorded->second;
        const uint32_t on = last[sync->second.waitOnStream];
        if (on != KINETO_NONE)
        {
            m_pending[sync->second.stream].push_back(on);
        }
        return;
    }
    const uint32_t range = m_records.Find(wait.thread, wait.start);
    if ((range != KINETO_NONE && m_links.isIssue[range]) ||
        m_annotations.Find(wait.thread, wait.start) != KINETO_NONE)
    {
        return; // part of issuing a communication: VisitLaunch knows it
    }
    const uint32_t stream = CurrentStream(wait.thread, wait.start, true);
    if (stream == KINETO_NONE)
    {
        return;
    }
    const auto target =
        range == KINETO_NONE ? m_links.waitTargets.end() : m_links.waitTargets.find(range);
    if (target != m_links.waitTargets.end())
    {
        // A communication of an earlier step is no dependency.
        if (target->second != KINETO_NONE && m_stepIndex[target->second] != KINETO_NONE)
        {
            m_pending[stream].push_back(m_stepIndex[target->second]);
        }
        return;
    }
    for (uint32_t other = 0; other < m_last.size(); ++other)
    {
        const bool isWait = range != KINETO_NONE; // of a communication
        if (other != stream && m_last[other] != KINETO_NONE &&
            (!isWait || IsCommunication(m_last[other])))
        {
            m_pending[stream].push_back(m_last[other]);
        }
    }
}

/** Waits for the last activity of each stream that was done when the call returned. */
void KinetoDependencies::WaitForStreams(uint32_t call, bool needsOverlap)
{
    const HostCall& sync = m_trace.calls[call];
    for (uint32_t on : m_last)
    {
        if (on != KINETO_NONE && Get(on).end <= sync.end + ROUNDING &&
            (!needsOverlap || Get(on).end > sync.start))
        {
            m_waits[call].activities.push_back(on);
        }
    }
}

void KinetoDependencies::VisitSync(uint32_t call)
{
    const HostCall& sync = m_trace.calls[call];
    const auto exact = m_trace.syncs.find(sync.correlation);
    auto waitFor = [this, call, &sync](uint32_t on) {
        if (on != KINETO_NONE && Get(on).end <= sync.end + ROUNDING)
        {
            m_waits[call].activities.push_back(on);
            return true;
        }
        return false;
    };
    switch (sync.kind)
    {
    case HostCall::Kind::STREAM_SYNC:
    {
        if (exact != m_trace.syncs.end() && exact->second.stream != KINETO_NONE)
        {
            waitFor(m_last[exact->second.stream]);
            return;
        }
        // Usually of the stream that the thread just launched on.
        const uint32_t stream = m_lastStream[sync.thread];
        if (stream == KINETO_NONE || !waitFor(m_last[stream]))
        {
            WaitForStreams(call, true);
        }
        return;
    }
    case HostCall::Kind::EVENT_SYNC:
    {
        if (exact != m_trace.syncs.end() && exact->second.waitOnStream != KINETO_NONE)
        {
            const auto recorded = m_recorded.find(exact->second.recordCorrelation);
            const Snapshot& last = recorded == m_recorded.end() ? m_last : recorded->second;
            waitFor(last[exact->second.waitOnStream]);
            return;
        }
        WaitForStreams(call, true);
        return;
    }
    case HostCall::Kind::FREE:
        WaitForStreams(call, true);
        return;
    case HostCall::Kind::DEVICE_SYNC:
        WaitForStreams(call, false);
        return;
    default:
    {
        // A copy that its call outlives: from or to pageable memory, or a synchronous one.
        const auto launched = m_launches.Find(call);
        for (const auto* launch = launched.first; launch != launched.second; ++launch)
        {
            if (sync.kind == HostCall::Kind::COPY && Get(launch->activity).end <= sync.end)
            {
                m_waits[call].activities.push_back(launch->activity);
            }
        }
    }
    }
}

/** A synchronising call that waited for nothing of the step may have waited for earlier work. */
void KinetoDependencies::WaitForEarlierSteps(uint32_t call)
{
    const HostCall& sync = m_trace.calls[call];
    if (m_waits.count(call) > 0)
    {
        return;
    }
    const auto after = std::upper_bound(m_earlierEnds.begin(), m_earlierEnds.end(), sync.end);
    if (after != m_earlierEnds.begin() && *(after - 1) > sync.start)
    {
        m_waits[call].outsideUntil = *(after - 1);
    }
}

void KinetoDependencies::Find()
{
    SelectActivities();
    SetStreams();
    for (uint32_t i = 0; i < m_trace.calls.size(); ++i)
    {
        const HostCall& call = m_trace.calls[i];
        if (call.start < m_timeline.window.start || call.start >= m_timeline.window.end)
        {
            continue;
        }
        const KinetoLaunches::Range launched = m_launches.Find(i);
        if (launched.first != launched.second)
        {
            VisitLaunch(launched);
        }
        if (call.kind == HostCall::Kind::RECORD)
        {
            if (!m_trace.syncs.empty())
            {
                m_recorded[call.correlation] = m_last;
            }
        }
        else if (call.kind == HostCall::Kind::STREAM_WAIT)
        {
            VisitStreamWait(i);
        }
        else if (call.kind != HostCall::Kind::OTHER)
        {
            VisitSync(i);
            WaitForEarlierSteps(i);
        }
    }
    FindFullQueues();
}

bool KinetoDependencies::InferByTime(uint32_t activity)
{
    const int64_t start = Get(activity).start;
    const uint32_t call = m_links.callOf[m_timeline.activities[activity].activity];
    uint32_t best = KINETO_NONE;
    for (uint32_t stream = 0; stream < m_streams.size(); ++stream)
    {
        if (stream == Get(activity).stream)
        {
            continue;
        }
        const auto& others = m_streams[stream];
        auto after =
            std::upper_bound(others.begin(), others.end(), start, [this](int64_t t, uint32_t i) {
                return t < Get(i).end;
            });
        if (after == others.begin())
        {
            continue;
        }
        const uint32_t other = *(after - 1);
        const uint32_t otherCall = m_links.callOf[m_timeline.activities[other].activity];
        const bool isEarlier = call == KINETO_NONE || otherCall == KINETO_NONE || otherCall < call;
        if (isEarlier && Get(other).end >= start - LONG_GAP &&
            (best == KINETO_NONE || Get(other).end > Get(best).end))
        {
            best = other;
        }
    }
    auto& dependencies = m_timeline.activities[activity].dependencies;
    if (best == KINETO_NONE ||
        std::find(dependencies.begin(), dependencies.end(), best) != dependencies.end())
    {
        return false;
    }
    dependencies.push_back(best);
    ++m_timeline.inferredByTime;
    return true;
}

} // namespace echo
} // namespace ns3
