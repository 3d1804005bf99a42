// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CLUSTER_READER_H
#define ECHO_CLUSTER_READER_H

#include "echo-yaml.h"

#include "ns3/echo-cluster.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/**
 * Reads a cluster (doc/formats/cluster.md), in a file of its own or as a map inside a scenario.
 *
 * @param node the map
 * @param hostsOverride hosts instead of the file's number; 0: as the file says
 * @throws InputError for anything that makes no cluster: with file, line, key, what was found and
 *         what was expected
 */
Cluster ReadCluster(const YamlNode& node, uint32_t hostsOverride = 0);

/**
 * Reads a cluster file, or a topology file of SimAI, HPCC or ASTRA-sim (told apart by what they
 * hold).
 * @throws InputError as ReadCluster, and if `echo_cluster` is missing
 */
Cluster ReadClusterFile(const std::string& path, uint32_t hostsOverride = 0);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CLUSTER_READER_H */
