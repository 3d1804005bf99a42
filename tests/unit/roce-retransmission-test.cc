// SPDX-License-Identifier: GPL-2.0-only
// Repair of losses packet by packet, turns of queue pairs, windows and coalesced acknowledgements.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-queue-pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** A queue pair with a message of @p packets packets of one MTU. */
std::unique_ptr<QueuePair> MakePair(const QueuePairSettings& settings, uint64_t packets)
{
    auto pair = std::make_unique<QueuePair>(QueuePair::Key{},
                                            0,
                                            settings,
                                            std::vector<RocePort*>{nullptr, nullptr},
                                            std::vector<RocePort*>{nullptr, nullptr},
                                            std::make_unique<RateState>());
    RoceMessage message;
    message.message.bytes = settings.mtuBytes * packets;
    pair->Append(std::move(message));
    return pair;
}

/** The same with packets of 1,000 B. */
std::unique_ptr<QueuePair> MakePair(bool selective, uint64_t packets, uint32_t reorder = 0)
{
    QueuePairSettings settings;
    settings.mtuBytes = 1000;
    settings.selective = selective;
    settings.keepsEarly = selective;
    settings.reorder = reorder;
    return MakePair(settings, packets);
}

/** @return numbers of all packets that the sender has to send now */
std::vector<uint64_t> SendAll(QueuePair& pair)
{
    std::vector<uint64_t> sent;
    while (pair.HasPacket())
    {
        RocePacket packet{};
        pair.MakePacket(packet);
        sent.push_back(packet.sequence);
    }
    return sent;
}

using testing::ElementsAre;
using Arrival = QueuePair::Arrival;

