// SPDX-License-Identifier: GPL-2.0-only
#include "representative-ranks.h"

#include "ns3/echo-backend-helper.h"
#include "ns3/echo-scenario-setup.h"
#include "ns3/echo-workload-builder.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace echo
{

namespace
{

/** Rebuilds a workload with the first rank of each of its programs. */
class Reduction
{
  public:
    explicit Reduction(const Scenario& scenario)
        : m_full(scenario.workload),
          m_placement(MakeScenarioPlacement(scenario)),
          m_helper(scenario.cluster, m_placement, MakeBackendSettings(scenario))
    {
        std::map<const ExecutionGraph*, RankId> seen;
        for (uint32_t rank = 0; rank < m_full->GetRankCount(); ++rank)
        {
            if (seen.emplace(m_full->GetProgram(RankId(rank)).get(), RankId(rank)).second)
            {
                m_newRank[RankId(rank)] = RankId(static_cast<uint32_t>(m_ranks.size()));
                m_ranks.emplace_back(rank);
            }
        }
    }

    WorkloadGraphPtr Make()
    {
        WorkloadBuilder builder(static_cast<uint32_t>(m_ranks.size()));
        for (RankId rank : m_ranks)
        {
            const ExecutionGraph& program = *m_full->GetProgram(rank);
            std::vector<CommGroupPtr> bound;
            for (uint32_t slot = 0; slot < program.GetGroupSlotCount(); ++slot)
            {
                const CommGroupPtr& group = m_full->GetGroup(rank, slot);
                bound.push_back(
                    builder.AddGroup(group->GetKind(), group->GetName(), GetMembers(*group)));
            }
            builder.SetProgram(m_newRank.at(rank), Rebuild(program, rank), std::move(bound));
        }
        return builder.Build();
    }

    std::vector<DeviceId> GetGpus() const
    {
        std::vector<DeviceId> gpus;
        for (RankId rank : m_ranks)
        {
            gpus.push_back(m_placement->GetGpu(rank));
        }
        return gpus;
    }

  private:
    /** @return the representatives in a group, by their new numbers */
    std::vector<RankId> GetMembers(const CommGroup& group) const
    {
        std::vector<RankId> members;
        for (RankId rank : group.GetRanks())
        {
            const auto known = m_newRank.find(rank);
            if (known != m_newRank.end())
            {
                members.push_back(known->second);
            }
        }
        return members;
    }

    Time Estimate(const CollectiveSpec& spec, const CommGroupPtr& group) const
    {
        CollectivePlan plan;
        plan.spec = spec;
        plan.layout = MakeGroupLayout(group, m_placement);
        plan.choice = m_helper.GetSelector()->Select(spec, *plan.layout);
        return m_helper.GetCostModel()->Estimate(plan).GetTotal();
    }

    ExecutionGraphPtr Rebuild(const ExecutionGraph& program, RankId rank)
    {
        ExecutionGraphBuilder builder(program.GetSource());
        for (uint32_t slot = 0; slot < program.GetGroupSlotCount(); ++slot)
        {
            builder.AddGroupSlot();
        }
        m_ids.assign(program.GetOperators().size(), OperatorId());
        m_times.clear();
        for (uint32_t i = 0; i < program.GetOperators().size(); ++i)
        {
            const Operator& op = program.GetOperator(OperatorId(i));
            const StreamId stream = builder.GetStream(program.GetStreamName(op.stream));
            const OperatorId first = Add(builder, program, op, stream, rank);
            for (uint32_t d = 0; d < op.dependencyCount; ++d)
            {
                builder.AddDependency(first, m_ids[program.GetDependencies(op)[d].Get()]);
            }
            m_ids[i] = m_last.IsValid() ? m_last : first;
        }
        return builder.Build();
    }

    /** @return the operator that waits for what @p op waited for; m_last is the one that ends it */
    OperatorId Add(ExecutionGraphBuilder& builder,
                   const ExecutionGraph& program,
                   const Operator& op,
                   StreamId stream,
                   RankId rank)
    {
        const std::string& name = program.GetName(op);
        m_last = OperatorId();
        switch (op.type)
        {
        case OperatorType::COMPUTE:
        {
            const OperatorId added =
                builder.AddCompute(stream, name, op.duration, op.flops, op.memoryBytes);
            builder.SetKernel(added, op.kernel, op.precision, op.shape);
            return added;
        }
        case OperatorType::COPY:
            return builder.AddCopy(stream, name, op.duration, op.memoryBytes);
        case OperatorType::HOST:
            return builder.AddHost(stream, name, op.duration);
        case OperatorType::MARKER:
            return builder.AddMarker(stream, name);
        case OperatorType::COLLECTIVE:
            return AddCollective(builder, program, op, stream, rank);
        case OperatorType::POINT_TO_POINT:
            break;
        }
        const CommunicationDescription& message = program.GetCommunication(op);
        const CommGroup& group = *m_full->GetGroup(rank, message.groupSlot);
        const std::vector<RankId> members = GetMembers(group);
        auto elements = message.elements;
        for (auto& element : elements)
        {
            const RankId peer = m_newRank.at(group.GetRank(element.peerIndex));
            element.peerIndex = static_cast<uint32_t>(
                std::find(members.begin(), members.end(), peer) - members.begin());
        }
        return builder.AddPointToPoint(stream, name, message.groupSlot, std::move(elements));
    }

    OperatorId AddCollective(ExecutionGraphBuilder& builder,
                             const ExecutionGraph& program,
                             const Operator& op,
                             StreamId stream,
                             RankId rank)
    {
        const std::string& name = program.GetName(op);
        const CommunicationDescription& call = program.GetCommunication(op);
        const CommGroupPtr& group = m_full->GetGroup(rank, call.groupSlot);
        if (call.spec.kind == CollectiveKind::ALL_TO_ALL_V)
        {
            throw UnsupportedError("'" + name + "' differs between ranks of one program");
        }
        const uint32_t members = static_cast<uint32_t>(GetMembers(*group).size());
        if (members == group->GetSize())
        {
            return builder.AddCollective(stream, name, call.groupSlot, call.spec);
        }
        const auto [known, isNew] = m_times.emplace(op.communication, Time());
        if (isNew)
        {
            known->second = Estimate(call.spec, group);
        }
        if (members == 1)
        {
            return builder.AddHost(stream, name, known->second);
        }
        // The representatives meet in a small collective; the rest of the time follows.
        CollectiveSpec meeting;
        meeting.bytes = 4;
        std::vector<RankId> met;
        for (RankId member : group->GetRanks())
        {
            if (m_newRank.count(member) > 0)
            {
                met.push_back(member);
            }
        }
        const Time spent = Estimate(
            meeting,
            std::make_shared<const CommGroup>(group->GetId(), group->GetKind(), "met", met));
        const OperatorId first =
            builder.AddCollective(stream, name + " meeting", call.groupSlot, meeting);
        m_last = builder.AddHost(stream, name, Max(Time(), known->second - spent));
        return first;
    }

    WorkloadGraphPtr m_full;
    PlacementPtr m_placement; //!< of all ranks
    EchoBackendHelper m_helper;
    std::vector<RankId> m_ranks;        //!< that represent the others
    std::map<RankId, RankId> m_newRank; //!< their numbers in the reduced workload
    std::vector<OperatorId> m_ids;      //!< new operators, by old
    OperatorId m_last;                  //!< of what the last Add made, if more than one
    std::map<uint32_t, Time> m_times;   //!< by communication of the program that is rebuilt
};

} // namespace

void KeepRepresentatives(Scenario& scenario)
{
    Reduction reduction(scenario);
    scenario.workload = reduction.Make();
    scenario.placementGpus = reduction.GetGpus();
}

} // namespace echo
} // namespace ns3
