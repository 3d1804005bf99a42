// SPDX-License-Identifier: GPL-2.0-only
#include "echo-compute-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(ComputeModel);
NS_OBJECT_ENSURE_REGISTERED(SlowdownModel);

TypeId ComputeModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::ComputeModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

TypeId SlowdownModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SlowdownModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

} // namespace echo
} // namespace ns3
