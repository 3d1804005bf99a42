// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CLOCK_ESTIMATE_H
#define ECHO_CLOCK_ESTIMATE_H

#include "echo-kernel-features.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Finds the clock that a GPU had while kernels were measured alone, from nothing but their times
 * alone: a kernel that memory does not hold up takes times that go as 1 / clock, so like kernels
 * (same name, same counters) that were measured throughout a step tell how its clock went.
 *
 * Median polish (Tukey, Exploratory Data Analysis, 1977) of log time = time of the kind - clock:
 * alternately each kind's median over its kernels, and at each place the median over the nearest
 * kernels of known kind.
 *
 * @param samples in any order, with their places in the step; get the clock over the step's fastest
 *        (95th percentile), in steps of 0.05, at most 1; not a number if no kernel with counters is
 *        there twice
 */
void EstimateClocks(std::vector<OverlapSample>& samples);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CLOCK_ESTIMATE_H */
