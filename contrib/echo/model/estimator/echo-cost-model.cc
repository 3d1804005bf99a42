// SPDX-License-Identifier: GPL-2.0-only
#include "echo-cost-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(CostModel);

TypeId CostModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::CostModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

} // namespace echo
} // namespace ns3
