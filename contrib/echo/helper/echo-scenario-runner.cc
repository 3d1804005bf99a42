// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-runner.h"

#include "echo-ignored-settings.h"
#include "echo-run-sinks.h"
#include "echo-scenario-setup.h"
#include "echo-simulator-guard.h"

#include "ns3/boolean.h"
#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-attribute-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-job-merger.h"
#include "ns3/echo-progress.h"
#include "ns3/echo-sampled-policy.h"
#include "ns3/echo-workload-health.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

const uint32_t MAX_CONTENTION_PASSES = 4;  //!< one analytical, three with what it found
const uint32_t MOST_UNFOLDED_RANKS = 1024; //!< jobs that run again unfolded if contended

void AddCounters(const NetworkTotals& network, RunRecord& run)
{
    run.congestionControl = network.congestionControl;
    run.packets = network.packets;
    run.packetHops = network.packetHops;
    run.drops = network.drops;
    run.pauses = network.pauses;
    run.ecnMarks = network.ecnMarks;
    run.cnps = network.cnps;
    run.zeroCounters = network.zeroCounters;
    if (network.packets == 0)
    {
        for (const char* counter : {"drops", "pauses", "ecn_marks", "cnps"})
        {
            run.zeroCounters[counter] = "no packet was simulated";
        }
    }
}

/** Ranks were folded, and what communications that met cost one another was left out. */
bool IsFoldedAndContended(Ptr<CollectiveBackend> backend)
{
    const auto analytical = DynamicCast<AnalyticalBackend>(backend);
    return analytical && analytical->IsFoldedAndContended();
}

/** Ends the simulation with the job: other traffic or the repair of lost packets would go on. */
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
                           "shared links with others while estimated analytically: where ranks "
                           "were not folded, each link by what all asked of it; packet, flow or "
                           "hybrid fidelity simulates that");
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
    RefuseDefaultsThatKeysSet(m_scenario.file);
    ApplySeed(m_scenario);
    m_placement = MakeScenarioPlacement(m_scenario);
    const WorkloadHealth health(*m_scenario.workload);
    m_warnings = health.GetWarnings();
    m_warnings.insert(m_warnings.end(), m_scenario.warnings.begin(), m_scenario.warnings.end());
    m_compute = MakeComputeModel(m_scenario, m_warnings);
    for (std::string& ignored : DescribeIgnoredSettings(m_scenario))
    {
        m_warnings.push_back(std::move(ignored));
    }
    m_slowdown = MakeSlowdownModel(m_scenario);
    if (!m_scenario.measuredTransfers.empty())
    {
        m_warnings.push_back("communication takes its recorded times (measured-transfer): this "
                             "checks the replay and predicts nothing");
    }
}

RunRecord ScenarioRunner::RunOnce(Fidelity fidelity,
                                  Ptr<FidelityPolicy> policy,
                                  RecordSink& sink,
                                  const BackendTest& isVain,
                                  const BackendHook& finished)
{
    SimulatorGuard guard;
    TotalsSink totals(sink, m_placement);
    Ptr<TrainingJob> job = CreateObject<TrainingJob>();
    Progress observed(&totals, [&] { return job->GetProgress(); });
    EchoBackendHelper helper(m_scenario.cluster, m_placement, MakeBackendSettings(m_scenario));
    Ptr<CollectiveBackend> backend =
        m_scenario.measuredTransfers.empty()
            ? helper.Create(fidelity, policy, &observed)
            : MakeMeasuredBackend(m_scenario, helper, m_placement, &observed);

    if (isVain)
    {
        totals.StopWhen([&isVain, backend] { return isVain(backend); });
    }
    job->SetAttribute("Folding", BooleanValue(m_folds && m_scenario.folding != "off"));
    job->Prepare(m_scenario.workload, backend, m_compute, m_slowdown, &observed);
    m_isFolded = job->GetSimulatedRankCount() < m_scenario.workload->GetRankCount();
    job->Start();
    if (!m_scenario.background.empty())
    {
        helper.StartBackground([&job] { return !job->IsFinished(); });
    }
    if (!m_scenario.background.empty() || !m_scenario.failures.empty())
    {
        job->TraceConnectWithoutContext("OperatorDone",
                                        MakeBoundCallback(&CheckEnd, PeekPointer(job)));
    }
    SimulatorGuard::Run();

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
    run.simulatedRanks = job->GetSimulatedRankCount();
    run.stepTime = job->GetStepTime();
    run.jobs = DescribeJobs(*job);
    job->ReportRanks(totals);
    backend->ReportLinks(totals, run.stepTime);
    if (totals.needsPayload > 0 && totals.payloadBytes == 0)
    {
        throw StallError(m_scenario.file + (m_scenario.file.empty() ? "" : ": ") +
                         "the workload holds " + std::to_string(totals.needsPayload) +
                         (totals.needsPayload == 1 ? " communication, but it moved no byte"
                                                   : " communications, but none moved a byte"));
    }
    const NetworkTotals network = helper.GetTotals();
    AddCounters(network, run);
    if ((fidelity == Fidelity::ANALYTICAL || fidelity == Fidelity::HYBRID) &&
        m_scenario.measuredTransfers.empty())
    {
        run.profile = m_scenario.profile.empty()
                          ? "derived"
                          : std::filesystem::path(m_scenario.profile).stem().string();
    }
    run.wireBytes = totals.wireBytes;
    run.events = Simulator::GetEventCount();
    run.warnings = m_warnings;
    if (m_scenario.folding == "on" && !job->GetFoldingRefusal().empty())
    {
        run.warnings.push_back("equal ranks were not folded (timeline.folding: on): " +
                               job->GetFoldingRefusal());
    }
    if (!network.lostBackground.empty())
    {
        const std::string& text = network.lostBackground; // ends its line
        run.warnings.push_back("background traffic did not arrive: " +
                               text.substr(0, text.size() - 1));
    }
    AddWarnings(totals, run.warnings);
    if (!run.jobs.empty() && IsFoldedAndContended(backend))
    {
        run.warnings.push_back("communications met while equal ranks were folded: what that costs "
                               "jobs is left out (--set=timeline.folding=off simulates it)");
    }
    if (finished)
    {
        finished(backend);
    }
    backend->Dispose();
    return run;
}

