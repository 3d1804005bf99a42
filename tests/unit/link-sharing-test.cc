// SPDX-License-Identifier: GPL-2.0-only
// Estimated communications that meet on links: speeds against shares worked out by hand.

#include "ns3/echo-link-sharing.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

using namespace ns3;
using namespace ns3::echo;

namespace
{

class LinkSharingTest : public testing::Test
{
  protected:
    ~LinkSharingTest() override
    {
        Simulator::Destroy();
    }

    /** @return ids of those whose speed changed */
    std::vector<uint32_t> Add(uint32_t id,
                              std::vector<LinkShare> shares,
                              double transferPart = 1,
                              bool comesFirst = false)
    {
        const auto instance = std::make_shared<CollectiveInstance>();
        instance->id = CollectiveId(id);
        return IdsOf(sharing.Add(instance, std::move(shares), transferPart, comesFirst));
    }

    std::vector<uint32_t> Remove(uint32_t id)
    {
        return IdsOf(sharing.Remove(CollectiveId(id)));
    }

    double SpeedOf(uint32_t id) const
    {
        return sharing.GetSpeed(CollectiveId(id));
    }

    static std::vector<uint32_t> IdsOf(const std::vector<LinkSharing::InstancePtr>& instances)
    {
        std::vector<uint32_t> ids;
        for (const auto& instance : instances)
        {
            ids.push_back(static_cast<uint32_t>(instance->id.Get()));
        }
        return ids;
    }

