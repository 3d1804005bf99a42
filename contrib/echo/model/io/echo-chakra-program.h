// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHAKRA_PROGRAM_H
#define ECHO_CHAKRA_PROGRAM_H

#include "echo-chakra-order.h"
#include "echo-program-draft.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** The program of one rank of a Chakra job. */
struct ChakraProgram
{
    ProgramDraft draft;
    /// What the slots are bound to: members of a group, and its number in ChakraJob::groups
    /// (of the two ranks of a message: the number of groups).
    std::vector<std::pair<std::vector<uint32_t>, uint32_t>> slots;
};

/**
 * Writes a rank's program: streams "gpu", "cpu", "memory", one a process group, one a direction
 * and peer. Receives are posted at once, so that a message travels when its sender sends it; what
 * follows a receive waits for the message and for what the receive waited for.
 *
 * @param ignored counts nodes that become nothing, by reason
 * @throws InputError for a message to a rank that is not there
 */
ChakraProgram BuildChakraProgram(const ChakraJob& job,
                                 uint32_t rank,
                                 const std::vector<uint32_t>& dependencies,
                                 const ChakraOrder& order,
                                 std::map<std::string, uint64_t>& ignored);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHAKRA_PROGRAM_H */
