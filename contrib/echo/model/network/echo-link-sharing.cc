// SPDX-License-Identifier: GPL-2.0-only
#include "echo-link-sharing.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double ROUNDING = 1e-9;  //!< demands are sums of quotients
constexpr double SLOWEST = 1e-4;   //!< who is left nothing goes on all the same, if hardly
constexpr double ALIKE = 1 + 1e-9; //!< speeds that differ by less are one

/** @return speed of a communication that transfers at @p speed for a part of its time */
double WholeSpeed(double speed, double transferPart)
{
    return speed == 1 ? 1 : 1 / (1 - transferPart + transferPart / speed);
}

} // namespace

std::vector<LinkSharing::User>& LinkSharing::UsersOf(uint64_t link)
{
    if (link >= m_users.size())
    {
        m_users.resize(link + 1);
    }
    return m_users[link];
}

std::vector<LinkSharing::InstancePtr> LinkSharing::Add(const InstancePtr& instance,
                                                       std::vector<LinkShare> shares,
                                                       double transferPart,
                                                       bool comesFirst,
                                                       bool waits)
{
    Active& active = m_active[instance->id];
    active.instance = instance;
    active.shares = std::move(shares);
    active.transferPart = transferPart;
    active.comesFirst = comesFirst;
    active.waits = waits;
    active.since = Simulator::Now();
    return waits ? std::vector<InstancePtr>() : Enter(active);
}

std::vector<LinkSharing::InstancePtr> LinkSharing::Enter(CollectiveId id)
{
    const auto found = m_active.find(id);
    if (found == m_active.end() || !found->second.waits)
    {
        return {};
    }
    found->second.waits = false;
    return Enter(found->second);
}

std::vector<LinkSharing::InstancePtr> LinkSharing::Enter(Active& active)
{
    bool isShort = false;
    for (const LinkShare& share : active.shares)
    {
        auto& users = UsersOf(share.link);
        users.push_back({&active, share.demand, share.weight});
        double sum = 0;
        for (const User& user : users)
        {
            sum += user.demand;
        }
        isShort = isShort || sum > 1 + ROUNDING;
    }
    return isShort ? Update({&active}) : std::vector<InstancePtr>();
}

std::vector<LinkSharing::InstancePtr> LinkSharing::Remove(CollectiveId id)
{
    const auto found = m_active.find(id);
    if (found == m_active.end())
    {
        return {};
    }
    if (found->second.waits)
    {
        found->second.shares.clear();
    }
    std::vector<Active*> seeds;
    for (const LinkShare& share : found->second.shares)
    {
        auto& users = m_users[share.link];
        double sum = 0;
        for (size_t i = 0; i < users.size(); ++i)
        {
            sum += users[i].demand;
        }
        users.erase(std::find_if(users.begin(), users.end(), [&](const User& user) {
            return user.who == &found->second;
        }));
        for (const User& user : users)
        {
            if (sum > 1 + ROUNDING && !user.who->inSet)
            {
                user.who->inSet = true;
                seeds.push_back(user.who);
            }
        }
    }
    m_active.erase(found);
    for (Active* seed : seeds)
    {
        seed->inSet = false;
    }
    return seeds.empty() ? std::vector<InstancePtr>() : Update(std::move(seeds));
}

double LinkSharing::GetSpeed(CollectiveId id) const
{
    const auto found = m_active.find(id);
    return found == m_active.end() ? 1 : found->second.speed;
}

double LinkSharing::GetProgress(CollectiveId id) const
{
    const Active& active = m_active.at(id);
    return active.progress +
           static_cast<double>((Simulator::Now() - active.since).GetPicoSeconds()) * active.speed;
}

double LinkSharing::GetSpeedAlone(const std::vector<LinkShare>& shares, double transferPart)
{
    double most = 1 + ROUNDING;
    for (const LinkShare& share : shares)
    {
        most = std::max(most, share.demand);
    }
    return most > 1 + ROUNDING ? WholeSpeed(1 / most, transferPart) : 1;
}

void LinkSharing::Clear()
{
    m_active.clear();
    m_users.clear();
}

void LinkSharing::Close(std::vector<Active*>& set)
{
    m_linkNumbers.clear();
    for (Active* active : set)
    {
        active->inSet = true;
    }
    for (size_t i = 0; i < set.size(); ++i)
    {
        for (const LinkShare& share : set[i]->shares)
        {
            const auto& users = m_users[share.link];
            double sum = 0;
            for (const User& user : users)
            {
                sum += user.demand;
            }
            if (sum <= 1 + ROUNDING)
            {
                continue;
            }
            m_linkNumbers.push_back(share.link);
            for (const User& user : users)
            {
                if (!user.who->inSet)
                {
                    user.who->inSet = true;
                    set.push_back(user.who);
                }
            }
        }
    }
    std::sort(m_linkNumbers.begin(), m_linkNumbers.end());
    m_linkNumbers.erase(std::unique(m_linkNumbers.begin(), m_linkNumbers.end()),
                        m_linkNumbers.end());
}

