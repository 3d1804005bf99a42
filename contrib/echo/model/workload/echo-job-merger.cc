// SPDX-License-Identifier: GPL-2.0-only
#include "echo-job-merger.h"

#include "echo-workload-builder.h"

namespace ns3
{
namespace echo
{

namespace
{

/**
 * Adds all of a workload's groups.
 * @param prefix of their names
 * @param first rank that its rank 0 becomes
 * @return by its GroupId
 */
std::vector<CommGroupPtr> AddGroups(WorkloadBuilder& builder,
                                    const WorkloadGraph& workload,
                                    const std::string& prefix,
                                    uint32_t first)
{
    std::vector<CommGroupPtr> groups;
    for (const CommGroupPtr& group : workload.GetGroups())
    {
        std::vector<RankId> ranks;
        for (const RankId rank : group->GetRanks())
        {
            ranks.emplace_back(first + rank.Get());
        }
        groups.push_back(
            builder.AddSeparateGroup(group->GetKind(), prefix + group->GetName(), ranks));
    }
    return groups;
}

/** Gives rank @p to of the builder what rank @p from of a workload does, @p delay later. */
void CopyRank(WorkloadBuilder& builder,
              RankId to,
              const WorkloadGraph& workload,
              RankId from,
              const std::vector<CommGroupPtr>& groups,
              Time delay)
{
    const ExecutionGraphPtr& program = workload.GetProgram(from);
    std::vector<CommGroupPtr> bindings;
    for (uint32_t slot = 0; slot < program->GetGroupSlotCount(); ++slot)
    {
        bindings.push_back(groups[workload.GetGroup(from, slot)->GetId().Get()]);
    }
    builder.SetProgram(to, program, std::move(bindings));
    const Time start = delay + workload.GetStartTime(from);
    if (!start.IsZero())
    {
        builder.SetStartTime(to, start);
    }
}

} // namespace

WorkloadGraphPtr MergeJobs(const std::vector<JobWorkload>& jobs)
{
    uint32_t ranks = 0;
    for (const JobWorkload& job : jobs)
    {
        ranks += job.workload->GetRankCount();
    }
    WorkloadBuilder builder(ranks);
    uint32_t first = 0;
    for (const JobWorkload& job : jobs)
    {
        const WorkloadGraph& own = *job.workload;
        const auto groups = AddGroups(builder, own, job.name + "/", first);
        for (uint32_t i = 0; i < own.GetRankCount(); ++i)
        {
            CopyRank(builder, RankId(first + i), own, RankId(i), groups, job.start);
        }
        builder.AddJob(job.name, own.GetRankCount());
        first += own.GetRankCount();
    }
    return builder.Build();
}

WorkloadGraphPtr KeepJob(const WorkloadGraph& workload, size_t job)
{
    const JobSpan& kept = workload.GetJobs()[job];
    const ExecutionGraphPtr nothing = ExecutionGraphBuilder().Build();
    WorkloadBuilder builder(workload.GetRankCount());
    const auto groups = AddGroups(builder, workload, "", 0);
    for (uint32_t i = 0; i < workload.GetRankCount(); ++i)
    {
        const RankId rank(i);
        if (FindJob(workload.GetJobs(), rank) == &kept)
        {
            CopyRank(builder, rank, workload, rank, groups, Time());
        }
        else
        {
            builder.SetProgram(rank, nothing, {});
        }
    }
    for (const JobSpan& span : workload.GetJobs())
    {
        builder.AddJob(span.name, span.ranks);
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
