// SPDX-License-Identifier: GPL-2.0-only
#ifndef TRAINING_CONSTANTS_H
#define TRAINING_CONSTANTS_H

#include "training-accuracy.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** Steps of one source that a constant plays a part in. */
struct ConstantSource
{
    MeasuredSteps steps;
    std::string title;
    std::string part;   //!< of a row's settings that it must hold; empty: all rows
    uint32_t stride{1}; //!< every how many rows is simulated
};

/** A constant of the compute profile that no single kernel tells, but steps. */
struct StepConstant
{
    std::string title;
    std::string attribute; //!< of RooflineComputeModel
    double shipped{0};     //!< the profile's value
    std::vector<double> values;
    std::vector<ConstantSource> sources;
};

/**
 * Writes for each source what the others alone would choose (the value of the least mean of their
 * mean absolute errors), and how it errs with that value and with the one that ships.
 */
void WriteConstantAccuracy(std::ostream& out, const std::vector<StepConstant>& constants);

} // namespace echo
} // namespace ns3

#endif /* TRAINING_CONSTANTS_H */
