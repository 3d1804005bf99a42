// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FABRIC_SETTINGS_READER_H
#define ECHO_FABRIC_SETTINGS_READER_H

#include "echo-scenario.h"
#include "echo-yaml.h"

#include "ns3/echo-size-distribution.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return the name of a load balancing as it is. @throws InputError if it names no policy */
std::string ParseLoadBalancing(const std::string& text);

/** Reads `load_balancing`, `reroute_delay` and `classes` of a scenario's `network`. */
void ReadFabricSettings(const YamlNode& network, NetworkSettings& settings);

/** Reads a scenario's `failures`. @throws InputError naming a device or link that is not there */
std::vector<LinkEvent> ReadFailures(const YamlNode& node, const Topology& topology);

/** Reads a scenario's `background`. @param classes how many traffic classes there are */
std::vector<TrafficSpec> ReadBackground(const YamlNode& node,
                                        const Topology& topology,
                                        size_t classes);

/**
 * Reads a file of lines "bytes percent": flow sizes and the chance of a flow up to that size; #
 * begins a comment.
 * @throws InputError naming the line
 */
SizeDistribution ReadSizeDistribution(const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_FABRIC_SETTINGS_READER_H */
