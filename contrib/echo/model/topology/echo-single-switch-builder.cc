// SPDX-License-Identifier: GPL-2.0-only
#include "echo-single-switch-builder.h"

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(SingleSwitchBuilder);

TypeId SingleSwitchBuilder::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::SingleSwitchBuilder")
                            .SetParent<TopologyBuilder>()
                            .SetGroupName("Echo")
                            .AddConstructor<SingleSwitchBuilder>();
    return tid;
}

void SingleSwitchBuilder::DoBuildFabric(Topology& topology, const NicTable& nics) const
{
    const DeviceId leaf = AddSwitches(topology, DeviceRole::LEAF, 1).front();
    for (const auto& ofHost : nics)
    {
        for (const DeviceId nic : ofHost)
        {
            JoinNic(topology, nic, leaf);
        }
    }
}

} // namespace echo
} // namespace ns3
