// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_SETTINGS_READER_H
#define ECHO_SCENARIO_SETTINGS_READER_H

#include "echo-scenario.h"
#include "echo-yaml.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return what @p parse makes of a key's text; @p fallback without the key */
template <typename Value>
Value ParseKey(const YamlNode& node,
               const std::string& key,
               Value fallback,
               Value (*parse)(const std::string&))
{
    return node.Has(key) ? node.Get(key).Parse<Value>(parse) : fallback;
}

/** @return the text of a key that must be one of a few words */
std::string OneOf(const YamlNode& node,
                  const std::string& key,
                  const std::string& fallback,
                  const std::vector<std::string>& words);

// Blocks of a scenario (doc/formats/scenario.md); all throw InputError at the key that is wrong.
CollectiveSettings ReadCollective(const YamlNode& node);
NetworkSettings ReadNetwork(const YamlNode& node);
HybridSettings ReadHybrid(const YamlNode& node);
OutputSettings ReadOutput(const YamlNode& node);
/** A number is the constant factor; else "none" or a map. */
SlowdownSettings ReadSlowdown(const YamlNode& node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_SETTINGS_READER_H */
