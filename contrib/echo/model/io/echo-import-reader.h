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
 * @throws InputError, UnsupportedError as ImportKineto()
 */
void ReadImport(const YamlNode& node, Scenario& scenario);

} // namespace echo
} // namespace ns3

#endif /* ECHO_IMPORT_READER_H */
