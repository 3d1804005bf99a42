// SPDX-License-Identifier: GPL-2.0-only
// Traffic classes: strict and weighted, each with its own pauses.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-roce-header.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

const TrafficClass STRICT{true, 1};

class RoceClassTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

TEST(ClassScheduler, SharesByWeightAndStrictComesFirst)
{
    ClassScheduler scheduler({STRICT, {false, 3}, {false, 1}}, 1000);
    std::map<uint32_t, uint64_t> bytes;
    for (int i = 0; i < 4000; ++i)
    {
        const uint32_t c = scheduler.Pick(0b110);
        const uint32_t size = c == 1 ? 1000 : 250; // shares are of bytes, not of packets
        scheduler.Charge(c, size);
        bytes[c] += size;
    }
    EXPECT_NEAR(static_cast<double>(bytes[1]) / static_cast<double>(bytes[2]), 3, 0.01);
    EXPECT_EQ(scheduler.Pick(0b111), 0u);
    EXPECT_EQ(scheduler.Pick(0b100), 2u);
}

TEST(ClassScheduler, NobodySavesUpWhileIdle)
{
    ClassScheduler scheduler({{false, 1}, {false, 1}}, 1000);
    for (int i = 0; i < 1000; ++i)
    {
        scheduler.Charge(scheduler.Pick(0b01), 1000);
    }
    std::map<uint32_t, int> turns;
    for (int i = 0; i < 100; ++i)
    {
        const uint32_t c = scheduler.Pick(0b11);
        scheduler.Charge(c, 1000);
        ++turns[c];
    }
    EXPECT_NEAR(turns[0], 50, 1);
}

/** Two hosts send 4 MB each to a third, each in a class of its own. @return both ends */
std::pair<Time, Time> Race(const std::vector<TrafficClass>& classes,
                           const TestNetwork::Attributes& attributes = {})
{
    TestNetwork network(
        MakeStar(3, "100Gb/s", MicroSeconds(1)), attributes, "ns3::MapScheduler", {}, classes);
    network.Send(0, 2, 4000000, 0, nullptr, 0);
    network.Send(1, 2, 4000000, 0, nullptr, 1);
    network.Run();
    EXPECT_EQ(network.Get().GetTotals().drops, 0u);
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
    std::map<DeviceId, Time> ends;
    for (const FlowRecord& flow : network.Flows())
    {
        ends[flow.source] = flow.end;
    }
    return {ends[network.Fabric().nics[0]], ends[network.Fabric().nics[1]]};
}

TEST_F(RoceClassTest, StrictClassesComeFirst)
{
    // Alone: 326.4 us with headers, plus 2 us and a packet. Both: twice that.
    const auto [first, second] = Race({STRICT, {}});
    EXPECT_LT(first, MicroSeconds(332));
    EXPECT_GT(second, MicroSeconds(653));
    EXPECT_LT(second, MicroSeconds(660));
}

TEST_F(RoceClassTest, WeightsShareTheLink)
{
    // Weights 3 and 1: the first has 3/4 of the link: 326.4 us / 0.75 = 435 us.
    const auto [first, second] = Race({{false, 3}, {false, 1}});
    EXPECT_NEAR(first.GetMicroSeconds(), 437, 4);
    EXPECT_GT(second, MicroSeconds(653));
    EXPECT_LT(second, MicroSeconds(660));
    const auto [even, other] = Race({{false, 1}, {false, 1}});
    EXPECT_GT(even, MicroSeconds(648));
    EXPECT_GT(other, MicroSeconds(648));
}

TEST_F(RoceClassTest, OneNicSharesAmongItsClassesToo)
{
    TestNetwork network(
        MakeStar(2, "100Gb/s", MicroSeconds(1)), {}, "ns3::MapScheduler", {}, {STRICT, {false, 1}});
    network.Send(0, 1, 4000000, 0, nullptr, 1);
    Simulator::Schedule(MicroSeconds(100),
                        [&network] { network.Send(0, 1, 1000000, 0, nullptr, 0); });
    network.Run();
    ASSERT_EQ(network.Flows().size(), 2u);
    // 1 MB at the full rate: 81.6 us, behind one packet.
    EXPECT_EQ(network.Flows()[0].bytes, 1000000u);
    EXPECT_LT(network.Flows()[0].end, MicroSeconds(186));
}

TEST_F(RoceClassTest, APauseStopsItsClassOnly)
{
    // Hosts 0 and 1 fill class 1 towards host 2 until they are paused; class 0 from host 0 to host
    // 3 goes by: as fast as alone but for one packet.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("600000"));
    TestNetwork network(
        MakeStar(4, "100Gb/s", MicroSeconds(1)), {}, "ns3::MapScheduler", {}, {STRICT, {}});
    network.Send(0, 2, 4000000, 0, nullptr, 1);
    network.Send(1, 2, 4000000, 0, nullptr, 1);
    Simulator::Schedule(MicroSeconds(100),
                        [&network] { network.Send(0, 3, 1000000, 0, nullptr, 0); });
    network.Run();
    EXPECT_GT(network.Get().GetTotals().pauses, 0u);
    EXPECT_EQ(network.Get().GetTotals().drops, 0u);
    for (const FlowRecord& flow : network.Flows())
    {
        if (flow.bytes == 1000000)
        {
            EXPECT_LT(flow.end, MicroSeconds(186));
        }
    }
}

TEST_F(RoceClassTest, ClassesAreTheSameUnderEverySchedulerAndPort)
{
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("4000000"));
    std::set<std::string> texts;
    for (const char* scheduler : {"ns3::MapScheduler", "ns3::echo::BucketWheelScheduler"})
    {
        for (const char* lazy : {"true", "false"})
        {
            TestNetwork network(MakeFatTree(4, "100Gb/s", NanoSeconds(500)),
                                {{"Lazy", lazy}, {"RunAhead", lazy}},
                                scheduler,
                                {},
                                {STRICT, {false, 3}, {false, 1}});
            for (uint32_t h = 1; h < 16; ++h)
            {
                network.Send(
                    h, h == 1 ? 0 : h % 2, 200000, 0, nullptr, static_cast<uint8_t>(h % 3));
            }
            network.Run();
            EXPECT_GT(network.Get().GetTotals().pauses, 0u);
            EXPECT_EQ(network.Get().GetTotals().drops, 0u);
            std::string text;
            for (const FlowRecord& flow : network.Flows())
            {
                text += std::to_string(flow.source.Get()) + " " +
                        std::to_string(flow.end.GetPicoSeconds()) + "\n";
            }
            texts.insert(text);
        }
    }
    EXPECT_EQ(texts.size(), 1u);
}

TEST_F(RoceClassTest, AClassHasItsDscpAndPauseBit)
{
    RoceHeader header;
    header.trafficClass = 2;
    header.payloadBytes = 1;
    Ptr<Packet> frame = Create<Packet>();
    frame->AddHeader(header);
    std::vector<uint8_t> bytes(frame->GetSize());
    frame->CopyData(bytes.data(), frame->GetSize());
    EXPECT_EQ(bytes[15] >> 2, 8 * 5 + 2); // priority 3 + 2
    header.kind = RocePacketKind::PAUSE;
    frame = Create<Packet>();
    frame->AddHeader(header);
    bytes.resize(frame->GetSize());
    frame->CopyData(bytes.data(), frame->GetSize());
    EXPECT_EQ(bytes[17], 1u << 5); // enabled priorities
    RoceHeader read;
    frame->RemoveHeader(read);
    EXPECT_EQ(read.trafficClass, 2u);
    EXPECT_EQ(read.kind, RocePacketKind::PAUSE);
}

} // namespace
