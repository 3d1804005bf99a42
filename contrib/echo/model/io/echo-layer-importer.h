// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYER_IMPORTER_H
#define ECHO_LAYER_IMPORTER_H

#include "echo-imported-job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How text workloads are imported. */
struct LayerOptions
{
    /// SimAI counts the gathered output of an all-gather, ASTRA-sim what one rank gives.
    bool isGatheredSize{false};
    uint32_t ranks{0};          //!< of files that do not say; 0: not given
    uint32_t defaultRanks{0};   //!< if nothing else says; 0: that is an error
    uint32_t firstDimension{0}; //!< size of the network's first dimension; 0: not given
    uint32_t passes{1};         //!< training steps
};

/**
 * Imports a text workload of ASTRA-sim, or of SimAI and AICB (doc/formats/import.md).
 *
 * Passes run as those tools run them: forward through the layers, each computation followed by its
 * communication; backward through them, weight gradients' communication beside what follows. With
 * several pipeline stages each rank runs its stage's micro-batches, all forward, then all backward
 * (GPipe), and sends to the next stage and back.
 *
 * @param paths one file
 * @throws InputError for a file that is no such workload, or ranks that its groups do not divide
 */
ImportedJob ImportLayers(const std::vector<std::string>& paths, const LayerOptions& options);

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYER_IMPORTER_H */
