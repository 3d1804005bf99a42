// SPDX-License-Identifier: GPL-2.0-only
// How packets are spread over ways of equal length: flows, flowlets, packets.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-error.h"
#include "ns3/echo-path-choice.h"
#include "ns3/echo-reorder-window.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace ns3;
using namespace ns3::echo;

namespace
{

const TestNetwork::Attributes SPRAY{{"LoadBalancer", "ns3::echo::SprayBalancer"}};
const TestNetwork::Attributes FLOWLET{{"LoadBalancer", "ns3::echo::FlowletBalancer"}};
const TestNetwork::Attributes ADAPTIVE{{"LoadBalancer", "ns3::echo::AdaptiveBalancer"}};

/** Two tiers: @p leaves leaves of @p hosts hosts, every leaf joined once to every spine. */
TestFabric MakeLeafSpine(uint32_t leaves, uint32_t hosts, uint32_t spines, const std::string& rate)
{
    TestFabric fabric;
    fabric.AddHosts(leaves * hosts);
    std::vector<DeviceId> top;
    for (uint32_t s = 0; s < spines; ++s)
    {
        top.push_back(fabric.AddSwitch(DeviceRole::SPINE, s));
    }
    for (uint32_t l = 0; l < leaves; ++l)
    {
        const DeviceId leaf = fabric.AddSwitch(DeviceRole::LEAF, l);
        for (uint32_t h = 0; h < hosts; ++h)
        {
            fabric.Join(fabric.nics[l * hosts + h], leaf, rate, NanoSeconds(500));
        }
        for (const DeviceId spine : top)
        {
            fabric.Join(leaf, spine, rate, NanoSeconds(500));
        }
    }
    fabric.topology->Seal();
    return fabric;
}

/** @return payload by transmitting device, of links between the two roles */
std::map<std::string, uint64_t> PayloadOf(const TestNetwork& network,
                                          DeviceRole from,
                                          DeviceRole to)
{
    std::map<std::string, uint64_t> bytes;
    for (const LinkRecord& link : network.Links())
    {
        if (link.fromRole == from && link.toRole == to && link.payloadBytes > 0)
        {
            bytes[link.from + " " + link.to] += link.payloadBytes;
        }
    }
    return bytes;
}

/** Each host sends to the one half of all hosts away. */
void SendShift(TestNetwork& network, uint64_t bytes)
{
    const auto hosts = static_cast<uint32_t>(network.Fabric().nics.size());
    for (uint32_t h = 0; h < hosts; ++h)
    {
        network.Send(h, (h + hosts / 2) % hosts, bytes);
    }
}

class RoceBalancingTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

TEST_F(RoceBalancingTest, ReorderWindowEqualsASet)
{
    // Against the plain definition, in random order with duplicates.
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round)
    {
        std::vector<uint64_t> order(300);
        for (size_t i = 0; i < order.size(); ++i)
        {
            order[i] = i;
        }
        // Packets stray up to 100 places from their own.
        std::vector<std::pair<uint64_t, uint64_t>> keys;
        for (const uint64_t s : order)
        {
            keys.emplace_back(s + random() % 100, s);
            if (random() % 10 == 0)
            {
                keys.emplace_back(s + random() % 100, s);
            }
        }
        std::sort(keys.begin(), keys.end());
        ReorderWindow window;
        std::set<uint64_t> arrived;
        uint64_t expected = 0;
        for (const auto& [key, s] : keys)
        {
            const bool isNew = arrived.insert(s).second;
            if (s > expected)
            {
                EXPECT_EQ(window.Insert(s, expected), isNew);
            }
            else if (s == expected)
            {
                expected = window.TakeFrom(s + 1);
            }
            uint64_t want = 0;
            while (arrived.count(want) > 0)
            {
                ++want;
            }
            ASSERT_EQ(expected, want);
            EXPECT_EQ(window.GetWaiting(), arrived.size() - want);
        }
        EXPECT_EQ(expected, order.size());
    }
}

