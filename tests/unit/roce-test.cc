// SPDX-License-Identifier: GPL-2.0-only
// The packet network's contract: times, bytes, lossless operation, loss, refused input.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-error.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

constexpr uint64_t HEADERS = 82; // 8 + 14 + 4 + 12 + 20 + 8 + 12 + 4
constexpr uint64_t RETH = 16;    // more on the first packet of a message

/** Wire sizes of a message's packets. */
std::vector<uint64_t> WireSizes(uint64_t bytes, uint64_t mtu)
{
    std::vector<uint64_t> sizes;
    for (uint64_t left = bytes; left > 0; left -= std::min(left, mtu))
    {
        sizes.push_back(std::min(left, mtu) + HEADERS + (left == bytes ? RETH : 0));
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

/** Sets defaults for one test. */
class RoceTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

TEST_F(RoceTest, OneMessageOfOneRateTakesTheContractsTime)
{
    // 100,000 B at MTU 4096 is a packet of 4096 + 82 + 16 = 4194 B, 23 of 4178 B and one of
    // 1696 + 82 = 1778 B on the wire: 102,066 B. 3 links of 400 Gb/s (20 ps a byte) and 1 us, so
    // 102,066 x 20 ps + 2 x 4194 x 20 ps + 3 us = 5,209,080 ps.
    const std::vector<std::string> rates(3, "400Gb/s");
    const std::vector<Time> delays(3, MicroSeconds(1));
    TestNetwork network(MakeRow(rates, delays));
    network.Send(0, 1, 100000);
    EXPECT_EQ(network.Run().GetPicoSeconds(), 5209080);
    ASSERT_EQ(network.Flows().size(), 1u);
    EXPECT_EQ(network.Flows()[0].packets, 25u);
    EXPECT_EQ(network.Flows()[0].hops, 3u);
    EXPECT_EQ(network.Flows()[0].retransmitted, 0u);
}

TEST_F(RoceTest, OneMessageTakesStoreAndForwardOfItsPackets)
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
                for (const char* control : {"ns3::echo::FixedRate", "ns3::echo::Dcqcn"})
                {
                    // A slower link in the middle makes a queue; no marks, to stay at fixed rate.
                    Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue("100000000"));
                    TestNetwork network(
                        MakeRow(rates, delays),
                        {{"Mtu", std::to_string(mtu)}, {"CongestionControl", control}});
                    network.Send(0, 1, bytes);
                    EXPECT_EQ(network.Run(), StoreAndForward(bytes, mtu, rates, delays))
                        << rates.size() << " links, MTU " << mtu << ", " << bytes << " B";
                }
            }
        }
    }
}

TEST_F(RoceTest, TwiceTheRatesHalvesTheSerialPart)
{
    const std::vector<Time> delays(3, NanoSeconds(700));
    Time serial[2];
    for (int i = 0; i < 2; ++i)
    {
        TestNetwork network(
            MakeRow(std::vector<std::string>(3, i ? "200Gb/s" : "100Gb/s"), delays));
        network.Send(0, 1, 3000000);
        serial[i] = network.Run() - NanoSeconds(2100);
    }
    EXPECT_EQ(serial[0], 2 * serial[1]);
}

TEST_F(RoceTest, MoreBytesNeverEndEarlier)
{
    Time last;
    for (uint64_t bytes = 1; bytes < 40000; bytes += 997)
    {
        TestNetwork network(MakeStar(4, "100Gb/s", NanoSeconds(500)));
        network.Send(1, 0, bytes);
        network.Send(2, 0, 20000);
        network.Send(3, 0, bytes);
        const Time end = network.Run();
        EXPECT_GE(end, last) << bytes;
        last = end;
    }
}

TEST_F(RoceTest, MessagesOfAQueuePairArriveInOrder)
{
    TestNetwork network(MakeStar(3, "100Gb/s", MicroSeconds(1)));
    std::vector<int> order;
    for (int i = 0; i < 5; ++i)
    {
        network.Send(0, 1, i % 2 == 0 ? 100000 : 1, 7, [&order, i] { order.push_back(i); });
    }
    EXPECT_TRUE(order.empty()); // never from inside Send
    network.Run();
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
    EXPECT_EQ(network.Get().GetQueuePairCount(), 1u);
}

