// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_READER_H
#define ECHO_SCENARIO_READER_H

#include "echo-scenario.h"
#include "echo-yaml.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a command line changes in a scenario before it is read. */
struct ScenarioOverrides
{
    std::string fidelity;          //!< empty: as the file says
    std::optional<uint64_t> seed;  //!< none: as the file says
    uint32_t hosts{0};             //!< 0: as the file says
    std::vector<std::string> sets; //!< "path.to.key=value"
};

/**
 * Reads a scenario, its cluster and its workload (doc/formats/scenario.md).
 * @throws InputError with file, line, key, what was found and what was expected; an unknown key is
 *         an error
 */
Scenario ReadScenario(const std::string& path, const ScenarioOverrides& overrides);

/** The same from a node that is loaded already. */
Scenario ReadScenario(YamlNode root, const ScenarioOverrides& overrides);

/** @return a packet's payload written as ParseBytes. @throws InputError outside 64 B to 64 KiB */
uint64_t ParseMtu(const std::string& text);

/**
 * @return the TypeId name of a congestion control as users write it (dcqcn, hpcc, ...).
 * @throws InputError listing the known names
 */
std::string ParseCongestionControl(const std::string& text);

/** @return whether a congestion control, as ParseCongestionControl() takes it, is any: not none */
bool KnowsCongestionControl(const std::string& policy);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_READER_H */