TEST(QueuePair, GoBackNDropsWhatFollowsAGapAndSendsAllAgain)
{
    const auto pair = MakePair(false, 6);
    EXPECT_THAT(SendAll(*pair), ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_EQ(pair->Accept(0), Arrival::IN_ORDER);
    EXPECT_EQ(pair->Accept(2), Arrival::GAP); // 1 was lost
    EXPECT_EQ(pair->Accept(3), Arrival::GAP_REPORTED);
    EXPECT_EQ(pair->Acknowledge(1), 1u);
    pair->OnNack(1);
    EXPECT_EQ(pair->GetOutstanding(), 0u);
    EXPECT_THAT(SendAll(*pair), ElementsAre(1, 2, 3, 4, 5));
    for (uint64_t i = 1; i < 6; ++i)
    {
        EXPECT_EQ(pair->Accept(i), Arrival::IN_ORDER);
    }
    EXPECT_TRUE(pair->HasFinished());
    EXPECT_EQ(pair->FinishMessage().retransmitted, 5u);
    EXPECT_FALSE(pair->HasFinished());
}

TEST(QueuePair, SelectiveRepeatSendsWhatIsMissingOnce)
{
    const auto pair = MakePair(true, 8);
    SendAll(*pair);
    // 1, 2 and 5 are lost. Each arrival out of order is named in a NACK.
    EXPECT_EQ(pair->Accept(0), Arrival::IN_ORDER);
    EXPECT_EQ(pair->Accept(3), Arrival::GAP);
    EXPECT_EQ(pair->Accept(4), Arrival::GAP);
    EXPECT_EQ(pair->Accept(4), Arrival::DUPLICATE);
    EXPECT_EQ(pair->Accept(6), Arrival::GAP);
    EXPECT_EQ(pair->GetExpected(), 1u);
    pair->Acknowledge(1);
    pair->OnNack(3);
    EXPECT_THAT(SendAll(*pair), ElementsAre(1, 2));
    pair->OnNack(4);
    EXPECT_FALSE(pair->HasPacket()); // sent again already
    pair->OnNack(6);
    EXPECT_THAT(SendAll(*pair), ElementsAre(5));
    EXPECT_EQ(pair->Accept(2), Arrival::GAP);
    EXPECT_EQ(pair->Accept(1), Arrival::FILLED);
    EXPECT_EQ(pair->GetExpected(), 5u); // 2, 3 and 4 had come
    EXPECT_EQ(pair->Accept(5), Arrival::FILLED);
    EXPECT_EQ(pair->GetExpected(), 7u);
    EXPECT_FALSE(pair->HasFinished());
    EXPECT_EQ(pair->Accept(7), Arrival::IN_ORDER);
    EXPECT_TRUE(pair->HasFinished());
    EXPECT_EQ(pair->Acknowledge(8), 7u);
    pair->OnNack(6); // an old one, overtaken
    EXPECT_FALSE(pair->HasPacket());
}

TEST(QueuePair, ATimeoutSendsAgainWhatIsNotKnownToHaveArrived)
{
    const auto pair = MakePair(true, 5);
    SendAll(*pair);
    pair->OnNack(2); // 2 has arrived; 0 and 1 are sent again
    EXPECT_THAT(SendAll(*pair), ElementsAre(0, 1));
    pair->Restart(); // lost again, and 3 and 4 with them
    EXPECT_THAT(SendAll(*pair), ElementsAre(0, 1, 3, 4));
    pair->Acknowledge(1);
    pair->Restart();
    EXPECT_THAT(SendAll(*pair), ElementsAre(1, 3, 4));
}

TEST(QueuePair, ReorderingWithinBoundsIsNoGap)
{
    const auto pair = MakePair(true, 6, 2);
    EXPECT_EQ(pair->Accept(1), Arrival::EARLY);
    EXPECT_EQ(pair->Accept(2), Arrival::EARLY);
    EXPECT_EQ(pair->Accept(3), Arrival::GAP); // three places after 0
    EXPECT_EQ(pair->Accept(0), Arrival::FILLED);
    EXPECT_EQ(pair->GetExpected(), 4u);
    EXPECT_EQ(pair->Accept(5), Arrival::EARLY);
    EXPECT_EQ(pair->Accept(4), Arrival::FILLED);
    EXPECT_TRUE(pair->HasFinished());
}

TEST(QueuePair, WhatCameEarlyIsNotSentAgainWhereverWaysDiffer)
{
    // A reordering of 2 places is none: of the packets before 5, those before 3 are missing for
    // sure, and 1 has been named in an ACK.
    const auto pair = MakePair(true, 8, 2);
    SendAll(*pair);
    EXPECT_EQ(pair->Accept(1), Arrival::EARLY);
    pair->NoteArrived(1);
    EXPECT_FALSE(pair->HasPacket());
    EXPECT_EQ(pair->Accept(5), Arrival::GAP);
    pair->OnNack(5);
    EXPECT_THAT(SendAll(*pair), ElementsAre(0, 2));
}

TEST(QueuePair, GoBackNKeepsWhatCameEarlyWhereWaysDiffer)
{
    QueuePairSettings settings;
    settings.mtuBytes = 1000;
    settings.keepsEarly = true;
    settings.reorder = 1;
    const auto pair = MakePair(settings, 6);
    SendAll(*pair);
    EXPECT_EQ(pair->Accept(1), Arrival::EARLY);
    EXPECT_EQ(pair->Accept(2), Arrival::GAP); // two places after 0
    EXPECT_EQ(pair->Accept(3), Arrival::GAP_REPORTED);
    EXPECT_EQ(pair->Accept(3), Arrival::DUPLICATE);
    EXPECT_EQ(pair->Accept(0), Arrival::FILLED);
    EXPECT_EQ(pair->GetExpected(), 4u);
    EXPECT_EQ(pair->Accept(4), Arrival::IN_ORDER);
}

TEST(QueuePair, TheOldestPacketAsksWhenItIsSentAgain)
{
    // Each fourth asks; were the first four sent one by one, each lost once its successor is to
    // come, no acknowledgement would ever be sent.
    const auto pair = MakePair(false, 20);
    RocePacket packet{};
    pair->MakePacket(packet);
    EXPECT_FALSE(packet.ackRequest);
    EXPECT_FALSE(pair->AwaitsAcknowledgement());
    pair->Restart();
    pair->MakePacket(packet);
    EXPECT_EQ(packet.sequence, 0u);
    EXPECT_TRUE(packet.ackRequest);
    EXPECT_TRUE(pair->AwaitsAcknowledgement());
    pair->MakePacket(packet);
    EXPECT_FALSE(packet.ackRequest);
    pair->Acknowledge(1);
    EXPECT_FALSE(pair->AwaitsAcknowledgement());
}

TEST(QueuePair, AWindowThatShrinksStillGetsItsAcknowledgement)
{
    // 3 packets under way, none of which asked (each fourth does); the window falls to one: one
    // more is let out, and asks.
    const auto pair = MakePair(false, 20);
    RocePacket packet{};
    for (int i = 0; i < 3; ++i)
    {
        pair->MakePacket(packet);
        EXPECT_FALSE(packet.ackRequest);
    }
    pair->GetRate().windowBytes = 1;
    pair->UpdateWindow(); // one packet, and the three that need not have been told of
    EXPECT_FALSE(pair->IsWindowFull());
    pair->MakePacket(packet);
    EXPECT_TRUE(packet.ackRequest);
    EXPECT_TRUE(pair->IsWindowFull());
    pair->Acknowledge(4);
    EXPECT_FALSE(pair->IsWindowFull());
}

TEST(QueuePair, ProbesMeasureOnlyWhatTheyAskedFor)
{
    const auto pair = MakePair(false, 20);
    pair->StartProbe(3, 100);
    pair->StartProbe(7, 200);
    EXPECT_EQ(pair->EndProbe(3, 1000), -1); // not yet
    EXPECT_EQ(pair->EndProbe(4, 1000), 900);
    EXPECT_EQ(pair->EndProbe(4, 1100), -1);
    pair->StartProbe(11, 300);
    EXPECT_EQ(pair->EndProbe(12, 1300), 1000); // the answer to 7 was overtaken
    pair->StartProbe(15, 400);
    pair->Restart(); // either packet 15 could be meant
    EXPECT_EQ(pair->EndProbe(16, 1400), -1);
}

/** Sets defaults for one test. */
class RoceRetransmissionTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

TEST_F(RoceRetransmissionTest, EveryByteIsDeliveredOnceAndInOrderUnderLoss)
{
    // Messages of many sizes over lossy links, all schemes: each is delivered once, in the order of
    // its queue pair, nothing stays; selective repeat sends less again than go-back-N.
    std::map<std::string, uint64_t> again;
    for (const std::string repair : {"go-back-n", "selective-repeat"})
    {
        for (const char* control : {"none", "dcqcn", "hpcc", "swift"})
        {
            TestNetwork network(MakeFatTree(4, "100Gb/s", MicroSeconds(1)),
                                {{"LossRate", "0.01"},
                                 {"RetransmitTimeout", "100us"},
                                 {"CongestionControl", control},
                                 {"Retransmission", repair}});
            std::map<uint32_t, std::vector<uint32_t>> order;
            uint64_t packets = 0;
            for (uint32_t i = 0; i < 64; ++i)
            {
                const uint32_t from = i % 16;
                const uint64_t bytes = 1 + 30011 * uint64_t{i % 7};
                packets += (bytes + 4095) / 4096;
                network.Send(from, (from + 5) % 16, bytes, 0, [&order, from, i] {
                    order[from].push_back(i);
                });
            }
            network.Run();
            for (uint32_t from = 0; from < 16; ++from)
            {
                EXPECT_THAT(order[from], ElementsAre(from, from + 16, from + 32, from + 48))
                    << repair << ' ' << control;
            }
            const NetworkTotals totals = network.Get().GetTotals();
            EXPECT_GT(totals.drops, 0u);
            EXPECT_EQ(totals.liveFlows, 0u);
            EXPECT_EQ(network.Get().GetAlivePackets(), 0u);
            uint64_t sent = 0;
            for (const FlowRecord& flow : network.Flows())
            {
                sent += flow.packets;
                again[repair] += flow.retransmitted;
            }
            EXPECT_EQ(sent, packets);
        }
    }
    EXPECT_LT(again["selective-repeat"], again["go-back-n"]);
}

/** Congestion control, repair, loss rate, load balancer. */
using LossCase = std::tuple<std::string, std::string, std::string, std::string>;

class LossMatrixTest : public testing::TestWithParam<LossCase>
{
};

TEST_P(LossMatrixTest, EveryShareOfLossIsOvercome)
{
    // However many packets are lost, each that arrives brings its flow on: 4 messages of 200 kB
    // (49 packets) to one host across 4 links. An hour would not do for a flow that starves.
    const auto& [control, repair, loss, balancer] = GetParam();
    TestNetwork::Attributes attributes{{"LossRate", loss},
                                       {"CongestionControl", control},
                                       {"Retransmission", repair},
                                       {"LoadBalancer", balancer}};
    attributes["ReorderBytes"] = "65536";
    TestFabric fabric;
    fabric.AddHosts(5);
    std::vector<DeviceId> leaves{fabric.AddSwitch(DeviceRole::LEAF, 0),
                                 fabric.AddSwitch(DeviceRole::LEAF, 1)};
    for (uint32_t h = 0; h < 5; ++h)
    {
        fabric.Join(fabric.nics[h], leaves[h == 0 ? 0 : 1], "100Gb/s", MicroSeconds(1));
    }
    for (uint32_t s = 0; s < 2; ++s)
    {
        const DeviceId spine = fabric.AddSwitch(DeviceRole::SPINE, s);
        fabric.Join(leaves[0], spine, "100Gb/s", MicroSeconds(1));
        fabric.Join(leaves[1], spine, "100Gb/s", MicroSeconds(1));
    }
    fabric.topology->Seal();
    TestNetwork network(fabric, attributes, "ns3::echo::BucketWheelScheduler");
    for (uint32_t h = 1; h < 5; ++h)
    {
        network.Send(h, 0, 200000);
    }
    Simulator::Stop(Seconds(3600));
    network.Run();
    EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u);
    EXPECT_EQ(network.Flows().size(), 4u);
    EXPECT_GT(network.Get().GetTotals().drops, 0u);
}

