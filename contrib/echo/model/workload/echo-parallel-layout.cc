// SPDX-License-Identifier: GPL-2.0-only
#include "echo-parallel-layout.h"

#include "ns3/assert.h"
#include "ns3/echo-error.h"

#include <algorithm>
#include <string>

namespace ns3
{
namespace echo
{

namespace
{

/** @return whether all members of @p group hold the same experts, or shards of them */
bool HoldsSameExperts(LayoutGroup group)
{
    return group == LayoutGroup::EXPERT_DATA || group == LayoutGroup::EXPERT_SHARD ||
           group == LayoutGroup::EXPERT_REPLICA;
}

bool IsExpertGroup(LayoutGroup group)
{
    return group == LayoutGroup::EXPERT || HoldsSameExperts(group) ||
           group == LayoutGroup::MODEL_EXPERT;
}

} // namespace

GroupKind GetGroupKind(LayoutGroup group)
{
    switch (group)
    {
    case LayoutGroup::TENSOR:
        return GroupKind::TENSOR;
    case LayoutGroup::CONTEXT:
        return GroupKind::CONTEXT;
    case LayoutGroup::EXPERT:
        return GroupKind::EXPERT;
    case LayoutGroup::DATA:
    case LayoutGroup::EXPERT_DATA:
    case LayoutGroup::SHARD:
    case LayoutGroup::REPLICA:
    case LayoutGroup::EXPERT_SHARD:
    case LayoutGroup::EXPERT_REPLICA:
        return GroupKind::DATA;
    case LayoutGroup::PIPELINE:
        return GroupKind::PIPELINE;
    case LayoutGroup::EMBEDDING:
        return GroupKind::EMBEDDING;
    case LayoutGroup::WORLD:
        return GroupKind::WORLD;
    case LayoutGroup::MODEL:
    case LayoutGroup::MODEL_EXPERT:
        return GroupKind::OTHER;
    }
    return GroupKind::OTHER;
}

const char* ToString(LayoutGroup group)
{
    switch (group)
    {
    case LayoutGroup::TENSOR:
        return "tp";
    case LayoutGroup::CONTEXT:
        return "cp";
    case LayoutGroup::EXPERT:
        return "ep";
    case LayoutGroup::DATA:
        return "dp";
    case LayoutGroup::EXPERT_DATA:
        return "edp";
    case LayoutGroup::SHARD:
        return "dps";
    case LayoutGroup::REPLICA:
        return "dpr";
    case LayoutGroup::EXPERT_SHARD:
        return "edps";
    case LayoutGroup::EXPERT_REPLICA:
        return "edpr";
    case LayoutGroup::PIPELINE:
        return "pp";
    case LayoutGroup::EMBEDDING:
        return "embedding";
    case LayoutGroup::MODEL:
        return "mp";
    case LayoutGroup::MODEL_EXPERT:
        return "mep";
    case LayoutGroup::WORLD:
        return "world";
    }
    return "?";
}

ParallelLayout::ParallelLayout(const ParallelDegrees& degrees, uint32_t ranks) : m_degrees(degrees)
{
    const std::pair<const char*, uint32_t> all[] = {{"tp", degrees.tensor},
                                                    {"cp", degrees.context},
                                                    {"ep", degrees.expert},
                                                    {"dp", degrees.data},
                                                    {"pp", degrees.pipeline},
                                                    {"replicas", degrees.replicas}};
    for (const auto& [key, value] : all)
    {
        if (value == 0)
        {
            throw InputError({"", 0, std::string("parallel.") + key}, "0", "at least 1");
        }
    }
    // In 64 bits and with an early end: four 32-bit degrees can exceed even 64 bits.
    uint64_t product = 1;
    for (uint32_t value : {degrees.tensor, degrees.context, degrees.data, degrees.pipeline})
    {
        product = product > UINT32_MAX ? product : product * value;
    }
    if (product != ranks)
    {
        const std::string shown =
            product > UINT32_MAX ? "more than 4294967295" : std::to_string(product);
        throw InputError({"", 0, "parallel"},
                         "tp " + std::to_string(degrees.tensor) + " x cp " +
                             std::to_string(degrees.context) + " x dp " +
                             std::to_string(degrees.data) + " x pp " +
                             std::to_string(degrees.pipeline) + " = " + shown,
                         "the number of ranks, " + std::to_string(ranks));
    }
    if (degrees.data % degrees.replicas != 0)
    {
        throw InputError({"", 0, "parallel.replicas"},
                         std::to_string(degrees.replicas),
                         "a divisor of dp " + std::to_string(degrees.data));
    }
    CheckExperts();
}

void ParallelLayout::CheckExperts() const
{
    const ParallelDegrees& degrees = m_degrees;
    const uint32_t x = degrees.GetExpertTensor();
    if (x != degrees.tensor && x != 1)
    {
        throw InputError({"", 0, "parallel.expert_tp"},
                         std::to_string(x),
                         "1 or tp, " + std::to_string(degrees.tensor));
    }
    if (x == degrees.tensor && degrees.context == 1 && degrees.data % degrees.expert != 0)
    {
        throw InputError({"", 0, "parallel.ep"},
                         std::to_string(degrees.expert),
                         "a divisor of dp " + std::to_string(degrees.data) +
                             " (expert groups lie inside data groups)");
    }
    if (GetStageSize() % (uint64_t(x) * degrees.expert) != 0)
    {
        throw InputError({"", 0, "parallel.ep"},
                         std::to_string(degrees.expert),
                         "a divisor of a stage's " + std::to_string(GetStageSize()) +
                             " ranks over expert_tp " + std::to_string(x));
    }
    const uint32_t holders = GetStageSize() / x / degrees.expert;
    if (holders % degrees.replicas != 0)
    {
        throw InputError({"", 0, "parallel.replicas"},
                         std::to_string(degrees.replicas),
                         "a divisor of the " + std::to_string(holders) +
                             " ranks that hold the same experts");
    }
}

ParallelLayout::Coordinates ParallelLayout::CoordinatesOf(RankId rank) const
{
    Coordinates at;
    uint32_t rest = rank.Get();
    at.tensor = rest % m_degrees.tensor;
    rest /= m_degrees.tensor;
    at.context = rest % m_degrees.context;
    rest /= m_degrees.context;
    at.data = rest % m_degrees.data;
    at.pipeline = rest / m_degrees.data;
    return at;
}

RankId ParallelLayout::RankOf(const Coordinates& at) const
{
    return RankId(at.tensor +
                  m_degrees.tensor *
                      (at.context + m_degrees.context * (at.data + m_degrees.data * at.pipeline)));
}

uint32_t ParallelLayout::GetGroupSize(LayoutGroup group) const
{
    switch (group)
    {
    case LayoutGroup::TENSOR:
        return m_degrees.tensor;
    case LayoutGroup::CONTEXT:
        return m_degrees.context;
    case LayoutGroup::EXPERT:
        return m_degrees.expert;
    case LayoutGroup::DATA:
        return m_degrees.context * m_degrees.data * (m_degrees.isMirrored ? 2 : 1);
    case LayoutGroup::EXPERT_DATA:
        return GetStageSize() / m_degrees.GetExpertTensor() / m_degrees.expert *
               (m_degrees.isMirrored ? 2 : 1);
    case LayoutGroup::SHARD:
        return GetGroupSize(LayoutGroup::DATA) / m_degrees.replicas;
    case LayoutGroup::EXPERT_SHARD:
        return GetGroupSize(LayoutGroup::EXPERT_DATA) / m_degrees.replicas;
    case LayoutGroup::REPLICA:
    case LayoutGroup::EXPERT_REPLICA:
        return m_degrees.replicas;
    case LayoutGroup::PIPELINE:
        return m_degrees.pipeline;
    case LayoutGroup::EMBEDDING:
        return m_degrees.pipeline > 1 ? 2 : 1;
    case LayoutGroup::MODEL:
        return m_degrees.tensor * m_degrees.pipeline;
    case LayoutGroup::MODEL_EXPERT:
        return m_degrees.GetExpertTensor() * m_degrees.pipeline * m_degrees.expert;
    case LayoutGroup::WORLD:
        return GetRankCount();
    }
    return 0;
}

ParallelLayout::Box ParallelLayout::GetBox(LayoutGroup group, RankId rank) const
{
    const auto fixed = [](uint32_t value) { return Range{value, value + 1, 1}; };
    const auto all = [](uint32_t count) { return Range{0, count, 1}; };
    const Coordinates at = CoordinatesOf(rank);
    const uint32_t stages = m_degrees.pipeline;
    const uint32_t shard = m_degrees.data / m_degrees.replicas;
    Box box{fixed(at.tensor), fixed(at.context), fixed(at.data), fixed(at.pipeline)};
    switch (group)
    {
    case LayoutGroup::TENSOR:
        box.tensor = all(m_degrees.tensor);
        break;
    case LayoutGroup::CONTEXT:
        box.context = all(m_degrees.context);
        break;
    case LayoutGroup::DATA:
        box.context = all(m_degrees.context);
        box.data = all(m_degrees.data);
        if (m_degrees.isMirrored)
        {
            const uint32_t low = std::min(at.pipeline, stages - 1 - at.pipeline);
            box.pipeline = {low, stages - low, stages - 1 - 2 * low};
        }
        break;
    case LayoutGroup::SHARD:
        box.context = all(m_degrees.context);
        box.data = Range::RunOf(at.data, shard);
        break;
    case LayoutGroup::REPLICA:
        box.data = Range::PlaceOf(at.data, m_degrees.data, shard);
        break;
    case LayoutGroup::PIPELINE:
        box.pipeline = all(stages);
        break;
    case LayoutGroup::EMBEDDING:
        box.pipeline = {0, stages, stages > 1 ? stages - 1 : 1};
        break;
    case LayoutGroup::MODEL:
        box.tensor = all(m_degrees.tensor);
        box.pipeline = all(stages);
        break;
    case LayoutGroup::WORLD:
        box = {all(m_degrees.tensor), all(m_degrees.context), all(m_degrees.data), all(stages)};
        break;
    case LayoutGroup::EXPERT:
    case LayoutGroup::EXPERT_DATA:
    case LayoutGroup::EXPERT_SHARD:
    case LayoutGroup::EXPERT_REPLICA:
    case LayoutGroup::MODEL_EXPERT:
        NS_ASSERT_MSG(false, "groups of experts are no boxes");
        break;
    }
    return box;
}

uint32_t ParallelLayout::GetExpertIndex(RankId rank) const
{
    return rank.Get() % GetStageSize() / m_degrees.GetExpertTensor() % m_degrees.expert;
}

ParallelLayout::Range ParallelLayout::GetExpertPlaces(LayoutGroup group, RankId rank) const
{
    const uint32_t block = m_degrees.GetExpertTensor() * m_degrees.expert;
    const uint32_t place = rank.Get() % GetStageSize() / block;
    const uint32_t all = GetStageSize() / block;
    const uint32_t shard = all / m_degrees.replicas;
    switch (group)
    {
    case LayoutGroup::EXPERT_SHARD:
        return Range::RunOf(place, shard);
    case LayoutGroup::EXPERT_REPLICA:
        return Range::PlaceOf(place, all, shard);
    default:
        return {0, all, 1};
    }
}

std::vector<RankId> ParallelLayout::GetExpertGroup(LayoutGroup group, RankId rank) const
{
    const uint32_t stageSize = GetStageSize();
    const uint32_t x = m_degrees.GetExpertTensor();
    const uint32_t block = x * m_degrees.expert; // consecutive ranks that hold all experts once
    const uint32_t index = rank.Get() % stageSize;
    const uint32_t stage = rank.Get() / stageSize;
    std::vector<RankId> ranks;
    ranks.reserve(GetGroupSize(group));
    if (HoldsSameExperts(group))
    {
        const Range places = GetExpertPlaces(group, rank);
        const uint32_t mirror = m_degrees.pipeline - 1 - stage;
        const uint32_t last = m_degrees.isMirrored ? std::max(stage, mirror) : stage;
        const uint32_t low = m_degrees.isMirrored ? std::min(stage, mirror) : stage;
        for (uint32_t s = low; s <= last; s += std::max(1U, last - low))
        {
            for (uint32_t place = places.first; place < places.end; place += places.stride)
            {
                ranks.emplace_back(s * stageSize + place * block + index % block);
            }
        }
        return ranks;
    }
    const bool isModel = group == LayoutGroup::MODEL_EXPERT;
    const uint32_t first = index / block * block;
    for (uint32_t s = isModel ? 0 : stage; s < (isModel ? m_degrees.pipeline : stage + 1); ++s)
    {
        for (uint32_t i = first + (isModel ? 0 : index % x); i < first + block;
             i += isModel ? 1 : x)
        {
            ranks.emplace_back(s * stageSize + i);
        }
    }
    return ranks;
}

RankId ParallelLayout::GetFirstOfGroup(LayoutGroup group, RankId rank) const
{
    if (IsExpertGroup(group)) // without making the list: all ranks ask
    {
        const uint32_t x = m_degrees.GetExpertTensor();
        const uint32_t block = x * m_degrees.expert;
        const uint32_t index = rank.Get() % GetStageSize();
        const uint32_t stage = rank.Get() - index;
        const uint32_t mirror = m_degrees.isMirrored // first rank of the stage that comes first
                                    ? std::min(stage, GetRankCount() - GetStageSize() - stage)
                                    : stage;
        const uint32_t place = GetExpertPlaces(group, rank).first;
        return RankId(HoldsSameExperts(group)        ? mirror + place * block + index % block
                      : group == LayoutGroup::EXPERT ? stage + index / block * block + index % x
                                                     : index / block * block);
    }
    const Box box = GetBox(group, rank);
    return RankOf({box.tensor.first, box.context.first, box.data.first, box.pipeline.first});
}

std::vector<RankId> ParallelLayout::GetGroup(LayoutGroup group, RankId rank) const
{
    if (IsExpertGroup(group))
    {
        return GetExpertGroup(group, rank);
    }
    const Box box = GetBox(group, rank);
    std::vector<RankId> ranks;
    ranks.reserve(GetGroupSize(group));
    for (uint32_t p = box.pipeline.first; p < box.pipeline.end; p += box.pipeline.stride)
    {
        for (uint32_t d = box.data.first; d < box.data.end; d += box.data.stride)
        {
            for (uint32_t c = box.context.first; c < box.context.end; c += box.context.stride)
            {
                for (uint32_t t = box.tensor.first; t < box.tensor.end; t += box.tensor.stride)
                {
                    ranks.push_back(RankOf({t, c, d, p}));
                }
            }
        }
    }
    return ranks;
}

std::vector<std::vector<RankId>> ParallelLayout::GetGroups(LayoutGroup group) const
{
    std::vector<std::vector<RankId>> groups;
    std::vector<bool> seen(GetRankCount(), false);
    for (uint32_t i = 0; i < GetRankCount(); ++i)
    {
        if (seen[i])
        {
            continue;
        }
        std::vector<RankId> ranks = GetGroup(group, RankId(i));
        if (ranks.front().Get() < i) // middle stages see the embedding group again
        {
            continue;
        }
        for (RankId rank : ranks)
        {
            seen[rank.Get()] = true;
        }
        groups.push_back(std::move(ranks));
    }
    return groups;
}

} // namespace echo
} // namespace ns3
