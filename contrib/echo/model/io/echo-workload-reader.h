// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_WORKLOAD_READER_H
#define ECHO_WORKLOAD_READER_H

#include "echo-yaml.h"

#include "ns3/echo-workload-graph.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/**
 * Reads a native workload (doc/formats/workload.md): a map with `collectives` or `programs`.
 * @param ranks of the job
 * @throws InputError with file, line, key, what was found and what was expected
 */
WorkloadGraphPtr ReadWorkload(const YamlNode& node, uint32_t ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_WORKLOAD_READER_H */