TEST_F(RoceTest, QueuePairsShareTheirNicEvenly)
{
    // Four messages of one NIC to four hosts: round robin, so all end within one round.
    TestNetwork network(MakeStar(5, "100Gb/s", MicroSeconds(1)));
    for (uint32_t h = 1; h < 5; ++h)
    {
        network.Send(0, h, 409600);
    }
    network.Run();
    const Time packet = TxTime(4096 + HEADERS, DataRate("100Gb/s"));
    EXPECT_LE(network.Flows().back().end - network.Flows().front().end, 3 * packet);
}

TEST_F(RoceTest, BytesAreConservedAndNoLinkIsOverfull)
{
    TestFabric fabric = MakeFatTree(4, "100Gb/s", NanoSeconds(500));
    TestNetwork network(fabric);
    for (uint32_t a = 0; a < 16; ++a)
    {
        for (uint32_t b = 0; b < 16; ++b)
        {
            if (a != b)
            {
                network.Send(a, b, 100000 + 1000 * a + b);
            }
        }
    }
    const Time end = network.Run();
    std::map<std::string, int64_t> balance; // payload in less payload out
    uint64_t carried = 0;
    uint64_t packets = 0;
    for (const LinkRecord& link : network.Links())
    {
        balance[link.to] += static_cast<int64_t>(link.payloadBytes);
        balance[link.from] -= static_cast<int64_t>(link.payloadBytes);
        carried += link.payloadBytes;
        packets += link.packets;
        EXPECT_LE(link.busy, Simulator::Now());
        EXPECT_LE(TxTime(link.wireBytes, link.rate), link.busy);
        EXPECT_LE(link.peakRate, 1.0);
        EXPECT_GT(link.peakRate, 0.0);
        EXPECT_LE(link.lastBusy, Simulator::Now());
    }
    uint64_t wanted = 0;
    std::map<std::string, int64_t> received;
    for (const FlowRecord& flow : network.Flows())
    {
        wanted += flow.bytes * flow.hops;
        received[fabric.topology->GetDevice(flow.destination).name] +=
            static_cast<int64_t>(flow.bytes);
        received[fabric.topology->GetDevice(flow.source).name] -= static_cast<int64_t>(flow.bytes);
        EXPECT_LE(flow.end, end);
    }
    EXPECT_EQ(network.Flows().size(), 240u);
    EXPECT_EQ(carried, wanted);
    EXPECT_EQ(packets, network.Get().GetTotals().packetHops);
    for (const auto& [name, bytes] : balance)
    {
        EXPECT_EQ(bytes, received[name]) << name; // 0 at switches
    }
}

TEST_F(RoceTest, EcmpSpreadsFlowsAndKeepsThemOnOnePath)
{
    // Case 7: 256 equal flows from pod 0 to pod 2: each of 4 cores carries 17 to 33 %.
    TestFabric fabric = MakeFatTree(4, "100Gb/s", NanoSeconds(500));
    TestNetwork network(fabric);
    for (uint32_t f = 0; f < 256; ++f)
    {
        network.Send(f % 4, 8 + (f / 4) % 4, 16384, f);
    }
    network.Run();
    std::map<std::string, uint64_t> cores;
    for (const LinkRecord& link : network.Links())
    {
        if (link.fromRole == DeviceRole::CORE)
        {
            cores[link.from] += link.payloadBytes;
        }
    }
    ASSERT_EQ(cores.size(), 4u);
    for (const auto& [name, bytes] : cores)
    {
        EXPECT_GE(bytes, 256u * 16384 * 17 / 100) << name;
        EXPECT_LE(bytes, 256u * 16384 * 33 / 100) << name;
    }
    for (const FlowRecord& flow : network.Flows())
    {
        EXPECT_EQ(flow.retransmitted, 0u); // no reordering: a gap would have been reported
    }
}

