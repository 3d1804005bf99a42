// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SHORT_CYCLE_H
#define ECHO_SHORT_CYCLE_H

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Finds a short cycle in a directed graph, for messages.
 *
 * The shortest there is, unless the graph is so large that the search is cut off (after some ten
 * million edge visits); then the shortest found until then. The result depends on the graph only.
 *
 * @param nodes number of nodes
 * @param edges (from, to), in any order
 * @return the nodes of the cycle in order; each has an edge to the next, the last to the first;
 *         empty if there is no cycle
 */
std::vector<uint32_t> FindShortCycle(uint32_t nodes,
                                     std::vector<std::pair<uint32_t, uint32_t>> edges);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SHORT_CYCLE_H */
