// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-net-device.h"

#include "echo-roce-channel.h"

namespace ns3
{
namespace echo
{

RoceNetDevice::RoceNetDevice() : m_address(Mac48Address::Allocate())
{
}

void RoceNetDevice::SetChannel(RoceChannel* channel)
{
    m_channel = channel;
}

void RoceNetDevice::NotifyLinkChange()
{
    m_linkChange();
}

void RoceNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t RoceNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel> RoceNetDevice::GetChannel() const
{
    return m_channel;
}

void RoceNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address RoceNetDevice::GetAddress() const
{
    return m_address;
}

bool RoceNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t RoceNetDevice::GetMtu() const
{
    return static_cast<uint16_t>(m_mtu);
}

void RoceNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool RoceNetDevice::IsBroadcast() const
{
    return false;
}

Address RoceNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool RoceNetDevice::IsMulticast() const
{
    return false;
}

Address RoceNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address RoceNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool RoceNetDevice::IsBridge() const
{
    return false;
}

bool RoceNetDevice::IsPointToPoint() const
{
    return true;
}

bool RoceNetDevice::Send(Ptr<Packet>, const Address&, uint16_t)
{
    return false;
}

bool RoceNetDevice::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node> RoceNetDevice::GetNode() const
{
    return m_node;
}

void RoceNetDevice::SetNode(Ptr<Node> node)
{
    m_node = PeekPointer(node);
}

bool RoceNetDevice::NeedsArp() const
{
    return false;
}

void RoceNetDevice::SetReceiveCallback(ReceiveCallback)
{
}

void RoceNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
}

bool RoceNetDevice::SupportsSendFrom() const
{
    return false;
}

void RoceNetDevice::DoDispose()
{
    m_channel = nullptr;
    m_node = nullptr;
    NetDevice::DoDispose();
}

} // namespace echo
} // namespace ns3
