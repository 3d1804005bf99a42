// SPDX-License-Identifier: GPL-2.0-only
#include "echo-communication-pattern.h"

#include <algorithm>
#include <unordered_map>

namespace ns3
{
namespace echo
{

const CollectiveSequence* CommunicationPattern::FindCollectives(uint32_t slot) const
{
    auto it = std::lower_bound(
        collectives.begin(),
        collectives.end(),
        slot,
        [](const CollectiveSequence& sequence, uint32_t key) { return sequence.slot < key; });
    return it != collectives.end() && it->slot == slot ? &*it : nullptr;
}

const MessageSequence* CommunicationPattern::FindMessages(uint32_t slot,
                                                          uint32_t peerIndex,
                                                          int32_t tag,
                                                          bool isSend) const
{
    auto keyOf = [](const MessageSequence& s) {
        return std::make_tuple(s.slot, s.peerIndex, s.tag, !s.isSend);
    };
    const auto key = std::make_tuple(slot, peerIndex, tag, !isSend);
    auto it = std::lower_bound(
        messages.begin(), messages.end(), key, [&](const MessageSequence& sequence, const auto& k) {
            return keyOf(sequence) < k;
        });
    return it != messages.end() && keyOf(*it) == key ? &*it : nullptr;
}

CommunicationPatterns::CommunicationPatterns(const WorkloadGraph& workload)
    : m_workload(workload), m_patternOf(workload.GetRankCount())
{
    // Numbers are given in rank order, so the addresses (looked up only) do not matter.
    std::unordered_map<const ExecutionGraph*, uint32_t> programs;
    std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> known;
    for (uint32_t i = 0; i < workload.GetRankCount(); ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *workload.GetProgram(rank);
        const uint32_t number =
            programs.emplace(&program, static_cast<uint32_t>(programs.size())).first->second;
        std::vector<uint32_t> alias(program.GetGroupSlotCount());
        for (uint32_t slot = 0; slot < alias.size(); ++slot)
        {
            alias[slot] = FindSlot(rank, workload.GetGroup(rank, slot)->GetId());
        }
        const auto [entry, isNew] =
            known.emplace(std::make_pair(number, alias), static_cast<uint32_t>(m_patterns.size()));
        if (isNew)
        {
            m_patterns.push_back(std::make_unique<CommunicationPattern>());
            Scan(program, alias, *m_patterns.back());
        }
        m_patternOf[i] = entry->second;
    }
    m_numbers.clear();
}

uint32_t CommunicationPatterns::FindSlot(RankId rank, GroupId group) const
{
    const uint32_t slots = m_workload.GetProgram(rank)->GetGroupSlotCount();
    for (uint32_t slot = 0; slot < slots; ++slot)
    {
        if (m_workload.GetGroup(rank, slot)->GetId() == group)
        {
            return slot;
        }
    }
    return NO_SLOT;
}

void CommunicationPatterns::NoteEmpty(OperatorId op, CommunicationSequence& sequence)
{
    ++sequence.empty;
    sequence.firstEmpty = sequence.firstEmpty.IsValid() ? sequence.firstEmpty : op;
}

void CommunicationPatterns::Scan(const ExecutionGraph& program,
                                 const std::vector<uint32_t>& slotAlias,
                                 CommunicationPattern& pattern)
{
    std::map<uint32_t, std::pair<CollectiveSequence, std::vector<Call>>> collectives;
    std::map<std::tuple<uint32_t, uint32_t, int32_t, bool>, MessageSequence> messages;
    for (uint32_t i = 0; i < program.GetOperators().size(); ++i)
    {
        const OperatorId id(i);
        const Operator& op = program.GetOperator(id);
        ++pattern.operators.at(static_cast<size_t>(op.type));
        if (op.type == OperatorType::COLLECTIVE)
        {
            const auto& description = program.GetCommunication(op);
            const CollectiveSpec& spec = description.spec;
            auto& [sequence, calls] = collectives[slotAlias[description.groupSlot]];
            sequence.operators.push_back(id);
            // Members of an all-to-all-v send different totals.
            if (spec.bytes == 0 && spec.kind != CollectiveKind::BARRIER)
            {
                NoteEmpty(id, sequence);
            }
            const bool isUneven = spec.kind == CollectiveKind::ALL_TO_ALL_V;
            calls.emplace_back(static_cast<uint8_t>(spec.kind),
                               isUneven ? 0 : spec.bytes,
                               spec.root,
                               static_cast<uint8_t>(spec.dataType));
        }
        else if (op.type == OperatorType::POINT_TO_POINT)
        {
            const auto& description = program.GetCommunication(op);
            const uint32_t slot = slotAlias[description.groupSlot];
            for (const auto& element : description.elements)
            {
                auto& sequence = messages[{slot, element.peerIndex, element.tag, !element.isSend}];
                sequence.operators.push_back(id);
                sequence.bytes.push_back(element.bytes);
                if (element.bytes == 0)
                {
                    NoteEmpty(id, sequence);
                }
            }
        }
    }
    for (auto& [slot, entry] : collectives)
    {
        entry.first.slot = slot;
        Number(program, std::move(entry.second), entry.first);
        pattern.collectives.push_back(std::move(entry.first));
    }
    for (auto& [key, sequence] : messages)
    {
        sequence.slot = std::get<0>(key);
        sequence.peerIndex = std::get<1>(key);
        sequence.tag = std::get<2>(key);
        sequence.isSend = !std::get<3>(key);
        std::vector<Call> calls;
        calls.reserve(sequence.bytes.size());
        for (uint64_t bytes : sequence.bytes)
        {
            calls.emplace_back(uint8_t(0), bytes, 0u, uint8_t(0));
        }
        Number(program, std::move(calls), sequence);
        pattern.messages.push_back(std::move(sequence));
    }
}

void CommunicationPatterns::Number(const ExecutionGraph& program,
                                   std::vector<Call> calls,
                                   CommunicationSequence& sequence)
{
    const StreamId stream = program.GetOperator(sequence.operators.front()).stream;
    sequence.isOrdered =
        std::all_of(sequence.operators.begin(), sequence.operators.end(), [&](OperatorId id) {
            return program.GetOperator(id).stream == stream;
        });
    sequence.orderedId = Intern(calls);
    std::sort(calls.begin(), calls.end());
    sequence.sortedId = Intern(calls);
}

uint32_t CommunicationPatterns::Intern(const std::vector<Call>& calls)
{
    return m_numbers.emplace(calls, static_cast<uint32_t>(m_numbers.size())).first->second;
}

} // namespace echo
} // namespace ns3
