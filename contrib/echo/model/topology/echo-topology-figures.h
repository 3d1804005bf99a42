// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_FIGURES_H
#define ECHO_TOPOLOGY_FIGURES_H

#include "echo-router.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** Switches of one role and how much narrower the way up is than the way down. */
struct TierFigures
{
    DeviceRole role{DeviceRole::LEAF};
    uint32_t switches{0};
    double downBitsPerSecond{0}; //!< of links to lower tiers, all switches
    double upBitsPerSecond{0};   //!< of links to the same and higher tiers, all switches
    /** Largest down / up of a switch that has both; 0 if none has. Above 1: oversubscribed. */
    double oversubscription{0};
};

/** What the shape of a cluster's fabric allows, whatever runs on it. */
struct TopologyFigures
{
    /**
     * Pairs of NICs of equal number in different hosts, ordered; the next four are over these. All
     * are zero in a cluster of one host.
     */
    uint64_t nicPairs{0};
    uint64_t minPaths{0};  //!< fewest distinct shortest ways between a pair
    double meanPaths{0};   //!< mean number of them
    uint32_t minLinks{0};  //!< links of the shortest way between the nearest pair
    uint32_t diameter{0};  //!< links of the shortest way between the farthest pair
    uint64_t unreached{0}; //!< pairs without a way

    uint32_t halfHosts{0}; //!< hosts of each half: hosts / 2, rounded down
    /**
     * Bisection: the most that the first half of the hosts can send to the last half at once, over
     * any ways (maximum flow; NICs do not forward). The halves are by host number, not the worst of
     * all halves, which is hard to find; for the regular fabrics they are the worst.
     */
    double bisectionBitsPerSecond{0};
    double halfNicBitsPerSecond{0}; //!< rate of the fabric links of the first half's NICs
    std::vector<TierFigures> tiers; //!< leaf, spine, core as far as there are any
};

/** @param router prepared with the topology to look at */
TopologyFigures MeasureTopology(const Router& router);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_FIGURES_H */
