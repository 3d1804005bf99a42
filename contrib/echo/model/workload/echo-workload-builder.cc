// SPDX-License-Identifier: GPL-2.0-only
#include "echo-workload-builder.h"

#include "ns3/abort.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** @return sorted numbers as "3, 7 to 9"; at most 20 parts */
std::string FormatRanges(const std::vector<uint32_t>& numbers)
{
    std::string text;
    uint32_t parts = 0;
    for (size_t i = 0; i < numbers.size();)
    {
        size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
        {
            ++last;
        }
        if (++parts > 20)
        {
            return text + " and " + std::to_string(numbers.size() - i) + " more";
        }
        text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
        if (last > i)
        {
            text += (last > i + 1 ? " to " : ", ") + std::to_string(numbers[last]);
        }
        i = last + 1;
    }
    return text;
}

SourceLocation AtRank(RankId rank, const std::string& file = "")
{
    return {file, 0, "rank " + std::to_string(rank.Get())};
}

} // namespace

std::vector<ExecutionGraphPtr> WorkloadGraph::GetDistinctPrograms() const
{
    std::set<const ExecutionGraph*> seen;
    std::vector<ExecutionGraphPtr> programs;
    for (const ExecutionGraphPtr& program : m_programs)
    {
        if (seen.insert(program.get()).second)
        {
            programs.push_back(program);
        }
    }
    return programs;
}

WorkloadBuilder::WorkloadBuilder(uint32_t ranks)
{
    if (ranks == 0)
    {
        throw InputError({"", 0, "workload"}, "0 ranks", "at least one");
    }
    m_graph.m_programs.resize(ranks);
    m_graph.m_bindings.resize(ranks);
}

void WorkloadBuilder::CheckRank(RankId rank) const
{
    const auto ranks = static_cast<uint32_t>(m_graph.m_programs.size());
    if (rank.Get() >= ranks)
    {
        throw InputError({"", 0, "workload"},
                         "rank " + std::to_string(rank.Get()),
                         "0 to " + std::to_string(ranks - 1));
    }
}

CommGroupPtr WorkloadBuilder::AddGroup(GroupKind kind,
                                       const std::string& name,
                                       std::vector<RankId> ranks,
                                       uint32_t communicator)
{
    const auto known = m_groupIndex.find(std::make_tuple(kind, ranks, communicator));
    if (known != m_groupIndex.end())
    {
        return known->second;
    }
    CommGroupPtr group = AddSeparateGroup(kind, name, ranks);
    m_groupIndex.emplace(std::make_tuple(kind, std::move(ranks), communicator), group);
    return group;
}

CommGroupPtr WorkloadBuilder::AddSeparateGroup(GroupKind kind,
                                               const std::string& name,
                                               const std::vector<RankId>& ranks)
{
    const auto count = static_cast<uint32_t>(m_graph.m_programs.size());
    for (RankId rank : ranks)
    {
        if (rank.Get() >= count)
        {
            throw InputError({"", 0, "group " + name},
                             "rank " + std::to_string(rank.Get()),
                             "0 to " + std::to_string(count - 1));
        }
    }
    const GroupId id(static_cast<uint32_t>(m_graph.m_groups.size()));
    auto group = std::make_shared<const CommGroup>(id, kind, name, ranks);
    m_graph.m_groups.push_back(group);
    return group;
}

void WorkloadBuilder::SetProgram(RankId rank,
                                 ExecutionGraphPtr program,
                                 std::vector<CommGroupPtr> groups)
{
    CheckRank(rank);
    if (!program)
    {
        throw InputError(AtRank(rank), "no program", "one");
    }
    if (m_graph.m_programs[rank.Get()])
    {
        throw InputError(AtRank(rank, program->GetSource()),
                         "a second program (the first is from " +
                             m_graph.m_programs[rank.Get()]->GetSource() + ")",
                         "one a rank");
    }
    m_graph.m_programs[rank.Get()] = std::move(program);
    m_graph.m_bindings[rank.Get()] = std::move(groups);
}

