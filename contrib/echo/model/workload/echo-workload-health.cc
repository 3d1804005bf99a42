// SPDX-License-Identifier: GPL-2.0-only
#include "echo-workload-health.h"

#include "echo-communication-check.h"
#include "echo-communication-pattern.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

constexpr std::array<const char*, 6> TYPE_NAMES{"compute",
                                                "copy",
                                                "host",
                                                "collective",
                                                "point-to-point",
                                                "marker"};

/** Gathers what is alike; bytes that do not fit are clipped, as only a report shows them. */
class UseTable
{
  public:
    void Add(CollectiveKind kind,
             GroupKind group,
             uint32_t ranks,
             uint64_t instances,
             uint64_t bytes)
    {
        WorkloadHealth::Use& use = m_uses[{kind, group, ranks}];
        use.kind = kind;
        use.group = group;
        use.ranks = ranks;
        use.instances += instances;
        use.bytes = use.bytes + bytes < bytes ? ~uint64_t(0) : use.bytes + bytes;
    }

    std::vector<WorkloadHealth::Use> Get() const
    {
        std::vector<WorkloadHealth::Use> uses;
        for (const auto& entry : m_uses)
        {
            uses.push_back(entry.second);
        }
        return uses;
    }

  private:
    std::map<std::tuple<CollectiveKind, GroupKind, uint32_t>, WorkloadHealth::Use> m_uses;
};

/** Instances and bytes of the collectives of one pattern on one slot. */
using Totals = std::map<CollectiveKind, std::pair<uint64_t, uint64_t>>;

Totals TotalsOf(const ExecutionGraph& program, const CollectiveSequence& sequence)
{
    Totals totals;
    for (OperatorId id : sequence.operators)
    {
        const CollectiveSpec& spec = program.GetCommunication(program.GetOperator(id)).spec;
        auto& [instances, bytes] = totals[spec.kind];
        ++instances;
        bytes += spec.bytes;
    }
    return totals;
}

} // namespace

void WorkloadHealth::CountUses(const WorkloadGraph& workload, const CommunicationPatterns& patterns)
{
    UseTable uses;
    std::map<std::pair<uint32_t, uint32_t>, Totals> known; // by pattern and slot
    for (const auto& group : workload.GetGroups())
    {
        const RankId first = group->GetRank(0);
        const uint32_t slot = patterns.FindSlot(first, group->GetId());
        const CollectiveSequence* sequence = slot == CommunicationPatterns::NO_SLOT
                                                 ? nullptr
                                                 : patterns.Get(first).FindCollectives(slot);
        if (!sequence)
        {
            continue;
        }
        const auto [entry, isNew] = known.try_emplace({patterns.GetIndex(first), slot});
        if (isNew)
        {
            entry->second = TotalsOf(*workload.GetProgram(first), *sequence);
        }
        for (const auto& [kind, totals] : entry->second)
        {
            uses.Add(kind, group->GetKind(), group->GetSize(), totals.first, totals.second);
        }
    }
    for (uint32_t i = 0; i < workload.GetRankCount(); ++i)
    {
        for (const MessageSequence& sequence : patterns.Get(RankId(i)).messages)
        {
            if (sequence.isSend)
            {
                uint64_t bytes = 0;
                for (uint64_t part : sequence.bytes)
                {
                    bytes += part;
                }
                uses.Add(CollectiveKind::SEND_RECV,
                         workload.GetGroup(RankId(i), sequence.slot)->GetKind(),
                         2,
                         sequence.bytes.size(),
                         bytes);
            }
        }
    }
    m_uses = uses.Get();
}

namespace
{

/** What moves nothing, over all ranks. */
struct Emptiness
{
    uint64_t communications{0}; //!< barriers excepted
    uint64_t withoutBytes{0};
    uint64_t alone{0}; //!< in a group of one rank, or with itself
    std::string firstWithoutBytes;
    std::string firstAlone;
};

Emptiness FindEmptiness(const WorkloadGraph& workload, const CommunicationPatterns& patterns)
{
    Emptiness found;
    for (uint32_t i = 0; i < workload.GetRankCount(); ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *workload.GetProgram(rank);
        auto count = [&](const CommunicationSequence& sequence, uint64_t number, bool isAlone) {
            auto placeOf = [&](OperatorId op) {
                return "rank " + std::to_string(i) + " " + program.GetLocation(op).ToString();
            };
            found.communications += number;
            if (isAlone)
            {
                if (found.alone == 0)
                {
                    found.firstAlone = placeOf(sequence.operators.front());
                }
                found.alone += number;
            }
            else if (sequence.empty > 0)
            {
                if (found.withoutBytes == 0)
                {
                    found.firstWithoutBytes = placeOf(sequence.firstEmpty);
                }
                found.withoutBytes += sequence.empty;
            }
        };
        for (const CollectiveSequence& sequence : patterns.Get(rank).collectives)
        {
            const uint64_t barriers = std::count_if(
                sequence.operators.begin(), sequence.operators.end(), [&](OperatorId id) {
                    return program.GetCommunication(program.GetOperator(id)).spec.kind ==
                           CollectiveKind::BARRIER;
                });
            if (barriers < sequence.operators.size())
            {
                count(sequence,
                      sequence.operators.size() - barriers,
                      workload.GetGroup(rank, sequence.slot)->GetSize() == 1);
            }
        }
        for (const MessageSequence& sequence : patterns.Get(rank).messages)
        {
            count(sequence,
                  sequence.operators.size(),
                  workload.GetGroup(rank, sequence.slot)->GetRank(sequence.peerIndex) == rank);
        }
    }
    return found;
}

} // namespace

