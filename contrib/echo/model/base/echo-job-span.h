// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JOB_SPAN_H
#define ECHO_JOB_SPAN_H

#include "echo-ids.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One of several jobs that share a run: consecutive ranks under a name. */
struct JobSpan
{
    std::string name;
    RankId firstRank;  //!< its rank 0
    uint32_t ranks{0}; //!< at least 1

    /** @return the job's own number of one of its ranks */
    uint32_t NumberOf(RankId rank) const
    {
        return rank.Get() - firstRank.Get();
    }
};

/**
 * @param jobs by first rank, that of the first being 0, each begins where the one before ends
 * @return the job of a rank; null if there are no jobs (then all ranks are one)
 */
template <typename Job>
const Job* FindJob(const std::vector<Job>& jobs, RankId rank)
{
    const auto next =
        std::upper_bound(jobs.begin(), jobs.end(), rank, [](RankId value, const Job& job) {
            return value < job.firstRank;
        });
    return next == jobs.begin() ? nullptr : &*(next - 1);
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_JOB_SPAN_H */
