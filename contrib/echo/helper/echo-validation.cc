// SPDX-License-Identifier: GPL-2.0-only
#include "echo-validation.h"

#include "echo-scenario-setup.h"

namespace ns3
{
namespace echo
{

namespace
{

/** @return packets times links of a communication, from what the fluid run put on fabric links */
uint64_t EstimatePacketHops(const ExperimentResult& flow, uint64_t mtuBytes)
{
    uint64_t bytes = 0;
    for (const auto& link : flow.links)
    {
        const bool fabric = link.fromRole >= DeviceRole::NIC && link.toRole >= DeviceRole::NIC;
        bytes += fabric ? link.payloadBytes : 0;
    }
    return bytes / mtuBytes;
}

} // namespace

Validation::Validation(const Scenario& scenario)
    : m_scenario(scenario), m_placement(MakeScenarioPlacement(scenario))
{
}

std::vector<ValidationResult> Validation::Run(
    const std::function<void(size_t done, size_t all)>& done) const
{
    const BackendSettings settings = MakeBackendSettings(m_scenario);
    const EchoBackendHelper helper(m_scenario.cluster, m_placement, settings);
    auto communications =
        FindDistinctCommunications(*m_scenario.workload, m_placement, *helper.GetRouter());
    const CollectiveExperiment experiment(m_scenario.cluster, m_placement, settings);
    std::vector<ValidationResult> results;
    for (auto& communication : communications)
    {
        const auto run = [&](Fidelity fidelity) {
            return experiment.Run(
                communication.spec, communication.splits, communication.group, fidelity);
        };
        ValidationResult result;
        const ExperimentResult analytical = run(Fidelity::ANALYTICAL);
        const ExperimentResult flow = run(Fidelity::FLOW);
        result.analytical = analytical.GetDuration();
        result.extrapolated = analytical.record.extrapolated;
        result.algorithm = analytical.record.algorithm;
        result.hosts = analytical.record.hosts;
        result.flow = flow.GetDuration();
        const uint64_t hops = EstimatePacketHops(flow, m_scenario.network.mtuBytes);
        if (hops > m_scenario.hybrid.packetHopBudget)
        {
            result.skipped = "about " + std::to_string(hops) + " packet-hops, above " +
                             std::to_string(m_scenario.hybrid.packetHopBudget);
        }
        else
        {
            result.packet = run(Fidelity::PACKET).GetDuration();
        }
        result.communication = std::move(communication);
        results.push_back(std::move(result));
        if (done)
        {
            done(results.size(), communications.size());
        }
    }
    return results;
}

} // namespace echo
} // namespace ns3
