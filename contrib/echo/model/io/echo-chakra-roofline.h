// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHAKRA_ROOFLINE_H
#define ECHO_CHAKRA_ROOFLINE_H

#include "echo-chakra-trace.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Gives kernels without a recorded time that of ASTRA-sim's roofline: operations over "peak-perf"
 * or bytes over "local-mem-bw", whichever is longer.
 * @param system ASTRA-sim's system file
 * @throws InputError if it lacks one of the two, or a kernel would take a day
 */
void GiveChakraTimes(std::vector<ChakraTrace>& traces, const std::string& system);

/** @return a sentence on kernels that nothing gives a time, as nothing of them is known; empty if
 *          there are none */
std::string DescribeEmptyKernels(const std::vector<ChakraTrace>& traces);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHAKRA_ROOFLINE_H */
