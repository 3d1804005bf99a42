// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-setup.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/echo-compute-profile-reader.h"
#include "ns3/echo-constant-slowdown.h"
#include "ns3/echo-error.h"
#include "ns3/echo-input-file.h"
#include "ns3/echo-learned-slowdown.h"
#include "ns3/echo-measured-backend.h"
#include "ns3/echo-overlap-table-reader.h"
#include "ns3/echo-recorded-compute-model.h"
#include "ns3/echo-roofline-compute-model.h"
#include "ns3/echo-yaml.h"
#include "ns3/rng-seed-manager.h"

namespace ns3
{
namespace echo
{

void ApplySeed(const Scenario& scenario)
{
    RngSeedManager::SetSeed(static_cast<uint32_t>(scenario.seed));
}

PlacementPtr MakeScenarioPlacement(const Scenario& scenario)
{
    const uint32_t ranks = scenario.workload->GetRankCount();
    const TopologyPtr topology = scenario.cluster.topology;
    if (!scenario.placementGpus.empty())
    {
        NS_ABORT_MSG_IF(scenario.placementGpus.size() != ranks, "a GPU for each rank");
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
    settings.sharesLinks = scenario.sharesLinks;
    settings.issuesAsMeasured = false; // a job has a process a GPU
    settings.collective = scenario.collective;
    settings.network = scenario.network;
    settings.failures = scenario.failures;
    settings.background = scenario.background;
    return settings;
}

Ptr<CollectiveBackend> MakeMeasuredBackend(const Scenario& scenario,
                                           const EchoBackendHelper& helper,
                                           PlacementPtr placement,
                                           RecordSink* sink)
{
    Ptr<MeasuredBackend> backend = CreateObject<MeasuredBackend>();
    for (const auto& transfer : scenario.measuredTransfers)
    {
        backend->SetDuration(transfer.group, transfer.sequence, transfer.duration);
    }
    backend->Prepare(std::move(placement), helper.GetSelector(), sink);
    return backend;
}

namespace
{

/** Without a compute profile every kernel must bring its time. */
void RefuseUntimedKernels(const Scenario& scenario)
{
    for (const ExecutionGraphPtr& program : scenario.workload->GetDistinctPrograms())
    {
        for (const auto& op : program->GetOperators())
        {
            if (op.duration.IsZero() && (op.flops > 0 || op.memoryBytes > 0))
            {
                throw InputError({scenario.file, 0, "compute.profile"},
                                 "none, and kernel '" + program->GetName(op) + "' has no duration",
                                 "a file of kernel efficiencies such as "
                                 "calibration/compute/gemm-efficiency.yaml");
            }
        }
    }
}

} // namespace

Ptr<ComputeModel> MakeComputeModel(const Scenario& scenario, std::vector<std::string>& warnings)
{
    if (scenario.computeProfile.empty())
    {
        RefuseUntimedKernels(scenario);
        Ptr<RecordedComputeModel> recorded = CreateObject<RecordedComputeModel>();
        recorded->SetAttribute("Scale", DoubleValue(scenario.computeScale));
        return recorded;
    }
    Ptr<RooflineComputeModel> roofline = CreateObject<RooflineComputeModel>();
    roofline->Configure(scenario.cluster.gpu,
                        ReadComputeProfile(YamlNode::LoadFile(scenario.computeProfile)));
    roofline->SetAttribute("Scale", DoubleValue(scenario.computeScale));
    roofline->Check(*scenario.workload);
    for (const std::string& warning :
         {roofline->GetWarning(), roofline->DescribeExtrapolation(*scenario.workload)})
    {
        if (!warning.empty())
        {
            warnings.push_back(warning);
        }
    }
    return roofline;
}

Ptr<SlowdownModel> MakeSlowdownModel(const Scenario& scenario)
{
    const SlowdownSettings& settings = scenario.slowdown;
    if (settings.model == "none" || (settings.file.empty() && settings.factor == 1))
    {
        return nullptr;
    }
    if (settings.model == "learned")
    {
        const auto trees = TreeEnsemble::FromJson(ReadInputFile(settings.file), settings.file);
        const std::string own = trees->GetTag("echo_target");
        if (!own.empty() && !settings.target.empty() && settings.target != own)
        {
            throw InputError({settings.file, 0, "compute.slowdown.target"},
                             settings.target + " for a model that says " + own,
                             own + ", or no target");
        }
        Ptr<LearnedSlowdown> learned = CreateObject<LearnedSlowdown>();
        learned->SetModel(
            trees,
            settings.file,
            settings.features,
            ParseSlowdownTarget(settings.target.empty() ? "factor" : settings.target));
        learned->SetGpu(scenario.cluster.gpu);
        return learned;
    }
    Ptr<ConstantSlowdown> constant = CreateObject<ConstantSlowdown>();
    constant->SetAttribute("Factor", DoubleValue(settings.factor));
    if (!settings.file.empty())
    {
        constant->SetFactors(ReadSlowdownFactors(settings.file, scenario.cluster.gpu.name));
    }
    return constant;
}

} // namespace echo
} // namespace ns3
