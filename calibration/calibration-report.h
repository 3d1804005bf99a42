// SPDX-License-Identifier: GPL-2.0-only
#ifndef CALIBRATION_REPORT_H
#define CALIBRATION_REPORT_H

#include "ns3/echo-measurement.h"
#include "ns3/echo-profile-fitter.h"
#include "ns3/echo-profile-residuals.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

// What ./echo calibrate prints to standard output.

/** Mean absolute errors by operation, ranks, hosts and band of sizes. */
void PrintBands(const std::vector<Measurement>& rows, const std::vector<double>& estimates);
/** Every row with its estimate and what was chosen. */
void PrintRows(const std::vector<Measurement>& rows, const std::vector<RowEstimate>& estimates);
void PrintStatistics(const std::string& title, const std::vector<ResidualStatistics>& list);
/** Constants with their intervals, and the range measured. */
void PrintConstants(const MachineProfile& profile);
/** Each operation and scale predicted from the others. */
void PrintHeldOut(const std::vector<HeldOutScale>& scales);

} // namespace echo
} // namespace ns3

#endif /* CALIBRATION_REPORT_H */