INSTANTIATE_TEST_SUITE_P(Losses,
                         LossMatrixTest,
                         testing::Combine(testing::Values("none", "dcqcn", "hpcc", "swift"),
                                          testing::Values("go-back-n", "selective-repeat"),
                                          testing::Values("0.01", "0.1", "0.3", "0.5"),
                                          testing::Values("")),
                         [](const auto& info) {
                             return std::get<0>(info.param) +
                                    (std::get<1>(info.param)[0] == 'g' ? "_gbn_" : "_sr_") +
                                    std::get<2>(info.param).substr(2);
                         });

INSTANTIATE_TEST_SUITE_P(LossesUnderSpray,
                         LossMatrixTest,
                         testing::Combine(testing::Values("none", "dcqcn", "swift"),
                                          testing::Values("go-back-n", "selective-repeat"),
                                          testing::Values("0.01", "0.3"),
                                          testing::Values("ns3::echo::SprayBalancer")),
                         [](const auto& info) {
                             return std::get<0>(info.param) +
                                    (std::get<1>(info.param)[0] == 'g' ? "_gbn_" : "_sr_") +
                                    std::get<2>(info.param).substr(2);
                         });

TEST_F(RoceRetransmissionTest, ASlowSenderIsNotTakenForALoss)
{
    // 10 Mb/s: 3.4 ms from packet to packet and a request for acknowledgement each fourth, beside a
    // timeout of 0.5 ms. Packets might get lost here, but none does.
    Config::SetDefault("ns3::echo::FixedRate::Rate", StringValue("10Mb/s"));
    TestNetwork network(MakeStar(2, "100Gb/s", MicroSeconds(1)),
                        {{"LossRate", "1e-12"}, {"CongestionControl", "fixed-rate"}});
    network.Send(0, 1, 100000);
    const Time end = network.Run();
    EXPECT_EQ(network.Flows().at(0).retransmitted, 0u);
    EXPECT_NEAR(end.GetSeconds(), 24 * 4178 * 8 / 10e6, 0.001);
}

