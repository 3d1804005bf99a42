// SPDX-License-Identifier: GPL-2.0-only
#include "echo-instance-table.h"

#include "echo-collective-agreement.h"

#include "ns3/echo-error.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

bool AskTheSame(const CollectiveSpec& a, const CollectiveSpec& b)
{
    return a.kind == b.kind && a.bytes == b.bytes && a.dataType == b.dataType && a.root == b.root &&
           a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels;
}

CollectiveSpec WithoutSplits(const CollectiveSpec& spec)
{
    CollectiveSpec copy;
    copy.kind = spec.kind;
    copy.bytes = spec.bytes;
    copy.dataType = spec.dataType;
    copy.root = spec.root;
    copy.algorithm = spec.algorithm;
    copy.protocol = spec.protocol;
    copy.channels = spec.channels;
    return copy;
}

} // namespace

bool InstanceTable::PairKey::operator==(const PairKey& other) const
{
    return group == other.group && source == other.source && destination == other.destination;
}

size_t InstanceTable::PairKeyHash::operator()(const PairKey& key) const
{
    uint64_t hash = (uint64_t{key.source.Get()} << 32 | key.destination.Get()) ^
                    uint64_t { key.group.Get() } * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
    return static_cast<size_t>(hash ^ (hash >> 32));
}

void InstanceTable::Prepare(PlacementPtr placement, Ptr<CollectiveSelector> selector)
{
    m_placement = std::move(placement);
    m_selector = selector;
}

InstanceTable::GroupCalls& InstanceTable::CallsOf(const CommGroupPtr& group,
                                                  RankId rank,
                                                  const std::string& origin)
{
    const uint32_t id = group->GetId().Get();
    if (id >= m_groups.size())
    {
        m_groups.resize(id + 1);
    }
    GroupCalls& calls = m_groups[id];
    if (!calls.layout)
    {
        calls.layout = MakeGroupLayout(group, m_placement);
        calls.calls.resize(group->GetSize());
    }
    const CommGroup& known = *calls.layout->group;
    if (&known != group.get() && known.GetRanks() != group->GetRanks())
    {
        throw StallError("rank " + std::to_string(rank.Get()) + " (" + origin + ") knows group " +
                         std::to_string(id) + " as " + group->GetName() + " of " +
                         ListRanks(group->GetRanks()) + "; others as " + known.GetName() + " of " +
                         ListRanks(known.GetRanks()));
    }
    return calls;
}

GroupLayoutPtr InstanceTable::MakePairLayout(const CommGroup& group,
                                             RankId source,
                                             RankId destination) const
{
    std::vector<RankId> ranks{source};
    if (source != destination)
    {
        ranks.push_back(destination);
    }
    return MakeGroupLayout(std::make_shared<const CommGroup>(
                               group.GetId(), group.GetKind(), group.GetName(), std::move(ranks)),
                           m_placement);
}

InstancePlace& InstanceTable::PairOf(const CommGroupPtr& group, RankId source, RankId destination)
{
    InstancePlace& place = m_pairs[{group->GetId(), source, destination}];
    if (place.layout)
    {
        return place;
    }
    place.layout = MakePairLayout(*group, source, destination);
    const uint32_t id = group->GetId().Get();
    if (id < m_groups.size() && !m_groups[id].folding.groups.empty())
    {
        auto replicas = std::make_shared<std::vector<GroupLayoutPtr>>();
        const uint32_t from = group->IndexOf(source);
        const uint32_t to = group->IndexOf(destination);
        for (const CommGroupPtr& alike : m_groups[id].folding.groups)
        {
            replicas->push_back(MakePairLayout(*alike, alike->GetRank(from), alike->GetRank(to)));
        }
        place.replicas = std::move(replicas);
    }
    return place;
}

void InstanceTable::Fold(const CommGroupPtr& group, GroupFolding folding)
{
    m_pairs.clear(); // those that were asked for times know no replicas
    GroupCalls& calls = CallsOf(group, group->GetRank(0), "folding");
    calls.partyOf.assign(group->GetSize(), group->GetSize());
    for (uint32_t party = 0; party < folding.parties.size(); ++party)
    {
        calls.partyOf[folding.parties[party]] = party;
    }
    calls.calls.assign(folding.parties.size(), 0);
    auto replicas = std::make_shared<std::vector<GroupLayoutPtr>>();
    for (const CommGroupPtr& alike : folding.groups)
    {
        replicas->push_back(alike == group ? calls.layout : MakeGroupLayout(alike, m_placement));
    }
    calls.replicas = std::move(replicas);
    calls.folding = std::move(folding);
}