RunRecord ScenarioRunner::RunAnalytical(const SinkMaker& makeSink)
{
    const bool mayRepeat = m_folds && m_scenario.folding == "auto" &&
                           m_placement->GetRankCount() <= MOST_UNFOLDED_RANKS;
    if (!mayRepeat)
    {
        return RunOnce(Fidelity::ANALYTICAL, nullptr, makeSink(), nullptr, nullptr);
    }
    // Where communications meet, one of many alike may take longer than another.
    bool isContended = false;
    const RunRecord run = RunOnce(Fidelity::ANALYTICAL,
                                  nullptr,
                                  makeSink(),
                                  &IsFoldedAndContended,
                                  [&isContended](Ptr<CollectiveBackend> backend) {
                                      isContended = IsFoldedAndContended(backend);
                                  });
    if (!isContended)
    {
        return run;
    }
    m_folds = false;
    return RunOnce(Fidelity::ANALYTICAL, nullptr, makeSink(), nullptr, nullptr);
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
                         ": they ran as trains of packets (hybrid.contended: flow)");
    for (std::string& ignored : DescribeSettingsOfPackets(m_scenario))
    {
        m_warnings.push_back(std::move(ignored));
    }
    return Fidelity::FLOW;
}

RunRecord ScenarioRunner::RunWithContentionPolicy(const SinkMaker& makeSink)
{
    std::set<InstanceKey> contended;
    Fidelity contendedFidelity = Fidelity::PACKET;
    uint64_t packetHops = 0;
    const auto simulate = [&](RecordSink& sink, const BackendTest& isVain) {
        Ptr<ContentionPolicy> policy = CreateObject<ContentionPolicy>();
        policy->SetContended(contended, contendedFidelity);
        return RunOnce(Fidelity::HYBRID, policy, sink, isVain, [&](Ptr<CollectiveBackend> backend) {
            const auto hybrid = DynamicCast<HybridBackend>(backend);
            contended.insert(hybrid->GetContended().begin(), hybrid->GetContended().end());
            packetHops = hybrid->GetContendedPacketHops(m_scenario.network.mtuBytes);
        });
    };
    RunRecord run = simulate(makeSink(), [](Ptr<CollectiveBackend> backend) {
        return !DynamicCast<HybridBackend>(backend)->GetContended().empty();
    });
    if (contended.empty())
    {
        return run; // who meets nobody needs nothing of packets
    }
    contendedFidelity = ChooseContendedFidelity(packetHops);
    for (uint32_t pass = 1; pass < MAX_CONTENTION_PASSES; ++pass)
    {
        const size_t before = contended.size();
        run = simulate(makeSink(), nullptr);
        if (contended.size() == before)
        {
            break;
        }
    }
    return run;
}

