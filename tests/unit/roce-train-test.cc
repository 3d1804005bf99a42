// SPDX-License-Identifier: GPL-2.0-only
// Trains of packets against the packets that they stand for.

#include "roce-fixture.h"

#include "ns3/echo-train-network.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** A message that a host sends at a time. */
struct Sending
{
    uint32_t from;
    uint32_t to;
    uint64_t bytes;
    Time start;
    uint64_t label{0};
};

void KeepId(std::vector<uint64_t>* ids, const FlowRecord& record)
{
    ids->push_back(record.id);
}

TestSink RunAll(Ptr<NetworkModel> network,
                const TestFabric& fabric,
                const std::vector<Sending>& all)
{
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(fabric.topology);
    TestSink sink;
    network->Prepare(router, &sink);
    std::vector<uint64_t> traced; // ids, by the trace source
    network->TraceConnectWithoutContext("Delivered", MakeBoundCallback(&KeepId, &traced));
    for (const Sending& sending : all)
    {
        Message message;
        message.source = fabric.nics[sending.from];
        message.destination = fabric.nics[sending.to];
        message.bytes = sending.bytes;
        message.label = sending.label;
        Simulator::Schedule(sending.start, [network, message] { network->Send(message, [] {}); });
    }
    Simulator::Run();
    network->ReportLinks(sink, Simulator::Now());
    EXPECT_EQ(network->GetTotals().liveFlows, 0u);
    std::vector<uint64_t> recorded;
    for (const FlowRecord& flow : sink.flows)
    {
        recorded.push_back(flow.id);
    }
    EXPECT_EQ(traced, recorded);
    network->Dispose();
    Simulator::Destroy();
    return sink;
}

Ptr<TrainNetwork> MakeTrains(uint32_t packets = 32)
{
    Ptr<TrainNetwork> network = CreateObject<TrainNetwork>();
    network->SetAttribute("TrainPackets", UintegerValue(packets));
    return network;
}

/** @return ends of the messages in the order of their sources */
std::vector<Time> EndsOf(const TestSink& sink, const TestFabric& fabric)
{
    std::vector<Time> ends;
    for (const DeviceId nic : fabric.nics)
    {
        for (const FlowRecord& flow : sink.flows)
        {
            if (flow.source == nic)
            {
                ends.push_back(flow.end);
            }
        }
    }
    return ends;
}

// The contract of NetworkModel: one message on an idle path, to the picosecond.
TEST(TrainNetwork, OneMessageTakesWhatPacketsTake)
{
    const std::vector<std::vector<std::string>> rows{
        {"100Gb/s", "100Gb/s", "100Gb/s", "100Gb/s"},
        {"100Gb/s", "400Gb/s", "400Gb/s", "100Gb/s"},
        {"400Gb/s", "100Gb/s", "100Gb/s", "400Gb/s"},
        {"200Gb/s", "400Gb/s", "100Gb/s", "200Gb/s"},
    };
    for (const auto& rates : rows)
    {
        const TestFabric fabric = MakeRow(rates, std::vector<Time>(4, NanoSeconds(700)));
        for (const uint64_t bytes : {1ULL, 4096ULL, 4097ULL, 100000ULL, 131072ULL, 10485761ULL})
        {
            const std::vector<Sending> one{{0, 1, bytes, Time()}};
            const TestSink packets = RunAll(CreateObject<PacketNetwork>(), fabric, one);
            const TestSink trains = RunAll(MakeTrains(), fabric, one);
            EXPECT_EQ(trains.flows.at(0).end, packets.flows.at(0).end)
                << bytes << " B over " << rates[0] << ", " << rates[1] << ", " << rates[2];
        }
    }
}

TEST(TrainNetwork, LinksCarryPayloadAndHeaders)
{
    const TestFabric fabric = MakeStar(2, "100Gb/s", MicroSeconds(1));
    const TestSink sink = RunAll(MakeTrains(), fabric, {{0, 1, 1000000, Time()}});
    ASSERT_EQ(sink.links.size(), 2u);
    for (const LinkRecord& link : sink.links)
    {
        EXPECT_EQ(link.payloadBytes, 1000000u);
        EXPECT_EQ(link.wireBytes, 1000000u + 245 * 82 + 16); // 244 full packets and one of 576 B
        EXPECT_EQ(link.packets, 0u);                         // none were simulated
        EXPECT_EQ(link.busy, TxTime(link.wireBytes, DataRate("100Gb/s")));
    }
}

