// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_POLICY_H
#define ECHO_POLICY_H

#include "ns3/type-id.h"

#include <optional>
#include <string>

namespace ns3
{
namespace echo
{

/** @return a class or attribute name as words: "LeafSpine" -> "leaf<separator>spine" */
std::string SeparateWords(const std::string& camel, char separator);

/**
 * Finds a policy by the name that users write: with the parent ns3::echo::TopologyBuilder and the
 * suffix "Builder", "leaf-spine" is ns3::echo::LeafSpineBuilder; a full TypeId name is taken too.
 * @param parent what the type must derive from
 * @param suffix what ends the class names of the kind; may be empty
 * @return nothing if there is no such policy
 */
std::optional<TypeId> LookupPolicy(const std::string& name,
                                   TypeId parent,
                                   const std::string& suffix);

/** @return "one of a, b, c": the names of all policies of a kind */
std::string ListPolicies(TypeId parent, const std::string& suffix);

} // namespace echo
} // namespace ns3

#endif /* ECHO_POLICY_H */
