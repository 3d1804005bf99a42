// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_DRAWING_H
#define ECHO_TOPOLOGY_DRAWING_H

#include "ns3/echo-cluster.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * A picture of a cluster as SVG: its fabric in layers, with hosts as boxes, and below the inside of
 * a host (all are alike).
 */
std::string DrawTopology(const Cluster& cluster);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_DRAWING_H */
