// SPDX-License-Identifier: GPL-2.0-only
#include "echo-folded-contention.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

std::vector<FoldedContention::InstancePtr> FoldedContention::Begin(const InstancePtr& instance,
                                                                   LinkUse& use,
                                                                   FootprintCache& footprints,
                                                                   Time end,
                                                                   const Mark& mark)
{
    const Time now = Simulator::Now();
    const auto gone = [now](const Active& active) { return active.end <= now; };
    m_active.erase(std::remove_if(m_active.begin(), m_active.end(), gone), m_active.end());
    const auto place = std::find_if(m_active.begin(), m_active.end(), [&](const Active& active) {
        return active.use->number > use.number;
    });
    m_active.insert(place, {instance, &use, end});
    std::vector<InstancePtr> contended;
    const Flags& flags = FlagsOf(footprints);
    for (size_t i = 0; i < flags.size(); ++i)
    {
        if (flags[i].empty())
        {
            continue;
        }
        contended.push_back(m_active[i].instance);
        auto& known = contended.back()->contendedReplicas;
        known.resize(flags[i].size());
        uint32_t more = 0;
        for (size_t replica = 0; replica < flags[i].size(); ++replica)
        {
            more += flags[i][replica] && !known[replica] ? 1 : 0;
            known[replica] = known[replica] || flags[i][replica];
        }
        if (more > 0)
        {
            mark(*contended.back(), more);
        }
    }
    return contended;
}

const FoldedContention::Flags& FoldedContention::FlagsOf(FootprintCache& footprints)
{
    constexpr size_t MOST_KNOWN = 16384;
    std::vector<uint32_t> key;
    key.reserve(m_active.size());
    for (const Active& active : m_active)
    {
        key.push_back(active.use->number);
    }
    const auto known = m_known.find(key);
    if (known != m_known.end())
    {
        return known->second;
    }
    if (m_known.size() >= MOST_KNOWN)
    {
        m_known.clear();
    }
    return m_known.emplace(std::move(key), Compute(footprints)).first->second;
}

FoldedContention::Flags FoldedContention::Compute(FootprintCache& footprints)
{
    constexpr double ROUNDING = 1e-9; // demands are sums of quotients
    m_demand.assign(size_t{footprints.GetTopology().GetLinkCount()} * 2, {});
    for (const Active& active : m_active)
    {
        for (const FootprintPtr& footprint : footprints.Get(*active.use))
        {
            for (const auto& [port, demand] : footprint->demand)
            {
                m_demand[port.Get()].sum += demand;
                ++m_demand[port.Get()].users;
            }
        }
    }
    Flags flags(m_active.size());
    for (size_t i = 0; i < m_active.size(); ++i)
    {
        const auto& replicas = footprints.Get(*m_active[i].use);
        for (size_t replica = 0; replica < replicas.size(); ++replica)
        {
            const auto& demand = replicas[replica]->demand;
            const bool contended =
                std::any_of(demand.begin(), demand.end(), [&](const auto& entry) {
                    const Demand& all = m_demand[entry.first.Get()];
                    return all.users > 1 && all.sum > 1 + ROUNDING;
                });
            if (contended)
            {
                flags[i].resize(replicas.size());
                flags[i][replica] = true;
            }
        }
    }
    return flags;
}

void FoldedContention::End(const CollectiveInstance& instance)
{
    const auto found = std::find_if(m_active.begin(), m_active.end(), [&](const Active& active) {
        return active.instance.get() == &instance;
    });
    if (found != m_active.end())
    {
        m_active.erase(found);
    }
}

void FoldedContention::Clear()
{
    m_active.clear();
    m_known.clear();
}

} // namespace echo
} // namespace ns3