std::shared_ptr<PlanFacts> InstanceTable::MakeFacts(CollectivePlan& plan) const
{
    plan.choice = m_selector->Select(plan.spec, *plan.layout);
    auto facts = std::make_shared<PlanFacts>();
    facts->spec = WithoutSplits(plan.spec);
    facts->choice = plan.choice;
    facts->movesNothing = MovesNothing(plan);
    facts->payloadBytes = facts->movesNothing ? 0 : PayloadBytes(plan);
    return facts;
}

const std::shared_ptr<PlanFacts>& InstanceTable::FactsOf(InstancePlace& place,
                                                         const CollectiveSpec& spec)
{
    constexpr size_t MOST_FACTS = 64; // of a group; past it the oldest goes
    auto& all = place.facts;
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const auto& facts) { return AskTheSame(facts->spec, spec); });
    if (found == all.end())
    {
        CollectivePlan plan;
        plan.spec = WithoutSplits(spec);
        plan.layout = place.layout;
        if (all.size() == MOST_FACTS)
        {
            all.pop_back();
        }
        all.insert(all.begin(), MakeFacts(plan));
    }
    else if (found != all.begin())
    {
        std::rotate(all.begin(), found, found + 1);
    }
    return all.front();
}

InstanceTable::InstancePtr InstanceTable::NewInstance(const InstancePlace& place,
                                                      const CollectiveSpec& spec,
                                                      uint32_t members)
{
    InstancePtr instance;
    auto& recycled = m_recycled[members];
    while (!instance && !recycled.empty())
    {
        if (recycled.back().use_count() == 1)
        {
            instance = std::move(recycled.back());
        }
        recycled.pop_back();
    }
    if (!instance)
    {
        instance = std::make_shared<CollectiveInstance>();
        instance->members.resize(members);
    }
    instance->id = CollectiveId(m_nextId++);
    instance->plan.spec = WithoutSplits(spec);
    instance->plan.splits.clear();
    instance->plan.layout = place.layout;
    instance->replicas = place.replicas;
    instance->contendedReplicas.clear();
    instance->asked.clear();
    instance->joined = instance->done = 0;
    instance->correction = 1;
    instance->fabricBytes = 0;
    for (auto& member : instance->members)
    {
        member.joined = member.done = false;
    }
    CollectiveRecord& record = instance->record;
    record.id = instance->id;
    record.kind = spec.kind;
    record.group = place.layout->group->GetKind();
    record.groupName = place.layout->group->GetName();
    record.firstMember = place.layout->group->GetRank(0);
    record.ranks = place.layout->GetRanks();
    record.hosts = place.layout->GetHosts();
    record.firstJoin = Simulator::Now();
    record.estimate = Time();
    record.payloadBytes = 0;
    record.linkUtilization = 0;
    record.extrapolated = record.contended = record.uncoupled = false;
    record.replicas = place.replicas ? static_cast<uint32_t>(place.replicas->size()) : 1;
    instance->unfinishedIndex = static_cast<uint32_t>(m_unfinished.size());
    m_unfinished.push_back(instance);
    return instance;
}

void InstanceTable::Finish(const InstancePtr& instance)
{
    m_unfinished.back()->unfinishedIndex = instance->unfinishedIndex;
    std::swap(m_unfinished[instance->unfinishedIndex], m_unfinished.back());
    m_unfinished.pop_back();
}

void InstanceTable::Recycle(const InstancePtr& instance)
{
    m_recycled[static_cast<uint32_t>(instance->members.size())].push_back(instance);
}

std::vector<InstanceTable::InstancePtr> InstanceTable::GetUnfinished() const
{
    std::vector<InstancePtr> sorted = m_unfinished;
    std::sort(sorted.begin(), sorted.end(), [](const InstancePtr& a, const InstancePtr& b) {
        return a->id < b->id;
    });
    return sorted;
}

} // namespace echo
} // namespace ns3
