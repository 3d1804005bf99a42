// SPDX-License-Identifier: GPL-2.0-only
#ifndef MEMORY_ACCURACY_H
#define MEMORY_ACCURACY_H

#include "training-accuracy.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Writes how the estimate of a rank's memory compares with measured peaks, with plans that ran and
 * plans that ran out of memory, and with the steps of @p sources, which all ran.
 * @param folder tables of memory, each beside the scenario of its name
 */
void WriteMemoryAccuracy(std::ostream& out,
                         const std::vector<MeasuredSteps>& sources,
                         const std::string& folder);

} // namespace echo
} // namespace ns3

#endif /* MEMORY_ACCURACY_H */
