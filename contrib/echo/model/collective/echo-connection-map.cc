// SPDX-License-Identifier: GPL-2.0-only
#include "echo-connection-map.h"

#include "ns3/echo-error.h"

#include <string>
#include <tuple>
#include <utility>

namespace ns3
{
namespace echo
{

ConnectionEndpoints MapConnection(const CollectivePlan& plan, const Connection& connection)
{
    const GroupLayout& layout = *plan.layout;
    const Placement& placement = *layout.placement;
    const RankId source = layout.group->GetRank(connection.source);
    const RankId destination = layout.group->GetRank(connection.destination);
    const DeviceId sourceGpu = placement.GetGpu(source);
    const DeviceId destinationGpu = placement.GetGpu(destination);
    const Topology& topology = *placement.GetTopology();
    ConnectionEndpoints ends;
    ends.interHost = layout.hostOf[connection.source] != layout.hostOf[connection.destination];
    // 28 bits of group, 12 of channel, 4 of plane, 10 of GPU number at each end.
    ends.label = (uint64_t{layout.group->GetId().Get()} << 36) ^
                 (uint64_t{connection.channel} << 24) ^ (uint64_t{connection.plane} << 20) ^
                 (uint64_t{topology.GetDevice(sourceGpu).index} << 10) ^
                 topology.GetDevice(destinationGpu).index;
    if (!ends.interHost)
    {
        ends.source = sourceGpu;
        ends.destination = destinationGpu;
        return ends;
    }
    std::tie(ends.source, ends.destination) = placement.GetNicPair(source, destination);
    for (const auto& [nic, rank] :
         {std::make_pair(ends.source, source), std::make_pair(ends.destination, destination)})
    {
        if (!nic.IsValid())
        {
            throw UnsupportedError("rank " + std::to_string(rank.Get()) + " on " +
                                   topology.GetDevice(placement.GetGpu(rank)).name +
                                   " has no NIC but talks to another host in group " +
                                   layout.group->GetName());
        }
    }
    return ends;
}

} // namespace echo
} // namespace ns3
