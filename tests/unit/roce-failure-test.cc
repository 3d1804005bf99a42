// SPDX-License-Identifier: GPL-2.0-only
// Links and switches that fail and return; circles of waiting buffers.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** Two leaves of two hosts, two spines; 100 Gb/s, 500 ns. */
TestFabric MakeSmall()
{
    TestFabric fabric;
    fabric.AddHosts(4);
    std::vector<DeviceId> leaves{fabric.AddSwitch(DeviceRole::LEAF, 0),
                                 fabric.AddSwitch(DeviceRole::LEAF, 1)};
    for (uint32_t h = 0; h < 4; ++h)
    {
        fabric.Join(fabric.nics[h], leaves[h / 2], "100Gb/s", NanoSeconds(500));
    }
    for (uint32_t s = 0; s < 2; ++s)
    {
        const DeviceId spine = fabric.AddSwitch(DeviceRole::SPINE, s);
        for (const DeviceId leaf : leaves)
        {
            fabric.Join(leaf, spine, "100Gb/s", NanoSeconds(500));
        }
    }
    fabric.topology->Seal();
    return fabric;
}

LinkEvent EventOf(const TestFabric& fabric,
                  Time time,
                  LinkEvent::Kind kind,
                  const std::string& name)
{
    LinkEvent event;
    event.time = time;
    event.kind = kind;
    event.subject = name;
    const DeviceId device = fabric.topology->FindDevice(name);
    for (const PortId port : fabric.topology->GetPorts(device))
    {
        if (fabric.topology->IsFabricLink(Topology::LinkOf(port)))
        {
            event.links.push_back(Topology::LinkOf(port));
        }
    }
    return event;
}

constexpr auto DOWN = LinkEvent::Kind::DOWN;
constexpr auto UP = LinkEvent::Kind::UP;

class RoceFailureTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

/** Eight flows across the spines. @return the end and all flows as text */
std::pair<Time, std::string> Cross(TestNetwork& network, uint64_t bytes, int& delivered)
{
    for (uint64_t label = 0; label < 8; ++label)
    {
        network.Send(static_cast<uint32_t>(label % 2),
                     2 + static_cast<uint32_t>(label % 2),
                     bytes,
                     label,
                     [&delivered] { ++delivered; });
    }
    const Time end = network.Run();
    std::string text;
    for (const FlowRecord& flow : network.Flows())
    {
        text += std::to_string(flow.label) + " " + std::to_string(flow.end.GetPicoSeconds()) + " " +
                std::to_string(flow.retransmitted) + "\n";
    }
    return {end, text};
}

