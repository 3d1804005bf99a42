// SPDX-License-Identifier: GPL-2.0-only
#include "echo-rank-folding.h"

#include "ns3/assert.h"
#include "ns3/echo-fingerprint.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

uint64_t Mix(std::initializer_list<uint64_t> words)
{
    Fingerprint hash;
    for (const uint64_t word : words)
    {
        hash.Add(word);
    }
    return hash.GetValue();
}

bool HasRoot(CollectiveKind kind)
{
    return kind == CollectiveKind::BROADCAST || kind == CollectiveKind::REDUCE;
}

} // namespace

RankFolding::RankFolding(const WorkloadGraph& workload, CollectiveBackend& backend)
    : m_workload(workload), m_groups(workload.GetGroups().size())
{
    ColourRanks();
    if (Renumber() == workload.GetRankCount())
    {
        MakeClasses(); // each has a program of its own, and no group need be looked at
        return;
    }
    HashGroups(backend);
    Refine();
    MakeClasses();
    MakeSeats();
}

std::vector<RankFolding::SlotDemand> RankFolding::DemandOf(const ExecutionGraph& program)
{
    std::vector<SlotDemand> demands(program.GetGroupSlotCount());
    std::vector<std::set<std::pair<uint32_t, uint64_t>>> sends(demands.size());
    for (const CommunicationDescription& description : program.GetCommunications())
    {
        SlotDemand& demand = demands[description.groupSlot];
        if (description.elements.empty())
        {
            const CollectiveSpec& spec = description.spec;
            const bool isUneven = spec.kind == CollectiveKind::ALL_TO_ALL_V;
            demand.isOrdered = demand.isOrdered || isUneven || HasRoot(spec.kind);
            if (isUneven)
            {
                const auto same = std::find_if(
                    demand.uneven.begin(), demand.uneven.end(), [&](const CollectiveSpec& other) {
                        return other.sendBytes == spec.sendBytes;
                    });
                demand.unevenCalls.push_back(static_cast<uint32_t>(same - demand.uneven.begin()));
                if (same == demand.uneven.end())
                {
                    demand.uneven.push_back(spec);
                }
            }
            else
            {
                demand.collectives.push_back(spec);
            }
        }
        for (const auto& element : description.elements)
        {
            demand.isOrdered = true;
            if (element.isSend &&
                sends[description.groupSlot].emplace(element.peerIndex, element.bytes).second)
            {
                demand.sends.emplace_back(element.peerIndex, element.bytes);
            }
        }
    }
    return demands;
}

/** What a group's members ask of it, and how long each of these takes. */
void RankFolding::HashGroups(CollectiveBackend& backend)
{
    std::map<const ExecutionGraph*, std::vector<SlotDemand>> demands;
    std::vector<std::set<const SlotDemand*>> seen(m_groups.size());
    std::map<GroupId, Members> uneven;
    for (const CommGroupPtr& group : m_workload.GetGroups())
    {
        m_groups[group->GetId().Get()].fixed =
            Mix({static_cast<uint64_t>(group->GetKind()), group->GetSize()});
    }
    for (uint32_t i = 0; i < m_workload.GetRankCount(); ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *m_workload.GetProgram(rank);
        auto found = demands.find(&program);
        if (found == demands.end())
        {
            found = demands.emplace(&program, DemandOf(program)).first;
        }
        for (uint32_t slot = 0; slot < found->second.size(); ++slot)
        {
            const SlotDemand& demand = found->second[slot];
            const CommGroupPtr& group = m_workload.GetGroup(rank, slot);
            GroupState& state = m_groups[group->GetId().Get()];
            state.isOrdered = state.isOrdered || demand.isOrdered;
            // Sums, as the order in which members are met does not matter.
            const uint32_t own = group->IndexOf(rank);
            if (!demand.uneven.empty())
            {
                Members& members = uneven[group->GetId()];
                members.resize(group->GetSize());
                members[own] = &demand;
            }
            for (const auto& [peer, bytes] : demand.sends)
            {
                CollectiveSpec spec;
                spec.kind = CollectiveKind::SEND_RECV;
                spec.bytes = bytes;
                const uint64_t time = backend.HashTiming(spec, group, {own, peer});
                state.fixed += Mix({own, peer, bytes, time});
            }
            if (!seen[group->GetId().Get()].insert(&demand).second)
            {
                continue;
            }
            for (const CollectiveSpec& spec : demand.collectives)
            {
                state.fixed += Mix({static_cast<uint64_t>(spec.kind),
                                    spec.bytes,
                                    static_cast<uint64_t>(spec.dataType),
                                    spec.root,
                                    static_cast<uint64_t>(spec.algorithm),
                                    static_cast<uint64_t>(spec.protocol),
                                    spec.channels,
                                    backend.HashTiming(spec, group)});
            }
        }
    }
    for (const CommGroupPtr& group : m_workload.GetGroups())
    {
        const auto found = uneven.find(group->GetId());
        if (found != uneven.end())
        {
            HashUneven(group, found->second, backend);
        }
    }
}

void RankFolding::HashUneven(const CommGroupPtr& group,
                             const Members& members,
                             CollectiveBackend& backend)
{
    GroupState& state = m_groups[group->GetId().Get()];
    const bool agree = std::all_of(members.begin(), members.end(), [&](const SlotDemand* member) {
        return member && member->unevenCalls.size() == members.front()->unevenCalls.size();
    });
    if (!agree) // it will stall: as it is
    {
        state.fixed = Mix({state.fixed, group->GetId().Get()});
        return;
    }
    std::set<std::vector<uint32_t>> known; // what the members ask for together
    for (size_t call = 0; call < members.front()->unevenCalls.size(); ++call)
    {
        std::vector<uint32_t> together;
        std::vector<const CollectiveSpec*> asked;
        Fingerprint hash;
        for (const SlotDemand* member : members)
        {
            together.push_back(member->unevenCalls[call]);
            asked.push_back(&member->uneven[together.back()]);
            hash.Add(uint64_t{together.back()});
        }
        if (known.insert(together).second)
        {
            state.fixed += Mix({hash.GetValue(), backend.HashTiming(asked, group)});
        }
    }
}

