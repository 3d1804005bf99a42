// SPDX-License-Identifier: GPL-2.0-only

#include "small-plan.h"

#include "ns3/echo-parallel-layout.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

using Ranks = std::vector<uint32_t>;

Ranks Numbers(const std::vector<RankId>& ranks)
{
    Ranks numbers;
    for (RankId rank : ranks)
    {
        numbers.push_back(rank.Get());
    }
    return numbers;
}

TEST(ParallelLayout, MegatronsExampleOfSixteenRanks)
{
    // The example in the comments of Megatron-LM's initialize_model_parallel: 16 GPUs, tensor 2,
    // pipeline 4, hence data 2.
    const ParallelLayout layout({2, 1, 1, 2, 4}, 16);
    const auto group = [&](LayoutGroup kind, uint32_t rank) {
        return Numbers(layout.GetGroup(kind, RankId(rank)));
    };
    EXPECT_EQ(group(LayoutGroup::DATA, 0), (Ranks{0, 2}));
    EXPECT_EQ(group(LayoutGroup::DATA, 15), (Ranks{13, 15}));
    EXPECT_EQ(group(LayoutGroup::TENSOR, 6), (Ranks{6, 7}));
    EXPECT_EQ(group(LayoutGroup::PIPELINE, 0), (Ranks{0, 4, 8, 12}));
    EXPECT_EQ(group(LayoutGroup::PIPELINE, 7), (Ranks{3, 7, 11, 15}));
    EXPECT_EQ(group(LayoutGroup::EMBEDDING, 13), (Ranks{1, 13}));
    EXPECT_EQ(group(LayoutGroup::MODEL, 2), (Ranks{2, 3, 6, 7, 10, 11, 14, 15}));
    EXPECT_EQ(layout.GetGroups(LayoutGroup::DATA).size(), 8u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::TENSOR).size(), 8u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::PIPELINE).size(), 4u);
    EXPECT_EQ(layout.GetGroups(LayoutGroup::EMBEDDING).size(), 4u);
}

TEST(ParallelLayout, CoordinatesAndRanksAreInverse)
{
    const ParallelLayout layout({2, 3, 1, 4, 5}, 120);
    std::vector<bool> seen(120, false);
    for (uint32_t i = 0; i < 120; ++i)
    {
        const auto at = layout.CoordinatesOf(RankId(i));
        // rank = tp + TP * (cp + CP * (dp + DP * pp))
        EXPECT_EQ(at.tensor + 2 * (at.context + 3 * (at.data + 4 * at.pipeline)), i);
        const RankId back = layout.RankOf(at);
        EXPECT_EQ(back, RankId(i));
        seen[back.Get()] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 120);
}

/** Every rank is in one group of each kind, which is that of all its members. */
void ExpectGroupsOfEachKind(const ParallelLayout& layout)
{
    const uint32_t ranks = layout.GetRankCount();
    for (auto kind : {LayoutGroup::TENSOR,
                      LayoutGroup::CONTEXT,
                      LayoutGroup::EXPERT,
                      LayoutGroup::DATA,
                      LayoutGroup::EXPERT_DATA,
                      LayoutGroup::SHARD,
                      LayoutGroup::REPLICA,
                      LayoutGroup::EXPERT_SHARD,
                      LayoutGroup::EXPERT_REPLICA,
                      LayoutGroup::PIPELINE,
                      LayoutGroup::MODEL,
                      LayoutGroup::MODEL_EXPERT,
                      LayoutGroup::WORLD})
    {
        std::vector<uint32_t> times(ranks, 0);
        for (const auto& group : layout.GetGroups(kind))
        {
            EXPECT_EQ(group.size(), layout.GetGroupSize(kind)) << ToString(kind);
            for (RankId rank : group)
            {
                ++times[rank.Get()];
                EXPECT_EQ(layout.GetGroup(kind, rank), group);
                EXPECT_EQ(layout.GetFirstOfGroup(kind, rank), group.front());
            }
        }
        EXPECT_EQ(times, std::vector<uint32_t>(ranks, 1)) << ToString(kind);
    }
}

TEST(ParallelLayout, EveryRankIsOnceInTheGroupsOfEachKind)
{
    ExpectGroupsOfEachKind(ParallelLayout({2, 1, 2, 4, 3}, 24));
    for (const uint32_t replicas : {2, 4})
    {
        ParallelDegrees degrees{2, 1, 2, 8, 2};
        degrees.replicas = replicas;
        ExpectGroupsOfEachKind(ParallelLayout(degrees, 32));
    }
}

TEST(ParallelLayout, ExpertGroupsLieInsideDataGroups)
{
    // Case 18: 32 ranks, expert degree 8, tensor degree 1: four groups of consecutive ranks.
    const ParallelLayout layout({1, 1, 8, 32, 1}, 32);
    const auto groups = layout.GetGroups(LayoutGroup::EXPERT);
    ASSERT_EQ(groups.size(), 4u);
    EXPECT_EQ(Numbers(groups[0]), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(Numbers(groups[3]), (Ranks{24, 25, 26, 27, 28, 29, 30, 31}));
    // Replicas of the same experts are 8 apart.
    EXPECT_EQ(Numbers(layout.GetGroup(LayoutGroup::EXPERT_DATA, RankId(11))),
              (Ranks{3, 11, 19, 27}));
}

TEST(ParallelLayout, RefusesDegreesThatDoNotFit)
{
    EXPECT_EQ(MessageOf([] {
                  ParallelLayout({8, 1, 1, 2, 12}, 96);
              }),
              "parallel: found tp 8 x cp 1 x dp 2 x pp 12 = 192, expected the number of ranks, 96");
    EXPECT_THAT(MessageOf([] {
                    ParallelLayout({65536, 65536, 1, 65536, 65536}, 96);
                }),
                HasSubstr("= more than 4294967295"));
    EXPECT_THAT(MessageOf([] {
                    ParallelLayout({8, 1, 0, 1, 12}, 96);
                }),
                HasSubstr("parallel.ep: found 0"));
    EXPECT_EQ(MessageOf([] {
                  ParallelLayout({1, 1, 3, 32, 1}, 32);
              }),
              "parallel.ep: found 3, expected a divisor of dp 32 (expert groups lie inside data "
              "groups)");
}

} // namespace
