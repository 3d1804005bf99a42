// SPDX-License-Identifier: GPL-2.0-only
// The least that executes a workload: streams in order, dependencies, collectives of given times.
#ifndef KINETO_REPLAY_H
#define KINETO_REPLAY_H

#include "ns3/echo-kineto-importer.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

struct ReplayedOperator
{
    std::string name;
    ns3::Time start;
    ns3::Time end;
    bool isDone{false};
};

/** Runs every rank; operators of a rank in the order of its program. */
class KinetoReplay
{
  public:
    using Transfer = std::function<ns3::Time(ns3::echo::GroupId group, uint32_t sequence)>;

    KinetoReplay(const ns3::echo::WorkloadGraph& workload, Transfer transfer)
        : m_workload(workload), m_transfer(std::move(transfer))
    {
        ranks.resize(workload.GetRankCount());
        for (uint32_t rank = 0; rank < ranks.size(); ++rank)
        {
            const auto& program = *workload.GetProgram(ns3::echo::RankId(rank));
            for (const auto& op : program.GetOperators())
            {
                ranks[rank].push_back({program.GetName(op), {}, {}, false});
            }
        }
        while (Pass())
        {
        }
    }

    /** @return the first operator of that name on a rank */
    const ReplayedOperator& Find(const std::string& name, uint32_t rank = 0) const
    {
        for (const auto& op : ranks[rank])
        {
            if (op.name == name)
            {
                return op;
            }
        }
        throw std::runtime_error("no operator " + name);
    }

    ns3::Time End(uint32_t rank = 0) const
    {
        ns3::Time end;
        for (const auto& op : ranks[rank])
        {
            if (!op.isDone)
            {
                throw std::runtime_error("not done: " + op.name);
            }
            end = std::max(end, op.end);
        }
        return end;
    }

    std::vector<std::vector<ReplayedOperator>> ranks;

  private:
    bool Pass()
    {
        using namespace ns3::echo;
        bool progress = false;
        for (uint32_t rank = 0; rank < ranks.size(); ++rank)
        {
            const auto& program = *m_workload.GetProgram(RankId(rank));
            for (uint32_t i = 0; i < program.GetOperators().size(); ++i)
            {
                const Operator& op = program.GetOperator(OperatorId(i));
                ns3::Time start = m_workload.GetStartTime(RankId(rank));
                if (ranks[rank][i].isDone || m_joined.count({rank, i}) > 0 ||
                    !IsReady(program, rank, i, start))
                {
                    continue;
                }
                progress = true;
                ranks[rank][i].start = start;
                if (op.type != OperatorType::COLLECTIVE)
                {
                    ranks[rank][i].end = start + op.duration;
                    ranks[rank][i].isDone = true;
                    continue;
                }
                const auto group =
                    m_workload.GetGroup(RankId(rank), program.GetCommunication(op).groupSlot);
                const uint32_t sequence = m_calls[{group->GetId(), rank}]++;
                auto& members = m_instances[{group->GetId(), sequence}];
                members.push_back({rank, i});
                m_joined.insert({rank, i});
                if (members.size() < group->GetSize())
                {
                    continue;
                }
                ns3::Time last;
                for (const auto& [r, o] : members)
                {
                    last = std::max(last, ranks[r][o].start);
                }
                for (const auto& [r, o] : members)
                {
                    ranks[r][o].end = last + m_transfer(group->GetId(), sequence);
                    ranks[r][o].isDone = true;
                }
            }
        }
        return progress;
    }

    bool IsReady(const ns3::echo::ExecutionGraph& program,
                 uint32_t rank,
                 uint32_t index,
                 ns3::Time& start) const
    {
        using namespace ns3::echo;
        const Operator& op = program.GetOperator(OperatorId(index));
        std::vector<uint32_t> before;
        const uint32_t position = program.GetPosition(OperatorId(index));
        if (position > 0)
        {
            before.push_back(program.GetStream(op.stream)[position - 1].Get());
        }
        for (uint32_t i = 0; i < op.dependencyCount; ++i)
        {
            before.push_back(program.GetDependencies(op)[i].Get());
        }
        for (uint32_t each : before)
        {
            if (!ranks[rank][each].isDone)
            {
                return false;
            }
            start = std::max(start, ranks[rank][each].end);
        }
        return true;
    }

    const ns3::echo::WorkloadGraph& m_workload;
    Transfer m_transfer;
    std::set<std::pair<uint32_t, uint32_t>> m_joined;
    std::map<std::pair<ns3::echo::GroupId, uint32_t>, uint32_t> m_calls;
    std::map<std::pair<ns3::echo::GroupId, uint32_t>, std::vector<std::pair<uint32_t, uint32_t>>>
        m_instances;
};

#endif /* KINETO_REPLAY_H */
