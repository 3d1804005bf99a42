// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CLUSTER_H
#define ECHO_CLUSTER_H

#include "echo-topology.h"

#include "ns3/echo-gpu-spec.h"

#include <string>

namespace ns3
{
namespace echo
{

/** A cluster as a file describes it: graph, GPU and the profile of its collectives. */
struct Cluster
{
    std::string name;
    std::string fabric; //!< "single-switch", "leaf-spine", "fat-tree", "rail-optimised", "graph"
    TopologyPtr topology;
    GpuSpec gpu;
    std::string loadBalancing{"ecmp"}; //!< of its fabric, where a scenario names no other
    std::string profile; //!< path of the estimator profile (resolved); empty: derive from the links
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CLUSTER_H */
