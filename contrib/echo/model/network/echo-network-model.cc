// SPDX-License-Identifier: GPL-2.0-only
#include "echo-network-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(NetworkModel);

TypeId NetworkModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::NetworkModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

std::string NetworkModel::DescribeTrouble() const
{
    return "";
}

} // namespace echo
} // namespace ns3
