// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CONNECTION_MAP_H
#define ECHO_CONNECTION_MAP_H

#include "echo-collective-algorithm.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/** One connection of an instance as a message stream of the network. */
struct ConnectionEndpoints
{
    DeviceId source;      //!< GPU (same host) or NIC
    DeviceId destination; //!< GPU (same host) or NIC
    uint64_t label{0};    //!< for Message::label and the router
    bool interHost{false};
};

/**
 * How a connection of a plan maps on devices. All models of the network use this one function, so
 * they see the same paths.
 *
 * The label names group, channel, plane and the GPU numbers of both ends, as NCCL has a queue pair
 * for each: two collectives in a row on one group use the same queue pairs, two groups that share
 * NICs do not. It holds no member index, so a relabelling of equal ranks changes nothing.
 *
 * @throws UnsupportedError if members of different hosts have no NIC
 */
ConnectionEndpoints MapConnection(const CollectivePlan& plan, const Connection& connection);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CONNECTION_MAP_H */
