// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCENARIO_SETUP_H
#define ECHO_SCENARIO_SETUP_H

#include "echo-backend-helper.h"

#include "ns3/echo-compute-model.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-scenario.h"
#include "ns3/echo-slowdown-model.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Sets the seed of ns-3's random streams; before any of the scenario's objects is made. */
void ApplySeed(const Scenario& scenario);

/** @throws InputError if the workload's ranks do not fit the cluster or the listed GPUs */
PlacementPtr MakeScenarioPlacement(const Scenario& scenario);

BackendSettings MakeBackendSettings(const Scenario& scenario);

/**
 * @return the back end of a scenario that replays measured transfers, prepared
 * @param helper gives the selector
 * @param sink gets collectives; outlives the back end
 */
Ptr<CollectiveBackend> MakeMeasuredBackend(const Scenario& scenario,
                                           const EchoBackendHelper& helper,
                                           PlacementPtr placement,
                                           RecordSink* sink);

/**
 * @param[out] warnings gets a sentence if efficiencies of another GPU are used
 * @throws InputError if the compute profile cannot be read, or if there is none and an operator
 *         has no duration of its own; UnsupportedError if the GPU lacks a figure that it needs
 */
Ptr<ComputeModel> MakeComputeModel(const Scenario& scenario, std::vector<std::string>& warnings);

/**
 * @return the slowdown of kernels beside communication; null: none
 * @throws InputError if its file cannot be read or holds nothing for the cluster's GPU;
 *         UnsupportedError if it is a learned one and Echo was built without XGBoost
 */
Ptr<SlowdownModel> MakeSlowdownModel(const Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCENARIO_SETUP_H */
