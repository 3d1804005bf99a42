// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOOTPRINT_H
#define ECHO_FOOTPRINT_H

#include "ns3/echo-collective-algorithm.h"
#include "ns3/echo-router.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** One connection of an instance as a message stream of the network. */
struct ConnectionEndpoints
{
    DeviceId source;      //!< GPU (same host) or NIC
    DeviceId destination; //!< GPU (same host) or NIC
    uint64_t label{0};    //!< for Message::label and the router: channel and plane
};

/**
 * How a connection of a plan maps on devices. All models of the network use this one function, so
 * they see the same paths.
 * @throws UnsupportedError if members of different hosts have no NIC
 */
ConnectionEndpoints MapConnection(const CollectivePlan& plan, const Connection& connection);

/** The directed links that one instance loads, with the bytes it puts on each. */
struct Footprint
{
    std::vector<std::pair<PortId, uint64_t>> bytes; //!< sorted by port
    std::vector<std::pair<PortId, double>> demand;  //!< fabric only, sorted by port: sum over its
                                                    //!< connections of min rate on path / link rate
};

Footprint MakeFootprint(const CollectivePlan& plan,
                        const CollectiveAlgorithm& algorithm,
                        const Router& router);

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOOTPRINT_H */
