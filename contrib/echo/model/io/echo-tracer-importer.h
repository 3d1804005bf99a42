// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRACER_IMPORTER_H
#define ECHO_TRACER_IMPORTER_H

#include "echo-imported-job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Imports what the paper's workload tracer writes: a graph of one rank's operators, and a profile
 * of their times if there is one (doc/formats/import.md). Gradient buckets become all-reduces over
 * data parallel ranks, which all run this graph.
 *
 * @param paths a graph file and at most one profile
 * @param ranks data parallel; 0: not given
 * @param defaultRanks of a graph with gradient buckets, if @p ranks is not given; 0: an error
 * @throws InputError for files that are none, operators that wait for unknown ones or for each
 *         other, or a graph with buckets and no number of ranks
 */
ImportedJob ImportTracer(const std::vector<std::string>& paths,
                         uint32_t ranks,
                         uint32_t defaultRanks = 0);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRACER_IMPORTER_H */
