// SPDX-License-Identifier: GPL-2.0-only
#include "echo-network-model.h"

#include "ns3/trace-source-accessor.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(NetworkModel);

TypeId NetworkModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::NetworkModel")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddTraceSource("Delivered",
                            "A message has arrived; before whoever sent it is told.",
                            MakeTraceSourceAccessor(&NetworkModel::m_deliveredTrace),
                            "ns3::echo::NetworkModel::DeliveredTracedCallback");
    return tid;
}

std::string NetworkModel::DescribeTrouble() const
{
    return "";
}

} // namespace echo
} // namespace ns3
