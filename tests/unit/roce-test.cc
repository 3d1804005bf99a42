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

uint64_t PeakQueue(const TestNetwork& network)
{
    uint64_t peak = 0;
    for (const LinkRecord& link : network.Links())
    {
        peak = std::max(peak, link.maxQueueBytes);
    }
    return peak;
}

uint64_t Retransmitted(const TestNetwork& network)
{
    uint64_t packets = 0;
    for (const FlowRecord& flow : network.Flows())
    {
        packets += flow.retransmitted;
    }
    return packets;
}

/** All hosts send @p bytes to host 0. @return end of the last message */
Time RunIncast(TestNetwork& network, uint64_t bytes)
{
    for (uint32_t h = 1; h < network.Fabric().nics.size(); ++h)
    {
        network.Send(h, 0, bytes);
    }
    return network.Run();
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

TEST_F(RoceTest, IncastIsLosslessAndDcqcnKeepsQueuesShort)
{
    // Case 22: 16 hosts send 4 MB each to one: 64 MB at 100 Gb/s take 5.12 ms at least.
    uint64_t peak[2];
    for (int i = 0; i < 2; ++i)
    {
        TestNetwork network(
            MakeStar(17, "100Gb/s", MicroSeconds(1)),
            {{"CongestionControl", i == 0 ? "ns3::echo::FixedRate" : "ns3::echo::Dcqcn"}});
        const Time end = RunIncast(network, 4000000);
        EXPECT_GE(end, MicroSeconds(5120));
        const NetworkTotals totals = network.Get().GetTotals();
        EXPECT_EQ(totals.drops, 0u);
        EXPECT_EQ(totals.liveFlows, 0u);
        EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
        EXPECT_EQ(totals.congestionControl, i == 0 ? "none" : "dcqcn");
        peak[i] = PeakQueue(network);
        if (i == 0)
        {
            EXPECT_LE(end, MicroSeconds(5120) * 1.03); // headers are 2 %
            EXPECT_GT(totals.pauses, 0u);
            EXPECT_EQ(totals.ecnMarks, 0u);
        }
        else
        {
            EXPECT_EQ(totals.pauses, 0u);
            EXPECT_GT(totals.ecnMarks, 0u);
        }
    }
    EXPECT_LT(peak[1], peak[0] / 2);
}

TEST_F(RoceTest, HeadroomHoldsWhatComesAfterAPause)
{
    // Long links, little shared memory, pauses all the time: the headroom alone must do. Its
    // largest use must also be near its size, or the computation would be wasteful.
    for (const char* rate : {"25Gb/s", "100Gb/s", "800Gb/s"})
    {
        for (const char* mtu : {"256", "4096", "9000"})
        {
            TestFabric fabric = MakeStar(65, rate, MicroSeconds(2));
            const uint64_t inFlight = DataRate(rate).GetBitRate() / 8 / 500000;
            const uint32_t full = static_cast<uint32_t>(std::stoul(mtu) + HEADERS);
            const uint64_t headroom = SwitchBuffer::ComputeHeadroom(inFlight, full, 84);
            const uint64_t buffer = 65 * headroom + 10 * uint64_t{full};
            Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", UintegerValue(buffer));
            Config::SetDefault("ns3::echo::RoceSwitch::PfcAlpha", StringValue("1"));
            TestNetwork network(fabric, {{"Mtu", mtu}});
            RunIncast(network, 2 * headroom);
            const NetworkTotals totals = network.Get().GetTotals();
            EXPECT_EQ(totals.drops, 0u) << rate << ", MTU " << mtu;
            EXPECT_EQ(totals.liveFlows, 0u);
            EXPECT_GT(totals.pauses, 64u);
            const Ptr<RoceDevice> leaf =
                network.Get().GetDevice(fabric.topology->FindDevice("leaf0"));
            const SwitchBuffer& used = static_cast<RoceSwitch&>(*leaf).GetBuffer();
            EXPECT_LE(used.GetMaxHeld(), buffer);
            EXPECT_GT(used.GetMaxHeld(), buffer * 6 / 10) << rate << ", MTU " << mtu;
            EXPECT_EQ(used.GetHeld(), 0u);
        }
    }
}

TEST_F(RoceTest, PausesSpreadOverSwitchesWithoutLoss)
{
    // Incast over a k = 4 fat tree: pauses go from the last leaf back to the NICs.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("2000000"));
    TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)));
    RunIncast(network, 2000000);
    EXPECT_EQ(network.Get().GetTotals().drops, 0u);
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    std::set<DeviceRole> paused;
    for (const LinkRecord& link : network.Links())
    {
        if (link.pauses > 0)
        {
            paused.insert(link.fromRole);
            EXPECT_GT(link.paused, Time(0));
        }
    }
    EXPECT_THAT(paused,
                testing::ElementsAre(
                    DeviceRole::NIC, DeviceRole::LEAF, DeviceRole::SPINE, DeviceRole::CORE));
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
    EXPECT_EQ(Retransmitted(network), 0u); // no reordering: a gap would have been reported
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

