// SPDX-License-Identifier: GPL-2.0-only
#include "echo-collective-agreement.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

std::string NameRank(const CollectiveInstance& instance, uint32_t member)
{
    const CommGroup& group = *instance.plan.layout->group;
    // A rank that sends to itself is the only member of its group, and both ends of the pair.
    const RankId rank = group.GetRank(std::min(member, group.GetSize() - 1));
    return "rank " + std::to_string(rank.Get()) + " (" + instance.members[member].origin + ")";
}

std::string NameGroup(const CommGroup& group)
{
    return std::string(ToString(group.GetKind())) + " group " + group.GetName();
}

/** @return what the member asks for in the respect in which the two differ */
std::string Asked(const CollectiveSpec& spec, const CollectiveSpec& other)
{
    if (spec.kind != other.kind)
    {
        return std::string(ToString(spec.kind)) + " of " + ExactBytes(spec.bytes);
    }
    if (spec.bytes != other.bytes)
    {
        return ExactBytes(spec.bytes);
    }
    if (spec.root != other.root)
    {
        return "root " + std::to_string(spec.root);
    }
    if (spec.dataType != other.dataType)
    {
        return ToString(spec.dataType);
    }
    return std::string("algorithm ") + ToString(spec.algorithm) + ", protocol " +
           ToString(spec.protocol) + ", " + std::to_string(spec.channels) + " channels";
}

bool HasRoot(CollectiveKind kind)
{
    return kind == CollectiveKind::BROADCAST || kind == CollectiveKind::REDUCE;
}

} // namespace

void CheckSpec(const CollectiveSpec& spec, const CommGroup& group, const std::string& origin)
{
    if (spec.kind == CollectiveKind::SEND_RECV)
    {
        throw InputError(
            {"", 0, origin}, "send-recv as a collective", "a point-to-point operation");
    }
    if (HasRoot(spec.kind) && spec.root >= group.GetSize())
    {
        throw InputError({"", 0, origin},
                         "root " + std::to_string(spec.root),
                         "an index in " + NameGroup(group) + " of " +
                             std::to_string(group.GetSize()));
    }
    if (spec.kind != CollectiveKind::ALL_TO_ALL_V)
    {
        return;
    }
    for (const auto* splits : {&spec.sendBytes, &spec.receiveBytes})
    {
        const bool optional = splits == &spec.receiveBytes;
        if (splits->size() != group.GetSize() && !(optional && splits->empty()))
        {
            throw InputError({"", 0, origin},
                             std::to_string(splits->size()) + " splits",
                             "one for each of the " + std::to_string(group.GetSize()) +
                                 " members of " + NameGroup(group));
        }
    }
}

void CheckAgreement(const CollectiveInstance& instance, uint32_t member, const CollectiveSpec& mine)
{
    const CollectiveSpec& first = instance.plan.spec;
    const bool sameBytes = mine.bytes == first.bytes || mine.kind == CollectiveKind::ALL_TO_ALL_V;
    const bool sameRoot = mine.root == first.root || !HasRoot(mine.kind);
    if (mine.kind == first.kind && sameBytes && sameRoot && mine.dataType == first.dataType &&
        mine.algorithm == first.algorithm && mine.protocol == first.protocol &&
        mine.channels == first.channels)
    {
        return;
    }
    throw StallError(
        "members of " + NameGroup(*instance.plan.layout->group) +
        " disagree on its communication number " + std::to_string(instance.sequence) + " (" +
        ToString(first.kind) + "): " + NameRank(instance, instance.firstMember) + " asks for " +
        Asked(first, mine) + ", " + NameRank(instance, member) + " for " + Asked(mine, first));
}

void AgreeOnSplits(CollectiveInstance& instance)
{
    CollectivePlan& plan = instance.plan;
    const auto ranks = static_cast<uint32_t>(instance.members.size());
    plan.spec.bytes = 0;
    plan.splits.resize(ranks);
    for (uint32_t source = 0; source < ranks; ++source)
    {
        plan.splits[source] = std::move(instance.asked[source].sendBytes);
        uint64_t sum = 0;
        for (const uint64_t bytes : plan.splits[source])
        {
            sum += bytes;
        }
        plan.spec.bytes = std::max(plan.spec.bytes, sum);
    }
    for (uint32_t receiver = 0; receiver < ranks; ++receiver)
    {
        const auto& expected = instance.asked[receiver].receiveBytes;
        for (uint32_t source = 0; source < expected.size(); ++source)
        {
            if (expected[source] != plan.splits[source][receiver])
            {
                throw StallError("members of " + NameGroup(*plan.layout->group) +
                                 " disagree on all-to-all-v number " +
                                 std::to_string(instance.sequence) + ": " +
                                 NameRank(instance, source) + " sends " +
                                 ExactBytes(plan.splits[source][receiver]) + " to " +
                                 NameRank(instance, receiver) + ", which expects " +
                                 ExactBytes(expected[source]));
            }
        }
    }
}

bool MovesNothing(const CollectivePlan& plan)
{
    return plan.layout->GetRanks() == 1 ||
           (plan.spec.kind != CollectiveKind::BARRIER && PayloadBytes(plan) == 0);
}

std::string ExactBytes(uint64_t bytes)
{
    const std::string exact = std::to_string(bytes) + " B";
    const std::string shown = FormatBytes(bytes);
    return shown == exact ? exact : shown + " (" + exact + ")";
}

std::string ListRanks(const std::vector<RankId>& ranks)
{
    constexpr size_t SHOWN = 8;
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (size_t i = 0; i < std::min(ranks.size(), SHOWN); ++i)
    {
        text += (i == 0 ? "" : ", ") + std::to_string(ranks[i].Get());
    }
    return ranks.size() > SHOWN ? text + " and " + std::to_string(ranks.size() - SHOWN) + " more"
                                : text;
}

std::string DescribeInstance(const CollectiveInstance& instance)
{
    const CommGroup& group = *instance.plan.layout->group;
    const CollectiveSpec& spec =
        instance.asked.empty() ? instance.plan.spec : instance.asked[instance.firstMember];
    const std::string what = std::string(ToString(spec.kind)) + " of " + ExactBytes(spec.bytes);
    const std::string number = ", number " + std::to_string(instance.sequence);
    if (spec.kind == CollectiveKind::SEND_RECV)
    {
        return what + " on " + NameGroup(group) + ", tag " + std::to_string(instance.tag) + number +
               ": " + NameRank(instance, 0) + " sends to " + NameRank(instance, 1) +
               ", started at " + FormatTime(instance.start) + ", not done";
    }
    std::vector<RankId> missing;
    for (uint32_t member = 0; member < group.GetSize(); ++member)
    {
        const auto& state = instance.members[member];
        if (instance.joined < group.GetSize() ? !state.joined : !state.done)
        {
            missing.push_back(group.GetRank(member));
        }
    }
    const std::string text = what + " on " + NameGroup(group) + number + ": ";
    if (instance.joined == group.GetSize())
    {
        return text + "all joined at " + FormatTime(instance.start) + ", not done for " +
               ListRanks(missing);
    }
    return text + std::to_string(instance.joined) + " of " + std::to_string(group.GetSize()) +
           " joined, first " + NameRank(instance, instance.firstMember) + "; " +
           ListRanks(missing) + " missing";
}

} // namespace echo
} // namespace ns3
