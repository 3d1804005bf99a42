// SPDX-License-Identifier: GPL-2.0-only
#include "echo-transformer-generator.h"

#include "echo-stage-program.h"
#include "echo-workload-builder.h"

#include <map>

namespace ns3
{
namespace echo
{

namespace
{

/** A program and the groups of its slots. */
struct Program
{
    ExecutionGraphPtr graph;
    std::vector<LayoutGroup> slots;
};

/** @return which program @p rank runs */
ProgramIndex GetIndex(const TrainingPlan& plan, const ParallelLayout& layout, RankId rank)
{
    const ParallelLayout::Coordinates at = layout.CoordinatesOf(rank);
    const bool differs =
        plan.parallel.context > 1 && plan.attention != AttentionKernel::UNFUSED &&
        plan.contextExchange != ContextExchange::ALL_TO_ALL &&
        (plan.contextExchange != ContextExchange::ALL_GATHER || !plan.balanceContext);
    ProgramIndex index;
    index.stage = at.pipeline;
    index.context = differs ? at.context : 0;
    index.expert = plan.expertLoad.empty() ? 0 : layout.GetExpertIndex(rank);
    return index;
}

} // namespace

WorkloadGraphPtr GenerateTransformer(const TrainingPlan& plan, uint32_t ranks)
{
    plan.Check();
    const ParallelLayout layout(plan.GetDegrees(), ranks);
    WorkloadBuilder builder(ranks);
    // Groups in the order of their first rank, so that their ids and names follow the layout.
    std::map<std::pair<LayoutGroup, RankId>, CommGroupPtr> groups; // by first rank
    std::map<LayoutGroup, uint32_t> counts;
    std::map<ProgramIndex, Program> programs;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        const RankId rank(i);
        const ProgramIndex index = GetIndex(plan, layout, rank);
        Program& program = programs[index];
        if (!program.graph)
        {
            program.graph = StageProgram(plan, layout, index).Make(program.slots);
        }
        std::vector<CommGroupPtr> bound;
        bound.reserve(program.slots.size());
        for (LayoutGroup slot : program.slots)
        {
            CommGroupPtr& group = groups[{slot, layout.GetFirstOfGroup(slot, rank)}];
            if (!group)
            {
                group = builder.AddGroup(GetGroupKind(slot),
                                         ToString(slot) + std::to_string(counts[slot]++),
                                         layout.GetGroup(slot, rank));
            }
            bound.push_back(group);
        }
        builder.SetProgram(rank, program.graph, std::move(bound));
    }
    return builder.Build();
}

} // namespace echo
} // namespace ns3
