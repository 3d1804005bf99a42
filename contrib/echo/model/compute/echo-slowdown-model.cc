// SPDX-License-Identifier: GPL-2.0-only
#include "echo-slowdown-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(SlowdownModel);

TypeId SlowdownModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SlowdownModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

} // namespace echo
} // namespace ns3
