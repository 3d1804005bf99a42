// SPDX-License-Identifier: GPL-2.0-only
#include "echo-communication-check.h"

#include "ns3/echo-units.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

bool Agree(const CommunicationSequence& a, const CommunicationSequence& b)
{
    return a.isOrdered && b.isOrdered ? a.orderedId == b.orderedId : a.sortedId == b.sortedId;
}

SourceLocation Place(const WorkloadGraph& workload, RankId rank, OperatorId op)
{
    SourceLocation where = workload.GetProgram(rank)->GetLocation(op);
    where.item = "rank " + std::to_string(rank.Get()) + " " + where.item;
    return where;
}

std::string Name(const WorkloadGraph& workload, RankId rank, OperatorId op)
{
    const ExecutionGraph& program = *workload.GetProgram(rank);
    const Operator& o = program.GetOperator(op);
    std::string text = "'" + program.GetName(o) + "'";
    return o.line > 0 ? text + " (line " + std::to_string(o.line) + ")" : text;
}

/** @return ", behind which 'K' waits" for the operator that follows on the stream, or "" */
std::string Behind(const WorkloadGraph& workload, RankId rank, OperatorId op)
{
    const ExecutionGraph& program = *workload.GetProgram(rank);
    const auto& stream = program.GetStream(program.GetOperator(op).stream);
    const uint32_t next = program.GetPosition(op) + 1;
    return next < stream.size() ? ", behind which " + Name(workload, rank, stream[next]) + " waits"
                                : "";
}

const CollectiveSpec& SpecOf(const WorkloadGraph& workload, RankId rank, OperatorId op)
{
    const ExecutionGraph& program = *workload.GetProgram(rank);
    return program.GetCommunication(program.GetOperator(op)).spec;
}

bool Differ(const CollectiveSpec& a, const CollectiveSpec& b)
{
    return a.kind != b.kind || a.root != b.root || a.dataType != b.dataType ||
           (a.bytes != b.bytes && a.kind != CollectiveKind::ALL_TO_ALL_V);
}

std::string Describe(const CollectiveSpec& spec)
{
    std::string text = std::string(ToString(spec.kind)) + " of " + std::to_string(spec.bytes) +
                       " B " + ToString(spec.dataType);
    if (spec.kind == CollectiveKind::BROADCAST || spec.kind == CollectiveKind::REDUCE)
    {
        text += " with root " + std::to_string(spec.root);
    }
    return text;
}

/** The first difference between what two members call on a group. */
[[noreturn]] void FailWithCollectives(const WorkloadGraph& workload,
                                      const CommGroup& group,
                                      std::pair<RankId, const CollectiveSequence*> a,
                                      std::pair<RankId, const CollectiveSequence*> b)
{
    const std::vector<OperatorId> none;
    const auto* callsA = a.second ? &a.second->operators : &none;
    const auto* callsB = b.second ? &b.second->operators : &none;
    if (callsA->size() != callsB->size())
    {
        if (callsA->size() < callsB->size())
        {
            std::swap(a, b);
            std::swap(callsA, callsB);
        }
        const OperatorId extra = (*callsA)[callsB->size()];
        throw InputError(
            Place(workload, a.first, extra),
            Describe(SpecOf(workload, a.first, extra)) + " as call " +
                std::to_string(callsB->size() + 1) + " of " + std::to_string(callsA->size()) +
                " on group " + group.GetName() + ", where rank " + std::to_string(b.first.Get()) +
                " makes only " + std::to_string(callsB->size()) + Behind(workload, a.first, extra),
            "the same collectives on all " + std::to_string(group.GetSize()) + " members");
    }
    size_t k = 0;
    while (k + 1 < callsA->size() && !Differ(SpecOf(workload, a.first, (*callsA)[k]),
                                             SpecOf(workload, b.first, (*callsB)[k])))
    {
        ++k;
    }
    throw InputError(Place(workload, b.first, (*callsB)[k]),
                     Describe(SpecOf(workload, b.first, (*callsB)[k])) + " as call " +
                         std::to_string(k + 1) + " on group " + group.GetName(),
                     Describe(SpecOf(workload, a.first, (*callsA)[k])) + " as rank " +
                         std::to_string(a.first.Get()) + " calls in " +
                         Name(workload, a.first, (*callsA)[k]));
}