void WorkloadHealth::CheckEmptiness(const WorkloadGraph& workload,
                                    const CommunicationPatterns& patterns)
{
    const Emptiness found = FindEmptiness(workload, patterns);
    if (found.communications > 0 && found.withoutBytes + found.alone == found.communications)
    {
        throw InputError({"", 0, "workload"},
                         std::to_string(found.communications) +
                             " communications that move no byte (" +
                             std::to_string(found.withoutBytes) + " of zero bytes, " +
                             std::to_string(found.alone) + " within one rank), the first at " +
                             (found.alone > 0 ? found.firstAlone : found.firstWithoutBytes),
                         "bytes between ranks");
    }
    if (found.withoutBytes > 0)
    {
        m_warnings.push_back(std::to_string(found.withoutBytes) +
                             " communications have zero bytes, the first at " +
                             found.firstWithoutBytes);
    }
    if (found.alone > 0)
    {
        m_warnings.push_back(std::to_string(found.alone) +
                             " communications stay within one rank and take no time, the "
                             "first at " +
                             found.firstAlone);
    }
}

void WorkloadHealth::CountOperators(const WorkloadGraph& workload,
                                    const CommunicationPatterns& patterns)
{
    m_ranks = workload.GetRankCount();
    m_fewestStreams = ~uint32_t(0);
    std::vector<uint32_t> withoutOperators;
    std::vector<const ExecutionGraph*> programs;
    for (uint32_t i = 0; i < m_ranks; ++i)
    {
        const RankId rank(i);
        const ExecutionGraph& program = *workload.GetProgram(rank);
        programs.push_back(&program);
        m_fewestStreams = std::min(m_fewestStreams, program.GetStreamCount());
        m_mostStreams = std::max(m_mostStreams, program.GetStreamCount());
        for (size_t type = 0; type < m_operators.size(); ++type)
        {
            m_operators[type] += patterns.Get(rank).operators[type];
        }
        if (program.GetOperators().empty())
        {
            withoutOperators.push_back(i);
        }
    }
    std::sort(programs.begin(), programs.end());
    m_programs =
        static_cast<uint32_t>(std::unique(programs.begin(), programs.end()) - programs.begin());
    if (withoutOperators.size() == m_ranks)
    {
        throw InputError({"", 0, "workload"}, "no operator on any rank", "at least one");
    }
    if (!withoutOperators.empty())
    {
        m_warnings.push_back(std::to_string(withoutOperators.size()) +
                             " ranks have nothing to do, the first is rank " +
                             std::to_string(withoutOperators.front()));
    }
}

WorkloadHealth::WorkloadHealth(const WorkloadGraph& workload)
{
    const CommunicationPatterns patterns(workload);
    CheckCollectives(workload, patterns);
    CheckMessages(workload, patterns);
    CountOperators(workload, patterns);
    CheckEmptiness(workload, patterns);
    CountUses(workload, patterns);
}

std::string WorkloadHealth::ToString() const
{
    std::ostringstream text;
    uint64_t total = 0;
    for (uint64_t number : m_operators)
    {
        total += number;
    }
    text << "workload: " << m_ranks << " ranks, " << m_programs << " different programs, " << total
         << " operators, " << m_fewestStreams;
    if (m_mostStreams != m_fewestStreams)
    {
        text << " to " << m_mostStreams;
    }
    text << " streams a rank\n  operators:";
    const char* separator = " ";
    for (size_t type = 0; type < m_operators.size(); ++type)
    {
        if (m_operators[type] > 0)
        {
            text << separator << m_operators[type] << " " << TYPE_NAMES[type];
            separator = ", ";
        }
    }
    text << "\n";
    if (m_uses.empty())
    {
        text << "  no communication\n";
    }
    else
    {
        text << "  " << std::left << std::setw(16) << "communication" << std::setw(11) << "group"
             << std::right << std::setw(7) << "ranks" << std::setw(12) << "instances"
             << std::setw(14) << "bytes"
             << "\n";
    }
    for (const Use& use : m_uses)
    {
        text << "  " << std::left << std::setw(16) << echo::ToString(use.kind) << std::setw(11)
             << echo::ToString(use.group) << std::right << std::setw(7) << use.ranks
             << std::setw(12) << use.instances << std::setw(14) << FormatBytes(use.bytes) << "\n";
    }
    for (const auto& warning : m_warnings)
    {
        text << "  warning: " << warning << "\n";
    }
    return text.str();
}

} // namespace echo
} // namespace ns3
