// SPDX-License-Identifier: GPL-2.0-only
#ifndef MEASURED_STEPS_H
#define MEASURED_STEPS_H

#include "training-accuracy.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * @param folder of their tables and scenarios, with a slash behind
 * @return the measured training steps that ship, in the order in which they are written; those
 *         without a bar are held out: nothing was set from them
 */
std::vector<MeasuredSteps> GetMeasuredSteps(const std::string& folder);

} // namespace echo
} // namespace ns3

#endif /* MEASURED_STEPS_H */
