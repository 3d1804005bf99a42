// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROGRAM_FILE_H
#define ECHO_PROGRAM_FILE_H

#include "ns3/echo-workload-graph.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * Reads a program of an execution graph folder (doc/formats/execution-graph.md).
 * @throws InputError naming the file and the operator that is wrong
 */
ExecutionGraphPtr ReadProgramFile(const std::string& path);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROGRAM_FILE_H */
