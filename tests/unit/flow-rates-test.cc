// SPDX-License-Identifier: GPL-2.0-only
// Max-min shares and exact progress.

#include "lottery.h"
#include "network-rig.h"

#include "ns3/echo-flow-rates.h"
#include "ns3/echo-fluid-progress.h"
#include "ns3/echo-max-min-solver.h"
#include "ns3/echo-units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;

namespace
{

using Flows = std::vector<std::vector<uint32_t>>;

std::vector<uint64_t> Shares(const std::vector<uint64_t>& capacities, const Flows& flows)
{
    MaxMinSolver solver;
    for (const uint64_t capacity : capacities)
    {
        solver.AddLink(capacity);
    }
    for (const auto& links : flows)
    {
        solver.AddFlow(links.data(), static_cast<uint32_t>(links.size()));
    }
    solver.Solve();
    std::vector<uint64_t> rates;
    for (uint32_t flow = 0; flow < flows.size(); ++flow)
    {
        rates.push_back(solver.GetRate(flow));
    }
    for (uint32_t link = 0; link < capacities.size(); ++link)
    {
        EXPECT_LE(solver.GetRemaining(link), capacities[link]);
    }
    return rates;
}

TEST(MaxMinSolver, SharesByHand)
{
    // Three flows on one link: a third each, in whole bits per second.
    EXPECT_THAT(Shares({100}, {{0}, {0}, {0}}), ElementsAre(33, 33, 33));
    // Link 1 (8) is full first, at 4 each; flow 0 has what flow 1 leaves of link 0: 10 - 4.
    EXPECT_THAT(Shares({10, 8}, {{0}, {0, 1}, {1}}), ElementsAre(6, 4, 4));
    // Parking lot: one flow over all three links, one on each: half each.
    EXPECT_THAT(Shares({10, 10, 10}, {{0, 1, 2}, {0}, {1}, {2}}), ElementsAre(5, 5, 5, 5));
    // A slow access link: its flow stays at 1, the others share the rest of 10: 4.5 -> 4.
    EXPECT_THAT(Shares({1, 10}, {{0, 1}, {1}, {1}}), ElementsAre(1, 4, 4));
    // Three levels: 2 on link 0 at 1 each, then link 1 has 9 - 1 = 8 for two, then link 2 has
    // 20 - 4 = 16 for one.
    EXPECT_THAT(Shares({2, 9, 20}, {{0}, {0, 1}, {1}, {1, 2}, {2}}), ElementsAre(1, 1, 4, 4, 16));
    EXPECT_TRUE(Shares({10}, {}).empty());
}

// Four parts have what one flow has beside them, together; what one of them cannot use on its own
// way (link 1) all others share.
TEST(MaxMinSolver, PartsShareAsOneFlow)
{
    MaxMinSolver solver;
    solver.Clear();
    solver.AddLink(8000);
    solver.AddLink(440);
    const std::vector<uint32_t> shared{0};
    const std::vector<uint32_t> narrow{0, 1};
    solver.AddFlow(shared.data(), 1);
    solver.AddFlow(narrow.data(), 2, 4);
    for (int part = 1; part < 4; ++part)
    {
        solver.AddFlow(shared.data(), 1, 4);
    }
    solver.Solve();
    EXPECT_EQ(solver.GetRate(0), 4320u); // of 8000 - 440 in 7 quarters: 4
    EXPECT_EQ(solver.GetRate(1), 440u);
    for (const uint32_t part : {2, 3, 4})
    {
        EXPECT_EQ(solver.GetRate(part), 1080u);
    }
}

// What max-min fairness means: every flow crosses a link that is full, on which nobody has more.
// Full up to the bits per second that do not divide: fewer than flows on the link.
TEST(MaxMinSolver, EveryFlowHasABottleneckInWhateverOrder)
{
    for (uint64_t seed = 1; seed <= 200; ++seed)
    {
        Lottery lottery(seed);
        std::vector<uint64_t> capacities(1 + lottery.Draw(12));
        for (auto& capacity : capacities)
        {
            capacity = 1000 + lottery.Draw(4) * 777;
        }
        Flows flows(1 + lottery.Draw(30));
        for (auto& links : flows)
        {
            std::vector<uint32_t> all(capacities.size());
            std::iota(all.begin(), all.end(), 0);
            for (uint32_t i = 0; i < all.size(); ++i)
            {
                std::swap(all[i], all[lottery.Draw(static_cast<uint32_t>(all.size()))]);
            }
            all.resize(1 + lottery.Draw(static_cast<uint32_t>(std::min<size_t>(all.size(), 5))));
            links = all;
        }
        const std::vector<uint64_t> rates = Shares(capacities, flows);
        for (uint32_t flow = 0; flow < flows.size(); ++flow)
        {
            const bool bottleneck =
                std::any_of(flows[flow].begin(), flows[flow].end(), [&](uint32_t link) {
                    uint64_t used = 0;
                    uint64_t users = 0;
                    uint64_t most = 0;
                    for (uint32_t other = 0; other < flows.size(); ++other)
                    {
                        if (std::count(flows[other].begin(), flows[other].end(), link) > 0)
                        {
                            used += rates[other];
                            ++users;
                            most = std::max(most, rates[other]);
                        }
                    }
                    return capacities[link] - used < users && most <= rates[flow];
                });
            EXPECT_TRUE(bottleneck) << "seed " << seed << " flow " << flow;
        }
        // Links and flows numbered backwards: the same shares.
        std::vector<uint64_t> reversedCapacities(capacities.rbegin(), capacities.rend());
        Flows reversed(flows.rbegin(), flows.rend());
        for (auto& links : reversed)
        {
            for (auto& link : links)
            {
                link = static_cast<uint32_t>(capacities.size()) - 1 - link;
            }
        }
        std::vector<uint64_t> backwards = Shares(reversedCapacities, reversed);
        std::reverse(backwards.begin(), backwards.end());
        EXPECT_EQ(backwards, rates) << "seed " << seed;
    }
}

TEST(FluidProgress, IsExactAcrossRateChanges)
{
    FluidProgress progress;
    progress.Start(1000, 0);
    EXPECT_EQ(progress.GetEnd(), std::numeric_limits<int64_t>::max());
    progress.SetRate(400000000000, 0); // 20 ps a byte
    EXPECT_EQ(progress.GetEnd(), 20000);
    progress.SetRate(100000000000, 10000); // half is left, at 80 ps a byte
    EXPECT_EQ(progress.GetEnd(), 50000);
    progress.SetRate(0, 30000);
    EXPECT_EQ(progress.GetEnd(), std::numeric_limits<int64_t>::max());
    progress.SetRate(400000000000, 100000); // a quarter is left: 250 B
    EXPECT_EQ(progress.GetEnd(), 105000);
    // A rate that divides nothing: 1 B at 3 b/s = 2.666... s.
    progress.Start(1, 0);
    progress.SetRate(3, 0);
    EXPECT_EQ(progress.GetEnd(), 2666666666667);
    // Large: 1 PiB at 100 Gb/s, 128-bit inside.
    progress.Start(uint64_t{1} << 50, 7);
    progress.SetRate(100000000000, 7);
    EXPECT_EQ(progress.GetEnd(), 7 + (int64_t{1} << 50) * 80);
}

TEST(FluidProgress, ASequenceTakesAsLongAsOneMessage)
{
    // 1000 messages of 7 B at 3 Gb/s: 18,666.67 ps each; rounded up each, they would take 333 more.
    FluidProgress progress;
    progress.Start(7, 0);
    progress.SetRate(3000000000, 0);
    for (int i = 1; i < 1000; ++i)
    {
        progress.Continue(7, progress.GetEnd());
    }
    EXPECT_EQ(progress.GetEnd(), TxTime(7000, DataRate(3000000000)).GetPicoSeconds());
}

// Streams come and go at random, one or several at a time: after each update the rates are those
// of solving for all streams at once, but for single bits per second where a link's rate does not
// divide.
TEST(FlowRates, UpdatesEqualSolvingForAll)
{
    for (uint64_t seed = 1; seed <= 30; ++seed)
    {
        Lottery lottery(seed);
        SmallCluster cluster;
        cluster.hosts = 12;
        cluster.hostsPerLeaf = 2 + seed % 4;
        cluster.uplinkRate = seed % 2 == 0 ? "100Gbps" : "170Gbps";
        NetworkRig rig(cluster);
        FlowStreams streams;
        streams.Prepare(rig.router);
        FlowRates rates(streams);
        rates.SetLargeSet(seed % 3 == 0 ? 8 : SIZE_MAX); // small and large updates in turn, too
        FlowFilling filling(streams);
        std::vector<uint32_t> active;
        std::vector<uint32_t> idle;
        for (uint32_t i = 0; i < 60; ++i)
        {
            const uint32_t from = lottery.Draw(12);
            const uint32_t to = (from + 1 + lottery.Draw(11)) % 12;
            idle.push_back(streams.FindOrAdd(
                rig.topology->GetNics(HostId(from))[0], rig.topology->GetNics(HostId(to))[0], i));
        }
        for (int64_t now = 0; now < 300; ++now)
        {
            for (uint32_t changes = 1 + lottery.Draw(3); changes > 0; --changes)
            {
                const bool comes = active.empty() || (!idle.empty() && lottery.Draw(2) == 0);
                auto& source = comes ? idle : active;
                const uint32_t index = lottery.Draw(static_cast<uint32_t>(source.size()));
                const uint32_t stream = source[index];
                source.erase(source.begin() + index);
                (comes ? active : idle).push_back(stream);
                if (comes)
                {
                    streams.Get(stream).progress.Start(1 << 30, now);
                    streams.Enter(stream, now);
                }
                else
                {
                    streams.Leave(stream, now);
                }
                for (const PortId port : streams.GetPath(stream))
                {
                    rates.Touch(port);
                }
            }
            rates.Update(now);
            std::vector<uint64_t> capacities;
            for (const auto& link : streams.GetLinks())
            {
                capacities.push_back(link.capacity);
            }
            Flows flows;
            std::vector<uint64_t> found;
            for (const uint32_t stream : active)
            {
                flows.emplace_back();
                for (const PortId port : streams.GetPath(stream))
                {
                    flows.back().push_back(port.Get());
                }
                found.push_back(streams.Get(stream).progress.GetRate());
            }
            const std::vector<uint64_t> expected = Shares(capacities, flows);
            filling.Solve();
            for (size_t i = 0; i < expected.size(); ++i)
            {
                ASSERT_NEAR(static_cast<double>(filling.GetRate(active[i])),
                            static_cast<double>(expected[i]),
                            60);
                const PortId bottleneck = filling.GetBottleneck(active[i]);
                EXPECT_LT(filling.GetRemaining(bottleneck),
                          streams.GetLink(bottleneck).users.size());
            }
            for (size_t i = 0; i < expected.size(); ++i)
            {
                ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected[i]), 60)
                    << "seed " << seed << " step " << now << " of stream " << active[i];
            }
        }
    }
}

} // namespace
