// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHAKRA_IMPORTER_H
#define ECHO_CHAKRA_IMPORTER_H

#include "echo-imported-job.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How Chakra traces are imported. */
struct ChakraOptions
{
    std::string groups; //!< file of process groups; empty: one among the files, if any
    /// ASTRA-sim's system file: its roofline gives times to nodes without one; empty: none.
    std::string system;
    std::string replicate; //!< "dp": one rank's trace stands for all; "" or "none"
    uint32_t ranks{0};     //!< of the job, for a check; 0: not given
};

/**
 * Imports MLCommons Chakra execution traces, one file a rank (doc/formats/import.md).
 *
 * @param paths files, folders, patterns
 * @throws InputError for files that cannot be read or contradict each other, missing ranks,
 *         dependencies that are not there or go round in a circle
 * @throws UnsupportedError if Echo was built without what reads the files
 */
ImportedJob ImportChakra(const std::vector<std::string>& paths, const ChakraOptions& options = {});

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHAKRA_IMPORTER_H */
