// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_REPORT_H
#define ECHO_TOPOLOGY_REPORT_H

#include "echo-layered-graph.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** A table of texts for a page; cells that are numbers sort as such. */
struct PageTable
{
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows; //!< a cell a column
};

/** What the page of a cluster shows. */
struct TopologyPage
{
    std::string title;                                      //!< the cluster's name
    std::vector<std::pair<std::string, std::string>> facts; //!< name, value: "GPUs", "64"
    LayeredGraph network;
    std::vector<PageTable> tables; //!< placement, path diversity ...
};

/**
 * Writes topology.html: the cluster drawn in layers, facts and tables.
 * @throws InputError if the folder cannot be made or written
 */
void WriteTopologyReport(const std::string& directory, const TopologyPage& page);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_REPORT_H */
