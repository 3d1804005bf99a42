// SPDX-License-Identifier: GPL-2.0-only
#include "echo-workload-keys.h"

#include "ns3/echo-collective-selector.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

constexpr const char* RANK_FORMS = "all, a rank such as 3, or ranks such as 0-7 or 0-14/2";

/** @return whether @p text is a whole number below 2^31, then in @p value */
bool ParseNumber(const std::string& text, uint64_t& value)
{
    if (text.empty() || text.size() > 9 ||
        text.find_first_not_of("0123456789") != std::string::npos)
    {
        return false;
    }
    value = std::stoull(text);
    return true;
}

/** Appends the ranks that one scalar names. */
void AddRanks(const YamlNode& node, uint32_t ranks, std::vector<RankId>& list)
{
    const std::string text = node.AsString();
    uint64_t first = 0;
    uint64_t last = ranks - 1;
    uint64_t step = 1;
    if (text != "all")
    {
        const size_t slash = text.find('/');
        const std::string range = text.substr(0, slash);
        const size_t dash = range.find('-');
        const bool isWell =
            ParseNumber(range.substr(0, dash), first) &&
            ParseNumber(dash == std::string::npos ? range : range.substr(dash + 1), last) &&
            (slash == std::string::npos || ParseNumber(text.substr(slash + 1), step));
        if (!isWell || first > last || step == 0)
        {
            node.Fail("'" + text + "'", RANK_FORMS);
        }
    }
    if (last >= ranks)
    {
        node.Fail("rank " + std::to_string(last), "0 to " + std::to_string(ranks - 1));
    }
    for (uint64_t rank = first; rank <= last; rank += step)
    {
        list.emplace_back(static_cast<uint32_t>(rank));
    }
}

void RefuseDoubles(const YamlNode& node, std::vector<RankId> list, const std::string& where)
{
    std::sort(list.begin(), list.end());
    const auto twice = std::adjacent_find(list.begin(), list.end());
    if (twice != list.end())
    {
        node.Fail("rank " + std::to_string(twice->Get()) + " twice" + where, "each rank once");
    }
}

} // namespace

std::vector<RankId> ReadRanks(const YamlNode& node, uint32_t ranks)
{
    std::vector<RankId> list;
    if (node.IsScalar())
    {
        AddRanks(node, ranks, list);
    }
    else
    {
        node.RequireSequence();
        for (const auto& entry : node.GetEntries())
        {
            AddRanks(entry, ranks, list);
        }
    }
    if (list.empty())
    {
        node.Fail("no ranks", RANK_FORMS);
    }
    RefuseDoubles(node, list, "");
    return list;
}

bool HoldsRankGroups(const YamlNode& node)
{
    if (node.IsMap())
    {
        return true;
    }
    if (!node.IsSequence())
    {
        return false;
    }
    const auto entries = node.GetEntries();
    return !entries.empty() && entries.front().IsSequence();
}

std::vector<std::vector<RankId>> ReadRankGroups(const YamlNode& node, uint32_t ranks)
{
    std::vector<std::vector<RankId>> groups;
    if (node.IsMap())
    {
        const auto size = static_cast<uint32_t>(node.Get("size").AsInteger(1, ranks));
        const auto stride = static_cast<uint32_t>(node.GetInteger("stride", 1, 1, ranks));
        node.RefuseUnknownKeys();
        const uint64_t block = uint64_t(size) * stride;
        if (ranks % block != 0)
        {
            node.Fail(
                "groups of " + std::to_string(size) + " ranks " + std::to_string(stride) + " apart",
                "a size and a stride whose product divides " + std::to_string(ranks) + " ranks");
        }
        for (uint64_t start = 0; start < ranks; start += block)
        {
            for (uint32_t offset = 0; offset < stride; ++offset)
            {
                std::vector<RankId> group;
                for (uint32_t i = 0; i < size; ++i)
                {
                    group.emplace_back(static_cast<uint32_t>(start + offset + i * stride));
                }
                groups.push_back(std::move(group));
            }
        }
        return groups;
    }
    node.RequireSequence();
    std::vector<RankId> all;
    for (const auto& entry : node.GetEntries())
    {
        groups.push_back(ReadRanks(entry, ranks));
        all.insert(all.end(), groups.back().begin(), groups.back().end());
    }
    if (groups.empty())
    {
        node.Fail("no groups", "lists of ranks, or size and stride");
    }
    RefuseDoubles(node, std::move(all), " in these groups");
    return groups;
}