    LinkSharing sharing;
};

using Ids = std::vector<uint32_t>;

TEST_F(LinkSharingTest, WhatFitsGoesAtFullSpeed)
{
    EXPECT_EQ(Add(1, {{0, 0.5, 1}}), Ids());
    EXPECT_EQ(Add(2, {{0, 0.5, 1}, {1, 1, 1}}), Ids());
    EXPECT_EQ(SpeedOf(1), 1);
    EXPECT_EQ(Remove(2), Ids());
    EXPECT_EQ(Remove(2), Ids());
}

// 0.6 + 0.6 of a link: half each, 0.5 / 0.6 of full speed, until one leaves.
TEST_F(LinkSharingTest, EqualOnesShareEqually)
{
    Add(1, {{3, 0.6, 1}});
    EXPECT_EQ(Add(2, {{3, 0.6, 1}}), (Ids{1, 2}));
    EXPECT_DOUBLE_EQ(SpeedOf(1), 0.5 / 0.6);
    EXPECT_DOUBLE_EQ(SpeedOf(2), 0.5 / 0.6);
    EXPECT_EQ(Remove(1), Ids{2});
    EXPECT_EQ(SpeedOf(2), 1);
}

// Who asks for a fifth has it; the other has what is left.
TEST_F(LinkSharingTest, WhatOneDoesNotNeedAnotherHas)
{
    Add(1, {{0, 1, 1}});
    Add(2, {{0, 0.2, 1}});
    EXPECT_DOUBLE_EQ(SpeedOf(1), 0.8);
    EXPECT_EQ(SpeedOf(2), 1);
}

// Three on link 1 have a third each; one of them is on link 0 too, whose other user has two thirds.
TEST_F(LinkSharingTest, WhoWaitsElsewhereLeavesItsPart)
{
    Add(1, {{0, 1, 1}});
    Add(2, {{0, 1, 1}, {1, 1, 1}});
    Add(3, {{1, 1, 1}});
    Add(4, {{1, 1, 1}});
    EXPECT_NEAR(SpeedOf(1), 2. / 3, 1e-9);
    for (const uint32_t id : {2, 3, 4})
    {
        EXPECT_NEAR(SpeedOf(id), 1. / 3, 1e-9) << id;
    }
}

TEST_F(LinkSharingTest, SharesAreAsTheRatesAtWhichBytesCome)
{
    Add(1, {{0, 1, 2}});
    Add(2, {{0, 1, 1}});
    EXPECT_NEAR(SpeedOf(1), 2. / 3, 1e-9);
    EXPECT_NEAR(SpeedOf(2), 1. / 3, 1e-9);
}

// Half of its time it transfers, at half speed: 0.5 + 0.5 / 0.5 times as long.
TEST_F(LinkSharingTest, WhatIsNoTransferIsNotSlowed)
{
    Add(1, {{0, 1, 1}}, 0.5);
    Add(2, {{0, 1, 1}}, 0.5);
    EXPECT_DOUBLE_EQ(SpeedOf(1), 1 / 1.5);
    EXPECT_DOUBLE_EQ(LinkSharing::GetSpeedAlone({{0, 2, 1}}, 0.5), 1 / 1.5);
}

// Samples know nothing of estimates, which have what they leave.
// Who has its latencies yet is on no link: it slows nobody, and goes at full speed.
TEST_F(LinkSharingTest, WhoWaitsIsOnNoLink)
{
    const auto waiting = std::make_shared<CollectiveInstance>();
    waiting->id = CollectiveId(1);
    EXPECT_EQ(IdsOf(sharing.Add(waiting, {{0, 1, 1}}, 1, false, true)), Ids());
    EXPECT_EQ(Add(2, {{0, 1, 1}}), Ids());
    EXPECT_EQ(SpeedOf(1), 1);
    EXPECT_EQ(IdsOf(sharing.Enter(CollectiveId(1))), (Ids{1, 2}));
    EXPECT_EQ(SpeedOf(1), 0.5);
    EXPECT_EQ(SpeedOf(2), 0.5);
    EXPECT_EQ(IdsOf(sharing.Enter(CollectiveId(1))), Ids());
    EXPECT_EQ(Remove(2), Ids{1});
    EXPECT_EQ(Remove(1), Ids());
    sharing.Add(waiting, {{0, 1, 1}}, 1, false, true); // ends before it comes onto its links
    EXPECT_EQ(Remove(1), Ids());
}

TEST_F(LinkSharingTest, EstimatesHaveWhatSamplesLeave)
{
    Add(1, {{0, 0.7, 1}}, 1, true);
    EXPECT_EQ(Add(2, {{0, 1, 1}}), Ids{2});
    EXPECT_EQ(SpeedOf(1), 1);
    EXPECT_NEAR(SpeedOf(2), 0.3, 1e-9);
    EXPECT_EQ(Add(3, {{0, 0.7, 1}}, 1, true), (Ids{1, 2, 3}));
    EXPECT_DOUBLE_EQ(SpeedOf(1), 0.5 / 0.7);
    EXPECT_LT(SpeedOf(2), 0.01);
}

// Alone for 100 us, then at half speed.
TEST_F(LinkSharingTest, ProgressAddsUp)
{
    Add(1, {{0, 1, 1}});
    Simulator::Schedule(MicroSeconds(100), [this] { Add(2, {{0, 1, 1}}); });
    Simulator::Schedule(MicroSeconds(200), [this] {
        EXPECT_NEAR(sharing.GetProgress(CollectiveId(1)), 150e6, 1);
        EXPECT_NEAR(sharing.GetProgress(CollectiveId(2)), 50e6, 1);
    });
    Simulator::Run();
}

// No link has more than it has; who is slowed has a link that is full.
TEST_F(LinkSharingTest, LinksAreFullWhereOnesAreSlowed)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<double> part(0.05, 1);
    std::map<uint32_t, std::vector<LinkShare>> all;
    const auto check = [&] {
        std::map<uint64_t, double> load;
        for (const auto& [id, shares] : all)
        {
            for (const LinkShare& share : shares)
            {
                load[share.link] += share.demand * SpeedOf(id);
            }
        }
        for (const auto& [link, sum] : load)
        {
            EXPECT_LE(sum, 1 + 1e-6) << link;
        }
        for (const auto& [id, shares] : all)
        {
            bool isHeldUp = SpeedOf(id) == 1;
            for (const LinkShare& share : shares)
            {
                isHeldUp = isHeldUp || load[share.link] > 1 - 1e-6;
            }
            EXPECT_TRUE(isHeldUp) << id;
        }
    };
    for (uint32_t id = 0; id < 60; ++id)
    {
        std::set<uint64_t> links;
        while (links.size() < 4)
        {
            links.insert(random() % 12);
        }
        for (const uint64_t link : links)
        {
            all[id].push_back({link, part(random), part(random)});
        }
        Add(id, all[id]);
        check();
        if (id >= 20)
        {
            Remove(id - 20);
            all.erase(id - 20);
            check();
        }
    }
}

} // namespace