void RankFolding::ColourRanks()
{
    std::unordered_map<const ExecutionGraph*, uint64_t> programs; // looked up only
    m_colours.resize(m_workload.GetRankCount());
    for (uint32_t i = 0; i < m_colours.size(); ++i)
    {
        const ExecutionGraph* program = m_workload.GetProgram(RankId(i)).get();
        const uint64_t number = programs.emplace(program, programs.size()).first->second;
        const Time start = m_workload.GetStartTime(RankId(i));
        m_colours[i] = Mix({number, static_cast<uint64_t>(start.GetTimeStep())});
    }
}

void RankFolding::Refine()
{
    size_t classes = Renumber();
    for (bool isStable = false; !isStable;)
    {
        ColourGroups();
        for (uint32_t i = 0; i < m_colours.size(); ++i)
        {
            const RankId rank(i);
            const uint32_t slots = m_workload.GetProgram(rank)->GetGroupSlotCount();
            Fingerprint hash;
            hash.Add(m_colours[i]);
            for (uint32_t slot = 0; slot < slots; ++slot)
            {
                const CommGroup& group = *m_workload.GetGroup(rank, slot);
                const GroupState& state = m_groups[group.GetId().Get()];
                hash.Add(state.colour);
                hash.Add(uint64_t{state.isOrdered ? group.IndexOf(rank) : 0});
            }
            m_colours[i] = hash.GetValue();
        }
        const size_t before = classes;
        classes = Renumber();
        isStable = classes == before;
    }
    ColourGroups();
}

void RankFolding::ColourGroups()
{
    for (GroupState& state : m_groups)
    {
        state.colour = state.fixed;
    }
    for (uint32_t i = 0; i < m_colours.size(); ++i)
    {
        const RankId rank(i);
        const uint32_t slots = m_workload.GetProgram(rank)->GetGroupSlotCount();
        for (uint32_t slot = 0; slot < slots; ++slot)
        {
            const CommGroup& group = *m_workload.GetGroup(rank, slot);
            GroupState& state = m_groups[group.GetId().Get()];
            // A multiset of members: a sum; in order: with the position in each term.
            state.colour +=
                Mix({m_colours[i], slot, state.isOrdered ? group.IndexOf(rank) + 1 : 0});
        }
    }
}

size_t RankFolding::Renumber()
{
    std::unordered_map<uint64_t, uint64_t> numbers; // looked up only
    for (uint64_t& colour : m_colours)
    {
        colour = numbers.emplace(colour, numbers.size()).first->second;
    }
    return numbers.size();
}

void RankFolding::MakeClasses()
{
    m_classOf.resize(m_colours.size());
    for (uint32_t i = 0; i < m_colours.size(); ++i)
    {
        // Colours are numbered in order of their first rank.
        const auto number = static_cast<uint32_t>(m_colours[i]);
        if (number == m_classes.size())
        {
            m_classes.push_back({RankId(i), 0, {}});
        }
        m_classOf[i] = number;
        ++m_classes[number].replicas;
    }
}

void RankFolding::MakeSeats()
{
    std::map<uint64_t, CommGroupPtr> first; // by colour
    m_canonical.resize(m_groups.size());
    m_alike.resize(m_groups.size());
    for (const CommGroupPtr& group : m_workload.GetGroups())
    {
        const CommGroupPtr& canonical =
            first.emplace(m_groups[group->GetId().Get()].colour, group).first->second;
        m_canonical[group->GetId().Get()] = canonical;
        m_alike[canonical->GetId().Get()].push_back(group);
    }
    for (uint32_t number = 0; number < m_classes.size(); ++number)
    {
        FoldedRank& folded = m_classes[number];
        const uint32_t slots = m_workload.GetProgram(folded.rank)->GetGroupSlotCount();
        for (uint32_t slot = 0; slot < slots; ++slot)
        {
            const CommGroupPtr& own = m_workload.GetGroup(folded.rank, slot);
            const GroupState& state = m_groups[own->GetId().Get()];
            const CommGroupPtr& canonical = m_canonical[own->GetId().Get()];
            const auto& ranks = canonical->GetRanks();
            const auto member = state.isOrdered
                                    ? ranks.begin() + own->IndexOf(folded.rank)
                                    : std::find_if(ranks.begin(), ranks.end(), [&](RankId rank) {
                                          return m_classOf[rank.Get()] == number;
                                      });
            NS_ASSERT_MSG(member != ranks.end() && m_classOf[member->Get()] == number,
                          "alike groups have members of the same classes");
            folded.seats.push_back({canonical, *member});
        }
    }
}

void RankFolding::Apply(CollectiveBackend& backend) const
{
    for (const CommGroupPtr& group : m_workload.GetGroups())
    {
        const auto& alike = m_alike[group->GetId().Get()];
        if (alike.empty())
        {
            continue; // another one stands for it
        }
        GroupFolding folding;
        folding.groups = alike;
        std::set<uint32_t> classes;
        for (uint32_t member = 0; member < group->GetSize(); ++member)
        {
            if (classes.insert(m_classOf[group->GetRank(member).Get()]).second)
            {
                folding.parties.push_back(member);
            }
        }
        backend.FoldGroup(group, std::move(folding));
    }
}

} // namespace echo
} // namespace ns3