TEST_F(RoceRetransmissionTest, SelectiveRepeatCostsLessTimeUnderLoss)
{
    std::map<std::string, Time> ends;
    for (const std::string repair : {"go-back-n", "selective-repeat"})
    {
        TestNetwork network(
            MakeStar(2, "100Gb/s", MicroSeconds(5)),
            {{"LossRate", "0.002"}, {"Retransmission", repair}, {"WindowBdps", "1"}});
        network.Send(0, 1, 20000000);
        ends[repair] = network.Run();
    }
    EXPECT_LT(ends["selective-repeat"], ends["go-back-n"]);
    EXPECT_GT(ends["selective-repeat"], TxTime(20000000, DataRate("100Gb/s")));
}

TEST_F(RoceRetransmissionTest, AcknowledgementsAreCoalesced)
{
    // 64 packets: an acknowledgement each n-th, the last one asks anyway.
    for (const uint64_t interval : {1, 3, 4, 16, 100})
    {
        TestNetwork network(MakeStar(2, "100Gb/s", MicroSeconds(1)),
                            {{"AckInterval", std::to_string(interval)}});
        network.Send(0, 1, 64 * 4096);
        network.Run();
        uint64_t acknowledgements = 0;
        for (const LinkRecord& link : network.Links())
        {
            acknowledgements += link.from == "host1/nic0" ? link.packets : 0;
        }
        EXPECT_EQ(acknowledgements, 64 / interval + (64 % interval > 0 ? 1 : 0)) << interval;
    }
}

