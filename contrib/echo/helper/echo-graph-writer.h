// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GRAPH_WRITER_H
#define ECHO_GRAPH_WRITER_H

#include "ns3/echo-output-folder.h"
#include "ns3/echo-workload-graph.h"

namespace ns3
{
namespace echo
{

/**
 * Writes a workload as execution graph files (doc/formats/execution-graph.md): workload.json and
 * one program-N.json for each different program. ReadExecutionGraphs() reads them back; written
 * again, the files are byte-identical.
 */
void WriteExecutionGraphs(const WorkloadGraph& workload, OutputFolder& folder);

} // namespace echo
} // namespace ns3

#endif /* ECHO_GRAPH_WRITER_H */
