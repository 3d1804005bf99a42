// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_YAML_CHECK_H
#define ECHO_YAML_CHECK_H

#include <cstddef>
#include <cstdint>
#include <string>

#include <yaml-cpp/yaml.h>

namespace ns3
{
namespace echo
{

/** @return what a node is, for messages: "a map", "'text'" */
std::string KindOf(const YAML::Node& node);

/** @return the line on which a node starts; 0 if it is not of a file */
uint32_t LineOf(const YAML::Node& node);

/**
 * Goes through a file's nodes once, as readers do, before any reader does.
 * @param written nodes that the file can hold without aliases
 * @throws InputError for equal keys, of which yaml-cpp keeps the last in silence, for keys that are
 *         no words, and for aliases that make a tree of boundless depth or size
 */
void CheckYamlNodes(const YAML::Node& root, const std::string& file, size_t written);

} // namespace echo
} // namespace ns3

#endif /* ECHO_YAML_CHECK_H */