CollectiveSpec ReadCollectiveSpec(const YamlNode& node, CollectiveKind kind)
{
    CollectiveSpec spec;
    spec.kind = kind;
    if (kind == CollectiveKind::BARRIER || kind == CollectiveKind::ALL_TO_ALL_V)
    {
        if (node.Has("bytes"))
        {
            node.Get("bytes").Fail(std::string("bytes of a ") + ToString(kind),
                                   kind == CollectiveKind::BARRIER ? "none" : "splits");
        }
    }
    else
    {
        spec.bytes = node.Get("bytes").AsBytes();
    }
    if (kind == CollectiveKind::BROADCAST || kind == CollectiveKind::REDUCE)
    {
        spec.root = static_cast<uint32_t>(
            node.GetInteger("root", 0, 0, std::numeric_limits<int32_t>::max()));
    }
    if (node.Has("type"))
    {
        spec.dataType = node.Get("type").Parse<DataType>(ParseDataType);
    }
    for (const char* key : {"algorithm", "protocol", "channels"})
    {
        if (kind == CollectiveKind::SEND_RECV && node.Has(key))
        {
            node.Get(key).Fail(std::string("'") + key + "' of send-recv",
                               "none: NCCL chooses how a message goes, by its size");
        }
    }
    if (node.Has("algorithm"))
    {
        spec.algorithm =
            node.Get("algorithm").Parse<CollectiveAlgorithmKind>(ParseCollectiveAlgorithm);
        if (!CanCarryOut(spec.algorithm, kind))
        {
            node.Get("algorithm")
                .Fail("'" + std::string(ToString(spec.algorithm)) + "' for " + ToString(kind),
                      AlgorithmsOf(kind));
        }
    }
    if (node.Has("protocol"))
    {
        spec.protocol = node.Get("protocol").Parse<CollectiveProtocol>(ParseCollectiveProtocol);
    }
    spec.channels = static_cast<uint32_t>(node.GetInteger("channels", 0, 0, 64));
    return spec;
}

std::string AlgorithmsOf(CollectiveKind kind)
{
    std::vector<std::string> names;
    for (const CollectiveAlgorithmKind algorithm : {CollectiveAlgorithmKind::AUTO,
                                                    CollectiveAlgorithmKind::RING,
                                                    CollectiveAlgorithmKind::TREE,
                                                    CollectiveAlgorithmKind::NVLS,
                                                    CollectiveAlgorithmKind::NVLS_TREE,
                                                    CollectiveAlgorithmKind::PAT,
                                                    CollectiveAlgorithmKind::PAIRWISE})
    {
        if (CanCarryOut(algorithm, kind))
        {
            names.emplace_back(ToString(algorithm));
        }
    }
    std::string text = names.front();
    for (size_t i = 1; i < names.size(); ++i)
    {
        text += (i + 1 == names.size() ? " or " : ", ") + names[i];
    }
    return text;
}

GroupKind GuessGroupKind(const std::string& name)
{
    const std::string letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
    for (GroupKind kind : {GroupKind::WORLD,
                           GroupKind::TENSOR,
                           GroupKind::PIPELINE,
                           GroupKind::DATA,
                           GroupKind::EXPERT,
                           GroupKind::CONTEXT,
                           GroupKind::EMBEDDING})
    {
        if (letters == ToString(kind))
        {
            return kind;
        }
    }
    return GroupKind::OTHER;
}

std::vector<uint64_t> ReadByteList(const YamlNode& node)
{
    std::vector<uint64_t> list;
    for (const auto& entry : node.GetEntries())
    {
        list.push_back(entry.AsBytes());
    }
    return list;
}

} // namespace echo
} // namespace ns3
