// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HOST_RINGS_H
#define ECHO_HOST_RINGS_H

#include "echo-topology.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** Orders in which the channels of a ring may pass GPUs of a host; numbers are places, from 0. */
struct HostRings
{
    std::vector<std::vector<uint32_t>> places;    //!< by ring: the GPUs in order
    std::vector<std::vector<uint32_t>> positions; //!< by ring and place: where in `places` it is

    bool IsEmpty() const
    {
        return places.empty();
    }
};

/** By place: links from one GPU straight to another, in units of the slowest. */
using LinkUnits = std::vector<std::vector<uint32_t>>;

/**
 * Rings that together use the links of a host as well as they can: as many round trips through all
 * GPUs as fit the links side by side, each in both directions. NCCL searches its channels' rings
 * likewise, by bandwidth (graph/search.cc of NCCL 2.18); on a DGX-1 with V100, whose GPUs have six
 * NVLinks, both find three round trips, so six rings.
 *
 * Where links would stay idle (four GPUs joined all to all have one round trip side by side, which
 * leaves two of six links), further rings follow so that each link carries at most two in a
 * direction (there: six rings, two over each link), if they are more than the first ones.
 *
 * The search is exhaustive for hosts of up to 8 GPUs; in larger ones it goes on, after a fixed
 * number of steps, with whatever fits beside the most found until then. Same links, same rings.
 * @return empty if no round trip over links exists, or there are fewer than 3 GPUs
 */
HostRings FindHostRings(const LinkUnits& units);

/**
 * @return rings that the links carry side by side, a round trip being two of them: those of
 *         FindHostRings before any share links; where there are none, round trips in which GPUs
 *         pass on between two others, at their lower rate. Two GPUs: their links
 */
double CountRings(const LinkUnits& units);

/** @return links among the GPUs, which are of one host; no entry above zero if there are none */
LinkUnits CountLinkUnits(const Topology& topology, const std::vector<DeviceId>& gpus);

} // namespace echo
} // namespace ns3

#endif /* ECHO_HOST_RINGS_H */
