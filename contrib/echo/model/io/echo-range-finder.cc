// SPDX-License-Identifier: GPL-2.0-only
#include "echo-range-finder.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

RangeFinder::RangeFinder(const KinetoTrace& trace, bool annotations)
    : m_trace(trace), m_ranges(trace.threads.size())
{
    for (uint32_t i = 0; i < trace.ranges.size(); ++i)
    {
        if (trace.ranges[i].isAnnotation == annotations)
        {
            m_ranges[trace.ranges[i].thread].push_back(i);
        }
    }
}

uint32_t RangeFinder::Find(uint32_t thread, int64_t time) const
{
    const auto& ranges = m_ranges[thread];
    auto after =
        std::upper_bound(ranges.begin(), ranges.end(), time, [this](int64_t t, uint32_t i) {
            return t < m_trace.ranges[i].start;
        });
    // Ranges of one kind nest a few levels at most (a coalesced operation around its parts).
    for (int level = 0; level < 8 && after != ranges.begin(); ++level)
    {
        --after;
        if (m_trace.ranges[*after].end >= time)
        {
            return *after;
        }
    }
    return KINETO_NONE;
}

uint32_t RangeFinder::FindFirstIn(uint32_t thread, int64_t from, int64_t to) const
{
    const auto& ranges = m_ranges[thread];
    const auto first =
        std::lower_bound(ranges.begin(), ranges.end(), from, [this](uint32_t i, int64_t t) {
            return m_trace.ranges[i].start < t;
        });
    return first != ranges.end() && m_trace.ranges[*first].start <= to ? *first : KINETO_NONE;
}

} // namespace echo
} // namespace ns3
