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
