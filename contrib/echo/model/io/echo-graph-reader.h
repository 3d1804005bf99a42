// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GRAPH_READER_H
#define ECHO_GRAPH_READER_H

#include "ns3/echo-workload-graph.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * Reads a folder of execution graph files (doc/formats/execution-graph.md).
 * @throws InputError naming the file and the operator, group or rank that is wrong
 * @throws UnsupportedError if Echo was built without simdjson
 */
WorkloadGraphPtr ReadExecutionGraphs(const std::string& folder);

} // namespace echo
} // namespace ns3

#endif /* ECHO_GRAPH_READER_H */
