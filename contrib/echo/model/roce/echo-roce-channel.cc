// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-channel.h"

#include "echo-roce-port.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(RoceChannel);

TypeId RoceChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::RoceChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Echo")
                            .AddConstructor<RoceChannel>()
                            .AddAttribute("Delay",
                                          "Propagation delay, one way.",
                                          TimeValue(Time(0)),
                                          MakeTimeAccessor(&RoceChannel::m_delay),
                                          MakeTimeChecker(Time(0)));
    return tid;
}

void RoceChannel::Connect(Ptr<RocePort> a, Ptr<RocePort> b)
{
    NS_ASSERT_MSG(!m_ports[0], "a link has two ends");
    m_ports = {a, b};
    a->Connect(this, PeekPointer(b));
    b->Connect(this, PeekPointer(a));
}

std::size_t RoceChannel::GetNDevices() const
{
    return m_ports[1] ? 2 : 0;
}

Ptr<NetDevice> RoceChannel::GetDevice(std::size_t i) const
{
    return m_ports.at(i);
}

void RoceChannel::DoDispose()
{
    m_ports = {};
    Channel::DoDispose();
}

} // namespace echo
} // namespace ns3
