// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_COMMAND_H
#define ECHO_TOPOLOGY_COMMAND_H

#include "ns3/echo-cluster.h"
#include "ns3/echo-topology-figures.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** What `./echo topology` does: read, print, write the folder. */
struct TopologyCommand
{
    std::string file;         //!< the cluster
    std::string from{"auto"}; //!< format of the file: "auto" or as ParseTopologyFormat
    std::string out;          //!< folder for the files of WriteTopology; empty: write nothing
    uint32_t hosts{0};        //!< instead of the file's number; 0: as the file says

    /** @return exit code 0. @throws InputError */
    int Run() const;
};

/** Writes topology.json, topology.svg and topology.html. @throws InputError if the folder cannot be
 * written */
void WriteTopology(const Cluster& cluster,
                   const TopologyFigures& figures,
                   const std::string& directory);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_COMMAND_H */