TEST_F(RoceRetransmissionTest, WindowsOfEverySizeMakeProgress)
{
    for (const char* control : {"none", "dcqcn", "hpcc", "swift"})
    {
        for (const char* window : {"1", "4096", "10000", "100000"})
        {
            TestNetwork network(
                MakeStar(9, "100Gb/s", MicroSeconds(1)),
                {{"WindowBytes", window}, {"AckInterval", "16"}, {"CongestionControl", control}});
            for (uint32_t h = 1; h < 9; ++h)
            {
                network.Send(h, 0, 100000);
            }
            network.Run();
            EXPECT_EQ(network.Get().GetTotals().liveFlows, 0u) << control << ' ' << window;
        }
    }
}

TEST_F(RoceRetransmissionTest, TurnsByBytesShareEvenlyTurnsByPacketsDoNot)
{
    // One NIC: a message of full packets beside messages of 512 B on one queue pair. By packets
    // both send as many packets, by bytes as many bytes.
    for (const bool byBytes : {false, true})
    {
        Config::SetDefault("ns3::echo::RoceNic::ByteFair", BooleanValue(byBytes));
        TestNetwork network(MakeStar(3, "100Gb/s", MicroSeconds(1)));
        Time largeEnd;
        Time smallEnd;
        network.Send(0, 1, 512000, 0, [&] { largeEnd = Simulator::Now(); });
        for (int i = 0; i < 1000; ++i)
        {
            network.Send(0, 2, 512, 0, [&] { smallEnd = Simulator::Now(); });
        }
        network.Run();
        if (byBytes)
        {
            // 512 + 98 B for each 512 B: the small ones need 1.17 times the wire bytes and end
            // last.
            EXPECT_NEAR(largeEnd.ToDouble(Time::US) / smallEnd.ToDouble(Time::US), 0.93, 0.05);
        }
        else
        {
            // The large one ends after 125 packets of each.
            EXPECT_LT(largeEnd * 1.5, smallEnd);
        }
    }
}

} // namespace
