// SPDX-License-Identifier: GPL-2.0-only
// Frames byte by byte, and the trace sources of ports.

#include "roce-fixture.h"

#include "ns3/config.h"
#include "ns3/echo-roce-header.h"
#include "ns3/echo-roce-pcap-helper.h"
#include "ns3/echo-roce-switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

std::string Hex(const Ptr<Packet>& packet)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    std::string text;
    for (const uint8_t byte : bytes)
    {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", byte);
        text += digits;
    }
    return text;
}

RoceHeader MakeHeader(RocePacketKind kind)
{
    RoceHeader header;
    header.kind = kind;
    header.sourceMac = Mac48Address("02:00:00:00:00:01");
    header.destinationMac = Mac48Address("02:00:00:00:00:02");
    header.sourceIp = 0x0a000001;
    header.destinationIp = 0x0a000203;
    header.udpSource = 0xc005;
    header.queuePair = 0x1234;
    header.psn = 0xabcdef;
    return header;
}

TEST(RoceHeader, DataFrameByteByByte)
{
    RoceHeader header = MakeHeader(RocePacketKind::DATA);
    header.congestion = true;
    header.startOfMessage = true;
    header.ackRequest = true;
    header.payloadBytes = 3;
    Ptr<Packet> frame = Create<Packet>();
    frame->AddHeader(header);
    // Ethernet; IPv4: DSCP 26, ECN 3 (0x6b), length 20 + 8 + 12 + 3 + 4 = 47 (0x2f), do not
    // fragment, TTL 64, UDP; checksum: 456b + 002f + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0203 =
    // dbaf, inverted 2450; UDP: length 27 (0x1b), no check; BTH: SEND first, request in bit 31.
    EXPECT_EQ(Hex(frame),
              "020000000002"
              "020000000001"
              "0800"
              "456b002f0000400040112450"
              "0a0000010a000203"
              "c00512b7001b0000"
              "0040ffff00001234"
              "80abcdef");
    RoceHeader read;
    frame->RemoveHeader(read);
    std::ostringstream text;
    read.Print(text);
    EXPECT_EQ(text.str(), "DATA qp 4660 psn 11259375 payload 3 CE");
    EXPECT_TRUE(read.startOfMessage);
    EXPECT_FALSE(read.endOfMessage);
    EXPECT_TRUE(read.ackRequest);
    EXPECT_EQ(read.sourceMac, header.sourceMac);
    EXPECT_EQ(read.destinationIp, header.destinationIp);
}

TEST(RoceHeader, RepliesByteByByte)
{
    const std::pair<RocePacketKind, std::string> cases[] = {
        {RocePacketKind::ACK, "1140ffff0000123400abcdef1f000000"},
        {RocePacketKind::NACK, "1140ffff0000123400abcdef60000000"},
        {RocePacketKind::CNP, "8140ffff0000123400abcdef" + std::string(32, '0')},
    };
    for (const auto& [kind, transport] : cases)
    {
        RoceHeader header = MakeHeader(kind);
        Ptr<Packet> frame = Create<Packet>();
        frame->AddHeader(header);
        const std::string hex = Hex(frame);
        EXPECT_EQ(hex.substr(2 * 42), transport);
        EXPECT_EQ(hex.substr(28, 4), "45c2"); // DSCP 48, ECN capable
        RoceHeader read;
        frame->RemoveHeader(read);
        EXPECT_EQ(read.kind, kind);
        EXPECT_EQ(read.payloadBytes, 0u);
    }
}

TEST(RoceHeader, PauseFramesByteByByte)
{
    for (const RocePacketKind kind : {RocePacketKind::PAUSE, RocePacketKind::RESUME})
    {
        RoceHeader header = MakeHeader(kind);
        Ptr<Packet> frame = Create<Packet>();
        frame->AddHeader(header);
        EXPECT_EQ(frame->GetSize(), 60u); // 64 with the frame check
        const std::string time = kind == RocePacketKind::PAUSE ? "ffff" : "0000";
        EXPECT_EQ(Hex(frame).substr(24, 4 + 8 + 32),
                  "8808"
                  "01010008"
                  "000000000000" +
                      time + "0000000000000000");
        RoceHeader read;
        frame->RemoveHeader(read);
        EXPECT_EQ(read.kind, kind);
    }
}

/** Counts what the trace sources of all ports tell. */
struct Listener
{
    void Transmit(Time at, Ptr<const Packet> packet)
    {
        RoceHeader header;
        packet->PeekHeader(header);
        ++kinds[header.kind];
        // Preamble 8, frame check 4 and gap 12 are on the wire only.
        wireBytes += header.kind < RocePacketKind::PAUSE ? packet->GetSize() + 24 : 0;
        EXPECT_GE(at, Simulator::Now()); // switches run ahead
    }