TEST_F(RoceTest, LossIsRepairedAndFinite)
{
    // Case 20: losses end in exact payload, later than without; a loss of 0 is the baseline.
    std::map<std::string, Time> ends;
    for (const char* loss : {"", "0", "0.002"})
    {
        TestNetwork::Attributes attributes;
        if (*loss)
        {
            attributes["LossRate"] = loss;
        }
        TestNetwork network(MakeStar(8, "100Gb/s", MicroSeconds(1)), attributes);
        int delivered = 0;
        for (uint32_t h = 0; h < 8; ++h)
        {
            network.Send(h, (h + 1) % 8, 4194304, 0, [&delivered] { ++delivered; });
        }
        ends[loss] = network.Run();
        EXPECT_EQ(delivered, 8);
        const NetworkTotals totals = network.Get().GetTotals();
        EXPECT_EQ(totals.liveFlows, 0u);
        EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
        if (std::string(loss) == "0.002")
        {
            EXPECT_GE(totals.drops, 5u);
            EXPECT_GE(Retransmitted(network), totals.drops);
        }
        else
        {
            EXPECT_EQ(totals.drops + Retransmitted(network), 0u);
        }
    }
    EXPECT_EQ(ends["0"], ends[""]);
    EXPECT_GT(ends["0.002"], ends[""]);
}

TEST_F(RoceTest, LossOfTheLastPacketIsFoundByTheTimer)
{
    // Half of all packets lost, one-packet messages: nothing follows that could show a gap.
    TestNetwork network(MakeStar(2, "100Gb/s", MicroSeconds(1)),
                        {{"LossRate", "0.5"}, {"RetransmitTimeout", "20us"}});
    int delivered = 0;
    for (uint64_t label = 0; label < 50; ++label)
    {
        network.Send(0, 1, 1000, label, [&delivered] { ++delivered; });
    }
    EXPECT_GT(network.Run(), MicroSeconds(20));
    EXPECT_EQ(delivered, 50);
    EXPECT_GE(Retransmitted(network), network.Get().GetTotals().drops);
}

TEST_F(RoceTest, WithoutPausesAFullBufferDropsAndSendersRepair)
{
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("500000"));
    TestNetwork network(MakeStar(9, "100Gb/s", MicroSeconds(1)), {{"Lossless", "false"}});
    RunIncast(network, 1000000);
    const NetworkTotals totals = network.Get().GetTotals();
    EXPECT_GT(totals.drops, 0u);
    EXPECT_EQ(totals.pauses, 0u);
    EXPECT_EQ(totals.liveFlows, 0u);
    EXPECT_GE(Retransmitted(network), totals.drops);
    EXPECT_LE(PeakQueue(network), 500000u);
}

TEST_F(RoceTest, AWindowBoundsWhatIsUnderWay)
{
    // 8 senders x 64 KiB: at most 8 x 16 packets x 4178 B can be queued.
    TestNetwork network(MakeStar(9, "100Gb/s", MicroSeconds(1)), {{"WindowBytes", "65536"}});
    const Time end = RunIncast(network, 1000000);
    EXPECT_LE(PeakQueue(network), 8u * 16 * 4178);
    EXPECT_LE(end, MicroSeconds(640) * 1.04); // the link stays busy
    // A window below rate x round trip: a packet each round trip of 4 us and a bit.
    TestNetwork slow(MakeStar(2, "100Gb/s", MicroSeconds(1)),
                     {{"WindowBytes", "4096"}, {"AckInterval", "1"}});
    slow.Send(0, 1, 409600);
    EXPECT_GT(slow.Run(), MicroSeconds(400));
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

TEST_F(RoceTest, RefusesWhatItCannotServe)
{
    const TestFabric star = MakeStar(2, "100Gb/s", MicroSeconds(1));
    try
    {
        TestNetwork network(star, {{"CongestionControl", "dcqcn"}});
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("found 'dcqcn'"));
        EXPECT_THAT(error.what(), HasSubstr("ns3::echo::Dcqcn"));
    }
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
    // 2 ports, each 2 x 12,500 B in flight + 3 x 4178 B + 84 B: 75,236 B, and a packet.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("79413"));
    try
    {
        TestNetwork network(star);
        FAIL();
    }
    catch (const InputError& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("found 79413, expected at least 79414"));
    }
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("79414"));
    TestNetwork network(star);
    network.Send(0, 1, 1000000);
    network.Run();
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
}

} // namespace
