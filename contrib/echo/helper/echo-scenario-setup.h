// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_SETUP_H
#define ECHO_SCENARIO_SETUP_H

#include "echo-backend-helper.h"

#include "ns3/echo-placement.h"
#include "ns3/echo-scenario.h"

namespace ns3
{
namespace echo
{

/** Sets the seed and the attribute defaults of a scenario; before any of its objects is made.
 * @throws InputError naming an attribute that ns-3 refuses */
void ApplyScenarioGlobals(const Scenario& scenario);

/** @throws InputError if the workload's ranks do not fit the cluster or the listed GPUs */
PlacementPtr MakeScenarioPlacement(const Scenario& scenario);

BackendSettings MakeBackendSettings(const Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_SETUP_H */
