// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-setup.h"

#include "ns3/config.h"
#include "ns3/echo-error.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"

namespace ns3
{
namespace echo
{

void ApplyScenarioGlobals(const Scenario& scenario)
{
    RngSeedManager::SetSeed(static_cast<uint32_t>(scenario.seed));
    for (const auto& [name, value] : scenario.attributes)
    {
        if (!Config::SetDefaultFailSafe(name, StringValue(value)))
        {
            throw InputError({scenario.file, 0, "attributes." + name},
                             "'" + value + "'",
                             "an attribute of an ns-3 type and a value that it takes");
        }
    }
}

PlacementPtr MakeScenarioPlacement(const Scenario& scenario)
{
    const uint32_t ranks = scenario.workload->GetRankCount();
    const TopologyPtr topology = scenario.cluster.topology;
    if (!scenario.placementGpus.empty())
    {
        if (scenario.placementGpus.size() != ranks)
        {
            throw InputError({scenario.file, 0, "placement.gpus"},
                             std::to_string(scenario.placementGpus.size()) + " GPUs",
                             std::to_string(ranks) + ", one for each rank of the workload");
        }
        return std::make_shared<const Placement>(topology, scenario.placementGpus);
    }
    return std::make_shared<const Placement>(scenario.placementOrder == "round-robin"
                                                 ? Placement::RoundRobin(topology, ranks)
                                                 : Placement::Linear(topology, ranks));
}

BackendSettings MakeBackendSettings(const Scenario& scenario)
{
    BackendSettings settings;
    settings.seed = scenario.seed;
    settings.profile = scenario.profile;
    settings.collective = scenario.collective;
    settings.network = scenario.network;
    return settings;
}

} // namespace echo
} // namespace ns3