TEST_F(RoceFailureTest, HopByHopForwardingEqualsSourceRoutes)
{
    // A failure that comes after the end changes nothing, though every switch decides anew.
    int delivered = 0;
    std::string texts[2];
    for (int i = 0; i < 2; ++i)
    {
        const TestFabric fabric = MakeSmall();
        TestNetwork::Events events;
        if (i == 1)
        {
            events = {EventOf(fabric, Seconds(1), DOWN, "spine1")};
        }
        TestNetwork network(fabric, {}, "ns3::MapScheduler", events);
        texts[i] = Cross(network, 1000000, delivered).second;
    }
    EXPECT_EQ(delivered, 16);
    EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(RoceFailureTest, TrafficGoesAroundASwitchThatFails)
{
    // 8 x 1 MB over two spines take 333 us with headers at least, over one 666 us. Spine 1 fails at
    // 100 us, ways change at 150 us; what was lost is sent again after the timer's 100 us.
    const TestFabric fabric = MakeSmall();
    std::map<std::string, std::string> texts;
    for (const char* scheduler :
         {"ns3::MapScheduler", "ns3::echo::BucketWheelScheduler", "ns3::HeapScheduler"})
    {
        int delivered = 0;
        TestNetwork network(fabric,
                            {{"RerouteDelay", "50us"}, {"RetransmitTimeout", "100us"}},
                            scheduler,
                            {EventOf(fabric, MicroSeconds(100), DOWN, "spine1")});
        const auto [end, text] = Cross(network, 1000000, delivered);
        texts[scheduler] = text;
        EXPECT_EQ(delivered, 8);
        EXPECT_GT(end, MicroSeconds(550));
        EXPECT_LT(end, MicroSeconds(1000));
        EXPECT_GT(network.Get().GetTotals().drops, 0u);
        EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
        for (const LinkRecord& link : network.Links())
        {
            if (link.from == "spine1" || link.to == "spine1")
            {
                EXPECT_LE(link.lastBusy, MicroSeconds(100)) << link.from;
            }
        }
    }
    EXPECT_EQ(texts["ns3::HeapScheduler"], texts["ns3::MapScheduler"]);
    EXPECT_EQ(texts["ns3::echo::BucketWheelScheduler"], texts["ns3::MapScheduler"]);
}

TEST_F(RoceFailureTest, ALinkThatReturnsIsUsedAgain)
{
    const TestFabric fabric = MakeSmall();
    int delivered = 0;
    TestNetwork network(fabric,
                        {{"RerouteDelay", "10us"}, {"RetransmitTimeout", "50us"}},
                        "ns3::MapScheduler",
                        {EventOf(fabric, MicroSeconds(20), DOWN, "spine1"),
                         EventOf(fabric, MicroSeconds(200), UP, "spine1")});
    Cross(network, 2000000, delivered);
    EXPECT_EQ(delivered, 8);
    bool used = false;
    for (const LinkRecord& link : network.Links())
    {
        used |= link.from == "spine1" && link.lastBusy > MicroSeconds(300);
    }
    EXPECT_TRUE(used);
}

TEST_F(RoceFailureTest, FlowsOfANicWithTwoPortsMoveToTheOther)
{
    // Two hosts, each NIC on two leaves. Eight flows of 4 MB share 200 Gb/s: 1.28 ms. One link of
    // the sender or of the receiver is cut, for good or for a time; what used it goes on by the
    // other port once routing knows, and both are used again after a return.
    for (const uint32_t cut : {0u, 1u})
    {
        for (const bool returns : {false, true})
        {
            for (const char* control : {"none", "dcqcn", "swift"})
            {
                TestFabric fabric;
                fabric.AddHosts(2);
                for (uint32_t l = 0; l < 2; ++l)
                {
                    const DeviceId leaf = fabric.AddSwitch(DeviceRole::LEAF, l);
                    fabric.Join(fabric.nics[0], leaf, "100Gb/s", NanoSeconds(500));
                    fabric.Join(fabric.nics[1], leaf, "100Gb/s", NanoSeconds(500));
                }
                fabric.topology->Seal();
                LinkEvent down;
                down.time = MicroSeconds(200);
                down.kind = DOWN;
                down.subject = "a link";
                down.links = {LinkId(2 + cut)}; // after two links of GPUs: nic0 and nic1 to leaf 0
                LinkEvent up = down;
                up.time = MicroSeconds(900);
                up.kind = UP;
                TestNetwork network(fabric,
                                    {{"RerouteDelay", "100us"}, {"CongestionControl", control}},
                                    "ns3::MapScheduler",
                                    returns ? TestNetwork::Events{down, up}
                                            : TestNetwork::Events{down});
                for (uint64_t label = 0; label < 8; ++label)
                {
                    network.Send(0, 1, 4000000, label);
                }
                const Time end = network.Run();
                EXPECT_EQ(network.Flows().size(), 8u) << network.Get().DescribeTrouble();
                EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
                // All over one port: 2.6 ms; half of it until the cut, and a timeout of 0.5 ms.
                EXPECT_GT(end, MicroSeconds(1300));
                EXPECT_LT(end, MicroSeconds(returns ? 2800 : 3300)) << control;
                uint64_t first = 0;
                uint64_t second = 0;
                for (const LinkRecord& link : network.Links())
                {
                    first += link.from == "host0/nic0" && link.to == "leaf0" ? link.wireBytes : 0;
                    second += link.from == "host0/nic0" && link.to == "leaf1" ? link.wireBytes : 0;
                }
                EXPECT_GT(first, 1000000u);
                EXPECT_GT(second, returns ? 16000000u : 27000000u);
            }
        }
    }
}

TEST_F(RoceFailureTest, APausedLinkThatFailsAndReturnsLosesNothingForGood)
{
    // Incast with small buffers: pauses are in force when the leaf's uplinks fail and return.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("300000"));
    const TestFabric fabric = MakeSmall();
    int delivered = 0;
    TestNetwork network(fabric,
                        {{"RerouteDelay", "5us"}, {"RetransmitTimeout", "50us"}},
                        "ns3::MapScheduler",
                        {EventOf(fabric, MicroSeconds(50), DOWN, "spine0"),
                         EventOf(fabric, MicroSeconds(60), DOWN, "host3/nic0"),
                         EventOf(fabric, MicroSeconds(90), UP, "host3/nic0"),
                         EventOf(fabric, MicroSeconds(150), UP, "spine0")});
    for (uint32_t h = 0; h < 3; ++h)
    {
        network.Send(h, 3, 1000000, h, [&delivered] { ++delivered; });
    }
    network.Run();
    EXPECT_EQ(delivered, 3);
    EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
    EXPECT_EQ(network.Get().DescribeTrouble(), "");
    for (uint32_t d = 0; d < fabric.topology->GetDeviceCount(); ++d)
    {
        if (const auto device = DynamicCast<RoceSwitch>(network.Get().GetDevice(DeviceId(d))))
        {
            EXPECT_EQ(device->GetBuffer().GetHeld(), 0u);
            EXPECT_EQ(device->GetBufferDrops(), 0u);
        }
    }
}

TEST_F(RoceFailureTest, QueuePairsMadeInAnOutageKnowTheirIdlePath)
{
    // Two links of 5 us: a window for the first of them alone is half of what fills the path. A
    // queue pair is made while the receiver's link is down, or slow; once it is whole again, 20 MB
    // take what they take where nothing ever failed, but for timers of 50 us.
    const TestFabric fabric = MakeStar(2, "100Gb/s", MicroSeconds(5));
    for (const char* control : {"hpcc", "swift", "dcqcn"})
    {
        const TestNetwork::Attributes attributes{{"RerouteDelay", "0us"},
                                                 {"RetransmitTimeout", "50us"},
                                                 {"WindowBdps", "1"},
                                                 {"CongestionControl", control}};
        Time alone;
        {
            TestNetwork whole(fabric, attributes);
            whole.Send(0, 1, 20000000);
            alone = whole.Run();
        }
        for (const auto& [subject, kind] :
             {std::pair{"host1/nic0", DOWN}, std::pair{"host0/nic0", LinkEvent::Kind::RATE}})
        {
            LinkEvent fails = EventOf(fabric, MicroSeconds(1), kind, subject);
            fails.rate = DataRate("1Gb/s");
            LinkEvent ends = fails;
            ends.time = MicroSeconds(100);
            ends.kind = kind == DOWN ? UP : kind;
            ends.rate = DataRate("100Gb/s");
            TestNetwork network(fabric, attributes, "ns3::MapScheduler", {fails, ends});
            Simulator::Schedule(MicroSeconds(50), [&] { network.Send(0, 1, 20000000); });
            const Time end = network.Run();
            ASSERT_EQ(network.Flows().size(), 1u) << control;
            EXPECT_EQ(network.Flows()[0].hops, 2u);
            EXPECT_LT(end, MicroSeconds(250) + alone * int64x64_t(1.05)) << control << subject;
        }
    }
}

TEST_F(RoceFailureTest, RateAndLossOfALinkChange)
{
    // 10 MB at 100 Gb/s for 400 us, then at 25 Gb/s: 816 us alone; 5.1 MB (with headers) are left
    // at 400 us and take 1.68 ms.
    const TestFabric fabric = MakeSmall();
    LinkEvent rate = EventOf(fabric, MicroSeconds(400), LinkEvent::Kind::RATE, "host0/nic0");
    rate.rate = DataRate("25Gb/s");
    {
        TestNetwork slow(fabric, {}, "ns3::MapScheduler", {rate});
        slow.Send(0, 1, 10000000);
        const Time left = TxTime(10000000 + 2442 * 82 - 5000000, DataRate("25Gb/s"));
        const Time end = slow.Run();
        EXPECT_GT(end, MicroSeconds(400) + left);
        EXPECT_LT(end, MicroSeconds(400) + left + MicroSeconds(10));
    }

    LinkEvent loss = EventOf(fabric, MicroSeconds(0), LinkEvent::Kind::LOSS, "host0/nic0");
    loss.loss = 0.01;
    std::string texts[2];
    for (std::string& text : texts)
    {
        int delivered = 0;
        TestNetwork lossy(fabric, {}, "ns3::MapScheduler", {loss});
        text = Cross(lossy, 1000000, delivered).second;
        EXPECT_EQ(delivered, 8);
        EXPECT_GE(lossy.Get().GetTotals().drops, 5u);
        for (const FlowRecord& flow : lossy.Flows())
        {
            // Host 0's flows have even labels; the others see no lossy link.
            EXPECT_TRUE(flow.label % 2 == 0 || flow.retransmitted == 0) << flow.label;
        }
    }
    EXPECT_EQ(texts[0], texts[1]); // by seed
}

TEST_F(RoceFailureTest, TheUnreachableIsNamedWithTheTime)
{
    const TestFabric fabric = MakeSmall();
    int delivered = 0;
    TestNetwork network(fabric,
                        {{"RerouteDelay", "100us"}},
                        "ns3::MapScheduler",
                        {EventOf(fabric, MicroSeconds(50), DOWN, "host3/nic0")});
    Cross(network, 1000000, delivered);
    EXPECT_LT(delivered, 8);
    EXPECT_EQ(Simulator::Now(), MicroSeconds(150));
    const std::string trouble = network.Get().DescribeTrouble();
    EXPECT_THAT(trouble, HasSubstr("at 150.000 us"));
    EXPECT_THAT(trouble, HasSubstr("host1/nic0 to host3/nic0"));
    EXPECT_THAT(trouble, HasSubstr("with host3/nic0 down"));
    EXPECT_THAT(trouble, testing::Not(HasSubstr("host2")));
}

TEST_F(RoceFailureTest, AMessageSentAfterTheFailureIsNamedToo)
{
    const TestFabric fabric = MakeSmall();
    TestNetwork network(
        fabric, {}, "ns3::MapScheduler", {EventOf(fabric, MicroSeconds(0), DOWN, "host3/nic0")});
    Simulator::Schedule(MilliSeconds(5), [&network] { network.Send(0, 3, 1000); });
    network.Run();
    EXPECT_EQ(Simulator::Now(), MilliSeconds(5));
    EXPECT_THAT(network.Get().DescribeTrouble(), HasSubstr("host0/nic0 to host3/nic0"));
}

/** Five switches in a ring, a host each: the way to the next but one is clockwise. */
TestFabric MakeRing()
{
    TestFabric fabric;
    fabric.AddHosts(5);
    std::vector<DeviceId> switches;
    for (uint32_t i = 0; i < 5; ++i)
    {
        switches.push_back(fabric.AddSwitch(DeviceRole::LEAF, i));
        fabric.Join(fabric.nics[i], switches[i], "100Gb/s", NanoSeconds(500));
    }
    for (uint32_t i = 0; i < 5; ++i)
    {
        fabric.Join(switches[i], switches[(i + 1) % 5], "100Gb/s", NanoSeconds(500));
    }
    fabric.topology->Seal();
    return fabric;
}

TEST_F(RoceFailureTest, ACircleOfWaitingBuffersIsNamed)
{
    // Every link of the ring carries two flows at the full rate: buffers fill, all five ports of
    // the ring are stopped, and each holds what the one before it waits for.
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("500000"));
    for (const char* loss : {"0", "1e-6"})
    {
        // With loss, timers go on for ever: the watch has to end the run.
        TestNetwork network(MakeRing(), {{"LossRate", loss}});
        for (uint32_t h = 0; h < 5; ++h)
        {
            network.Send(h, (h + 2) % 5, 20000000);
        }
        network.Run();
        EXPECT_GT(network.Get().GetTotals().liveFlows, 0u);
        EXPECT_LT(Simulator::Now(), MilliSeconds(50));
        const std::string trouble = network.Get().DescribeTrouble();
        EXPECT_THAT(trouble, HasSubstr("5 ports wait for buffer space in a circle"));
        for (uint32_t i = 0; i < 5; ++i)
        {
            const auto leaf = [](uint32_t n) { return "leaf" + std::to_string(n % 5); };
            EXPECT_THAT(trouble,
                        testing::ContainsRegex(leaf(i) + " -> " + leaf(i + 1) + " .*waits for " +
                                               leaf(i + 1) + " -> " + leaf(i + 2)));
        }
    }
}

TEST_F(RoceFailureTest, CongestionWithoutACircleIsNone)
{
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("500000"));
    TestNetwork network(MakeRing());
    for (uint32_t h = 1; h < 5; ++h)
    {
        network.Send(h, 0, 2000000);
    }
    for (int us = 10; us < 400; us += 10)
    {
        Simulator::Schedule(MicroSeconds(us),
                            [&network] { EXPECT_EQ(network.Get().DescribeTrouble(), ""); });
    }
    network.Run();
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    EXPECT_GT(network.Get().GetTotals().pauses, 0u);
}

} // namespace
