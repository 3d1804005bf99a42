// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IMPORT_REPORT_H
#define ECHO_IMPORT_REPORT_H

#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What an import of a foreign workload found, changed and left out. */
struct ImportReport
{
    std::string format; //!< "Chakra", "SimAI"
    uint32_t ranks{0};
    uint32_t files{0};
    std::vector<std::string> notes;          //!< how things were read, a sentence each
    std::map<std::string, uint64_t> ignored; //!< what is not used, by reason
    std::vector<std::string> warnings;       //!< what looks wrong, a sentence each

    /**
     * Checks what was read and completes the report.
     * @param file for messages
     * @return the report as text, lines ended
     * @throws InputError if members of a group call different collectives, if messages do not
     *         match, or if the workload has neither kernels nor communication, or several ranks
     *         without any communication
     */
    std::string Finish(const WorkloadGraph& workload, const std::string& file) const;
};

/**
 * @throws InputError naming ranks without a file and those with one
 * @param what the files are, for the message
 */
void RequireAllRanks(const std::vector<bool>& hasFile, const std::string& what);

} // namespace echo
} // namespace ns3

#endif /* ECHO_IMPORT_REPORT_H */
