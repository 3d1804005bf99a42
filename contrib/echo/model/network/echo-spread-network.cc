// SPDX-License-Identifier: GPL-2.0-only
#include "echo-spread-network.h"

#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(SpreadNetwork);

TypeId SpreadNetwork::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SpreadNetwork")
                            .SetParent<NetworkModel>()
                            .SetGroupName("Echo")
                            .AddConstructor<SpreadNetwork>()
                            .AddAttribute("LeastBytes",
                                          "Least part of a message: the payload of a packet",
                                          UintegerValue(4096),
                                          MakeUintegerAccessor(&SpreadNetwork::m_leastBytes),
                                          MakeUintegerChecker<uint64_t>(1));
    return tid;
}

void SpreadNetwork::Set(Ptr<NetworkModel> inner)
{
    m_inner = inner;
}

void SpreadNetwork::Prepare(Ptr<Router> router, RecordSink* sink)
{
    m_router = router;
    m_inner->Prepare(router, sink);
}

void SpreadNetwork::Send(const Message& message, DeliveredCallback delivered)
{
    if (m_changes != m_router->GetChanges())
    {
        m_changes = m_router->GetChanges();
        m_ways.clear();
    }
    const auto [found, isNew] = m_ways.try_emplace({message.source, message.destination}, 1);
    if (isNew)
    {
        found->second = m_router->CountWays(message.source, message.destination);
    }
    const uint64_t packets = (message.bytes + m_leastBytes - 1) / m_leastBytes;
    const auto parts = static_cast<uint32_t>(std::min<uint64_t>(found->second, packets));
    if (parts < 2)
    {
        m_inner->Send(message, std::move(delivered));
        return;
    }
    const uint32_t number = m_divided.Add({std::move(delivered), parts});
    Message part = message;
    part.parts = parts;
    uint64_t left = message.bytes;
    for (uint32_t way = 0; way < parts; ++way)
    {
        part.part = way;
        part.label = Router::WithWay(message.label, way);
        part.bytes = left / (parts - way);
        left -= part.bytes;
        m_inner->Send(part, [this, number] { Arrive(number); });
    }
}

void SpreadNetwork::Arrive(uint32_t number)
{
    if (--m_divided[number].parts == 0)
    {
        m_divided.Take(number).delivered();
    }
}

Fidelity SpreadNetwork::GetFidelity() const
{
    return m_inner->GetFidelity();
}

void SpreadNetwork::ReportLinks(RecordSink& sink, Time duration) const
{
    m_inner->ReportLinks(sink, duration);
}

NetworkTotals SpreadNetwork::GetTotals() const
{
    return m_inner->GetTotals();
}

std::string SpreadNetwork::DescribeTrouble() const
{
    return m_inner->DescribeTrouble();
}

void SpreadNetwork::DoDispose()
{
    m_inner = nullptr;
    m_router = nullptr;
    m_divided.Clear();
    NetworkModel::DoDispose();
}

} // namespace echo
} // namespace ns3
