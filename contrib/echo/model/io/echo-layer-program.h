// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_PROGRAM_H
#define ECHO_LAYER_PROGRAM_H

#include "echo-layer-groups.h"
#include "echo-program-draft.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Layers of one micro-batch after the other: [first + k * length, first + (k + 1) * length). */
struct MicroBatchRows
{
    uint32_t first{0};
    uint32_t length{0}; //!< 0: they cannot be told apart
};

/**
 * Finds the micro-batches of a table: the first name that stands as often as there are
 * micro-batches begins each of them, if it does so at equal distances.
 */
MicroBatchRows FindMicroBatches(const LayerTable& table);

/** The program of the ranks of one pipeline stage. */
struct LayerProgram
{
    ProgramDraft draft;
    std::vector<LayerRanks> slots;
};

/**
 * @param isGatheredSize whether sizes of all-gathers are those of the output
 * @param ignored counts what becomes nothing, by reason
 */
LayerProgram BuildLayerProgram(const LayerTable& table,
                               const LayerGroups& groups,
                               const MicroBatchRows& rows,
                               uint32_t stage,
                               uint32_t passes,
                               bool isGatheredSize,
                               std::map<std::string, uint64_t>& ignored);

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_PROGRAM_H */
