// SPDX-License-Identifier: GPL-2.0-only
// Several whole copies of what data ranks split (HSDP).

#include "list-scheduler.h"
#include "small-plan.h"

#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-stage-parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

using Ranks = std::vector<uint32_t>;

Ranks GroupOf(const ParallelLayout& layout, LayoutGroup group, uint32_t rank)
{
    Ranks numbers;
    for (RankId member : layout.GetGroup(group, RankId(rank)))
    {
        numbers.push_back(member.Get());
    }
    return numbers;
}

ParallelDegrees WithReplicas(ParallelDegrees degrees, uint32_t replicas)
{
    degrees.replicas = replicas;
    return degrees;
}

/** @return bytes of the collectives of rank @p rank over groups of @p size whose names end so */
uint64_t Bytes(const WorkloadGraph& workload, uint32_t rank, const std::string& ending, size_t size)
{
    const ExecutionGraph& program = *workload.GetProgram(RankId(rank));
    uint64_t bytes = 0;
    for (const Operator& op : program.GetOperators())
    {
        const std::string& name = program.GetName(op);
        if (op.type == OperatorType::COLLECTIVE && name.size() >= ending.size() &&
            name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
        {
            const auto& description = program.GetCommunication(op);
            EXPECT_EQ(workload.GetGroup(RankId(rank), description.groupSlot)->GetSize(), size)
                << name;
            bytes += description.spec.bytes;
        }
    }
    return bytes;
}

// tp 2, cp 2, dp 4, pp 2: rank = tp + 2 (cp + 2 (dp + 4 pp)). Two copies: data indices 0, 1 and
// 2, 3.
TEST(Replicas, AreRunsOfDataIndices)
{
    const ParallelLayout layout(WithReplicas({2, 2, 1, 4, 2}, 2), 32);
    EXPECT_EQ(GroupOf(layout, LayoutGroup::DATA, 0), (Ranks{0, 2, 4, 6, 8, 10, 12, 14}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::SHARD, 0), (Ranks{0, 2, 4, 6}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::SHARD, 11), (Ranks{9, 11, 13, 15}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::REPLICA, 0), (Ranks{0, 8}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::REPLICA, 31), (Ranks{23, 31}));
}

TEST(Replicas, OfExpertsAreRunsToo)
{
    const ParallelLayout layout(WithReplicas({1, 1, 2, 8, 1}, 2), 8);
    EXPECT_EQ(GroupOf(layout, LayoutGroup::EXPERT_DATA, 1), (Ranks{1, 3, 5, 7}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::EXPERT_SHARD, 1), (Ranks{1, 3}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::EXPERT_SHARD, 7), (Ranks{5, 7}));
    EXPECT_EQ(GroupOf(layout, LayoutGroup::EXPERT_REPLICA, 6), (Ranks{2, 6}));
}

// 8 data ranks, 2 copies: reductions are scattered over 4, and a quarter is summed over 2, each
// sum behind its scattering.
TEST(Replicas, SumWhatEachRankHasBehindTheScattering)
{
    for (const auto sharding :
         {StateSharding::OPTIMIZER, StateSharding::GRADIENTS, StateSharding::PARAMETERS})
    {
        TrainingPlan plan = SmallPlan(WithReplicas({1, 1, 1, 8, 1}, 2), 2);
        plan.sharding = sharding;
        plan.microBatches = 3;
        const uint64_t held = GetStageParameters(plan, 0).GetTotal();
        const auto workload = Generate(plan);
        const uint64_t times = sharding == StateSharding::OPTIMIZER ? 1 : 3;
        for (const uint32_t rank : {0, 7})
        {
            EXPECT_EQ(Bytes(*workload, rank, "reduce-scatter", 4), times * held * 4);
            EXPECT_NEAR(Bytes(*workload, rank, "0 all-reduce", 2) +
                            Bytes(*workload, rank, "gradients all-reduce", 2) +
                            Bytes(*workload, rank, "1 all-reduce", 2) +
                            Bytes(*workload, rank, "2 all-reduce", 2),
                        times * held,
                        times * 4 * 4);
            EXPECT_GE(Bytes(*workload, rank, "all-gather", 4), held * 4);
        }
        std::map<std::string, double> took{{"reduce-scatter", 0}, {"all-reduce", 0}};
        ListScheduler run(
            workload,
            [](const auto&, const Operator&) { return 0.0; },
            [](const auto& group, const auto& spec) {
                return group.GetSize() == 8                          ? 0.0
                       : spec.kind == CollectiveKind::ALL_REDUCE     ? 1.0
                       : spec.kind == CollectiveKind::REDUCE_SCATTER ? 10.0
                                                                     : 0.0;
            });
        ASSERT_TRUE(run.Run());
        // The last sum follows the last scattering.
        const double scatterings = double(times) * (sharding == StateSharding::PARAMETERS ? 3 : 1);
        EXPECT_EQ(run.GetStepTime(), 10 * scatterings + 1) << int(sharding);
    }
}

TEST(Replicas, NeedMoreMemory)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 8, 1}, 4);
    plan.sharding = StateSharding::OPTIMIZER;
    const uint64_t one = EstimateMemory(plan, 0).optimizerBytes;
    plan.parallel.replicas = 4;
    EXPECT_EQ(EstimateMemory(plan, 0).optimizerBytes, 4 * one);
    plan.sharding = StateSharding::NONE;
    plan.parallel.replicas = 1;
    EXPECT_EQ(EstimateMemory(plan, 0).optimizerBytes, 8 * one);
}

TEST(Replicas, OfWhatCannotBeAreRefused)
{
    TrainingPlan plan = SmallPlan(WithReplicas({1, 1, 1, 8, 1}, 2), 2);
    EXPECT_EQ(MessageOf([&] { Generate(plan); }),
              "parallel.replicas: found 2 without zero, expected it where state is split (zero: 1, "
              "2 or 3) only");
    plan.sharding = StateSharding::OPTIMIZER;
    plan.parallel.replicas = 3;
    EXPECT_EQ(MessageOf([&] { Generate(plan); }),
              "parallel.replicas: found 3, expected a divisor of dp 8");
    EXPECT_EQ(MessageOf([] {
                  ParallelLayout(WithReplicas({1, 1, 4, 8, 1}, 4), 8);
              }),
              "parallel.replicas: found 4, expected a divisor of the 2 ranks that hold the same "
              "experts");
}

} // namespace
