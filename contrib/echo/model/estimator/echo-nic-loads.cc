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
        plan.spec.kind != CollectiveKind::SEND_RECV && ranks * ranks > MOST_WALKED_PAIRS)
    {
        return plan.spec.kind == CollectiveKind::ALL_TO_ALL
                   ? GetPairsUsPerByte(*plan.layout) / static_cast<double>(ranks)
                   : 0; // splits differ
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

double NicLoads::GetPairsUsPerByte(const GroupLayout& layout)
{
    const Placement& placement = *layout.placement;
    const Topology& topology = *placement.GetTopology();
    const auto hostOf = [&](const std::vector<uint32_t>& members) {
        return placement.GetHost(layout.group->GetRank(members.front()));
    };
    const auto nicOf = [&](uint32_t member) {
        return placement.GetNic(layout.group->GetRank(member));
    };
    // Members by the number of their NIC in its host, over all hosts of as many NICs.
    using Counts = std::map<uint32_t, double>;
    std::map<size_t, Counts> byNumber;
    for (const auto& members : layout.hosts)
    {
        Counts& counts = byNumber[topology.GetNics(hostOf(members)).size()];
        for (const uint32_t member : members)
        {
            if (!nicOf(member).IsValid())
            {
                return 0; // refused where its connections are mapped
            }
            ++counts[topology.GetDevice(nicOf(member)).index];
        }
    }
    double most = 0;
    for (const auto& members : layout.hosts)
    {
        const auto& nics = topology.GetNics(hostOf(members));
        const double others = layout.GetRanks() - static_cast<double>(members.size());
        std::map<DeviceId, double> sent;
        std::map<DeviceId, double> received;
        Counts own;
        for (const uint32_t member : members)
        {
            received[nicOf(member)] += others;
            ++own[topology.GetDevice(nicOf(member)).index];
        }
        double elsewhere = others; // each member's through its own NIC (Placement::GetNicPair)
        if (topology.HasNvSwitch(hostOf(members)))
        {
            for (const auto& [number, all] : byNumber[nics.size()])
            {
                const double there = all - own[number];
                sent[nics[number]] += there * static_cast<double>(members.size());
                elsewhere -= there;
            }
        }
        for (const uint32_t member : members)
        {
            sent[nicOf(member)] += elsewhere;
        }
        for (const auto& way : {sent, received})
        {
            for (const auto& [nic, messages] : way)
            {
                const double rate = FabricRate(topology, nic);
                most = std::max(most, rate > 0 ? messages / rate : 0);
            }
        }
    }
    return most;
}

void NicLoads::Clear()
{
    m_usPerByte.clear();
}

} // namespace echo
} // namespace ns3
