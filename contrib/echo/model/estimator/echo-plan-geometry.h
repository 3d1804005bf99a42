// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PLAN_GEOMETRY_H
#define ECHO_PLAN_GEOMETRY_H

#include "ns3/data-rate.h"
#include "ns3/echo-collective-algorithm.h"
#include "ns3/echo-router.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** Pairs of ranks up to which every message of an all-to-all is walked. */
constexpr uint64_t MOST_WALKED_PAIRS = 65536;

/** @return bytes/us */
inline double BytesPerMicrosecond(DataRate rate)
{
    return static_cast<double>(rate.GetBitRate()) / 8e6;
}

/** One connection's way through the links, with what it shares with others of its instance. */
struct GeometryEdge
{
    uint32_t source{0};      //!< member
    uint32_t destination{0}; //!< member
    uint32_t channel{0};
    uint32_t plane{0};
    bool interHost{false};
    double delayUs{0};      //!< propagation, all links
    double rate{1};         //!< least share on the path: link rate over connections, bytes/us
    double aloneRate{1};    //!< slowest link on the path, bytes/us
    double firstRate{1};    //!< tree: share while the first pieces are on their way, bytes/us
    double treeRate{1};     //!< tree: share beside the other tree of the channel alone, bytes/us
    double hopUsPerByte{0}; //!< sum of 1 / rate over links but the slowest: storing and forwarding
};

/** One direction of a link that a tree keeps busy. */
struct GeometryLink
{
    bool interHost{false};
    double loadUsPerByte{0};     //!< connections on it over its rate
    std::vector<uint32_t> edges; //!< of PlanGeometry::edges, those that cross it
};

/** What the links see of a group, an algorithm and a number of channels, at any size. */
struct PlanGeometry
{
    /// In the order of CollectiveAlgorithm::GetConnections, but channels of a ring that look like
    /// another are left out; all-to-all: see below.
    std::vector<GeometryEdge> edges;
    /**
     * All-to-all and tree: the largest number over links of connections times nominal part over
     * rate: what a byte on every connection takes on the busiest link, us; between and inside
     * hosts. All-to-all of many ranks counts only links of GPUs and NICs, not of the fabric.
     */
    double interLoadUsPerByte{0};
    double intraLoadUsPerByte{0};
    double intraSharedUsPerByte{0}; //!< the same of links inside hosts that connections share
    double nicLoadUsPerByte{0};     //!< interLoadUsPerByte of the links at NICs alone
    /// All-to-all: the same summed over windows of as many rounds as are in flight.
    double interWindowUsPerByte{0};
    double longestInterUs{0};            //!< all-to-all: delay of the longest way
    double longestIntraUs{0};            //!< all-to-all: delay of the longest way
    double interHopUsPerByte{0};         //!< all-to-all: of the longest way
    std::vector<GeometryLink> busyLinks; //!< tree: at least half as busy as the busiest
    bool fabricCounted{true};
    bool mixed{false}; //!< some edges are between hosts and some inside
};

/**
 * @param plan a plan whose connections all have bytes
 * @throws UnsupportedError if a connection has no path or no NIC
 */
PlanGeometry MakePlanGeometry(const CollectivePlan& plan,
                              const CollectiveAlgorithm& algorithm,
                              const Router& router);

/** @return true for links that end at a NIC */
bool IsNicLink(const Topology& topology, const Link& link);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PLAN_GEOMETRY_H */
