// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CLUSTER_DESCRIPTION_H
#define ECHO_CLUSTER_DESCRIPTION_H

#include "ns3/echo-cluster.h"
#include "ns3/echo-topology-figures.h"
#include "ns3/echo-topology-report.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return a line for each kind of link: "8 gpu - nvswitch: 2.4 Tb/s (300 GB/s), 300 ns" */
std::vector<std::string> DescribeLinks(const Topology& topology);

/** @return facts and tables of a cluster, without the drawing */
TopologyPage MakeTopologyPage(const Cluster& cluster, const TopologyFigures& figures);

/** @return what a terminal shows of a cluster */
std::string DescribeCluster(const Cluster& cluster, const TopologyFigures& figures);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CLUSTER_DESCRIPTION_H */
