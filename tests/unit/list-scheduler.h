// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_LIST_SCHEDULER_H
#define ECHO_TESTS_LIST_SCHEDULER_H

#include "ns3/echo-workload-graph.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Times a workload without a simulator: streams in order, dependencies, rendezvous of collectives
 * (the n-th call of each member) and of sends with receives (first-in first-out by source,
 * destination and tag). Durations are any unit. Links do not contend.
 */
class ListScheduler
{
  public:
    using OperatorCost = std::function<double(const ExecutionGraph&, const Operator&)>;
    using CollectiveCost = std::function<double(const CommGroup&, const CollectiveSpec&)>;

    ListScheduler(WorkloadGraphPtr workload, OperatorCost compute, CollectiveCost collective)
        : m_workload(std::move(workload)),
          m_compute(std::move(compute)),
          m_collective(std::move(collective))
    {
    }

    /** @return whether every operator ended */
    bool Run()
    {
        const uint32_t ranks = m_workload->GetRankCount();
        m_ends.resize(ranks);
        m_next.resize(ranks);
        std::set<uint32_t> active;
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            const auto& program = *m_workload->GetProgram(RankId(rank));
            m_ends[rank].assign(program.GetOperators().size(), -1);
            m_next[rank].assign(program.GetStreamCount(), 0);
            active.insert(rank);
        }
        while (!active.empty())
        {
            const uint32_t rank = *active.begin();
            active.erase(active.begin());
            for (uint32_t woken : Advance(rank))
            {
                active.insert(woken);
            }
        }
        for (const auto& ends : m_ends)
        {
            if (std::find(ends.begin(), ends.end(), -1.0) != ends.end())
            {
                return false;
            }
        }
        return true;
    }

    /** @return time at which the last operator ends */
    double GetStepTime() const
    {
        double latest = 0;
        for (const auto& ends : m_ends)
        {
            latest = std::max(latest, *std::max_element(ends.begin(), ends.end()));
        }
        return latest;
    }

    uint64_t GetCollectives() const
    {
        return m_collectives;
    }

    uint64_t GetMessages() const
    {
        return m_messages;
    }

  private:
    struct Member
    {
        uint32_t rank;
        uint32_t op;
    };

    /** A batch of sends and receives that waits for its partners. */
    struct Batch
    {
        size_t open; //!< elements not yet matched
        double end;
    };

    struct Posted
    {
        Member member;
        double time;
        uint64_t bytes;
    };

    std::vector<uint32_t> Advance(uint32_t rank)
    {
        const auto& program = *m_workload->GetProgram(RankId(rank));
        std::vector<uint32_t> woken;
        for (bool progress = true; progress;)
        {
            progress = false;
            for (uint32_t stream = 0; stream < program.GetStreamCount(); ++stream)
            {
                const auto& order = program.GetStream(StreamId(stream));
                uint32_t& next = m_next[rank][stream];
                while (next < order.size() && Issue(rank, program, order, next, woken))
                {
                    ++next;
                    progress = true;
                }
            }
        }
        return woken;
    }

    /** @return whether the operator at @p position could be issued; one that joins a communication
     * stays at the head of its stream until that has ended */
    bool Issue(uint32_t rank,
               const ExecutionGraph& program,
               const std::vector<OperatorId>& order,
               uint32_t position,
               std::vector<uint32_t>& woken)
    {
        const uint32_t id = order[position].Get();
        const Operator& op = program.GetOperator(OperatorId(id));
        if (m_ends[rank][id] >= 0)
        {
            return true;
        }
        if (m_joined.count({rank, id}) > 0)
        {
            return false;
        }
        double ready = position == 0 ? 0 : m_ends[rank][order[position - 1].Get()];
        if (ready < 0)
        {
            return false;
        }
        const OperatorId* dependencies = program.GetDependencies(op);
        for (uint32_t i = 0; i < op.dependencyCount; ++i)
        {
            const double end = m_ends[rank][dependencies[i].Get()];
            if (end < 0)
            {
                return false;
            }
            ready = std::max(ready, end);
        }
        switch (op.type)
        {
        case OperatorType::COLLECTIVE:
            JoinCollective({rank, id}, program, op, ready, woken);
            break;
        case OperatorType::POINT_TO_POINT:
            JoinBatch({rank, id}, program, op, ready, woken);
            break;
        default:
            m_ends[rank][id] = ready + m_compute(program, op);
        }
        return m_ends[rank][id] >= 0;
    }

    void JoinCollective(Member member,
                        const ExecutionGraph& program,
                        const Operator& op,
                        double ready,
                        std::vector<uint32_t>& woken)
    {
        const auto& description = program.GetCommunication(op);
        const CommGroupPtr group = m_workload->GetGroup(RankId(member.rank), description.groupSlot);
        m_joined.insert({member.rank, member.op});
        const uint32_t call = m_calls[{group->GetId(), member.rank}]++;
        auto& instance = m_instances[{group->GetId(), call}];
        instance.emplace_back(member, ready);
        if (instance.size() < group->GetSize())
        {
            return;
        }
        double start = 0;
        for (const auto& [joined, time] : instance)
        {
            start = std::max(start, time);
        }
        const double end = start + m_collective(*group, description.spec);
        for (const auto& [joined, time] : instance)
        {
            m_ends[joined.rank][joined.op] = end;
            woken.push_back(joined.rank);
        }
        ++m_collectives;
        m_instances.erase({group->GetId(), call});
    }

    void JoinBatch(Member member,
                   const ExecutionGraph& program,
                   const Operator& op,
                   double ready,
                   std::vector<uint32_t>& woken)
    {
        const auto& description = program.GetCommunication(op);
        const CommGroupPtr group = m_workload->GetGroup(RankId(member.rank), description.groupSlot);
        m_joined.insert({member.rank, member.op});
        m_batches[{member.rank, member.op}] = {description.elements.size(), ready};
        for (const auto& element : description.elements)
        {
            const uint32_t peer = group->GetRank(element.peerIndex).Get();
            const auto key = element.isSend ? std::make_tuple(member.rank, peer, element.tag)
                                            : std::make_tuple(peer, member.rank, element.tag);
            auto& partners = m_posted[!element.isSend][key];
            if (partners.empty())
            {
                m_posted[element.isSend][key].push_back({member, ready, element.bytes});
                continue;
            }
            const Posted partner = partners.front();
            partners.pop_front();
            if (partner.bytes != element.bytes)
            {
                continue; // never matches: the step does not end
            }
            CollectiveSpec spec;
            spec.kind = CollectiveKind::SEND_RECV;
            spec.bytes = element.bytes;
            const double end = std::max(ready, partner.time) + m_collective(*group, spec);
            ++m_messages;
            Complete(member, end, woken);
            Complete(partner.member, end, woken);
        }
    }

    void Complete(Member member, double end, std::vector<uint32_t>& woken)
    {
        Batch& batch = m_batches[{member.rank, member.op}];
        batch.end = std::max(batch.end, end);
        if (--batch.open == 0)
        {
            m_ends[member.rank][member.op] = batch.end;
            woken.push_back(member.rank);
        }
    }

    WorkloadGraphPtr m_workload;
    OperatorCost m_compute;
    CollectiveCost m_collective;
    std::vector<std::vector<double>> m_ends;   //!< by rank, operator; -1: not ended
    std::vector<std::vector<uint32_t>> m_next; //!< by rank, stream
    std::set<std::pair<uint32_t, uint32_t>> m_joined;
    std::map<std::pair<GroupId, uint32_t>, uint32_t> m_calls;
    std::map<std::pair<GroupId, uint32_t>, std::vector<std::pair<Member, double>>> m_instances;
    std::map<std::pair<uint32_t, uint32_t>, Batch> m_batches;
    std::map<std::tuple<uint32_t, uint32_t, int32_t>, std::deque<Posted>> m_posted[2];
    uint64_t m_collectives{0};
    uint64_t m_messages{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_LIST_SCHEDULER_H */
