// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IGNORED_SETTINGS_H
#define ECHO_IGNORED_SETTINGS_H

#include "ns3/echo-scenario.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Finds settings of packets that the scenario's fidelity takes no heed of, keys and attributes of
 * ns-3 that differ from their defaults.
 * @return a sentence for the summary for each cause, naming them; empty: none
 * @throws UnsupportedError for loss unless all communications are packets, which could be lost: the
 *         result would mislead
 */
std::vector<std::string> DescribeIgnoredSettings(const Scenario& scenario);

/** @return the part of it that holds where nothing runs as packets */
std::vector<std::string> DescribeSettingsOfPackets(const Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_IGNORED_SETTINGS_H */
