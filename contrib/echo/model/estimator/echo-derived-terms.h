// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DERIVED_TERMS_H
#define ECHO_DERIVED_TERMS_H

#include "echo-plan-geometry.h"
#include "echo-white-box-terms.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/** How bytes become time on a wire. */
struct WireFormat
{
    double payloadBytes{4096}; //!< of a full packet between hosts; 0: fluid, no packets
    double headerBytes{82};    //!< of each packet between hosts, all layers and gaps
    double stepOverheadUs{0};  //!< before each step of a rank
};

/**
 * The time that the scheduled back end takes for a plan when nothing else is on the links: the
 * longest chain of messages that wait for each other, by the structure of the algorithm.
 *
 * A message of b bytes over an edge takes d + w(b) / R + s: d all delays, w(b) = b plus a header a
 * packet (between hosts), R the least share of a link's rate on the way (rate over connections of
 * the instance on it), s one packet stored and forwarded at each further link.
 *
 * - Ring: an edge sends K = 2 (n - 1) (all-gather, reduce-scatter: n - 1) messages of b = S / (C
 *   n) one after the other; the k-th waits for the (k-1)-th on the edge before. The longest chain
 *   stays on the busiest link, u a step, or walks along the ring: K u plus the largest sum, over a
 *   stretch of at most K edges, of what a message alone takes longer than u. Channels wait for each
 *   other beside (echo-derived-waits.h).
 * - Chain (broadcast, reduce): the first piece over all edges, alone but for such waits, the others
 *   behind it on the busiest link.
 * - Tree: the first piece up the deepest branch and down to the last, the others behind it on the
 *   busiest link.
 * - All-to-all: the busiest link's bytes, or the rounds in flight, whichever takes longer.
 * - Send/recv: the message. Barrier: rounds of dissemination, or up and down the tree.
 */
CostTerms EvaluateDerived(const CollectivePlan& plan,
                          const PlanGeometry& geometry,
                          const WireFormat& wire);

} // namespace echo
} // namespace ns3

#endif /* ECHO_DERIVED_TERMS_H */
