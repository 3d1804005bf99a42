// SPDX-License-Identifier: GPL-2.0-only
#include "echo-footprint-tracker.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace echo
{

std::vector<CollectiveId> FootprintTracker::Add(CollectiveId id,
                                                FootprintPtr footprint,
                                                Time now,
                                                Time end)
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
        uint32_t others = 0;
        double sum = demand;
        for (const User& user : users)
        {
            others += user.end > now ? 1 : 0;
            sum += user.end > now ? user.demand : 0;
        }
        users.push_back({id, demand, end});
        if (others == 0 || sum <= 1 + ROUNDING)
        {
            continue;
        }
        for (const User& user : users)
        {
            if (user.end > now || user.id == id)
            {
                contended.insert(user.id);
            }
        }
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
            users.begin(), users.end(), [id](const User& user) { return user.id == id; }));
    }
    m_active.erase(it);
}

void FootprintTracker::SetEnd(CollectiveId id, Time end)
{
    const auto it = m_active.find(id);
    if (it == m_active.end())
    {
        return;
    }
    for (const auto& entry : it->second->demand)
    {
        for (User& user : m_ports[entry.first.Get()])
        {
            user.end = user.id == id ? end : user.end;
        }
    }
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
                sharing.insert(user.id);
            }
        }
        sharing.erase(id);
    }
    return {sharing.begin(), sharing.end()};
}

} // namespace echo
} // namespace ns3
