// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PYTORCH_ET_READER_H
#define ECHO_PYTORCH_ET_READER_H

#include "echo-communication-record.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What Echo uses of a PyTorch execution trace: the communications, in order of issue. */
struct ExecutionTrace
{
    std::string file;
    std::string schema;                                  //!< "1.0.1", "1.1.1-chakra.0.0.4"
    int64_t pid{-1};                                     //!< of the process
    std::vector<CommunicationRecord> communications;     //!< waits too; by record function id
    std::map<std::string, std::vector<uint32_t>> groups; //!< members by name; empty: all ranks
    std::map<std::string, int64_t> groupSizes;           //!< by name
};

/**
 * Reads the nodes "record_param_comms" and "process_group:init" of an execution trace, in the
 * layout of schema 1.0.1 (inputs a list) and of the Chakra schemas (inputs.values, attrs).
 *
 * The inputs of record_param_comms, by position: [tensors,] sequence, process group, rank (root of
 * a broadcast or reduce, peer of a send or receive), name, splits in, splits out[, rank start, rank
 * stride][, group size]; a wait has no tensors.
 * @throws InputError if the file is no JSON or no execution trace
 */
ExecutionTrace ReadExecutionTrace(const std::string& file);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PYTORCH_ET_READER_H */
