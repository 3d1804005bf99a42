// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_REPORT_H
#define ECHO_TOPOLOGY_REPORT_H

#include "ns3/echo-cluster.h"
#include "ns3/echo-topology-figures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What `./echo topology` does: read, print, write the folder. */
struct TopologyCommand
{
    std::string file;  //!< the cluster
    std::string out;   //!< folder for topology.json and topology.svg; empty: write nothing
    uint32_t hosts{0}; //!< instead of the file's number; 0: as the file says

    /** @return exit code 0. @throws InputError */
    int Run() const;
};

/** @return a line for each kind of link: "8 gpu - nvswitch: 2.4 Tb/s (300 GB/s), 300 ns" */
std::vector<std::string> DescribeLinks(const Topology& topology);

/** @return what a terminal shows of a cluster */
std::string DescribeCluster(const Cluster& cluster, const TopologyFigures& figures);

/** Writes topology.json and topology.svg. @throws InputError if the folder cannot be written */
void WriteTopology(const Cluster& cluster,
                   const TopologyFigures& figures,
                   const std::string& directory);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_REPORT_H */
