// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_GROUPS_H
#define ECHO_LAYER_GROUPS_H

#include "echo-layer-table.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3
{
namespace echo
{

/** Sets of ranks that text workloads communicate in. */
enum class LayerRanks : uint8_t
{
    ALL,
    TENSOR,
    DATA,
    EXPERT,
    DATA_EXPERT,     //!< ranks with the same experts
    FIRST_DIMENSION, //!< of the network
    OTHER_DIMENSIONS,
    PREVIOUS_STAGE, //!< the rank and its peer there
    NEXT_STAGE,
};

/**
 * Where ranks stand: tensor parallel ranks beside each other, then data parallel ones, then
 * pipeline stages; expert groups are runs of data parallel ranks, as in SimAI.
 */
class LayerGroups
{
  public:
    /** @throws InputError if the degrees do not divide the ranks */
    LayerGroups(const LayerTable& table, uint32_t ranks, uint32_t firstDimension);

    /** @return what a layer's collective is for; none if its policy leaves it out */
    std::optional<LayerRanks> Choose(const LayerTable& table,
                                     uint32_t layer,
                                     const LayerPhase& phase,
                                     bool isWeightGradient) const;
    /** @return the members of a rank's group, in its order */
    std::vector<uint32_t> GetMembers(LayerRanks set, uint32_t rank) const;
    uint32_t GetSize(LayerRanks set) const;

    uint32_t GetRanks() const
    {
        return m_ranks;
    }

    uint32_t GetStage(uint32_t rank) const
    {
        return rank / (m_ranks / m_stages);
    }

    uint32_t GetStages() const
    {
        return m_stages;
    }

    uint32_t GetDataDegree() const
    {
        return m_data;
    }

  private:
    uint32_t m_ranks;
    uint32_t m_tensor;
    uint32_t m_expert;
    uint32_t m_stages;
    uint32_t m_data;
    uint32_t m_first;
};

/** @return the group's kind for reports and rules */
GroupKind KindOf(LayerRanks set);

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_GROUPS_H */