    void Count(Time, Ptr<const Packet> packet)
    {
        RoceHeader header;
        packet->PeekHeader(header);
        ++kinds[header.kind];
    }

    void Receive(Time, Ptr<const Packet>)
    {
        ++received;
    }

    void Drop(Time, Ptr<const Packet>)
    {
        ++dropped;
    }

    void Queue(Time, uint64_t bytes)
    {
        maxQueue = std::max(maxQueue, bytes);
    }

    void Pause(Time, uint32_t)
    {
        ++pauses;
    }

    void Resume(Time, uint32_t)
    {
        ++resumes;
    }

    void Enqueue(Time, Ptr<const Packet>)
    {
        ++enqueued;
    }

    void Dequeue(Time, Ptr<const Packet>)
    {
        ++dequeued;
    }

    void Mark(Time, Ptr<const Packet> packet)
    {
        RoceHeader header;
        packet->PeekHeader(header);
        marks += header.congestion ? 1 : 0;
    }

    std::map<RocePacketKind, uint64_t> kinds;
    uint64_t wireBytes{0};
    uint64_t received{0};
    uint64_t dropped{0};
    uint64_t maxQueue{0};
    uint64_t pauses{0};
    uint64_t resumes{0};
    uint64_t enqueued{0};
    uint64_t dequeued{0};
    uint64_t marks{0};
};

TEST(RoceTrace, TellsAllAndChangesNothing)
{
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("700000"));
    Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue("10000"));
    Time ends[2];
    for (int traced = 0; traced < 2; ++traced)
    {
        TestNetwork network(MakeStar(9, "100Gb/s", MicroSeconds(1)),
                            {{"CongestionControl", "ns3::echo::Dcqcn"}, {"LossRate", "0.01"}});
        Listener listener;
        if (traced)
        {
            const std::string path = "/NodeList/*/DeviceList/*/$ns3::echo::RocePort/";
            Config::ConnectWithoutContext(path + "Transmit",
                                          MakeCallback(&Listener::Transmit, &listener));
            Config::ConnectWithoutContext(path + "Receive",
                                          MakeCallback(&Listener::Receive, &listener));
            Config::ConnectWithoutContext(path + "Drop", MakeCallback(&Listener::Drop, &listener));
            Config::ConnectWithoutContext(path + "Queue",
                                          MakeCallback(&Listener::Queue, &listener));
            Config::ConnectWithoutContext(path + "Pause",
                                          MakeCallback(&Listener::Pause, &listener));
            Config::ConnectWithoutContext(path + "Resume",
                                          MakeCallback(&Listener::Resume, &listener));
            Config::ConnectWithoutContext(path + "Enqueue",
                                          MakeCallback(&Listener::Enqueue, &listener));
            Config::ConnectWithoutContext(path + "Dequeue",
                                          MakeCallback(&Listener::Dequeue, &listener));
            Config::ConnectWithoutContext(path + "Mark", MakeCallback(&Listener::Mark, &listener));
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
        const NetworkTotals totals = network.Get().GetTotals();
        uint64_t wireBytes = 0;
        uint64_t maxQueue = 0;
        for (const LinkRecord& link : network.Links())
        {
            wireBytes += link.wireBytes;
            maxQueue = std::max(maxQueue, link.maxQueueBytes);
        }
        auto& kinds = listener.kinds;
        const uint64_t pauseFrames = kinds[RocePacketKind::PAUSE] + kinds[RocePacketKind::RESUME];
        uint64_t all = 0;
        for (const auto& [kind, count] : kinds)
        {
            all += count;
        }
        EXPECT_EQ(all - pauseFrames, totals.packetHops);
        EXPECT_EQ(listener.received, all);
        EXPECT_EQ(listener.wireBytes, wireBytes);
        EXPECT_EQ(listener.dropped, totals.drops);
        EXPECT_EQ(listener.pauses, totals.pauses);
        EXPECT_EQ(kinds[RocePacketKind::PAUSE], totals.pauses);
        EXPECT_EQ(listener.maxQueue, maxQueue);
        EXPECT_GT(totals.drops, 0u);
        EXPECT_GT(totals.pauses, 0u);
        EXPECT_EQ(listener.resumes, listener.pauses);
        EXPECT_GT(listener.enqueued, 0u);
        EXPECT_EQ(listener.dequeued, listener.enqueued);
        EXPECT_EQ(listener.marks, totals.ecnMarks);
        EXPECT_GT(listener.marks, 0u);
        EXPECT_GT(kinds[RocePacketKind::NACK], 0u);
        EXPECT_GT(kinds[RocePacketKind::CNP], 0u);
    }
    EXPECT_EQ(ends[0], ends[1]);
    Config::Reset();
}