/** The first message of two ends that has no partner or one of another size. */
[[noreturn]] void FailWithMessages(const WorkloadGraph& workload,
                                   const CommGroup& group,
                                   RankId rank,
                                   RankId peer,
                                   const MessageSequence& here,
                                   const MessageSequence* there)
{
    const char* mine = here.isSend ? "send" : "receive";
    const char* theirs = here.isSend ? "receive" : "send";
    const std::string direction = here.isSend ? " to rank " : " from rank ";
    const std::string where =
        " (group " + group.GetName() + ", tag " + std::to_string(here.tag) + ")";
    const size_t partners = there ? there->operators.size() : 0;
    for (size_t k = 0; k < here.operators.size(); ++k)
    {
        const OperatorId op = here.operators[k];
        const std::string what = std::string(mine) + " " + std::to_string(k + 1) + direction +
                                 std::to_string(peer.Get()) + where + " of " +
                                 std::to_string(here.bytes[k]) + " B";
        if (k >= partners)
        {
            throw InputError(Place(workload, rank, op),
                             what + " without a " + theirs + Behind(workload, rank, op),
                             std::string("one in rank ") + std::to_string(peer.Get()) +
                                 ", which has " + std::to_string(partners) + " for " +
                                 std::to_string(here.operators.size()));
        }
        if (here.bytes[k] != there->bytes[k])
        {
            throw InputError(Place(workload, rank, op),
                             what + Behind(workload, rank, op),
                             std::to_string(there->bytes[k]) + " B as the " + theirs + " " +
                                 Name(workload, peer, there->operators[k]) + " of rank " +
                                 std::to_string(peer.Get()) + " has" +
                                 Behind(workload, peer, there->operators[k]));
        }
    }
    // All of these have partners: the other end has more.
    FailWithMessages(workload, group, peer, rank, *there, &here);
}

} // namespace

void CheckCollectives(const WorkloadGraph& workload, const CommunicationPatterns& patterns)
{
    for (const auto& group : workload.GetGroups())
    {
        auto sequenceOf = [&](RankId rank) {
            const uint32_t slot = patterns.FindSlot(rank, group->GetId());
            return slot == CommunicationPatterns::NO_SLOT
                       ? nullptr
                       : patterns.Get(rank).FindCollectives(slot);
        };
        const RankId first = group->GetRank(0);
        const CollectiveSequence* expected = sequenceOf(first);
        for (RankId rank : group->GetRanks())
        {
            const CollectiveSequence* found = sequenceOf(rank);
            if (found != expected && (!found || !expected || !Agree(*found, *expected)))
            {
                FailWithCollectives(workload, *group, {first, expected}, {rank, found});
            }
        }
    }
}

void CheckMessages(const WorkloadGraph& workload, const CommunicationPatterns& patterns)
{
    for (uint32_t i = 0; i < workload.GetRankCount(); ++i)
    {
        const RankId rank(i);
        for (const MessageSequence& here : patterns.Get(rank).messages)
        {
            const CommGroup& group = *workload.GetGroup(rank, here.slot);
            const RankId peer = group.GetRank(here.peerIndex);
            const uint32_t slot = patterns.FindSlot(peer, group.GetId());
            const MessageSequence* there =
                slot == CommunicationPatterns::NO_SLOT
                    ? nullptr
                    : patterns.Get(peer).FindMessages(
                          slot, group.IndexOf(rank), here.tag, !here.isSend);
            if (!there || !Agree(here, *there))
            {
                FailWithMessages(workload, group, rank, peer, here, there);
            }
        }
    }
}

} // namespace echo
} // namespace ns3
