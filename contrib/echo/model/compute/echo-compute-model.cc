// SPDX-License-Identifier: GPL-2.0-only
#include "echo-compute-model.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(ComputeModel);

TypeId ComputeModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::ComputeModel").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

} // namespace echo
} // namespace ns3