RunRecord ScenarioRunner::RunWithRules(const SinkMaker& makeSink)
{
    std::map<InstanceKey, Fidelity> raised;
    for (uint32_t pass = 1;; ++pass)
    {
        const bool isLast = m_scenario.hybrid.partsMeeting || pass == MAX_CONTENTION_PASSES;
        Ptr<RulesPolicy> policy = CreateObject<RulesPolicy>();
        policy->SetRules(m_scenario.hybrid.rules);
        policy->SetRaised(raised);
        std::map<InstanceKey, Fidelity> uncoupled;
        const BackendTest isVain = [](Ptr<CollectiveBackend> backend) {
            return !DynamicCast<HybridBackend>(backend)->GetUncoupled().empty();
        };
        RunRecord run = RunOnce(Fidelity::HYBRID,
                                policy,
                                makeSink(),
                                isLast ? BackendTest() : isVain,
                                [&uncoupled](Ptr<CollectiveBackend> backend) {
                                    uncoupled = DynamicCast<HybridBackend>(backend)->GetUncoupled();
                                });
        if (isLast || uncoupled.empty())
        {
            return run;
        }
        for (const auto& [key, fidelity] : uncoupled)
        {
            Fidelity& known = raised.emplace(key, fidelity).first->second;
            known = std::max(known, fidelity);
        }
    }
}

std::vector<JobRecord> ScenarioRunner::DescribeJobs(const TrainingJob& job) const
{
    std::vector<JobRecord> records = job.GetJobs();
    for (JobRecord& record : records)
    {
        std::set<HostId> hosts;
        for (uint32_t i = 0; i < record.ranks; ++i)
        {
            hosts.insert(m_placement->GetHost(RankId(record.firstRank.Get() + i)));
        }
        record.hosts = static_cast<uint32_t>(hosts.size());
    }
    return records;
}

void ScenarioRunner::CompareAlone(std::vector<JobRecord>& jobs) const
{
    RecordSink ignore;
    for (size_t i = 0; i < jobs.size(); ++i)
    {
        Scenario alone = m_scenario;
        alone.workload = KeepJob(*m_scenario.workload, i);
        alone.comparesAlone = false;
        ScenarioRunner runner(std::move(alone));
        jobs[i].alone = runner.Run([&]() -> RecordSink& { return ignore; }).jobs[i].stepTime;
    }
}

RunRecord ScenarioRunner::Run(const SinkMaker& makeSink)
{
    RunRecord run = SimulateOrExplain(makeSink);
    if (m_scenario.comparesAlone)
    {
        CompareAlone(run.jobs);
    }
    return run;
}

RunRecord ScenarioRunner::SimulateOrExplain(const SinkMaker& makeSink)
{
    try
    {
        return Simulate(makeSink);
    }
    catch (const StoppedError&)
    {
        throw;
    }
    catch (const InputError& error)
    {
        // Models know their attribute, not the scenario that set it.
        const SourceLocation& where = error.GetLocation();
        throw where.file.empty() ? error.At({m_scenario.file, 0, where.item}) : error;
    }
    catch (const StallError&)
    {
        if (!m_isFolded)
        {
            throw;
        }
    }
    // Equal ranks were folded: all of them are run, so that the message names them.
    m_folds = false;
    return Simulate(makeSink);
}

RunRecord ScenarioRunner::Simulate(const SinkMaker& makeSink)
{
    RunRecord run;
    if (m_scenario.fidelity == Fidelity::HYBRID && m_scenario.hybrid.policy == "contention")
    {
        run = RunWithContentionPolicy(makeSink);
    }
    else if (m_scenario.fidelity == Fidelity::HYBRID && m_scenario.hybrid.policy == "rules")
    {
        run = RunWithRules(makeSink);
    }
    else if (m_scenario.fidelity == Fidelity::ANALYTICAL)
    {
        run = RunAnalytical(makeSink);
    }
    else
    {
        Ptr<FidelityPolicy> policy;
        if (m_scenario.fidelity == Fidelity::HYBRID && m_scenario.hybrid.policy == "sampled")
        {
            const bool flow = m_scenario.hybrid.contended == "flow";
            policy = CreateObject<SampledPolicy>();
            policy->SetAttribute("Samples", UintegerValue(m_scenario.hybrid.samples));
            policy->SetAttribute("Fidelity", StringValue(flow ? "flow" : "packet"));
        }
        std::vector<std::string> notes;
        run = RunOnce(m_scenario.fidelity,
                      policy,
                      makeSink(),
                      nullptr,
                      [&notes](Ptr<CollectiveBackend> backend) {
                          if (const auto hybrid = DynamicCast<HybridBackend>(backend))
                          {
                              notes = hybrid->GetNotes();
                          }
                      });
        run.warnings.insert(run.warnings.end(), notes.begin(), notes.end());
    }
    return run;
}

} // namespace echo
} // namespace ns3
