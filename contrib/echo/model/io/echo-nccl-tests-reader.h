// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NCCL_TESTS_READER_H
#define ECHO_NCCL_TESTS_READER_H

#include "ns3/echo-measurement.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a user knows of a log that does not say so itself. */
struct NcclTestsHints
{
    std::optional<CollectiveKind> kind;
    std::optional<uint32_t> ranks;
    std::optional<uint32_t> hosts;
    bool isKindOfLog{false}; //!< kind was said of this one log: it must not contradict
};

/**
 * Reads the output of an nccl-tests program as printed, or CSV.
 *
 * Printed: the columns are those that the header line ("size count type ... time algbw busbw ...")
 * names, with or without in-place columns; "N/A" is a missing value; ranks and hosts come from the
 * "Rank N ... on HOST device" lines, the threads from "# nThread T nGpus G", the operation from
 * "Collective test starting: all_reduce_perf", else from the hint, else from the file's name, the
 * release of NCCL from "NCCL version", "nccl-library=" or "rccl-library=". What launchers put
 * before a line (Open MPI's "[1,0]<stdout>:", Slurm's "0: ", PALS' "host 0: ") is taken away; lines
 * of other programs are skipped. A row that they cut short is completed by the values that follow
 * on a line of their own, else it counts with its out-of-place columns only, or is left out: each
 * such row is a note. A file may hold several runs.
 *
 * CSV: a header line with size_bytes and time_us (or time_us_median), optionally time_us_inplace,
 * wrong, op, ranks (ngpus, num_workers), hosts (nodes) or gpus_per_node (devices_per_node),
 * one_thread, nccl; "# ngpus: N", "# nodes: N", "# op: NAME" and "# nccl: VERSION" above it hold
 * for all rows.
 *
 * What a log says itself comes before the hints; other ranks or hosts than hinted are refused. But
 * where "Rank" lines are missing (published excerpts) or name no host, the hints tell; and as hosts
 * are NVLink domains, so many names may be fewer hosts (GB200 NVL72: 18 names, @hosts=1). The ratio
 * of busbw and algbw must be that of the operation among the ranks.
 *
 * @throws InputError by file and line if it is neither, a row does not fit its header, a number is
 *         none, or the operation, ranks or hosts are not known
 */
std::vector<Measurement> ReadNcclTests(const std::string& path,
                                       const NcclTestsHints& hints,
                                       std::vector<std::string>* notes = nullptr);
/** As above, from text; @p name stands for the file in messages. */
std::vector<Measurement> ReadNcclTestsText(const std::string& text,
                                           const std::string& name,
                                           const NcclTestsHints& hints,
                                           std::vector<std::string>* notes = nullptr);

} // namespace echo
} // namespace ns3

#endif /* ECHO_NCCL_TESTS_READER_H */
