// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-header.h"

#include "echo-queue-pair.h"
#include "echo-roce-port.h"

#include <array>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(RoceHeader);

namespace
{

constexpr uint32_t ETHERNET = 14;
constexpr uint32_t IPV4 = 20;
constexpr uint32_t UDP = 8;
constexpr uint32_t BTH = 12;
constexpr uint32_t AETH = 4;
constexpr uint32_t RETH = 16;
constexpr uint32_t CNP_RESERVED = 16;
constexpr uint32_t ICRC = 4;
constexpr uint32_t PAUSE_PAYLOAD = 46; //!< of a smallest Ethernet frame
constexpr uint16_t TYPE_IPV4 = 0x0800;
constexpr uint16_t TYPE_MAC_CONTROL = 0x8808;
constexpr uint16_t PRIORITY_PAUSE = 0x0101;
constexpr uint8_t FIRST_PRIORITY = 3; //!< of the first lossless class, by custom
constexpr uint8_t DSCP_SECOND = 2; //!< low bits of data's mark: 26, usual for RoCE, with priority 3
constexpr uint8_t DSCP_CONTROL = 48;
constexpr uint8_t PROTOCOL_UDP = 17;
constexpr uint8_t TTL = 64;

// BTH opcodes of a reliable connection, and of CNPs.
constexpr uint8_t SEND_FIRST = 0x00;
constexpr uint8_t SEND_MIDDLE = 0x01;
constexpr uint8_t SEND_LAST = 0x02;
constexpr uint8_t SEND_ONLY = 0x04;
constexpr uint8_t WRITE_FIRST = 0x06;
constexpr uint8_t WRITE_MIDDLE = 0x07;
constexpr uint8_t WRITE_LAST = 0x08;
constexpr uint8_t WRITE_ONLY = 0x0a;
constexpr uint8_t ACKNOWLEDGE = 0x11;
constexpr uint8_t CNP = 0x81;

// AETH syndromes: acknowledgement without credits; negative one for a gap.
constexpr uint8_t SYNDROME_ACK = 0x1f;
constexpr uint8_t SYNDROME_NAK = 0x60;

constexpr uint32_t MASK_24 = 0xffffff;

uint8_t PriorityOf(uint8_t trafficClass)
{
    return (FIRST_PRIORITY + trafficClass) & 7;
}

uint8_t ClassOf(uint8_t priority)
{
    return (priority - FIRST_PRIORITY) & 7;
}

void WriteMac(Buffer::Iterator& i, const Mac48Address& address)
{
    std::array<uint8_t, 6> bytes;
    address.CopyTo(bytes.data());
    i.Write(bytes.data(), bytes.size());
}

Mac48Address ReadMac(Buffer::Iterator& i)
{
    std::array<uint8_t, 6> bytes;
    i.Read(bytes.data(), bytes.size());
    Mac48Address address;
    address.CopyFrom(bytes.data());
    return address;
}

} // namespace

TypeId RoceHeader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RoceHeader")
                            .SetParent<Header>()
                            .SetGroupName("Echo")
                            .AddConstructor<RoceHeader>();
    return tid;
}

TypeId RoceHeader::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t RoceHeader::GetTransportBytes() const
{
    switch (kind)
    {
    case RocePacketKind::DATA:
        return BTH + (write && startOfMessage ? RETH : 0);
    case RocePacketKind::CNP:
        return BTH + CNP_RESERVED;
    default:
        return BTH + AETH;
    }
}

uint32_t RoceHeader::GetSerializedSize() const
{
    return ETHERNET + (IsPause() ? PAUSE_PAYLOAD : IPV4 + UDP + GetTransportBytes());
}

uint8_t RoceHeader::GetOpcode() const
{
    if (kind == RocePacketKind::CNP)
    {
        return CNP;
    }
    if (kind != RocePacketKind::DATA)
    {
        return ACKNOWLEDGE;
    }
    if (startOfMessage)
    {
        return endOfMessage ? (write ? WRITE_ONLY : SEND_ONLY) : (write ? WRITE_FIRST : SEND_FIRST);
    }
    return endOfMessage ? (write ? WRITE_LAST : SEND_LAST) : (write ? WRITE_MIDDLE : SEND_MIDDLE);
}

