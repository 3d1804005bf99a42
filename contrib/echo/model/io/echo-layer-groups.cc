// SPDX-License-Identifier: GPL-2.0-only
#include "echo-layer-groups.h"

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

namespace
{

/** @param of what the ranks are, as "ranks" */
uint32_t Divide(const LayerTable& table,
                uint32_t ranks,
                uint32_t by,
                const std::string& what,
                const std::string& of = "ranks")
{
    if (by > ranks || ranks % by != 0)
    {
        throw InputError({table.file, 1, ""},
                         std::to_string(ranks) + " " + of + " and " + what + " " +
                             std::to_string(by),
                         "a number that it divides");
    }
    return ranks / by;
}

} // namespace

LayerGroups::LayerGroups(const LayerTable& table, uint32_t ranks, uint32_t firstDimension)
    : m_ranks(ranks),
      m_tensor(table.modelGroup),
      m_expert(table.expertGroup),
      m_stages(table.stages),
      m_first(firstDimension)
{
    const uint32_t perStage = Divide(table, ranks, m_stages, "pipeline stages");
    m_data = Divide(table, perStage, m_tensor, "a model parallel group of");
    Divide(table, m_data, m_expert, "an expert parallel group of", "data parallel ranks (dp)");
    if (m_first > 0)
    {
        Divide(table, ranks, m_first, "a first dimension of");
    }
}

std::optional<LayerRanks> LayerGroups::Choose(const LayerTable& table,
                                              uint32_t layer,
                                              const LayerPhase& phase,
                                              bool isWeightGradient) const
{
    if (phase.group != LayerGroup::DEFAULT)
    {
        return phase.group == LayerGroup::EXPERT ? LayerRanks::EXPERT : LayerRanks::DATA_EXPERT;
    }
    std::optional<LayerRanks> set;
    const LayerPolicy policy = table.layers[layer].policy;
    switch (policy)
    {
    case LayerPolicy::TRANSFORMER:
    case LayerPolicy::TRANSFORMER_FORWARD:
        set = isWeightGradient ? LayerRanks::DATA : LayerRanks::TENSOR;
        break;
    case LayerPolicy::MICRO:
    case LayerPolicy::DATA:
    case LayerPolicy::CUSTOMIZED:
        set = isWeightGradient ? std::optional(LayerRanks::ALL) : std::nullopt;
        break;
    case LayerPolicy::DLRM: // the first layer holds the embedding tables
        set = isWeightGradient || layer == 0 ? std::optional(LayerRanks::ALL) : std::nullopt;
        break;
    case LayerPolicy::MODEL:
    case LayerPolicy::INFERENCE:
        set = isWeightGradient ? std::nullopt : std::optional(LayerRanks::ALL);
        break;
    case LayerPolicy::DATA_MODEL:
    case LayerPolicy::MODEL_DATA:
        set = isWeightGradient == (policy == LayerPolicy::MODEL_DATA)
                  ? LayerRanks::FIRST_DIMENSION
                  : LayerRanks::OTHER_DIMENSIONS;
        break;
    }
    if (m_first == 0 && (set == LayerRanks::FIRST_DIMENSION || set == LayerRanks::OTHER_DIMENSIONS))
    {
        throw InputError({table.file, table.layers[layer].line, "parallelism"},
                         "groups by the network's first dimension, whose size is not given",
                         "--first-dimension=N, or first_dimension: N in a scenario");
    }
    return set;
}

uint32_t LayerGroups::GetSize(LayerRanks set) const
{
    switch (set)
    {
    case LayerRanks::ALL:
        return m_ranks;
    case LayerRanks::TENSOR:
        return m_tensor;
    case LayerRanks::DATA:
        return m_data;
    case LayerRanks::EXPERT:
        return m_expert;
    case LayerRanks::DATA_EXPERT:
        return m_data / m_expert;
    case LayerRanks::FIRST_DIMENSION:
        return m_first;
    case LayerRanks::OTHER_DIMENSIONS:
        return m_ranks / m_first;
    default:
        return 2;
    }
}

std::vector<uint32_t> LayerGroups::GetMembers(LayerRanks set, uint32_t rank) const
{
    const uint32_t perStage = m_ranks / m_stages;
    const uint32_t stage = rank / perStage * perStage; // its first rank
    const uint32_t tensor = rank % m_tensor;
    const uint32_t data = (rank - stage) / m_tensor;
    uint32_t first = 0;
    uint32_t stride = 1;
    switch (set)
    {
    case LayerRanks::ALL:
        break;
    case LayerRanks::TENSOR:
        first = rank - tensor;
        break;
    case LayerRanks::DATA:
        first = stage + tensor;
        stride = m_tensor;
        break;
    case LayerRanks::EXPERT:
        first = stage + data / m_expert * m_expert * m_tensor + tensor;
        stride = m_tensor;
        break;
    case LayerRanks::DATA_EXPERT:
        first = stage + data % m_expert * m_tensor + tensor;
        stride = m_tensor * m_expert;
        break;
    case LayerRanks::FIRST_DIMENSION:
        first = rank / m_first * m_first;
        break;
    case LayerRanks::OTHER_DIMENSIONS:
        first = rank % m_first;
        stride = m_first;
        break;
    case LayerRanks::PREVIOUS_STAGE:
        return {rank - perStage, rank};
    case LayerRanks::NEXT_STAGE:
        return {rank, rank + perStage};
    }
    std::vector<uint32_t> members(GetSize(set));
    for (uint32_t i = 0; i < members.size(); ++i)
    {
        members[i] = first + i * stride;
    }
    return members;
}

GroupKind KindOf(LayerRanks set)
{
    switch (set)
    {
    case LayerRanks::ALL:
        return GroupKind::WORLD;
    case LayerRanks::TENSOR:
        return GroupKind::TENSOR;
    case LayerRanks::DATA:
    case LayerRanks::DATA_EXPERT:
        return GroupKind::DATA;
    case LayerRanks::EXPERT:
        return GroupKind::EXPERT;
    case LayerRanks::PREVIOUS_STAGE:
    case LayerRanks::NEXT_STAGE:
        return GroupKind::PIPELINE;
    default:
        return GroupKind::OTHER;
    }
}

} // namespace echo
} // namespace ns3
