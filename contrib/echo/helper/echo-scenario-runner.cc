// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-runner.h"

#include "echo-scenario-setup.h"
#include "echo-simulator-guard.h"

#include "ns3/double.h"
#include "ns3/echo-constant-slowdown.h"
#include "ns3/echo-error.h"
#include "ns3/echo-progress.h"
#include "ns3/echo-workload-health.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

const uint32_t MAX_CONTENTION_PASSES = 4; //!< one analytical, three with what it found

/** Adds up what the summary needs and passes everything on. */
class TotalsSink : public RecordSink
{
  public:
    TotalsSink(RecordSink& next, const Topology& topology) : m_next(next), m_topology(topology)
    {
    }

    void OnOperator(const OperatorRecord& record) override
    {
        m_next.OnOperator(record);
    }

    void OnCollective(const CollectiveRecord& record) override
    {
        ++collectives;
        payloadBytes += record.payloadBytes;
        contendedAnalytical += record.contended && record.fidelity == Fidelity::ANALYTICAL;
        uncoupled += record.uncoupled;
        extrapolated += record.extrapolated;
        needsPayload += record.ranks > 1 && record.bytes > 0;
        m_next.OnCollective(record);
    }

    void OnFlow(const FlowRecord& record) override
    {
        m_next.OnFlow(record);
    }

    void OnLink(const LinkRecord& record) override
    {
        wireBytes += m_topology.IsFabricLink(record.link) ? record.wireBytes : 0;
        m_next.OnLink(record);
    }

    void OnRank(const RankRecord& record) override
    {
        m_next.OnRank(record);
    }

    uint64_t collectives{0};
    uint64_t payloadBytes{0};
    uint64_t contendedAnalytical{0};
    uint64_t uncoupled{0};
    uint64_t extrapolated{0};
    uint64_t needsPayload{0}; //!< instances that must move bytes
    uint64_t wireBytes{0};    //!< over fabric links

  private:
    RecordSink& m_next;
    const Topology& m_topology;
};

void AddCounters(const NetworkTotals& network, RunRecord& run)
{
    run.congestionControl = network.congestionControl;
    run.packets = network.packets;
    run.packetHops = network.packetHops;
    run.drops = network.drops;
    run.pauses = network.pauses;
    run.ecnMarks = network.ecnMarks;
}

/** Ends the simulation with the job: other traffic would go on. */
void StopWithJob(TrainingJob* job)
{
    if (job->IsFinished())
    {
        Simulator::Stop();
    }
}

/** An operator is about to be counted as done. */
void CheckEnd(TrainingJob* job, const OperatorRecord&)
{
    Simulator::ScheduleNow(&StopWithJob, job);
}

/** Says of which communications the times are less than sure. */
void AddWarnings(const TotalsSink& totals, std::vector<std::string>& warnings)
{
    const std::string of = " of " + std::to_string(totals.collectives) + " communications ";
    if (totals.contendedAnalytical > 0)
    {
        warnings.push_back(std::to_string(totals.contendedAnalytical) + of +
                           "shared links with others while estimated analytically: the step "
                           "is contended and its time a lower bound; packet, flow or hybrid "
                           "fidelity models the contention");
    }
    if (totals.uncoupled > 0)
    {
        warnings.push_back(std::to_string(totals.uncoupled) + of +
                           "shared links with others that another model served (uncoupled)");
    }
    if (totals.extrapolated > 0)
    {
        warnings.push_back(std::to_string(totals.extrapolated) + of +
                           "were estimated outside the profile's calibrated range");
    }
}

} // namespace

ScenarioRunner::ScenarioRunner(Scenario scenario) : m_scenario(std::move(scenario))
{
    ApplyScenarioGlobals(m_scenario);
    m_placement = MakeScenarioPlacement(m_scenario);
    const WorkloadHealth health(*m_scenario.workload);
    m_warnings = health.GetWarnings();
    m_warnings.insert(m_warnings.end(), m_scenario.warnings.begin(), m_scenario.warnings.end());
    m_compute = MakeComputeModel(m_scenario, m_warnings);
    WarnOfLoadBalancing();
    if (!m_scenario.measuredTransfers.empty())
    {
        m_warnings.push_back("communication takes its recorded times (measured-transfer): this "
                             "checks the replay and predicts nothing");
    }
}

void ScenarioRunner::WarnOfLoadBalancing()
{
    const std::string& name = m_scenario.network.loadBalancing;
    if (m_scenario.fidelity != Fidelity::PACKET && name != "ecmp" && name != "static")
    {
        m_warnings.push_back("load balancing '" + name +
                             "' chooses ways for packets: what is not simulated as packets takes "
                             "the ways of ecmp");
    }
}

