// SPDX-License-Identifier: GPL-2.0-only
#include "echo-validation.h"

#include "echo-scenario-runner.h"
#include "echo-scenario-setup.h"

#include "ns3/echo-run-summary.h"

#include <memory>

namespace ns3
{
namespace echo
{

namespace
{

/** @return packets times links of a communication, from what the fluid run put on fabric links */
uint64_t EstimatePacketHops(const ExperimentResult& flow,
                            const Topology& topology,
                            uint64_t mtuBytes)
{
    uint64_t bytes = 0;
    for (const auto& link : flow.links)
    {
        bytes += topology.IsFabricLink(link.link) ? link.payloadBytes : 0;
    }
    return bytes / mtuBytes;
}

} // namespace

Validation::Validation(const Scenario& scenario)
    : m_scenario(scenario), m_placement(MakeScenarioPlacement(scenario))
{
}

std::vector<ValidationRow> Validation::Run(
    const std::function<void(size_t done, size_t all)>& done) const
{
    const BackendSettings settings = MakeBackendSettings(m_scenario);
    const EchoBackendHelper helper(m_scenario.cluster, m_placement, settings);
    const auto communications =
        FindDistinctCommunications(*m_scenario.workload, m_placement, *helper.GetRouter());
    const CollectiveExperiment experiment(m_scenario.cluster, m_placement, settings);
    std::vector<ValidationRow> rows;
    for (const auto& communication : communications)
    {
        const auto run = [&](Fidelity fidelity) {
            return experiment.Run(
                communication.spec, communication.splits, communication.group, fidelity);
        };
        const ExperimentResult analytical = run(Fidelity::ANALYTICAL);
        const ExperimentResult flow = run(Fidelity::FLOW);
        const CollectiveRecord& record = analytical.record;
        ValidationRow row;
        row.kind = record.kind;
        row.group = communication.groupKind;
        row.ranks = record.ranks;
        row.hosts = record.hosts;
        row.bytes = record.bytes;
        row.algorithm = record.algorithm;
        row.protocol = record.protocol;
        row.channels = record.channels;
        row.instances = communication.count;
        row.analytical = analytical.GetDuration();
        row.flow = flow.GetDuration();
        row.extrapolated = record.extrapolated;
        if (EstimatePacketHops(flow, *m_scenario.cluster.topology, m_scenario.network.mtuBytes) <=
            m_scenario.hybrid.packetHopBudget)
        {
            row.packet = run(Fidelity::PACKET).GetDuration();
        }
        rows.push_back(row);
        if (done)
        {
            done(rows.size(), communications.size());
        }
    }
    return rows;
}

std::vector<ValidationStep> Validation::RunSteps() const
{
    std::vector<ValidationStep> steps;
    std::vector<Fidelity> fidelities{Fidelity::ANALYTICAL};
    if (m_scenario.fidelity != Fidelity::ANALYTICAL)
    {
        fidelities.push_back(m_scenario.fidelity);
    }
    for (const Fidelity fidelity : fidelities)
    {
        for (const bool isSlowed : {false, true})
        {
            if (isSlowed && m_scenario.slowdown.model == "none")
            {
                continue;
            }
            Scenario scenario = m_scenario;
            scenario.fidelity = fidelity;
            if (!isSlowed)
            {
                scenario.slowdown = SlowdownSettings();
            }
            ValidationStep step;
            step.models = std::string(ToString(fidelity)) + ", " +
                          (isSlowed ? m_scenario.slowdown.model : "no") + " slowdown";
            step.measured = m_scenario.measuredSpan;
            std::unique_ptr<SummarySink> summary;
            ScenarioRunner runner(std::move(scenario));
            const RunRecord run = runner.Run([&]() -> RecordSink& {
                summary = std::make_unique<SummarySink>();
                return *summary;
            });
            summary->OnRun(run);
            step.step = run.stepTime;
            step.slowdown = summary->GetSummary().slowdown.mean;
            steps.push_back(step);
        }
    }
    return steps;
}

} // namespace echo
} // namespace ns3
