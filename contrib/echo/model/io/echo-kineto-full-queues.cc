// SPDX-License-Identifier: GPL-2.0-only
// Launches that waited because about 1,000 before them had not started.
#include "echo-kineto-timeline.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

void KinetoDependencies::FindFullQueues()
{
    std::vector<std::pair<int64_t, uint32_t>> ends; // of launched activities, in or behind the step
    std::vector<int64_t> starts;
    starts.reserve(m_trace.activities.size());
    std::vector<uint32_t> launched(m_trace.calls.size(), 0);
    for (uint32_t i = 0; i < m_trace.activities.size(); ++i)
    {
        if (m_links.callOf[i] != KINETO_NONE)
        {
            ++launched[m_links.callOf[i]];
            starts.push_back(m_trace.activities[i].start);
            if (m_trace.activities[i].end > m_timeline.window.start)
            {
                ends.emplace_back(m_trace.activities[i].end, i);
            }
        }
    }
    std::sort(ends.begin(), ends.end());
    uint64_t before = 0;
    for (uint32_t i = 0; i < m_trace.calls.size(); ++i)
    {
        const HostCall& call = m_trace.calls[i];
        const auto started = static_cast<uint64_t>(
            std::upper_bound(starts.begin(), starts.end(), call.start) - starts.begin());
        const bool isFull = launched[i] > 0 && before >= started + QUEUE_LENGTH;
        before += launched[i];
        if (!isFull || call.end - call.start <= LONG_GAP || m_waits.count(i) > 0 ||
            call.start < m_timeline.window.start || call.start >= m_timeline.window.end)
        {
            continue;
        }
        const auto after =
            std::upper_bound(ends.begin(), ends.end(), std::make_pair(call.end, KINETO_NONE));
        if (after == ends.begin() || (after - 1)->first <= call.start)
        {
            continue;
        }
        const uint32_t on = m_stepIndex[(after - 1)->second];
        HostWait& wait = m_waits[i];
        wait.isBeforeLaunch = true;
        if (on != KINETO_NONE)
        {
            wait.activities.push_back(on);
        }
        else
        {
            wait.outsideUntil = (after - 1)->first;
        }
    }
}

} // namespace echo
} // namespace ns3