void RoceHeader::Serialize(Buffer::Iterator i) const
{
    WriteMac(i, destinationMac);
    WriteMac(i, sourceMac);
    i.WriteHtonU16(IsPause() ? TYPE_MAC_CONTROL : TYPE_IPV4);
    if (IsPause())
    {
        SerializePause(i);
        return;
    }
    SerializeIp(i);
    SerializeTransport(i);
}

void RoceHeader::SerializePause(Buffer::Iterator& i) const
{
    i.WriteHtonU16(PRIORITY_PAUSE);
    i.WriteHtonU16(static_cast<uint16_t>(1u << PriorityOf(trafficClass)));
    for (uint8_t priority = 0; priority < 8; ++priority)
    {
        // A pause lasts until it is taken back: the longest time there is.
        const bool stop = priority == PriorityOf(trafficClass) && kind == RocePacketKind::PAUSE;
        i.WriteHtonU16(stop ? 0xffff : 0);
    }
    i.WriteU8(0, PAUSE_PAYLOAD - 20);
}

void RoceHeader::SerializeIp(Buffer::Iterator& i) const
{
    const auto data = static_cast<uint8_t>((PriorityOf(trafficClass) << 3) | DSCP_SECOND);
    const uint8_t dscp = kind == RocePacketKind::DATA ? data : DSCP_CONTROL;
    const uint8_t ecn = congestion ? 3 : 2;
    const uint32_t udpBytes = UDP + GetTransportBytes() + payloadBytes + ICRC;
    const std::array<uint16_t, 10> words{
        static_cast<uint16_t>(0x4500 | (dscp << 2) | ecn),
        static_cast<uint16_t>(IPV4 + udpBytes),
        0,
        0x4000, // do not fragment
        static_cast<uint16_t>((TTL << 8) | PROTOCOL_UDP),
        0,
        static_cast<uint16_t>(sourceIp >> 16),
        static_cast<uint16_t>(sourceIp),
        static_cast<uint16_t>(destinationIp >> 16),
        static_cast<uint16_t>(destinationIp),
    };
    uint32_t sum = 0;
    for (const uint16_t word : words)
    {
        sum += word;
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    for (size_t w = 0; w < words.size(); ++w)
    {
        i.WriteHtonU16(w == 5 ? static_cast<uint16_t>(~sum) : words[w]);
    }
    i.WriteHtonU16(udpSource);
    i.WriteHtonU16(UDP_PORT);
    i.WriteHtonU16(static_cast<uint16_t>(udpBytes));
    i.WriteHtonU16(0); // RoCEv2 leaves the check to the invariant check
}

void RoceHeader::SerializeTransport(Buffer::Iterator& i) const
{
    i.WriteU8(GetOpcode());
    i.WriteU8(0x40);        // migration state as usual; no padding; version 0
    i.WriteHtonU16(0xffff); // default partition
    i.WriteHtonU32(queuePair & MASK_24);
    i.WriteHtonU32((ackRequest ? 1u << 31 : 0) | (psn & MASK_24));
    if (kind == RocePacketKind::CNP)
    {
        i.WriteU8(0, CNP_RESERVED);
    }
    else if (write && startOfMessage && kind == RocePacketKind::DATA)
    {
        i.WriteHtonU64(0); // address: memory is not modelled
        i.WriteHtonU32(0); // key
        i.WriteHtonU32(messageBytes);
    }
    else if (kind != RocePacketKind::DATA)
    {
        const uint32_t syndrome = kind == RocePacketKind::ACK ? SYNDROME_ACK : SYNDROME_NAK;
        i.WriteHtonU32(syndrome << 24);
    }
}

uint32_t RoceHeader::Deserialize(Buffer::Iterator i)
{
    destinationMac = ReadMac(i);
    sourceMac = ReadMac(i);
    if (i.ReadNtohU16() == TYPE_MAC_CONTROL)
    {
        i.Next(2);
        const uint32_t priority = __builtin_ctz(i.ReadNtohU16() | 0x100u);
        trafficClass = ClassOf(static_cast<uint8_t>(priority));
        i.Next(2 * priority);
        kind = i.ReadNtohU16() > 0 ? RocePacketKind::PAUSE : RocePacketKind::RESUME;
        return GetSerializedSize();
    }
    const uint16_t first = i.ReadNtohU16();
    congestion = (first & 3) == 3;
    trafficClass = ClassOf((first >> 5) & 7);
    const uint32_t ipBytes = i.ReadNtohU16();
    i.Next(8);
    sourceIp = i.ReadNtohU32();
    destinationIp = i.ReadNtohU32();
    udpSource = i.ReadNtohU16();
    i.Next(6);
    const uint8_t opcode = i.ReadU8();
    i.Next(3);
    queuePair = i.ReadNtohU32();
    const uint32_t last = i.ReadNtohU32();
    ackRequest = (last >> 31) != 0;
    psn = last & MASK_24;
    write = opcode >= WRITE_FIRST && opcode <= WRITE_ONLY;
    startOfMessage = opcode == SEND_FIRST || opcode == SEND_ONLY || opcode == WRITE_FIRST ||
                     opcode == WRITE_ONLY;
    endOfMessage =
        opcode == SEND_LAST || opcode == SEND_ONLY || opcode == WRITE_LAST || opcode == WRITE_ONLY;
    kind = RocePacketKind::DATA;
    if (write && startOfMessage)
    {
        i.Next(RETH - 4);
        messageBytes = i.ReadNtohU32();
    }
    if (opcode == CNP)
    {
        kind = RocePacketKind::CNP;
    }
    else if (opcode == ACKNOWLEDGE)
    {
        const bool positive = i.ReadU8() == SYNDROME_ACK;
        kind = positive ? RocePacketKind::ACK : RocePacketKind::NACK;
    }
    trafficClass = kind == RocePacketKind::DATA ? trafficClass : 0;
    payloadBytes = ipBytes - IPV4 - UDP - GetTransportBytes() - ICRC;
    return GetSerializedSize();
}

void RoceHeader::Print(std::ostream& os) const
{
    static constexpr const char* NAMES[] = {"DATA", "ACK", "NACK", "CNP", "PAUSE", "RESUME"};
    os << NAMES[static_cast<int>(kind)];
    if (!IsPause())
    {
        os << " qp " << queuePair << " psn " << psn << " payload " << payloadBytes
           << (congestion ? " CE" : "");
    }
}

Ptr<Packet> MakeFrame(const RocePacket& packet, const RocePort& from)
{
    RoceHeader header;
    header.kind = packet.kind;
    header.trafficClass = packet.trafficClass;
    header.sourceMac = Mac48Address::ConvertFrom(from.GetAddress());
    header.destinationMac = Mac48Address::ConvertFrom(from.GetPeer()->GetAddress());
    if (packet.kind >= RocePacketKind::PAUSE)
    {
        header.destinationMac = Mac48Address("01:80:c2:00:00:01"); // of MAC control
        Ptr<Packet> frame = Create<Packet>();
        frame->AddHeader(header);
        return frame;
    }
    constexpr uint32_t NETWORK = 10u << 24;
    const bool data = packet.kind == RocePacketKind::DATA;
    const auto& [source, destination, label] = packet.queuePair->GetKey();
    header.sourceIp = NETWORK + (data ? source : destination).Get();
    header.destinationIp = NETWORK + (data ? destination : source).Get();
    header.udpSource = static_cast<uint16_t>(0xc000 | (packet.queuePair->GetNumber() & 0x3fff));
    header.congestion = packet.congestion;
    header.startOfMessage = packet.startOfMessage;
    header.endOfMessage = packet.endOfMessage;
    header.ackRequest = packet.ackRequest;
    header.write = packet.queuePair->GetSettings().overhead.first > 0;
    header.queuePair = packet.queuePair->GetNumber() & MASK_24;
    // An acknowledgement names the last packet that has arrived, a NACK the one that is missing.
    const uint64_t psn = packet.sequence - (packet.kind == RocePacketKind::ACK ? 1 : 0);
    header.psn = static_cast<uint32_t>(psn & MASK_24);
    header.payloadBytes = packet.payloadBytes;
    if (data && packet.startOfMessage)
    {
        header.messageBytes = packet.queuePair->GetMessageBytes(packet.sequence);
    }
    Ptr<Packet> frame = Create<Packet>(packet.payloadBytes + ICRC);
    frame->AddHeader(header);
    return frame;
}

} // namespace echo
} // namespace ns3
