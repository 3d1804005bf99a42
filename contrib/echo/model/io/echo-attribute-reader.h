// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ATTRIBUTE_READER_H
#define ECHO_ATTRIBUTE_READER_H

#include "echo-yaml.h"

#include "ns3/object-base.h"
#include "ns3/type-id.h"

#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return the YAML key of an attribute: "HostsPerLeaf" -> "hosts_per_leaf" */
std::string KeyOfAttribute(const std::string& attribute);

/** Where attributes were set, by attribute name. */
using AttributePlaces = std::map<std::string, SourceLocation>;

/**
 * Sets attributes of an object, of its own type and of its parents below ns3::Object, from the keys
 * of a map. Numbers, rates, times, texts and booleans are understood.
 *
 * A 0 where 0 is the default is refused: there it stands for "not given".
 *
 * @param object what to set
 * @param map keys; those that are no attribute are left for the caller
 * @param except attributes that the map must not set
 * @return the places of the attributes that were set
 * @throws InputError for a value that the attribute cannot take
 */
AttributePlaces SetAttributesFrom(ObjectBase& object,
                                  const YamlNode& map,
                                  const std::vector<std::string>& except = {});

/**
 * Sets the default of an ns-3 attribute, as Config::SetDefault.
 * @param name "ns3::echo::FatTreeBuilder::K"
 * @param node a scalar, in Echo's units where it is a time or a rate
 * @param ofScenario RestoreAttributeDefaults undoes it
 * @throws InputError if there is no such attribute or it does not take the value
 */
void SetAttributeDefault(const std::string& name, const YamlNode& node, bool ofScenario);

/**
 * A scenario's key sets such an attribute in any case, so the default would go unheard.
 * @param file the scenario's
 * @throws InputError if the program set a default (Config::SetDefault) of what a key sets
 */
void RefuseDefaultsThatKeysSet(const std::string& file);

/** Undoes what SetAttributeDefault did for a scenario; what others set as defaults stays. */
void RestoreAttributeDefaults();

/**
 * Finds a policy by the name that users write.
 * @param name a scalar: a policy as LookupPolicy takes it
 * @throws InputError listing the known names
 */
TypeId FindPolicy(const YamlNode& name, TypeId parent, const std::string& suffix);

} // namespace echo
} // namespace ns3

#endif /* ECHO_ATTRIBUTE_READER_H */
