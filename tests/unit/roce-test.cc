// SPDX-License-Identifier: GPL-2.0-only

#include "roce-fixture.h"

#include "ns3/echo-error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr uint64_t HEADERS = 82; // 8 + 14 + 4 + 12 + 20 + 8 + 12 + 4

/** Wire sizes of a message's packets. */
std::vector<uint64_t> WireSizes(uint64_t bytes, uint64_t mtu)
{
    std::vector<uint64_t> sizes;
    for (uint64_t left = bytes; left > 0; left -= sizes.back() - HEADERS)
    {
        sizes.push_back(std::min(left, mtu) + HEADERS);
    }
    return sizes;
}

/**
 * Store-and-forward by hand: packet j leaves link i at
 * max(its arrival over link i - 1, packet j - 1's leaving link i) + its time on link i.
 */
Time StoreAndForward(uint64_t bytes,
                     uint64_t mtu,
                     const std::vector<std::string>& rates,
                     const std::vector<Time>& delays)
{
    std::vector<Time> free(rates.size());
    Time arrival;
    for (const uint64_t size : WireSizes(bytes, mtu))
    {
        arrival = Time(0);
        for (size_t i = 0; i < rates.size(); ++i)
        {
            free[i] = std::max(arrival, free[i]) + TxTime(size, DataRate(rates[i]));
            arrival = free[i] + delays[i];
        }
    }
    return arrival;
}

TEST(Roce, OneMessageOfOneRateTakesTheContractsTime)
{
    // 100,000 B at MTU 4096 is 24 packets of 4178 B and one of 1696 + 82 = 1778 B on the wire:
    // 102,050 B. 3 links of 400 Gb/s (20 ps a byte) and 1 us, so
    // 102,050 x 20 ps + 2 x 4178 x 20 ps + 3 us = 5,208,120 ps.
    const std::vector<std::string> rates(3, "400Gb/s");
    const std::vector<Time> delays(3, MicroSeconds(1));
    TestNetwork network(MakeRow(rates, delays));
    network.Send(0, 1, 100000);
    EXPECT_EQ(network.Run().GetPicoSeconds(), 5208120);
    ASSERT_EQ(network.Flows().size(), 1u);
    EXPECT_EQ(network.Flows()[0].packets, 25u);
    EXPECT_EQ(network.Flows()[0].hops, 3u);
    EXPECT_EQ(network.Flows()[0].retransmitted, 0u);
}

TEST(Roce, OneMessageTakesStoreAndForwardOfItsPackets)
{
    const std::vector<std::vector<std::string>> cases{
        {"100Gb/s"},
        {"400Gb/s", "100Gb/s"},
        {"100Gb/s", "400Gb/s", "200Gb/s"},
        {"46.5Gb/s", "400Gb/s", "33Gb/s", "100Gb/s"}, // no whole picoseconds a byte
        {"800Gb/s", "800Gb/s", "800Gb/s", "800Gb/s", "800Gb/s", "800Gb/s"},
    };
    for (const auto& rates : cases)
    {
        std::vector<Time> delays;
        for (size_t i = 0; i < rates.size(); ++i)
        {
            delays.push_back(NanoSeconds(static_cast<uint64_t>(300 + 217 * i)));
        }
        for (const uint64_t mtu : {256u, 1024u, 4096u, 9000u})
        {
            for (const uint64_t bytes : {1u, 255u, 4096u, 4097u, 1000003u})
            {
                TestNetwork network(MakeRow(rates, delays), {{"Mtu", std::to_string(mtu)}});
                network.Send(0, 1, bytes);
                EXPECT_EQ(network.Run(), StoreAndForward(bytes, mtu, rates, delays))
                    << rates.size() << " links, MTU " << mtu << ", " << bytes << " B";
            }
        }
    }
}

TEST(Roce, MessagesOfAQueuePairArriveInOrder)
{
    TestNetwork network(MakeStar(3, "100Gb/s", MicroSeconds(1)));
    std::vector<int> order;
    for (int i = 0; i < 5; ++i)
    {
        network.Send(0, 1, i % 2 == 0 ? 100000 : 1, 7, [&order, i] { order.push_back(i); });
    }
    EXPECT_TRUE(order.empty());
    network.Run();
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
    EXPECT_EQ(network.Get().GetQueuePairCount(), 1u);
}

TEST(Roce, IncastIsLossless)
{
    // Case 22 A: 16 hosts send 4 MB each to one: 64 MB at 100 Gb/s take 5.12 ms at least.
    TestNetwork network(MakeStar(17, "100Gb/s", MicroSeconds(1)));
    for (uint32_t h = 1; h <= 16; ++h)
    {
        network.Send(h, 0, 4000000);
    }
    const Time end = network.Run();
    EXPECT_GE(end, MicroSeconds(5120));
    EXPECT_LE(end, MicroSeconds(5120) * 1.03); // headers 2 %
    const NetworkTotals totals = network.Get().GetTotals();
    EXPECT_GT(totals.pauses, 0u);
    EXPECT_EQ(totals.drops, 0u);
    EXPECT_EQ(totals.congestionControl, "none");
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
}

} // namespace
