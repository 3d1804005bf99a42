// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROCE_NET_DEVICE_H
#define ECHO_ROCE_NET_DEVICE_H

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

class RoceChannel;

/**
 * What ns-3 asks of every NetDevice, for a RocePort: address, node, channel. Packets do not pass
 * through it: they come from queue pairs.
 */
class RoceNetDevice : public NetDevice
{
  public:
    RoceNetDevice();

    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    /** @return false: data leaves by queue pairs only */
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    /** @return false, as Send */
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;
    void SetChannel(RoceChannel* channel);
    /** Tells who asked to know that the link is up or down. */
    void NotifyLinkChange();

  private:
    uint32_t m_mtu{4096};            //!< payload bytes
    uint32_t m_ifIndex{0};           //!< in its node
    Mac48Address m_address;          //!< its own
    RoceChannel* m_channel{nullptr}; //!< the link (it holds the ports)
    Node* m_node{nullptr};           //!< its node (it holds the ports)
    TracedCallback<> m_linkChange;   //!< who wants to know of the link
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROCE_NET_DEVICE_H */
