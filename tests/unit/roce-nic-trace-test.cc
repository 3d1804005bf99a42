// SPDX-License-Identifier: GPL-2.0-only
// Trace sources of NICs, and the frame of a write's first packet.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-roce-header.h"
#include "ns3/echo-roce-nic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** Counts what the trace sources of all NICs tell. */
struct NicListener
{
    void Cnp(Time, const QueuePair&)
    {
        ++notices;
    }

    void Rate(Time, const QueuePair& queuePair, double bitsPerSecond, double windowBytes)
    {
        ++rates;
        EXPECT_GT(bitsPerSecond, 0);
        EXPECT_LE(bitsPerSecond, queuePair.GetRate().lineRate);
        EXPECT_EQ(windowBytes, queuePair.GetRate().windowBytes);
    }

    void Retransmission(Time, const QueuePair&, uint64_t)
    {
        ++retransmissions;
    }

    void Rtt(Time at, const QueuePair& queuePair, Time rtt)
    {
        ++rtts;
        EXPECT_GE(rtt, MicroSeconds(4)); // four delays
        EXPECT_LE(rtt, at);
        EXPECT_NE(std::get<0>(queuePair.GetKey()), std::get<1>(queuePair.GetKey()));
    }

    uint64_t notices{0};
    uint64_t rates{0};
    uint64_t retransmissions{0};
    uint64_t rtts{0};
};

TEST(RoceTrace, NicsTellOfTheirQueuePairsAndNothingChanges)
{
    Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue("10000"));
    for (const char* control : {"none", "dcqcn", "hpcc", "swift"})
    {
        Time ends[2];
        for (int traced = 0; traced < 2; ++traced)
        {
            TestNetwork network(MakeStar(9, "100Gb/s", MicroSeconds(1)),
                                {{"CongestionControl", control}, {"LossRate", "0.005"}});
            NicListener listener;
            if (traced)
            {
                const std::string path = "/NodeList/*/$ns3::echo::RoceNic/";
                Config::ConnectWithoutContext(path + "Cnp",
                                              MakeCallback(&NicListener::Cnp, &listener));
                Config::ConnectWithoutContext(path + "Rate",
                                              MakeCallback(&NicListener::Rate, &listener));
                Config::ConnectWithoutContext(
                    path + "Retransmission", MakeCallback(&NicListener::Retransmission, &listener));
                Config::ConnectWithoutContext(path + "Rtt",
                                              MakeCallback(&NicListener::Rtt, &listener));
            }
            for (uint32_t h = 1; h < 9; ++h)
            {
                network.Send(h, 0, 500000);
            }
            ends[traced] = network.Run();
            if (!traced)
            {
                continue;
            }
            uint64_t again = 0;
            for (const FlowRecord& flow : network.Flows())
            {
                again += flow.retransmitted;
            }
            EXPECT_GT(again, 0u);
            EXPECT_EQ(listener.retransmissions, again);
            EXPECT_GT(listener.rtts, 8u * 20);
            EXPECT_EQ(listener.notices > 0, std::string(control) == "dcqcn");
            EXPECT_EQ(listener.rates > 0, std::string(control) != "none");
        }
        EXPECT_EQ(ends[0], ends[1]) << control;
    }
    Config::Reset();
}

/** Least time between two CNPs of a queue pair. */
struct NoticeIntervals
{
    void Cnp(Time at, const QueuePair& queuePair)
    {
        const auto [last, isFirst] = m_last.emplace(queuePair.GetNumber(), at);
        if (!isFirst)
        {
            least = std::min(least, at - last->second);
            last->second = at;
        }
        ++count;
    }

    Time least{Seconds(1)};
    uint64_t count{0};

  private:
    std::map<uint32_t, Time> m_last;
};

TEST(RoceTrace, CnpsOfAQueuePairAreTheirIntervalApart)
{
    // All packets are marked from early on: a CNP each N, as nothing delays them on the way back.
    for (const int64_t interval : {4, 50})
    {
        Config::SetDefault("ns3::echo::RoceSwitch::EcnKmax", StringValue("20000"));
        Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue("10000"));
        Config::SetDefault("ns3::echo::Dcqcn::WindowBdps", StringValue("0"));
        Config::SetDefault("ns3::echo::Dcqcn::MinRate", StringValue("50Gb/s"));
        Config::SetDefault("ns3::echo::Dcqcn::N", TimeValue(MicroSeconds(interval)));
        TestNetwork network(MakeStar(4, "100Gb/s", MicroSeconds(1)),
                            {{"CongestionControl", "dcqcn"}});
        NoticeIntervals intervals;
        Config::ConnectWithoutContext("/NodeList/*/$ns3::echo::RoceNic/Cnp",
                                      MakeCallback(&NoticeIntervals::Cnp, &intervals));
        for (uint32_t h = 1; h < 4; ++h)
        {
            network.Send(h, 0, 2000000);
        }
        const Time end = network.Run();
        EXPECT_GE(intervals.least, MicroSeconds(interval) - NanoSeconds(10));
        EXPECT_LE(intervals.least, MicroSeconds(interval) + MicroSeconds(1));
        EXPECT_GT(intervals.count, static_cast<uint64_t>(2 * end.GetMicroSeconds() / interval));
        EXPECT_LE(intervals.count, static_cast<uint64_t>(3 * end.GetMicroSeconds() / interval + 3));
        Config::Reset();
    }
}

/** @return bytes from @p first on, in hex */
std::string HexFrom(const Ptr<Packet>& packet, uint32_t first, uint32_t count)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    std::string text;
    for (uint32_t i = first; i < first + count; ++i)
    {
        constexpr const char* DIGITS = "0123456789abcdef";
        text += DIGITS[bytes.at(i) / 16];
        text += DIGITS[bytes.at(i) % 16];
    }
    return text;
}

TEST(RoceHeader, FirstPacketOfAWriteByteByByte)
{
    RoceHeader header;
    header.queuePair = 0x1234;
    header.psn = 0xabcdef;
    header.startOfMessage = true;
    header.write = true;
    header.messageBytes = 0x12345;
    header.payloadBytes = 4096;
    Ptr<Packet> frame = Create<Packet>();
    frame->AddHeader(header);
    // BTH with opcode RDMA WRITE first; RETH: address 8, key 4, length 4.
    EXPECT_EQ(HexFrom(frame, 42, 28),
              "0640ffff0000123400abcdef000000000000000000000000"
              "00012345");
    RoceHeader read;
    frame->RemoveHeader(read);
    EXPECT_TRUE(read.write && read.startOfMessage && !read.endOfMessage);
    EXPECT_EQ(read.messageBytes, 0x12345u);
    EXPECT_EQ(read.payloadBytes, 4096u);
    const std::tuple<bool, bool, std::string> cases[] = {
        {true, true, "0a"}, {false, false, "07"}, {false, true, "08"}};
    for (const auto& [first, last, opcode] : cases)
    {
        header.startOfMessage = first;
        header.endOfMessage = last;
        frame = Create<Packet>();
        frame->AddHeader(header);
        EXPECT_EQ(HexFrom(frame, 42, 1), opcode);
        frame->RemoveHeader(read);
        EXPECT_EQ(read.startOfMessage, first);
        EXPECT_EQ(read.endOfMessage, last);
    }
}

} // namespace
