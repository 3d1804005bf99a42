// SPDX-License-Identifier: GPL-2.0-only
#include "echo-nic-loads.h"

#include "echo-plan-geometry.h"

#include "ns3/echo-connection-map.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** Most groups and algorithms that are kept. */
constexpr size_t MOST_ENTRIES = 65536;

/** @return the rate of a NIC's links to the fabric, bytes/us */
double FabricRate(const Topology& topology, DeviceId nic)
{
    double rate = 0;
    for (const PortId port : topology.GetPorts(nic))
    {
        if (topology.IsFabricLink(Topology::LinkOf(port)))
        {
            rate += BytesPerMicrosecond(topology.RateOf(port));
        }
    }
    return rate;
}

/** @return bytes of which every part of every channel has as many */
uint64_t NominalBytes(const CollectivePlan& plan)
{
    return uint64_t{4096} * plan.layout->GetRanks() * std::max(plan.choice.channels, 1u);
}

} // namespace

bool NicLoads::IsUneven(const GroupLayout& layout)
{
    return layout.GetHosts() > 1 && layout.minLocal < layout.maxLocal;
}

double NicLoads::GetUsPerByte(const CollectivePlan& plan)
{
    const uint64_t ranks = plan.layout->GetRanks();
    if (plan.choice.algorithm == CollectiveAlgorithmKind::PAIRWISE &&
        ranks * ranks > MOST_WALKED_PAIRS)
    {
        return 0;
    }
    if (m_usPerByte.size() >= MOST_ENTRIES)
    {
        m_usPerByte.clear();
    }
    const auto [entry, isNew] = m_usPerByte.try_emplace(
        {plan.layout, plan.spec.kind, plan.choice.algorithm, plan.choice.channels, plan.spec.root},
        0);
    if (!isNew)
    {
        return entry->second;
    }
    CollectivePlan nominal = plan;
    nominal.spec.bytes = NominalBytes(plan);
    nominal.splits.clear();
    std::map<std::pair<DeviceId, bool>, uint64_t> bytes; // by NIC; true: what it sends
    for (const Connection& connection :
         CreateCollectiveAlgorithm(plan.choice.algorithm)->GetConnections(nominal))
    {
        const ConnectionEndpoints ends = MapConnection(nominal, connection);
        if (ends.interHost)
        {
            bytes[{ends.source, true}] += connection.bytes;
            bytes[{ends.destination, false}] += connection.bytes;
        }
    }
    const Topology& topology = *plan.layout->placement->GetTopology();
    for (const auto& [nic, sent] : bytes)
    {
        const double rate = FabricRate(topology, nic.first);
        const double us = rate > 0 ? static_cast<double>(sent) / rate : 0;
        entry->second = std::max(entry->second, us / static_cast<double>(nominal.spec.bytes));
    }
    return entry->second;
}

void NicLoads::Clear()
{
    m_usPerByte.clear();
}

} // namespace echo
} // namespace ns3
