// SPDX-License-Identifier: GPL-2.0-only
#include "echo-router.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRouter");
NS_OBJECT_ENSURE_REGISTERED(Router);

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

} // namespace

TypeId Router::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::Router")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddAttribute("Seed",
                          "Seed of the hash that spreads flows over paths of equal length; each "
                          "device hashes with a seed of its own, made from this and its id.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&Router::m_seed),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

PortId Router::ChooseNextHop(DeviceId at,
                             DeviceId source,
                             DeviceId destination,
                             uint64_t label) const
{
    GetNextHops(at, destination, m_candidates);
    if (m_candidates.size() < 2)
    {
        return m_candidates.empty() ? PortId() : m_candidates.front();
    }
    // A seed for each device: with one seed for all, flows that chose the same port at the first
    // switch would choose the same at the next, and half of the paths stay empty.
    uint64_t hash = Mix(m_seed ^ Mix(at.Get()));
    hash = Mix(hash ^ ((uint64_t{source.Get()} << 32) | destination.Get()));
    hash = Mix(hash ^ label);
    // The upper half scaled to the number of ports: without the bias of a remainder.
    return m_candidates[((hash >> 32) * m_candidates.size()) >> 32];
}

bool Router::FindPath(DeviceId source,
                      DeviceId destination,
                      uint64_t label,
                      std::vector<PortId>& path) const
{
    path.clear();
    DeviceId at = source;
    while (at != destination)
    {
        const PortId port = ChooseNextHop(at, source, destination, label);
        // A way longer than the number of devices runs in a circle.
        if (!port.IsValid() || path.size() >= m_topology->GetDeviceCount())
        {
            NS_LOG_DEBUG("no way from device " << source << " to " << destination);
            path.clear();
            return false;
        }
        path.push_back(port);
        at = m_topology->NeighborOf(port);
    }
    return true;
}

} // namespace echo
} // namespace ns3