TEST_F(RoceTest, ANicWithTwoPortsUsesBoth)
{
    // Two hosts, each joined to two leaves: labels spread over both planes, twice the rate.
    TestFabric fabric;
    fabric.AddHosts(2);
    for (uint32_t l = 0; l < 2; ++l)
    {
        const DeviceId leaf = fabric.AddSwitch(DeviceRole::LEAF, l);
        fabric.Join(fabric.nics[0], leaf, "100Gb/s", MicroSeconds(1));
        fabric.Join(fabric.nics[1], leaf, "100Gb/s", MicroSeconds(1));
    }
    fabric.topology->Seal();
    TestNetwork network(fabric);
    for (uint64_t label = 0; label < 64; ++label)
    {
        network.Send(0, 1, 125000, label);
    }
    // 8 MB at 200 Gb/s take 320 us, at 100 Gb/s 640 us.
    const Time end = network.Run();
    EXPECT_GT(end, MicroSeconds(320));
    EXPECT_LT(end, MicroSeconds(450));
}

TEST_F(RoceTest, NothingStaysAfterDelivery)
{
    // Case 24: memory after 200 rounds is that after 20.
    TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)));
    uint64_t packets[2];
    for (int round = 0; round < 200; ++round)
    {
        for (uint32_t h = 0; h < 16; ++h)
        {
            network.Send(h, (h + 1 + static_cast<uint32_t>(round) % 3) % 16, 262144);
        }
        network.Run();
        EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
        if (round == 19 || round == 199)
        {
            packets[round == 199] = network.Get().GetPacketCapacity();
            EXPECT_EQ(network.Get().GetQueuePairCount(), 48u);
        }
    }
    EXPECT_EQ(packets[0], packets[1]);
    EXPECT_EQ(network.Flows().size(), 3200u);
}

TEST_F(RoceTest, MayGoAwayWithEventsLeft)
{
    // A run that is stopped: events of devices that are gone must do nothing.
    const TestFabric fabric = MakeStar(3, "100Gb/s", MicroSeconds(1));
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(fabric.topology);
    Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    network->Prepare(router, nullptr);
    Message message;
    message.source = fabric.nics[0];
    message.destination = fabric.nics[1];
    message.bytes = 1000000;
    network->Send(message, [] { FAIL(); });
    Simulator::Stop(MicroSeconds(10));
    Simulator::Run();
    EXPECT_EQ(network->GetTotals().liveFlows, 1u);
    network = nullptr;
    Simulator::Run();
    EXPECT_LT(Simulator::Now(), MicroSeconds(20));
    Simulator::Destroy();
}

TEST_F(RoceTest, RefusesWhatItCannotServe)
{
    const TestFabric star = MakeStar(2, "100Gb/s", MicroSeconds(1));
    try
    {
        TestNetwork network(star, {{"CongestionControl", "bbr"}});
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("found 'bbr'"));
        EXPECT_THAT(error.what(), HasSubstr("one of dcqcn, fixed-rate, hpcc, none"));
    }
    EXPECT_THROW(TestNetwork(star, {{"Retransmission", "go-back-0"}}), InputError);
    EXPECT_THROW(TestNetwork(star, {{"CongestionControl", "ns3::Node"}}), InputError);
    EXPECT_THROW(TestNetwork(star, {{"CongestionControl", "ns3::echo::CongestionControl"}}),
                 InputError);
    {
        TestNetwork network(star);
        EXPECT_THROW(network.Send(0, 0, 1), UnsupportedError);
        EXPECT_THROW(network.Send(0, 1, 0), std::logic_error);
        Message message;
        message.source = star.topology->FindDevice("host0/gpu0");
        message.destination = star.nics[1];
        message.bytes = 1;
        EXPECT_THROW(network.Get().Send(message, nullptr), UnsupportedError);
        EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    }
    {
        TestFabric parts;
        parts.AddHosts(2);
        parts.topology->Seal();
        TestNetwork network(parts);
        try
        {
            network.Send(0, 1, 1);
            FAIL();
        }
        catch (const UnsupportedError& error)
        {
            EXPECT_THAT(error.what(), HasSubstr("host0/nic0"));
            EXPECT_THAT(error.what(), HasSubstr("host1/nic0"));
        }
    }
    // 2 ports, each 2 x 12,500 B in flight + 3 x 4194 B + 84 B: 75,332 B, and a packet.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("79525"));
    try
    {
        TestNetwork network(star);
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("found 79525, expected at least 79526"));
    }
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("79526"));
    TestNetwork network(star);
    network.Send(0, 1, 1000000);
    network.Run();
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
}

} // namespace
