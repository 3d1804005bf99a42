// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-collectives.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

using Member = std::pair<uint32_t, uint32_t>; //!< index in steps, activity of the step

std::string Describe(const KinetoRankStep& step, const CollectiveSpec& spec)
{
    return std::string(ToString(spec.kind)) + " of " + std::to_string(spec.bytes) + " B (" +
           ToString(spec.dataType) + ", root " + std::to_string(spec.root) + ") on rank " +
           std::to_string(step.files->rank);
}

bool IsAllToAll(const CollectiveSpec& spec)
{
    return spec.kind == CollectiveKind::ALL_TO_ALL || spec.kind == CollectiveKind::ALL_TO_ALL_V;
}

class Matcher
{
  public:
    explicit Matcher(std::vector<KinetoRankStep>& steps) : m_steps(steps)
    {
    }

    std::vector<KinetoInstance> Match();
    void UnifyAllToAll(const std::vector<Member>& members, uint32_t groupSize);

  private:
    CollectiveSpec& SpecOf(const Member& member)
    {
        return m_steps[member.first].communications.at(member.second).spec;
    }

    [[noreturn]] void Fail(const KinetoInstance& instance,
                           const Member& member,
                           const std::string& found,
                           const std::string& expected) const;
    void CheckAgreement(const KinetoInstance& instance);
    void CheckRows(const KinetoInstance& instance);

    std::vector<KinetoRankStep>& m_steps;
};

void Matcher::Fail(const KinetoInstance& instance,
                   const Member& member,
                   const std::string& found,
                   const std::string& expected) const
{
    throw InputError({m_steps[member.first].files->trace.file,
                      0,
                      "collective " + std::to_string(instance.sequence) + " of ranks " +
                          FormatRankList(instance.group.ranks)},
                     found,
                     expected);
}

void Matcher::CheckAgreement(const KinetoInstance& instance)
{
    const Member& first = instance.members.front();
    const CollectiveSpec& agreed = SpecOf(first);
    for (const Member& member : instance.members)
    {
        const CollectiveSpec& spec = SpecOf(member);
        const bool agrees =
            IsAllToAll(spec) && IsAllToAll(agreed)
                ? spec.dataType == agreed.dataType
                : std::tie(spec.kind, spec.bytes, spec.dataType, spec.root) ==
                      std::tie(agreed.kind, agreed.bytes, agreed.dataType, agreed.root);
        if (!agrees)
        {
            Fail(instance,
                 member,
                 Describe(m_steps[member.first], spec),
                 "the same as " + Describe(m_steps[first.first], agreed));
        }
    }
}

/** What a member expects from another is what the other sends. */
void Matcher::CheckRows(const KinetoInstance& instance)
{
    for (uint32_t to = 0; to < instance.members.size(); ++to)
    {
        const CollectiveSpec& receiver = SpecOf(instance.members[to]);
        for (uint32_t from = 0; from < receiver.receiveBytes.size(); ++from)
        {
            const uint64_t sent = SpecOf(instance.members[from]).sendBytes[to];
            if (sent != receiver.receiveBytes[from])
            {
                Fail(instance,
                     instance.members[to],
                     "rank " + std::to_string(instance.group.ranks[to]) + " to receive " +
                         std::to_string(receiver.receiveBytes[from]) + " B from rank " +
                         std::to_string(instance.group.ranks[from]),
                     "the " + std::to_string(sent) + " B that it sends");
            }
        }
    }
}

void Matcher::UnifyAllToAll(const std::vector<Member>& members, uint32_t groupSize)
{
    bool isEven = true; // everyone sends everyone the same
    for (const Member& member : members)
    {
        CollectiveSpec& spec = SpecOf(member);
        if (spec.sendBytes.empty())
        {
            const uint64_t part = spec.bytes / groupSize;
            spec.sendBytes.assign(groupSize, part);
            spec.sendBytes.back() += spec.bytes - part * groupSize;
        }
        for (uint64_t bytes : spec.sendBytes)
        {
            isEven = isEven && bytes == SpecOf(members.front()).sendBytes.front();
        }
    }
    for (const Member& member : members)
    {
        CollectiveSpec& spec = SpecOf(member);
        spec.kind = isEven ? CollectiveKind::ALL_TO_ALL : CollectiveKind::ALL_TO_ALL_V;
    }
}

