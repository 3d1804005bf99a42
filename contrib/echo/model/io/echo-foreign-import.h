// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FOREIGN_IMPORT_H
#define ECHO_FOREIGN_IMPORT_H

#include "echo-imported-job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How workloads of other tools are imported; each format uses some. */
struct ForeignOptions
{
    std::string groups; //!< chakra: file of process groups; empty: one among the files, if any
    std::string system; //!< chakra: ASTRA-sim's system file, whose roofline times nodes without one
    std::string replicate;      //!< chakra: "dp": one rank's file stands for all; "" or "none"
    uint32_t ranks{0};          //!< if the files do not say, or with replicate; 0: not given
    uint32_t defaultRanks{0};   //!< if neither the files nor `ranks` say; 0: that is an error
    uint32_t firstDimension{0}; //!< simai, astra-sim: size of the network's first dimension, for
                                //!< policies that divide ranks by it; 0: not given
    uint32_t passes{1};         //!< simai, astra-sim: training steps
};

/** @return names of the formats besides PyTorch's profiler ("kineto") */
const std::vector<std::string>& GetForeignFormats();

/**
 * Imports a workload that another tool describes (doc/formats/import.md).
 * @param format one of GetForeignFormats()
 * @param paths files, folders, patterns
 * @throws InputError, UnsupportedError as the importers
 */
ImportedJob ImportForeign(const std::string& format,
                          const std::vector<std::string>& paths,
                          const ForeignOptions& options);

} // namespace echo
} // namespace ns3

#endif /* ECHO_FOREIGN_IMPORT_H */
