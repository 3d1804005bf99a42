// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_OVERLAP_ACCURACY_H
#define ECHO_OVERLAP_ACCURACY_H

#include "ns3/nstime.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** One step of data-parallel training with one slowdown model. */
struct OverlapStep
{
    Time step;         //!< its length
    Time compute;      //!< time with a kernel, mean over ranks
    double kernels{0}; //!< share of kernels that run beside communication, by number
    double time{0};    //!< the same, by their time alone
    double mean{1};    //!< mean over all kernels of their time over that alone
};

/**
 * Runs a scenario.
 * @param sets "path.to.key=value" to set in it
 */
OverlapStep RunOverlapStep(const std::string& scenario, const std::vector<std::string>& sets);

/** Writes doc/accuracy-overlap.md. @param root the project's folder */
void WriteOverlapAccuracy(std::ostream& out, const std::string& root);

} // namespace echo
} // namespace ns3

#endif /* ECHO_OVERLAP_ACCURACY_H */
