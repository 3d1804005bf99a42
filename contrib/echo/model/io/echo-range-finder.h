// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANGE_FINDER_H
#define ECHO_RANGE_FINDER_H

#include "echo-kineto-trace.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** Finds the communication ranges of a CPU thread around a time. */
class RangeFinder
{
  public:
    /** @param annotations "nccl:" ranges, else record_param_comms */
    RangeFinder(const KinetoTrace& trace, bool annotations);

    /** @return the latest-starting range of the thread that holds the time, or KINETO_NONE */
    uint32_t Find(uint32_t thread, int64_t time) const;
    /** @return the first range of the thread that starts in [from, to], or KINETO_NONE */
    uint32_t FindFirstIn(uint32_t thread, int64_t from, int64_t to) const;
    /** @return indices in KinetoTrace::ranges, by start */
    const std::vector<uint32_t>& GetRanges(uint32_t thread) const
    {
        return m_ranges[thread];
    }

  private:
    const KinetoTrace& m_trace;                  //!< that it looks in
    std::vector<std::vector<uint32_t>> m_ranges; //!< by thread, by start
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANGE_FINDER_H */
