// SPDX-License-Identifier: GPL-2.0-only
#include "echo-path-choice.h"

#include "ns3/echo-error.h"
#include "ns3/object-factory.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(PathChoice);
NS_OBJECT_ENSURE_REGISTERED(EcmpPathChoice);
NS_OBJECT_ENSURE_REGISTERED(StaticPathChoice);

namespace
{

/** Finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
uint64_t Mix(uint64_t value)
{
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

/** @return the most links that a device of role @p from has to devices of role @p to */
uint64_t CountLinks(const Topology& topology, DeviceRole from, DeviceRole to)
{
    uint64_t most = 1;
    for (const DeviceId device : topology.GetDevices(from))
    {
        const auto& ports = topology.GetPorts(device);
        const auto up = std::count_if(ports.begin(), ports.end(), [&](PortId port) {
            return topology.GetDevice(topology.NeighborOf(port)).role == to;
        });
        most = std::max(most, static_cast<uint64_t>(up));
    }
    return most;
}

} // namespace

TypeId PathChoice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::PathChoice").SetParent<Object>().SetGroupName("Echo");
    return tid;
}

Ptr<PathChoice> PathChoice::Make(const std::string& type, TopologyPtr topology, uint64_t seed)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(type, &tid) || !tid.HasConstructor() ||
        !tid.IsChildOf(PathChoice::GetTypeId()))
    {
        throw InputError({"", 0, "ns3::echo::Router::PathChoice"},
                         "'" + type + "'",
                         "the TypeId of a path choice such as ns3::echo::EcmpPathChoice");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    Ptr<PathChoice> choice = factory.Create<PathChoice>();
    choice->DoPrepare(*topology, seed);
    return choice;
}

TypeId EcmpPathChoice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::EcmpPathChoice")
                            .SetParent<PathChoice>()
                            .SetGroupName("Echo")
                            .AddConstructor<EcmpPathChoice>();
    return tid;
}

void EcmpPathChoice::DoPrepare(const Topology&, uint64_t seed)
{
    m_seed = seed;
}

size_t EcmpPathChoice::Choose(const FlowHop& hop, size_t candidates) const
{
    uint64_t hash = Mix(m_seed ^ Mix(hop.at.Get()));
    hash = Mix(hash ^ ((uint64_t{hop.source.Get()} << 32) | hop.destination.Get()));
    hash = Mix(hash ^ hop.label);
    // The upper half scaled to the number of ports: without the bias of a remainder.
    return ((hash >> 32) * candidates) >> 32;
}

TypeId StaticPathChoice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::echo::StaticPathChoice")
                            .SetParent<EcmpPathChoice>()
                            .SetGroupName("Echo")
                            .AddConstructor<StaticPathChoice>();
    return tid;
}

void StaticPathChoice::DoPrepare(const Topology& topology, uint64_t seed)
{
    EcmpPathChoice::DoPrepare(topology, seed);
    m_number.assign(topology.GetDeviceCount(), 0);
    m_leafOf.assign(topology.GetDeviceCount(), DeviceId());
    m_below.assign(topology.GetDeviceCount(), {});
    for (uint32_t i = 0; i < topology.GetDeviceCount(); ++i)
    {
        m_roles.push_back(topology.GetDevice(DeviceId(i)).role);
    }
    uint64_t next = 0;
    for (const DeviceId leaf : topology.GetDevices(DeviceRole::LEAF))
    {
        for (const PortId port : topology.GetPorts(leaf))
        {
            const DeviceId neighbor = topology.NeighborOf(port);
            if (m_roles[neighbor.Get()] == DeviceRole::NIC)
            {
                m_number[neighbor.Get()] = next++;
                m_leafOf[neighbor.Get()] = leaf;
            }
            else if (m_roles[neighbor.Get()] == DeviceRole::SPINE)
            {
                m_below[neighbor.Get()].push_back(leaf);
            }
        }
    }
    m_leafUplinks = CountLinks(topology, DeviceRole::LEAF, DeviceRole::SPINE);
}

uint64_t StaticPathChoice::DivisorAt(const FlowHop& hop) const
{
    switch (m_roles[hop.at.Get()])
    {
    case DeviceRole::LEAF:
        return 1;
    case DeviceRole::SPINE:
    {
        const auto& below = m_below[hop.at.Get()];
        const bool down =
            std::binary_search(below.begin(), below.end(), m_leafOf[hop.destination.Get()]);
        return down ? 1 : m_leafUplinks;
    }
    case DeviceRole::CORE:
        return m_leafUplinks;
    default:
        return 0;
    }
}

size_t StaticPathChoice::Choose(const FlowHop& hop, size_t candidates) const
{
    const uint64_t divisor = DivisorAt(hop);
    if (divisor == 0)
    {
        return EcmpPathChoice::Choose(hop, candidates);
    }
    return m_number[hop.destination.Get()] / divisor % candidates;
}

} // namespace echo
} // namespace ns3
