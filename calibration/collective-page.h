// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CALIBRATION_COLLECTIVE_PAGE_H
#define ECHO_CALIBRATION_COLLECTIVE_PAGE_H

#include <ostream>
#include <string>

namespace ns3
{
namespace echo
{

/**
 * Writes the page of collective estimates against measurements: a table of all bars, then each
 * machine, scales and machines that no fit has seen, and the Echo paper's Table 6.
 *
 * @param folder of calibration/: its tables/ and profiles/ are read
 */
void WriteCollectivesPage(std::ostream& out, const std::string& folder);

} // namespace echo
} // namespace ns3

#endif // ECHO_CALIBRATION_COLLECTIVE_PAGE_H