std::vector<LinkSharing::InstancePtr> LinkSharing::Update(std::vector<Active*> set)
{
    Close(set);
    m_links.clear();
    for (const uint64_t number : m_linkNumbers)
    {
        m_links.push_back({m_users[number], 1});
    }
    Solve(set, true);
    FillUp(set, true);
    Solve(set, false);
    FillUp(set, false);
    const Time now = Simulator::Now();
    std::vector<InstancePtr> changed;
    for (Active* active : set)
    {
        active->inSet = false;
        const double speed = WholeSpeed(active->found, active->transferPart);
        if (speed == active->speed)
        {
            continue;
        }
        active->progress = GetProgress(active->instance->id);
        active->since = now;
        active->speed = speed;
        changed.push_back(active->instance);
    }
    std::sort(changed.begin(), changed.end(), [](const InstancePtr& a, const InstancePtr& b) {
        return a->id < b->id;
    });
    return changed;
}

void LinkSharing::Solve(const std::vector<Active*>& set, bool first)
{
    size_t open = 0;
    for (Active* active : set)
    {
        active->isOpen = active->comesFirst == first;
        active->found = active->isOpen ? 1 : active->found;
        open += active->isOpen ? 1 : 0;
    }
    while (open > 0)
    {
        for (Active* active : set)
        {
            active->least = 1;
        }
        for (uint32_t number = 0; number < m_links.size(); ++number)
        {
            Offer(number);
        }
        double slowest = 1;
        for (const Active* active : set)
        {
            slowest = active->isOpen ? std::min(slowest, active->least) : slowest;
        }
        // All whom the slowest's link holds up most are found with it.
        std::vector<bool> isFull(m_links.size(), false);
        for (const Active* active : set)
        {
            if (active->isOpen && active->least < 1 && active->least <= slowest * ALIKE)
            {
                isFull[active->at] = true;
            }
        }
        for (Active* active : set)
        {
            if (active->isOpen && (slowest >= 1 || (active->least < 1 && isFull[active->at])))
            {
                Fix(*active);
                --open;
            }
        }
    }
}

void LinkSharing::Offer(uint32_t number)
{
    Link& link = m_links[number];
    m_order.clear();
    double weights = 0;
    for (User& user : link.users)
    {
        if (user.who->isOpen && user.demand > 0)
        {
            m_order.push_back(&user);
            weights += user.weight;
        }
    }
    // Who asks for least beside its weight is served first, in full while the level allows it.
    std::sort(m_order.begin(), m_order.end(), [](const User* a, const User* b) {
        const double left = a->demand * b->weight;
        const double right = b->demand * a->weight;
        return left != right ? left < right : a->who->instance->id < b->who->instance->id;
    });
    double left = std::max(link.left, 0.0);
    for (const User* user : m_order)
    {
        const double offered = weights > 0 ? left * user->weight / weights : left;
        weights -= user->weight;
        if (offered >= user->demand * (1 - ROUNDING))
        {
            left -= user->demand;
            continue;
        }
        left -= offered;
        const double speed = std::max(offered / user->demand, SLOWEST);
        if (speed < user->who->least)
        {
            user->who->least = speed;
            user->who->at = number;
        }
    }
}

uint32_t LinkSharing::FindLink(uint64_t link) const
{
    const auto found = std::lower_bound(m_linkNumbers.begin(), m_linkNumbers.end(), link);
    return found != m_linkNumbers.end() && *found == link
               ? static_cast<uint32_t>(found - m_linkNumbers.begin())
               : NONE;
}

void LinkSharing::Fix(Active& active)
{
    active.isOpen = false;
    active.found = active.least;
    for (const LinkShare& share : active.shares)
    {
        const uint32_t number = FindLink(share.link);
        if (number != NONE)
        {
            m_links[number].left -= active.found * share.demand;
        }
    }
}

void LinkSharing::FillUp(std::vector<Active*> set, bool first)
{
    // Weights differ from link to link: who was found first may have left more than was asked for.
    std::sort(set.begin(), set.end(), [](const Active* a, const Active* b) {
        return a->found != b->found ? a->found < b->found : a->instance->id < b->instance->id;
    });
    for (Active* active : set)
    {
        double more = active->comesFirst == first ? 1 - active->found : 0;
        for (const LinkShare& share : active->shares)
        {
            const uint32_t number = FindLink(share.link);
            if (number != NONE && share.demand > 0)
            {
                more = std::min(more, m_links[number].left / share.demand);
            }
        }
        if (more <= ROUNDING)
        {
            continue;
        }
        active->found += more;
        for (const LinkShare& share : active->shares)
        {
            const uint32_t number = FindLink(share.link);
            if (number != NONE)
            {
                m_links[number].left -= more * share.demand;
            }
        }
    }
}

} // namespace echo
} // namespace ns3
