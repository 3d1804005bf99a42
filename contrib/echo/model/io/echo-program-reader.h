// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROGRAM_READER_H
#define ECHO_PROGRAM_READER_H

#include "echo-yaml.h"

#include "ns3/echo-workload-graph.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/** Reads a workload map that holds `programs`. @throws InputError */
WorkloadGraphPtr ReadPrograms(const YamlNode& node, uint32_t ranks);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROGRAM_READER_H */
