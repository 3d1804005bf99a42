// SPDX-License-Identifier: GPL-2.0-only
#ifndef COLLECTIVE_EXTRAPOLATION_H
#define COLLECTIVE_EXTRAPOLATION_H

#include "collective-bars.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace ns3
{
namespace echo
{

/** A machine whose small scales predict its large ones. */
struct ExtrapolatedMachine
{
    std::string title;
    std::string table;   //!< file
    std::string profile; //!< file: what NCCL finds in the machine
    uint32_t mostHosts;  //!< that the fit sees
    std::vector<AccuracyBar> bars;
    std::string further{}; //!< file: rows of more hosts that the fit never sees; empty: none
    std::vector<std::string> pools{}; //!< machines whose rows are counted together too
    uint32_t beyond{0};               //!< hosts: only rows of more count
    uint32_t upTo{UINT32_MAX};        //!< hosts: only rows of at most so many count
};

/** A machine that no profile was fitted to, and the profile that stands for it. */
struct TransferredMachine
{
    std::string title;
    std::string table;   //!< file
    std::string profile; //!< file
    std::string nccl{};  //!< release that was measured, whose tuner picks; empty: the profile's
    std::string pool{ALL_MACHINES}; //!< machines whose rows are counted together too; empty: none
    /// Its jobs leave NCCL_CROSS_NIC alone, unlike the profile's: rings return by any NIC.
    bool isCrossNicDefault{false};
};

/**
 * Writes the errors of a fit to the rows of at most mostHosts hosts on the rows of more, as a row
 * of a Markdown table for each operation and scale, for 1 MiB and more and for all sizes, beside
 * NCCL's own model and an alpha-beta fit to the same rows. Needs Ceres.
 */
void WriteExtrapolation(std::ostream& out,
                        std::ostream& bars,
                        PooledRows& pooled,
                        const ExtrapolatedMachine& machine);
/** Writes the errors of a profile on a machine that it was not fitted to. */
void WriteTransfer(std::ostream& out,
                   std::ostream& bars,
                   PooledRows& pooled,
                   const TransferredMachine& machine);
/** The same without a bar: machines whose parts, settings or release are others. */
void WriteHeldOut(std::ostream& out, const TransferredMachine& machine);
/** Writes an all-reduce of 32 H800 beside the Echo paper's Table 6. */
void WriteTable6(std::ostream& out, const std::string& table, const std::string& profile);

} // namespace echo
} // namespace ns3

#endif /* COLLECTIVE_EXTRAPOLATION_H */
