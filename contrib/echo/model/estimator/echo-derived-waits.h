// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DERIVED_WAITS_H
#define ECHO_DERIVED_WAITS_H

#include "echo-derived-terms.h"

#include <cstddef>

namespace ns3
{
namespace echo
{

/**
 * Adds what channels wait for each other while they are in step: at the edges between hosts that
 * the chain passes; of a group inside a host, whose bytes are flows, at all of them.
 *
 * @param around us that all edges of the ring, each alone, take longer than the busiest link
 */
void AddRingWaits(CostTerms& terms,
                  const PlanGeometry& geometry,
                  const WireFormat& wire,
                  const GeometryEdge* edges,
                  size_t count,
                  size_t steps,
                  double piece,
                  double around);

/**
 * Adds what messages of one channel of a ring wait for those of others that they meet on links
 * inside hosts. Short messages walk round the ring, and each meets some; long ones keep the busiest
 * link at work, and who waits elsewhere catches up. So the walk w and the load of shared links
 * count together, (w^p + load^p)^(1/p) with p = 2.5, but at most 0.4 of the walk's latencies above
 * what counts without, times (w / busy)^2 where the busiest link takes longer than the walk: what
 * packets do within a tenth on 2 to 6 hosts of 2 to 8 GPUs.
 *
 * @param steps of the ring
 * @param busyUs what the busiest link takes for a step
 * @param sharedUs what the busiest link inside a host that channels share takes for a step
 */
void AddRingMeetings(CostTerms& terms,
                     const WireFormat& wire,
                     const GeometryEdge* edges,
                     size_t count,
                     size_t steps,
                     double piece,
                     double busyUs,
                     double sharedUs);

/**
 * Adds what the first pieces of a chain's channels wait for each other: between hosts while they
 * are in step, and inside the root's host, which all of them leave (or reach) together.
 *
 * @return us that they wait inside further hosts, where pieces of the channels that came to a GPU
 *         before are on its links: 0.37 of what all together take, by packets on 2 to 8 hosts of 2
 *         to 8 GPUs with 1 to 8 NICs
 */
double AddChainWaits(CostTerms& terms,
                     const CollectivePlan& plan,
                     const WireFormat& wire,
                     const GeometryEdge* edges,
                     size_t count,
                     double piece);

} // namespace echo
} // namespace ns3

#endif /* ECHO_DERIVED_WAITS_H */
