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
    std::vector<Active*> sharing{nullptr};
    for (Active& active : m_active)
    {
        if (Share(*active.use, use, footprints))
        {
            sharing.push_back(&active);
        }
    }
    Active added{instance, &use, end};
    sharing.front() = &added;
    // Also alone: replicas may be in each other's way.
    std::vector<InstancePtr> contended;
    const Flags& flags = FlagsOf(sharing, footprints);
    for (size_t i = 0; i < flags.size(); ++i)
    {
        if (flags[i].empty())
        {
            continue;
        }
        contended.push_back(sharing[i]->instance);
        auto& known = contended.back()->contendedReplicas;
        known.resize(flags[i].size());
        for (uint32_t replica = 0; replica < flags[i].size(); ++replica)
        {
            if (flags[i][replica] && !known[replica])
            {
                known[replica] = true;
                mark(*contended.back(), replica);
            }
        }
    }
    const auto place = std::find_if(m_active.begin(), m_active.end(), [&](const Active& active) {
        return active.use->number > use.number;
    });
    m_active.insert(place, std::move(added));
    return contended;
}

const std::vector<uint64_t>& FoldedContention::GetPorts(LinkUse& use, FootprintCache& footprints)
{
    if (use.number >= m_ports.size())
    {
        m_ports.resize(use.number + 1);
    }
    auto& bits = m_ports[use.number];
    if (bits.empty())
    {
        bits.resize(size_t{footprints.GetTopology().GetLinkCount()} * 2 / 64 + 1);
        for (const FootprintPtr& footprint : footprints.Get(use))
        {
            for (const auto& entry : footprint->demand)
            {
                bits[entry.first.Get() / 64] |= uint64_t{1} << (entry.first.Get() % 64);
            }
        }
    }
    return bits;
}

bool FoldedContention::Share(LinkUse& a, LinkUse& b, FootprintCache& footprints)
{
    const uint32_t larger = std::max(a.number, b.number);
    const uint32_t smaller = std::min(a.number, b.number);
    if (larger >= m_share.size())
    {
        m_share.resize(larger + 1);
    }
    m_share[larger].resize(larger + 1, -1);
    int8_t& share = m_share[larger][smaller];
    if (share < 0)
    {
        GetPorts(a, footprints); // may move the other's
        const auto& portsB = GetPorts(b, footprints);
        const auto& portsA = m_ports[a.number];
        share = 0;
        for (size_t i = 0; i < portsA.size() && share == 0; ++i)
        {
            share = (portsA[i] & portsB[i]) != 0 ? 1 : 0;
        }
    }
    return share > 0;
}

const FoldedContention::Flags& FoldedContention::FlagsOf(const std::vector<Active*>& sharing,
                                                         FootprintCache& footprints)
{
    constexpr size_t MOST_KNOWN = 65536;
    std::vector<uint32_t> key;
    key.reserve(sharing.size());
    for (const Active* active : sharing)
    {
        key.push_back(active->use->number);
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
    return m_known.emplace(std::move(key), Compute(sharing, footprints)).first->second;
}

FoldedContention::Flags FoldedContention::Compute(const std::vector<Active*>& sharing,
                                                  FootprintCache& footprints)
{
    constexpr double ROUNDING = 1e-9; // demands are sums of quotients
    m_demand.resize(size_t{footprints.GetTopology().GetLinkCount()} * 2);
    const auto forEach = [&](auto&& visit) {
        for (const Active* active : sharing)
        {
            for (const FootprintPtr& footprint : footprints.Get(*active->use))
            {
                for (const auto& [port, demand] : footprint->demand)
                {
                    visit(m_demand[port.Get()], demand);
                }
            }
        }
    };
    forEach([](Demand& all, double demand) {
        all.sum += demand;
        ++all.users;
    });
    // On the new one's links only: on all others nothing has changed.
    const std::vector<uint64_t>& own = GetPorts(*sharing.front()->use, footprints);
    Flags flags(sharing.size());
    for (size_t i = 0; i < sharing.size(); ++i)
    {
        const auto& replicas = footprints.Get(*sharing[i]->use);
        for (size_t replica = 0; replica < replicas.size(); ++replica)
        {
            const auto& demand = replicas[replica]->demand;
            const bool contended =
                std::any_of(demand.begin(), demand.end(), [&](const auto& entry) {
                    const uint32_t port = entry.first.Get();
                    return (own[port / 64] >> (port % 64) & 1) != 0 && m_demand[port].users > 1 &&
                           m_demand[port].sum > 1 + ROUNDING;
                });
            if (contended)
            {
                flags[i].resize(replicas.size());
                flags[i][replica] = true;
            }
        }
    }
    forEach([](Demand& all, double) { all = Demand(); });
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
    m_ports.clear();
    m_share.clear();
}

} // namespace echo
} // namespace ns3