RunRecord ScenarioRunner::RunOnce(Fidelity fidelity,
                                  Ptr<FidelityPolicy> policy,
                                  RecordSink& sink,
                                  const std::function<void(Ptr<CollectiveBackend>)>& inspect)
{
    SimulatorGuard guard;
    TotalsSink totals(sink, *m_scenario.cluster.topology);
    Ptr<TrainingJob> job = CreateObject<TrainingJob>();
    Progress observed(&totals, [&] { return job->GetProgress(); });
    EchoBackendHelper helper(m_scenario.cluster, m_placement, MakeBackendSettings(m_scenario));
    Ptr<CollectiveBackend> backend =
        m_scenario.measuredTransfers.empty()
            ? helper.Create(fidelity, policy, &observed)
            : MakeMeasuredBackend(m_scenario, helper, m_placement, &observed);

    Ptr<ConstantSlowdown> slowdown;
    if (m_scenario.slowdown > 1)
    {
        slowdown = CreateObject<ConstantSlowdown>();
        slowdown->SetAttribute("Factor", DoubleValue(m_scenario.slowdown));
    }
    job->Prepare(m_scenario.workload, backend, m_compute, slowdown, &observed);
    job->Start();
    if (!m_scenario.background.empty())
    {
        helper.StartBackground([&job] { return !job->IsFinished(); });
        job->TraceConnectWithoutContext("OperatorDone",
                                        MakeBoundCallback(&CheckEnd, PeekPointer(job)));
    }
    Simulator::Run();

    if (!job->IsFinished())
    {
        throw StallError(helper.DescribeTrouble() + job->DescribeStall());
    }
    RunRecord run;
    run.scenario = m_scenario.name;
    run.fidelity = m_scenario.fidelity;
    run.seed = m_scenario.seed;
    run.ranks = m_placement->GetRankCount();
    run.hosts = m_placement->GetUsedHostCount();
    run.stepTime = job->GetStepTime();
    job->ReportRanks(totals);
    backend->ReportLinks(totals, run.stepTime);
    if (totals.needsPayload > 0 && totals.payloadBytes == 0)
    {
        throw StallError("the workload holds " + std::to_string(totals.needsPayload) +
                         " communications but none moved a byte");
    }
    AddCounters(helper.GetTotals(), run);
    run.wireBytes = totals.wireBytes;
    run.events = Simulator::GetEventCount();
    run.warnings = m_warnings;
    AddWarnings(totals, run.warnings);
    if (inspect)
    {
        inspect(backend);
    }
    backend->Dispose();
    return run;
}

Fidelity ScenarioRunner::ChooseContendedFidelity(uint64_t packetHops)
{
    if (m_scenario.hybrid.contended != "auto")
    {
        return ParseFidelity(m_scenario.hybrid.contended);
    }
    if (packetHops <= m_scenario.hybrid.packetHopBudget)
    {
        return Fidelity::PACKET;
    }
    m_warnings.push_back("contended communications need about " + std::to_string(packetHops) +
                         " packet-hops, above hybrid.packet_hop_budget of " +
                         std::to_string(m_scenario.hybrid.packetHopBudget) +
                         ": they ran as fluid flows");
    return Fidelity::FLOW;
}

RunRecord ScenarioRunner::RunWithContentionPolicy(const SinkMaker& makeSink)
{
    std::set<InstanceKey> contended;
    Fidelity contendedFidelity = Fidelity::PACKET;
    RunRecord run;
    for (uint32_t pass = 0; pass < MAX_CONTENTION_PASSES; ++pass)
    {
        Ptr<ContentionPolicy> policy = CreateObject<ContentionPolicy>();
        policy->SetContended(contended, contendedFidelity);
        std::set<InstanceKey> found;
        uint64_t packetHops = 0;
        RecordSink& sink = makeSink();
        run = RunOnce(Fidelity::HYBRID, policy, sink, [&](Ptr<CollectiveBackend> backend) {
            const auto hybrid = DynamicCast<HybridBackend>(backend);
            found = hybrid->GetContended();
            packetHops = hybrid->GetContendedPacketHops(m_scenario.network.mtuBytes);
        });
        const size_t before = contended.size();
        contended.insert(found.begin(), found.end());
        if (contended.size() == before)
        {
            break;
        }
        if (pass == 0)
        {
            contendedFidelity = ChooseContendedFidelity(packetHops);
        }
    }
    return run;
}

RunRecord ScenarioRunner::Run(const SinkMaker& makeSink)
{
    RunRecord run;
    if (m_scenario.fidelity == Fidelity::HYBRID && m_scenario.hybrid.policy == "contention")
    {
        run = RunWithContentionPolicy(makeSink);
    }
    else
    {
        Ptr<RulesPolicy> policy;
        if (m_scenario.fidelity == Fidelity::HYBRID)
        {
            policy = CreateObject<RulesPolicy>();
            policy->SetRules(m_scenario.hybrid.rules);
        }
        run = RunOnce(m_scenario.fidelity, policy, makeSink(), nullptr);
    }
    return run;
}

} // namespace echo
} // namespace ns3