TEST_F(RoceBalancingTest, EveryByteIsDeliveredOnceInAnyFabric)
{
    const std::map<std::string, TestFabric> fabrics{
        {"fat tree", MakeFatTree(4, "100Gb/s", NanoSeconds(500))},
        {"leaf-spine", MakeLeafSpine(4, 4, 3, "100Gb/s")},
    };
    for (const auto& [name, fabric] : fabrics)
    {
        for (const auto& attributes : {SPRAY, FLOWLET, ADAPTIVE})
        {
            TestNetwork network(fabric, attributes);
            const auto hosts = static_cast<uint32_t>(fabric.nics.size());
            int delivered = 0;
            uint64_t payload = 0;
            for (uint32_t a = 0; a < hosts; ++a)
            {
                for (uint32_t b = 0; b < hosts; ++b)
                {
                    // Two messages, so that their packets may overtake one another too.
                    for (int i = 0; a != b && i < 2; ++i)
                    {
                        network.Send(a, b, 50000 + 1000 * b, 0, [&delivered] { ++delivered; });
                        payload += 50000 + 1000 * b;
                    }
                }
            }
            network.Run();
            EXPECT_EQ(delivered, static_cast<int>(2 * hosts * (hosts - 1))) << name;
            EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
            EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
            uint64_t received = 0;
            for (const auto& [link, bytes] : PayloadOf(network, DeviceRole::LEAF, DeviceRole::NIC))
            {
                received += bytes;
            }
            uint64_t again = 0;
            for (const FlowRecord& flow : network.Flows())
            {
                again += flow.retransmitted;
            }
            if (attributes == FLOWLET)
            {
                EXPECT_GE(received, payload) << name;
            }
            else
            {
                // Nobody asks for what is only late.
                EXPECT_EQ(again, 0u) << name;
                EXPECT_EQ(received, payload) << name;
            }
        }
    }
}

TEST_F(RoceBalancingTest, SprayUsesAllWaysEvenly)
{
    // One flow from pod 0 to pod 2 of a k = 4 fat tree: a quarter over each core. Rounds visit each
    // port once, so a switch's two ports differ by a packet at most.
    TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)), SPRAY);
    network.Send(0, 8, 4096 * 1000);
    network.Run();
    const auto up = PayloadOf(network, DeviceRole::LEAF, DeviceRole::SPINE);
    ASSERT_EQ(up.size(), 2u);
    EXPECT_EQ(up.begin()->second, 500u * 4096);
    const auto cores = PayloadOf(network, DeviceRole::CORE, DeviceRole::SPINE);
    ASSERT_EQ(cores.size(), 4u);
    for (const auto& [link, bytes] : cores)
    {
        EXPECT_EQ(bytes, 250u * 4096) << link;
    }
}

TEST_F(RoceBalancingTest, SprayAndAdaptiveBeatEcmpOnACollision)
{
    // Four flows of 4 MB from leaf to leaf over 4 spines of 100 Gb/s: 320 us each, 326.4 us with
    // headers, if each has a spine; these labels hash two onto one.
    const auto fabric = MakeLeafSpine(2, 4, 4, "100Gb/s");
    std::map<std::string, Time> ends;
    for (const auto& [name, attributes] : std::map<std::string, TestNetwork::Attributes>{
             {"ecmp", {}}, {"spray", SPRAY}, {"adaptive", ADAPTIVE}})
    {
        TestNetwork network(fabric, attributes);
        for (uint32_t h = 0; h < 4; ++h)
        {
            network.Send(h, 4 + h, 4000000, 1);
        }
        ends[name] = network.Run();
        EXPECT_GE(ends[name], MicroSeconds(320)) << name;
    }
    EXPECT_GT(ends["ecmp"], MicroSeconds(640)); // two flows on one spine
    EXPECT_LT(ends["spray"], MicroSeconds(345));
    EXPECT_LT(ends["adaptive"], MicroSeconds(345));
}

TEST_F(RoceBalancingTest, FlowletsMoveOnlyAfterAPause)
{
    TestFabric fabric = MakeLeafSpine(2, 1, 4, "100Gb/s");
    const auto usedSpines = [&](Time pause) {
        Config::SetDefault("ns3::echo::FlowletBalancer::Gap", StringValue("20us"));
        TestNetwork network(fabric, FLOWLET);
        for (int i = 0; i < 40; ++i)
        {
            // 40960 B take 3.3 us.
            Simulator::Schedule(pause * i, [&network] { network.Send(0, 1, 40960); });
        }
        network.Run();
        for (const FlowRecord& flow : network.Flows())
        {
            EXPECT_EQ(flow.retransmitted, 0u);
        }
        return PayloadOf(network, DeviceRole::LEAF, DeviceRole::SPINE).size();
    };
    EXPECT_EQ(usedSpines(MicroSeconds(10)), 1u);
    EXPECT_EQ(usedSpines(MicroSeconds(40)), 4u);
}

