// SPDX-License-Identifier: GPL-2.0-only
#include "echo-footprint-tracker.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace echo
{

std::vector<CollectiveId> FootprintTracker::Add(CollectiveId id, FootprintPtr footprint)
{
    constexpr double ROUNDING = 1e-9; // demands are sums of quotients
    std::set<CollectiveId> contended;
    for (const auto& [port, demand] : footprint->demand)
    {
        if (port.Get() >= m_ports.size())
        {
            m_ports.resize(port.Get() + 1);
        }
        auto& users = m_ports[port.Get()];
        users.emplace_back(id, demand);
        if (users.size() == 1)
        {
            continue;
        }
        double sum = 0;
        for (const auto& user : users)
        {
            sum += user.second;
        }
        if (sum > 1 + ROUNDING)
        {
            for (const auto& user : users)
            {
                contended.insert(user.first);
            }
        }
    }
    for (const auto& [bundle, demand] : footprint->bundles)
    {
        m_bundles[bundle] += demand;
    }
    m_active[id] = std::move(footprint);
    return {contended.begin(), contended.end()};
}

void FootprintTracker::Remove(CollectiveId id)
{
    const auto it = m_active.find(id);
    if (it == m_active.end())
    {
        return;
    }
    for (const auto& entry : it->second->demand)
    {
        auto& users = m_ports[entry.first.Get()];
        users.erase(std::find_if(
            users.begin(), users.end(), [id](const auto& user) { return user.first == id; }));
    }
    for (const auto& [bundle, demand] : it->second->bundles)
    {
        m_bundles[bundle] -= demand;
    }
    m_active.erase(it);
}

double FootprintTracker::GetPeakDemand(CollectiveId id) const
{
    double peak = 0;
    const auto it = m_active.find(id);
    if (it != m_active.end())
    {
        for (const auto& entry : it->second->demand)
        {
            double sum = 0;
            for (const auto& user : m_ports[entry.first.Get()])
            {
                sum += user.second;
            }
            peak = std::max(peak, sum);
        }
    }
    return peak;
}

double FootprintTracker::GetPeakBundleDemand(CollectiveId id) const
{
    double peak = 0;
    const auto it = m_active.find(id);
    if (it != m_active.end())
    {
        for (const auto& entry : it->second->bundles)
        {
            peak = std::max(peak, m_bundles.at(entry.first));
        }
    }
    return peak;
}

std::vector<CollectiveId> FootprintTracker::GetSharing(CollectiveId id) const
{
    std::set<CollectiveId> sharing;
    const auto it = m_active.find(id);
    if (it != m_active.end())
    {
        for (const auto& entry : it->second->demand)
        {
            for (const auto& user : m_ports[entry.first.Get()])
            {
                sharing.insert(user.first);
            }
        }
        sharing.erase(id);
    }
    return {sharing.begin(), sharing.end()};
}

} // namespace echo
} // namespace ns3
