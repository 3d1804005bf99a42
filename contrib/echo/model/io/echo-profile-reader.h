// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROFILE_READER_H
#define ECHO_PROFILE_READER_H

#include "echo-yaml.h"

#include "ns3/echo-machine-profile.h"

#include <string>

namespace ns3
{
namespace echo
{

/**
 * Reads an estimator profile (doc/formats/profile.md): all constants must be there, none unknown.
 * @throws InputError naming file, line and key
 */
MachineProfile ReadProfile(const YamlNode& root);

/** @return the profile as a file that ReadProfile reads back the same; equal profiles give equal
 *          bytes */
std::string FormatProfile(const MachineProfile& profile);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROFILE_READER_H */
