// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMPUTE_PROFILE_READER_H
#define ECHO_COMPUTE_PROFILE_READER_H

#include "echo-yaml.h"

#include "ns3/echo-compute-profile.h"

namespace ns3
{
namespace echo
{

/**
 * Reads kernel efficiencies (doc/formats/compute-profile.md).
 * @throws InputError with file, line, key, what was found and what was expected: efficiencies
 *         outside of (0, 1], points out of order or so steep that more work would take less time
 */
ComputeProfile ReadComputeProfile(const YamlNode& node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMPUTE_PROFILE_READER_H */