std::vector<KinetoInstance> Matcher::Match()
{
    // By group and member: collectives in the order of the NCCL stream.
    std::map<KinetoGroup, std::map<uint32_t, std::vector<Member>>> calls;
    std::map<uint32_t, uint32_t> stepOf;
    for (uint32_t i = 0; i < m_steps.size(); ++i)
    {
        stepOf[m_steps[i].files->rank] = i;
        for (const auto& [activity, communication] : m_steps[i].communications)
        {
            if (communication.elements.empty())
            {
                calls[m_steps[i].groups[communication.slot]][i].emplace_back(i, activity);
            }
        }
    }
    std::vector<KinetoInstance> instances;
    for (const auto& [group, members] : calls)
    {
        const auto& [firstStep, firstCalls] = *members.begin();
        for (uint32_t rank : group.ranks)
        {
            const auto own = members.find(stepOf.at(rank));
            const size_t count = own == members.end() ? 0 : own->second.size();
            if (count != firstCalls.size())
            {
                throw InputError({m_steps[stepOf.at(rank)].files->trace.file, 0, ""},
                                 std::to_string(count) + " collectives of rank " +
                                     std::to_string(rank) + " in the group of ranks " +
                                     FormatRankList(group.ranks),
                                 std::to_string(firstCalls.size()) + " as on rank " +
                                     std::to_string(m_steps[firstStep].files->rank));
            }
        }
        for (uint32_t k = 0; k < firstCalls.size(); ++k)
        {
            KinetoInstance instance{group, k, {}};
            for (uint32_t rank : group.ranks)
            {
                instance.members.push_back(members.at(stepOf.at(rank))[k]);
            }
            CheckAgreement(instance);
            if (IsAllToAll(SpecOf(instance.members.front())))
            {
                UnifyAllToAll(instance.members, static_cast<uint32_t>(group.ranks.size()));
                CheckRows(instance);
            }
            instances.push_back(std::move(instance));
        }
    }
    // ALL_TO_ALL needs no rows; until here they served the checks.
    for (const auto& instance : instances)
    {
        for (const Member& member : instance.members)
        {
            CollectiveSpec& spec = SpecOf(member);
            if (spec.kind == CollectiveKind::ALL_TO_ALL)
            {
                spec.sendBytes.clear();
                spec.receiveBytes.clear();
            }
        }
    }
    return instances;
}

} // namespace

std::vector<KinetoInstance> MatchCollectives(std::vector<KinetoRankStep>& steps, bool isCopied)
{
    Matcher matcher(steps);
    if (!isCopied)
    {
        return matcher.Match();
    }
    for (uint32_t i = 0; i < steps.size(); ++i)
    {
        for (auto& [activity, communication] : steps[i].communications)
        {
            if (!communication.elements.empty())
            {
                throw InputError({steps[i].files->trace.file, 0, ""},
                                 "sends and receives, which cannot be copied to other ranks",
                                 "a file for every rank");
            }
            if (IsAllToAll(communication.spec))
            {
                // Each rank sends as this one does; what it received says nothing of them.
                communication.spec.receiveBytes.clear();
                const auto& ranks = steps[i].groups[communication.slot].ranks;
                matcher.UnifyAllToAll({{i, activity}}, static_cast<uint32_t>(ranks.size()));
                if (communication.spec.kind == CollectiveKind::ALL_TO_ALL)
                {
                    communication.spec.sendBytes.clear();
                }
            }
        }
    }
    return {};
}

} // namespace echo
} // namespace ns3