void WorkloadBuilder::SetStartTime(RankId rank, Time time)
{
    CheckRank(rank);
    if (time.IsStrictlyNegative())
    {
        throw InputError(AtRank(rank), "a negative start time", "zero or more");
    }
    m_graph.m_startTimes.resize(m_graph.m_programs.size());
    m_graph.m_startTimes[rank.Get()] = time;
}

void WorkloadBuilder::AddJob(const std::string& name, uint32_t ranks)
{
    const auto& jobs = m_graph.m_jobs;
    const uint32_t first = jobs.empty() ? 0 : jobs.back().firstRank.Get() + jobs.back().ranks;
    NS_ABORT_MSG_IF(ranks == 0 || ranks > m_graph.m_programs.size() - first,
                    "a job has ranks of its own");
    m_graph.m_jobs.push_back({name, RankId(first), ranks});
}

void WorkloadBuilder::CheckBindings(RankId rank) const
{
    const ExecutionGraph& program = *m_graph.m_programs[rank.Get()];
    const auto& groups = m_graph.m_bindings[rank.Get()];
    if (groups.size() != program.GetGroupSlotCount())
    {
        throw InputError(AtRank(rank, program.GetSource()),
                         std::to_string(groups.size()) + " groups",
                         std::to_string(program.GetGroupSlotCount()) + ", one a slot");
    }
    for (uint32_t slot = 0; slot < groups.size(); ++slot)
    {
        if (!groups[slot])
        {
            throw InputError(AtRank(rank, program.GetSource()),
                             "no group in slot " + std::to_string(slot),
                             "one");
        }
        const CommGroup& group = *groups[slot];
        if (group.GetId().Get() >= m_graph.m_groups.size() ||
            m_graph.m_groups[group.GetId().Get()] != groups[slot])
        {
            throw InputError(AtRank(rank, program.GetSource()),
                             "group " + group.GetName() + " of another workload",
                             "one that AddGroup gave");
        }
        const std::string place = "group " + group.GetName() + " (slot " + std::to_string(slot) +
                                  ") of " + std::to_string(group.GetSize()) + " ranks";
        if (group.IndexOf(rank) == group.GetSize())
        {
            throw InputError(AtRank(rank, program.GetSource()),
                             place + " that does not hold rank " + std::to_string(rank.Get()),
                             "a group that holds it");
        }
        const auto& needs = program.GetSlotNeeds(slot);
        auto at = [&](OperatorId op) {
            SourceLocation where = program.GetLocation(op);
            where.item = "rank " + std::to_string(rank.Get()) + " " + where.item;
            return where;
        };
        if (needs.minimumSize > group.GetSize())
        {
            throw InputError(at(needs.minimumBy),
                             "peer or root " + std::to_string(needs.minimumSize - 1) + " in " +
                                 place,
                             "0 to " + std::to_string(group.GetSize() - 1));
        }
        if (needs.exactSize != 0 && needs.exactSize != group.GetSize())
        {
            throw InputError(at(needs.exactBy),
                             "bytes for " + std::to_string(needs.exactSize) + " members in " +
                                 place,
                             "one number a member");
        }
        if (needs.otherExactBy.IsValid())
        {
            throw InputError(at(needs.otherExactBy),
                             "bytes for another number of members than " +
                                 std::to_string(needs.exactSize) + " in " + place,
                             "one number a member");
        }
    }
}

WorkloadGraphPtr WorkloadBuilder::Build()
{
    std::vector<uint32_t> missing;
    for (uint32_t i = 0; i < m_graph.m_programs.size(); ++i)
    {
        if (!m_graph.m_programs[i])
        {
            missing.push_back(i);
        }
    }
    if (!missing.empty())
    {
        throw InputError({"", 0, "workload"},
                         (missing.size() == 1 ? "no program for rank " : "no programs for ranks ") +
                             FormatRanges(missing),
                         "one for each of " + std::to_string(m_graph.m_programs.size()) + " ranks");
    }
    for (uint32_t i = 0; i < m_graph.m_programs.size(); ++i)
    {
        CheckBindings(RankId(i));
    }
    auto sealed = std::make_shared<const WorkloadGraph>(std::move(m_graph));
    m_graph = WorkloadGraph();
    m_groupIndex.clear();
    return sealed;
}

} // namespace echo
} // namespace ns3