/** @return lines that a command prints */
std::vector<std::string> LinesOf(const std::string& command)
{
    std::vector<std::string> lines;
    FILE* pipe = popen(command.c_str(), "r");
    char line[1024];
    while (pipe && std::fgets(line, sizeof(line), pipe))
    {
        lines.emplace_back(line);
        lines.back().pop_back();
    }
    if (pipe)
    {
        pclose(pipe);
    }
    return lines;
}

TEST(RocePcap, OpensInTsharkAsRoce)
{
    if (LinesOf("command -v tshark").empty())
    {
        GTEST_SKIP() << "no tshark";
    }
    Config::SetDefault("ns3::echo::RoceSwitch::BufferBytes", StringValue("700000"));
    Config::SetDefault("ns3::echo::RoceSwitch::EcnKmin", StringValue("10000"));
    const std::string file = testing::TempDir() + "echo-roce-test.pcap";
    std::map<std::string, uint64_t> expected;
    {
        TestNetwork network(MakeStar(9, "100Gb/s", MicroSeconds(1)),
                            {{"CongestionControl", "ns3::echo::Dcqcn"}, {"LossRate", "0.01"}});
        const DeviceId nic = network.Fabric().nics[1];
        const Ptr<RocePort> port =
            network.Get().GetPort(network.Fabric().topology->GetPorts(nic).back());
        RocePcapHelper().EnablePcap(file, port, true, true);
        Listener listener;
        port->TraceConnectWithoutContext("Transmit", MakeCallback(&Listener::Transmit, &listener));
        port->TraceConnectWithoutContext("Receive", MakeCallback(&Listener::Count, &listener));
        for (uint32_t h = 1; h < 9; ++h)
        {
            network.Send(h, 0, 500000);
        }
        network.Run();
        auto& kinds = listener.kinds;
        expected = {{"data", kinds[RocePacketKind::DATA]},
                    {"17", kinds[RocePacketKind::ACK] + kinds[RocePacketKind::NACK]},
                    {"129", kinds[RocePacketKind::CNP]},
                    {"pause", kinds[RocePacketKind::PAUSE] + kinds[RocePacketKind::RESUME]}};
    }
    Config::Reset();
    std::map<std::string, uint64_t> found;
    for (const std::string& line : LinesOf(
             "tshark -n -r '" + file +
             "' -T fields -E separator=/s -e frame.protocols -e infiniband.bth.opcode 2>/dev/null"))
    {
        const size_t space = line.find(' ');
        const std::string protocols = line.substr(0, space);
        const std::string opcode = space == std::string::npos ? "" : line.substr(space + 1);
        if (protocols.find("infiniband") == std::string::npos)
        {
            EXPECT_THAT(protocols, HasSubstr("macc"));
            ++found["pause"];
        }
        else if (opcode == "17" || opcode == "129")
        {
            ++found[opcode];
        }
        else
        {
            ++found["data"];
        }
    }
    EXPECT_EQ(found, expected);
    EXPECT_GT(expected["data"], 122u);
    EXPECT_GT(expected["17"], 0u);
    EXPECT_GT(expected["129"], 0u);
    EXPECT_GT(expected["pause"], 0u);
    EXPECT_EQ(LinesOf("tshark -n -r '" + file + "' -Y _ws.malformed 2>/dev/null").size(), 0u);
    std::remove(file.c_str());
}

TEST(RocePort, IsANetDeviceOnANode)
{
    TestNetwork network(MakeStar(2, "100Gb/s", MicroSeconds(1)));
    const PortId nicPort = network.Fabric().topology->GetPorts(network.Fabric().nics[0]).back();
    Ptr<RocePort> port = network.Get().GetPort(nicPort);
    ASSERT_NE(port, nullptr);
    EXPECT_NE(port->GetNode(), nullptr);
    EXPECT_EQ(port->GetNode()->GetDevice(port->GetIfIndex()), port);
    EXPECT_NE(port->GetNode()->GetObject<RoceDevice>(), nullptr);
    EXPECT_TRUE(port->IsLinkUp());
    EXPECT_TRUE(port->IsPointToPoint());
    EXPECT_EQ(port->GetMtu(), 4096u);
    ASSERT_EQ(port->GetChannel()->GetNDevices(), 2u);
    EXPECT_EQ(port->GetChannel()->GetDevice(0), port);
    EXPECT_EQ(port->GetChannel()->GetDevice(1), Ptr<NetDevice>(port->GetPeer()));
    EXPECT_FALSE(port->Send(Create<Packet>(1), port->GetBroadcast(), 0));
    const PortId gpuPort = network.Fabric().topology->GetPorts(network.Fabric().nics[0]).front();
    EXPECT_EQ(network.Get().GetPort(gpuPort), nullptr);
}

} // namespace
