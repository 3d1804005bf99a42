// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_IMPORT_READER_H
#define ECHO_IMPORT_READER_H

#include "echo-scenario.h"
#include "echo-yaml.h"

namespace ns3
{
namespace echo
{

/**
 * Reads a scenario's `workload: {import: ...}` (doc/formats/import.md): sets its workload, the
 * health report and what was measured.
 * @param ranks of files that do not say how many
 * @throws InputError, UnsupportedError as the importers
 */
void ReadImport(const YamlNode& node, uint32_t ranks, Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_IMPORT_READER_H */
