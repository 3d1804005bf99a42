// SPDX-License-Identifier: GPL-2.0-only
// Pauses, marks and repair: the cases of incast, loss and full buffers.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

constexpr uint64_t HEADERS = 82; // of a data packet on the wire
constexpr uint64_t RETH = 16;    // more on the first packet of a message

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
class RoceFlowControlTest : public testing::Test
{
  protected:
    void TearDown() override
    {
        Config::Reset();
    }
};

TEST_F(RoceFlowControlTest, IncastIsLosslessAndDcqcnKeepsQueuesShort)
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

TEST_F(RoceFlowControlTest, DcqcnFindsTheFairShare)
{
    // Two flows of 40 MB share 100 Gb/s: 6.53 ms with headers if the link is never idle. The paper
    // promises high use and fairness for long flows, not a figure: both within a tenth.
    TestNetwork network(MakeStar(3, "100Gb/s", MicroSeconds(1)),
                        {{"CongestionControl", "ns3::echo::Dcqcn"}});
    const Time end = RunIncast(network, 40000000);
    const Time ideal = TxTime(80000000 / 4096 * (4096 + HEADERS), DataRate("100Gb/s"));
    EXPECT_GT(end, ideal);
    EXPECT_LT(end, ideal * 1.1);
    EXPECT_GT(network.Flows()[0].end, ideal * 0.9);
    EXPECT_LT(PeakQueue(network), 1600000u); // Kmax
}

TEST_F(RoceFlowControlTest, HeadroomHoldsWhatComesAfterAPause)
{
    // Long links, little shared memory, pauses all the time: the headroom alone must do. Its
    // largest use must also be near its size, or the computation would be wasteful.
    for (const char* rate : {"25Gb/s", "100Gb/s", "800Gb/s"})
    {
        for (const char* mtu : {"256", "4096", "9000"})
        {
            TestFabric fabric = MakeStar(65, rate, MicroSeconds(2));
            const uint64_t inFlight = DataRate(rate).GetBitRate() / 8 / 500000;
            const uint32_t full = static_cast<uint32_t>(std::stoul(mtu) + HEADERS + RETH);
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

TEST_F(RoceFlowControlTest, NoIncastLosesAPacketOrBeatsTheLink)
{
    // N to 1, up to 256, with the default buffer and with one that headrooms nearly fill.
    for (const uint32_t senders : {2u, 16u, 64u, 256u})
    {
        for (const char* alpha : {"0.03125", "0.125", "8"})
        {
            const uint64_t headroom = SwitchBuffer::ComputeHeadroom(50000, 4178, 84); // 1 us
            const uint64_t least = (senders + 1) * headroom + 100000;
            for (const uint64_t buffer : {uint64_t{0}, least})
            {
                Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", UintegerValue(buffer));
                Config::SetDefault("ns3::echo::RoceSwitch::PfcAlpha", StringValue(alpha));
                TestNetwork network(MakeStar(senders + 1, "400Gb/s", MicroSeconds(1)));
                const uint64_t bytes = 33554432 / senders;
                const Time end = RunIncast(network, bytes);
                const NetworkTotals totals = network.Get().GetTotals();
                EXPECT_EQ(totals.drops, 0u) << senders << " alpha " << alpha;
                EXPECT_EQ(totals.liveFlows, 0u);
                EXPECT_GE(end, TxTime(senders * bytes, DataRate("400Gb/s")));
                if (buffer == 0)
                {
                    // The last link is never idle: payload, headers, the latency of two links.
                    EXPECT_LE(
                        end,
                        TxTime(senders * bytes * (4096 + HEADERS) / 4096, DataRate("400Gb/s")) +
                            MicroSeconds(4))
                        << senders << " alpha " << alpha;
                }
            }
        }
    }
}

TEST_F(RoceFlowControlTest, PausesSpreadOverSwitchesWithoutLoss)
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

TEST_F(RoceFlowControlTest, LossIsRepairedAndFinite)
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

TEST_F(RoceFlowControlTest, LossOfTheLastPacketIsFoundByTheTimer)
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

TEST_F(RoceFlowControlTest, WithoutPausesAFullBufferDropsAndSendersRepair)
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

TEST_F(RoceFlowControlTest, AWindowBoundsWhatIsUnderWay)
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

} // namespace