TEST_F(RoceBalancingTest, StaticRoutesOfAShiftNeverMeet)
{
    // A whole tree and a shift by any distance: no link carries two flows (Zahavi et al.), so all
    // end as if alone: within the largest packet's store-and-forward.
    for (const uint32_t shift : {1u, 4u, 7u, 8u, 13u})
    {
        Config::SetDefault("ns3::echo::Router::PathChoice",
                           StringValue("ns3::echo::StaticPathChoice"));
        TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)));
        for (uint32_t h = 0; h < 16; ++h)
        {
            network.Send(h, (h + shift) % 16, 1000000);
        }
        const Time alone = TxTime(1000000 + 245 * 82, DataRate("100Gb/s")) +
                           5 * TxTime(4178, DataRate("100Gb/s")) + 6 * NanoSeconds(500);
        // Acknowledgements of the way back share links with data: 2 % of the bytes.
        EXPECT_LT(network.Run(), alone * 1.03) << shift;
    }
}

TEST_F(RoceBalancingTest, StaticRoutesKeepRailsApart)
{
    // Four NICs a host on one leaf with four spines: each rail has a spine of its own.
    TestFabric fabric;
    std::vector<DeviceId> nics;
    for (uint32_t h = 0; h < 4; ++h)
    {
        const std::string host = "host" + std::to_string(h);
        fabric.topology->AddDevice(DeviceRole::GPU, host + "/gpu0", HostId(h), 0);
        for (uint32_t n = 0; n < 4; ++n)
        {
            nics.push_back(fabric.topology->AddDevice(
                DeviceRole::NIC, host + "/nic" + std::to_string(n), HostId(h), n));
        }
    }
    fabric.nics = nics;
    const DeviceId leaves[] = {fabric.AddSwitch(DeviceRole::LEAF, 0),
                               fabric.AddSwitch(DeviceRole::LEAF, 1)};
    for (uint32_t n = 0; n < 16; ++n)
    {
        fabric.Join(nics[n], leaves[n / 8], "100Gb/s", NanoSeconds(500));
    }
    for (uint32_t s = 0; s < 4; ++s)
    {
        const DeviceId spine = fabric.AddSwitch(DeviceRole::SPINE, s);
        fabric.Join(leaves[0], spine, "100Gb/s", NanoSeconds(500));
        fabric.Join(leaves[1], spine, "100Gb/s", NanoSeconds(500));
    }
    fabric.topology->Seal();
    Ptr<PathChoice> choice = PathChoice::Make("ns3::echo::StaticPathChoice", fabric.topology, 1);
    for (uint32_t n = 0; n < 16; ++n)
    {
        EXPECT_EQ(choice->Choose({leaves[1 - n / 8], nics[0], nics[n], 5}, 4), n % 4);
    }
    EXPECT_THROW(PathChoice::Make("ns3::echo::SprayBalancer", fabric.topology, 1), InputError);
}

TEST_F(RoceBalancingTest, LossUnderSprayIsRepaired)
{
    TestNetwork::Attributes attributes = SPRAY;
    attributes["LossRate"] = "0.002";
    attributes["ReorderBytes"] = "262144";
    TestNetwork network(MakeLeafSpine(2, 4, 4, "100Gb/s"), attributes);
    int delivered = 0;
    for (uint32_t h = 0; h < 4; ++h)
    {
        network.Send(h, 4 + h, 4000000, 0, [&delivered] { ++delivered; });
    }
    network.Run();
    EXPECT_EQ(delivered, 4);
    EXPECT_GT(network.Get().GetTotals().drops, 0u);
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
}

TEST_F(RoceBalancingTest, AWindowUnderSprayNeverStalls)
{
    TestNetwork::Attributes attributes = SPRAY;
    attributes["WindowBytes"] = "65536";
    TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)), attributes);
    SendShift(network, 1000000);
    network.Run();
    EXPECT_EQ(network.Flows().size(), 16u);
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
}

TEST_F(RoceBalancingTest, RefusesUnknownBalancers)
{
    EXPECT_THROW(TestNetwork(MakeStar(2, "100Gb/s", MicroSeconds(1)),
                             {{"LoadBalancer", "ns3::echo::Dcqcn"}}),
                 InputError);
}

} // namespace

// Telemetry of one way cannot be compared with that of another.
TEST(LoadBalancing, HpccRefusesWaysThatChange)
{
    for (const char* balancer : {"SprayBalancer", "FlowletBalancer", "AdaptiveBalancer"})
    {
        EXPECT_THROW(TestNetwork(MakeStar(3, "100Gb/s", MicroSeconds(1)),
                                 {{"CongestionControl", "hpcc"},
                                  {"LoadBalancer", std::string("ns3::echo::") + balancer}}),
                     UnsupportedError);
    }
}
