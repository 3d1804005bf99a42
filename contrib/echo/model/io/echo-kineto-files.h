// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_KINETO_FILES_H
#define ECHO_KINETO_FILES_H

#include "echo-kineto-trace.h"
#include "echo-pytorch-et-reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One rank's files. */
struct KinetoRank
{
    uint32_t rank{0};
    KinetoTrace trace;
    std::optional<ExecutionTrace> executionTrace;
};

/** All files of a job, one entry a rank, sorted by rank. */
struct KinetoFiles
{
    std::vector<KinetoRank> ranks;
    uint32_t worldSize{0};
    bool isCopied{false}; //!< ranks without files take the program of one that has
    std::vector<std::string> warnings;
};

/**
 * Reads profiler files and execution traces, in whatever order they are named.
 *
 * A file's rank is distributedInfo.rank, else the number after "rank" or "worker" in its name, else
 * (of several files) the only number in its name; one file alone may have none. An execution trace
 * goes to the rank in its name, else to the profiler file of the same process id.
 *
 * @param paths files, folders, patterns
 * @param missingRanks "refuse", "copy" (they take the program of a rank that has a file) or "auto"
 *        (copy if there is one file only, else refuse)
 * @throws InputError for files that cannot be read, two of one rank, ranks without files, a profile
 *         without GPU kernels
 */
KinetoFiles ReadKinetoFiles(const std::vector<std::string>& paths, const std::string& missingRanks);

/**
 * @return the rank that a file's name tells: "worker3_step_12.json.gz", "et_rank3.json" -> 3;
 *         2^20 for one that is no less, which is no rank
 * @param takeAnyNumber also "dlrm_eg_3.json" -> 3, if there is no other number
 */
std::optional<uint32_t> RankFromFileName(const std::string& path, bool takeAnyNumber);

} // namespace echo
} // namespace ns3

#endif /* ECHO_KINETO_FILES_H */
