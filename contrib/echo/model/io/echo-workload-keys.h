// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WORKLOAD_KEYS_H
#define ECHO_WORKLOAD_KEYS_H

#include "echo-yaml.h"

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

// What both forms of native workloads ("collectives" and "programs") write alike. All functions
// throw InputError naming file, line and key.

/**
 * Reads ranks: "all", one of 3, "0-7" or "0-14/2" (every second), or a list of these.
 * @return in the order written, each once
 */
std::vector<RankId> ReadRanks(const YamlNode& node, uint32_t ranks);

/**
 * Reads groups that have no rank in common: a list of lists of ranks, or {size: 8, stride: 2},
 * which divides all ranks into groups of that many ranks, so far apart.
 */
std::vector<std::vector<RankId>> ReadRankGroups(const YamlNode& node, uint32_t ranks);

/** @return whether a group key holds several groups (see ReadRankGroups), not one (ReadRanks) */
bool HoldsRankGroups(const YamlNode& node);

/**
 * Reads bytes (unless the kind has none, or splits), root, type, algorithm, protocol and channels
 * of a collective. Kinds of messages are not refused.
 */
CollectiveSpec ReadCollectiveSpec(const YamlNode& node, CollectiveKind kind);

/** @return what an operation can be carried out by, for messages: "auto, ring or tree" */
std::string AlgorithmsOf(CollectiveKind kind);

/** @return the kind that a group's name says ("tp", "dp3"), else OTHER */
GroupKind GuessGroupKind(const std::string& name);

/** Reads a list of byte sizes. */
std::vector<uint64_t> ReadByteList(const YamlNode& node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_KEYS_H */
