// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DISTINCT_COMMUNICATIONS_H
#define ECHO_DISTINCT_COMMUNICATIONS_H

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-router.h"
#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A communication that a workload holds at least once, and how often it holds its like. */
struct DistinctCommunication
{
    CollectiveSpec spec;
    std::vector<std::vector<uint64_t>> splits; //!< all-to-all-v: [source][destination] bytes
    CommGroupPtr group;                        //!< send-recv: sender, receiver
    GroupKind groupKind{GroupKind::OTHER};     //!< of the group that it ran on
    uint64_t count{0};                         //!< instances of its like
};

/**
 * @return the communications of a workload that differ in operation, bytes, splits or placement
 *         signature (members by host, and the links between the hosts that follow one another), in
 *         order of first appearance by rank and operator. Zero-byte ones are left out.
 */
std::vector<DistinctCommunication> FindDistinctCommunications(const WorkloadGraph& workload,
                                                              PlacementPtr placement,
                                                              const Router& router);

} // namespace echo
} // namespace ns3

#endif /* ECHO_DISTINCT_COMMUNICATIONS_H */
