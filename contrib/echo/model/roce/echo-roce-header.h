// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_HEADER_H
#define ECHO_ROCE_HEADER_H

#include "echo-roce-packet.h"

#include "ns3/header.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"

#include <cstdint>
#include <ostream>

namespace ns3
{
namespace echo
{

/**
 * All headers of a frame in one: Ethernet, then IPv4, UDP (port 4791), base transport header and,
 * for the first packet of a write, RETH, for acknowledgements, AETH (RoCEv2, InfiniBand
 * Architecture Specification annex A17); or, for pause frames, MAC control with a priority pause
 * (IEEE 802.1Qbb). Bit-true, so that captures can be read by the usual tools.
 *
 * Only traces use it: the data path has no headers.
 */
class RoceHeader : public Header
{
  public:
    static constexpr uint16_t UDP_PORT = 4791;

    RocePacketKind kind{RocePacketKind::DATA};
    Mac48Address sourceMac;
    Mac48Address destinationMac;
    uint32_t sourceIp{0};       //!< 10.0.0.0 + device
    uint32_t destinationIp{0};  //!< 10.0.0.0 + device
    uint16_t udpSource{0};      //!< differs between labels, for ECMP
    bool congestion{false};     //!< ECN 3, else 2 (capable)
    bool startOfMessage{false}; //!< opcode first, middle, last or only
    bool endOfMessage{false};
    bool write{false};        //!< RDMA write; else send
    uint32_t messageBytes{0}; //!< first packet of a write: length of the message
    bool ackRequest{false};
    /** Of data and of what a pause frame stops. Class c has IEEE 802.1p priority 3 + c modulo 8 (3
     * is that of RoCE by custom) and DSCP 8 times that plus 2. */
    uint8_t trafficClass{0};
    uint32_t queuePair{0}; //!< 24 bit
    uint32_t psn{0};       //!< 24 bit
    uint32_t payloadBytes{0};

    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    void Print(std::ostream& os) const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;
    uint32_t Deserialize(Buffer::Iterator start) override;

  private:
    bool IsPause() const
    {
        return kind >= RocePacketKind::PAUSE;
    }

    /** @return bytes of the transport headers: BTH and what follows it */
    uint32_t GetTransportBytes() const;
    uint8_t GetOpcode() const;
    void SerializePause(Buffer::Iterator& i) const;
    void SerializeIp(Buffer::Iterator& i) const;
    void SerializeTransport(Buffer::Iterator& i) const;
};

/**
 * @return @p packet as it leaves @p from, from the Ethernet header to the invariant check; the
 * payload and the check are zeros. Frame check, preamble and gap are left out.
 */
Ptr<Packet> MakeFrame(const RocePacket& packet, const RocePort& from);

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_HEADER_H */
