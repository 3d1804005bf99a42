// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-experiment.h"

#include "echo-simulator-guard.h"

#include "ns3/echo-error.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** Keeps the one collective's record and the links. */
class ExperimentSink : public RecordSink
{
  public:
    void OnCollective(const CollectiveRecord& record) override
    {
        result.record = record;
        ++collectives;
    }

    void OnLink(const LinkRecord& record) override
    {
        result.links.push_back(record);
    }

    ExperimentResult result;
    uint32_t collectives{0};
};

void JoinAll(const CollectiveSpec& spec,
             const std::vector<std::vector<uint64_t>>& splits,
             const CommGroupPtr& group,
             CollectiveBackend& backend)
{
    const auto ignore = [](const CommunicationTimes&) {};
    if (spec.kind == CollectiveKind::SEND_RECV)
    {
        const RankId sender = group->GetRank(0);
        const RankId receiver = group->GetRank(1);
        backend.JoinPointToPoint({{true, receiver, spec.bytes, 0}}, group, sender, "send", ignore);
        backend.JoinPointToPoint(
            {{false, sender, spec.bytes, 0}}, group, receiver, "receive", ignore);
        return;
    }
    for (uint32_t member = 0; member < group->GetSize(); ++member)
    {
        CollectiveSpec mine = spec;
        if (!splits.empty())
        {
            mine.sendBytes = splits[member];
            mine.receiveBytes.clear(); // follow from what the others send
            mine.bytes = 0;
            for (uint64_t bytes : mine.sendBytes)
            {
                mine.bytes += bytes;
            }
        }
        backend.Join(mine, group, group->GetRank(member), ToString(spec.kind), ignore);
    }
}

} // namespace

CollectiveExperiment::CollectiveExperiment(const Cluster& cluster,
                                           uint32_t ranks,
                                           BackendSettings settings)
    : CollectiveExperiment(
          cluster,
          std::make_shared<const Placement>(Placement::Linear(cluster.topology, ranks)),
          std::move(settings))
{
}

CollectiveExperiment::CollectiveExperiment(const Cluster& cluster,
                                           PlacementPtr placement,
                                           BackendSettings settings)
    : m_cluster(cluster), m_placement(std::move(placement)), m_settings(std::move(settings))
{
}

CommGroupPtr CollectiveExperiment::MakeWorld(uint32_t ranks) const
{
    std::vector<RankId> members;
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        members.emplace_back(rank);
    }
    return std::make_shared<const CommGroup>(
        GroupId(0), GroupKind::WORLD, "world", std::move(members));
}

ExperimentResult CollectiveExperiment::Run(const CollectiveSpec& spec, Fidelity fidelity) const
{
    return Run(spec, {}, MakeWorld(m_placement->GetRankCount()), fidelity);
}

CostBreakdown CollectiveExperiment::Explain(const CollectiveSpec& spec) const
{
    SimulatorGuard guard;
    const EchoBackendHelper helper(m_cluster, m_placement, m_settings);
    const bool pair = spec.kind == CollectiveKind::SEND_RECV;
    CollectivePlan plan;
    plan.spec = spec;
    plan.layout = MakeGroupLayout(MakeWorld(pair ? 2 : m_placement->GetRankCount()), m_placement);
    plan.choice = helper.GetSelector()->Select(plan.spec, *plan.layout);
    return helper.GetCostModel()->Estimate(plan);
}

ExperimentResult CollectiveExperiment::Run(const CollectiveSpec& spec,
                                           const std::vector<std::vector<uint64_t>>& splits,
                                           CommGroupPtr group,
                                           Fidelity fidelity) const
{
    if (fidelity == Fidelity::HYBRID)
    {
        fidelity = Fidelity::ANALYTICAL; // alone, nothing is contended
    }
    SimulatorGuard guard;
    ExperimentSink sink;
    EchoBackendHelper helper(m_cluster, m_placement, m_settings);
    Ptr<CollectiveBackend> backend = helper.Create(fidelity, nullptr, &sink);
    Simulator::ScheduleNow([&] { JoinAll(spec, splits, group, *backend); });
    SimulatorGuard::Run();
    if (sink.collectives != 1)
    {
        std::string unfinished;
        for (const auto& line : backend->DescribeUnfinished())
        {
            unfinished += "\n  " + line;
        }
        throw StallError(helper.DescribeTrouble() + "the communication did not end:" + unfinished);
    }
    ExperimentResult& result = sink.result;
    const Time duration = result.GetDuration();
    backend->ReportLinks(sink, duration);
    result.totals = helper.GetTotals();
    for (const auto& link : result.links)
    {
        if (duration.IsStrictlyPositive())
        {
            result.maxLinkUtilization =
                std::max(result.maxLinkUtilization,
                         static_cast<double>(link.busy.GetPicoSeconds()) /
                             static_cast<double>(duration.GetPicoSeconds()));
        }
    }
    backend->Dispose();
    return result;
}

} // namespace echo
} // namespace ns3