// Three hosts send 1 MiB to a fourth, the first one 10 us before the others. Until they come it
// sends 10 us alone; then a third each arrives, so its last packet finds 2 x 10 us less before it
// than those of the others (85.56 us each): 3 x 85.56 - 20 against 3 x 85.56 from its start on.
TEST(TrainNetwork, WhoComesFirstIsServedFirst)
{
    const TestFabric fabric = MakeStar(4, "100Gb/s", MicroSeconds(1));
    const uint64_t bytes = 1 << 20;
    const std::vector<Sending> incast{
        {0, 3, bytes, Time()}, {1, 3, bytes, MicroSeconds(10)}, {2, 3, bytes, MicroSeconds(10)}};
    const auto packets = EndsOf(RunAll(CreateObject<PacketNetwork>(), fabric, incast), fabric);
    const auto trains = EndsOf(RunAll(MakeTrains(), fabric, incast), fabric);
    const double alone = TxTime(bytes + 256 * 82, DataRate("100Gb/s")).GetSeconds() * 1e6;
    EXPECT_NEAR(packets[0].GetSeconds() * 1e6, 3 * alone - 20, 3);
    // One train takes 10.7 us: that is how far the order within an instant reaches.
    for (size_t i = 0; i < 3; ++i)
    {
        EXPECT_NEAR(trains[i].GetSeconds() * 1e6, packets[i].GetSeconds() * 1e6, 2 * 10.7) << i;
    }
    EXPECT_LT(trains[0], trains[1]);
    const Time last = std::max(trains[1], trains[2]);
    EXPECT_NEAR(last.GetSeconds() * 1e6, 3 * alone + 2, 1); // no time is lost
    const auto single = EndsOf(RunAll(MakeTrains(1), fabric, incast), fabric);
    for (size_t i = 0; i < 3; ++i)
    {
        EXPECT_NEAR(single[i].GetSeconds() * 1e6, packets[i].GetSeconds() * 1e6, 0.7) << i;
    }
}

// Four hosts of 100 Gb/s fill an uplink of 400 Gb/s: trains that still come in from slow links do
// not keep a fast one from others.
TEST(TrainNetwork, FastLinksCarryManySlowOnes)
{
    TestFabric fabric;
    fabric.AddHosts(8);
    const DeviceId left = fabric.AddSwitch(DeviceRole::LEAF, 0);
    const DeviceId right = fabric.AddSwitch(DeviceRole::LEAF, 1);
    const DeviceId spine = fabric.AddSwitch(DeviceRole::SPINE, 0);
    for (uint32_t h = 0; h < 8; ++h)
    {
        fabric.Join(fabric.nics[h], h < 4 ? left : right, "100Gb/s", MicroSeconds(1));
    }
    fabric.Join(left, spine, "400Gb/s", MicroSeconds(1));
    fabric.Join(right, spine, "400Gb/s", MicroSeconds(1));
    fabric.topology->Seal();
    std::vector<Sending> all;
    for (uint32_t h = 0; h < 4; ++h)
    {
        all.push_back({h, h + 4, 4 << 20, Time()});
    }
    const auto packets = EndsOf(RunAll(CreateObject<PacketNetwork>(), fabric, all), fabric);
    const auto trains = EndsOf(RunAll(MakeTrains(), fabric, all), fabric);
    for (size_t i = 0; i < 4; ++i)
    {
        EXPECT_NEAR(trains[i].GetSeconds() / packets[i].GetSeconds(), 1, 0.02) << i;
    }
}

// Streams of one NIC take turns, messages of one stream do not.
TEST(TrainNetwork, StreamsOfANicShareIt)
{
    const TestFabric fabric = MakeStar(3, "100Gb/s", MicroSeconds(1));
    const uint64_t bytes = 1 << 20;
    const std::vector<Sending> streams{{0, 1, bytes, Time()}, {0, 2, bytes, Time()}};
    const std::vector<Sending> queue{{0, 1, bytes, Time()}, {0, 1, bytes, Time()}};
    const TestSink shared = RunAll(MakeTrains(), fabric, streams);
    const TestSink ordered = RunAll(MakeTrains(), fabric, queue);
    const double alone = TxTime(bytes + 256 * 82, DataRate("100Gb/s")).GetSeconds();
    EXPECT_NEAR(shared.flows.at(0).end.GetSeconds() / alone, 2, 0.25); // 14 or 15 of 16 trains
    EXPECT_NEAR(ordered.flows.at(0).end.GetSeconds() / alone, 1, 0.05);
    EXPECT_EQ(ordered.flows.at(0).id, 0u);
    EXPECT_NEAR(ordered.flows.at(1).end.GetSeconds() / alone, 2, 0.05);
}

// A message of 2 MiB beside eight of 256 KiB in a row: their trains are shorter, their turns as
// many bytes as those of the other, as packets have it, so that all end after 4 MiB.
TEST(TrainNetwork, StreamsOfANicShareItByBytes)
{
    const TestFabric fabric = MakeStar(3, "100Gb/s", MicroSeconds(1));
    std::vector<Sending> all{{0, 1, 2 << 20, Time()}};
    for (uint32_t i = 0; i < 8; ++i)
    {
        all.push_back({0, 2, 256 << 10, Time()});
    }
    const TestSink packets = RunAll(CreateObject<PacketNetwork>(), fabric, all);
    const TestSink trains = RunAll(MakeTrains(64), fabric, all);
    const double both = TxTime((4 << 20) + 1024 * 82, DataRate("100Gb/s")).GetSeconds();
    for (const TestSink* sink : {&packets, &trains})
    {
        for (const FlowRecord& flow : sink->flows)
        {
            if (flow.bytes == 2 << 20)
            {
                EXPECT_NEAR(flow.end.GetSeconds() / both, 1, 0.07); // a train: 1/16 of all
            }
        }
    }
}

} // namespace
