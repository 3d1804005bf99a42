// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROFILE_RESIDUALS_H
#define ECHO_PROFILE_RESIDUALS_H

#include "echo-machine-profile.h"
#include "echo-measurement.h"

#include "ns3/echo-collective-algorithm.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return a machine as a row met it: with the release of NCCL whose tuner picked for the row */
NcclEnvironment EnvironmentOf(const NcclEnvironment& machine, const Measurement& row);

/**
 * @return the estimates of rows, microseconds, each by the choice of a selector
 * @param rule of NcclSelector: profile, tuner, least-cost; tuner-exactly: the tuner's picks even
 *        where times fall when bytes grow
 */
std::vector<double> EstimateRows(const MachineProfile& profile,
                                 const std::vector<Measurement>& rows,
                                 const std::string& rule = "profile");

/** An estimate with what the selector chose for it. */
struct RowEstimate
{
    double us{0};
    CollectiveChoice choice;
};

/** As EstimateRows, with the choices. */
std::vector<RowEstimate> EstimateWithChoices(const MachineProfile& profile,
                                             const std::vector<Measurement>& rows,
                                             const std::string& rule = "profile");

/** @return statistics of absolute errors (estimate / measured - 1) of one operation and scale */
ResidualStatistics SummariseErrors(std::vector<double> errors);

/**
 * @return statistics of the rows of at least @p minBytes, by operation and scale
 * @param estimates microseconds, by row
 */
std::vector<ResidualStatistics> ComputeResiduals(const std::vector<Measurement>& rows,
                                                 const std::vector<double>& estimates,
                                                 uint64_t minBytes);

/** @return the ranges that the rows span, by operation */
std::vector<CalibratedRange> ComputeRanges(const std::vector<Measurement>& rows);

/** Rows from which on errors are stated first: below, launch time and clocks decide. */
constexpr uint64_t LARGE_BYTES = 1048576;

/**
 * @return whether the rows that a profile was fitted to tell what an operation takes around so many
 *         bytes
 * @param several between hosts
 */
bool IsMeasured(const MachineProfile& profile, CollectiveKind kind, bool several, double bytes);

/**
 * @return a profile before measuring: latencies in the order of NCCL's own table (tuning.cc), rates
 *         as given, protocol efficiencies from their layout
 * @param gpuGBps what a GPU should sustain to its host's others, one direction
 * @param nicGBps what a NIC should sustain, one direction
 */
MachineProfile MakePriorProfile(const NcclEnvironment& nccl, double gpuGBps, double nicGBps);

/**
 * @return the profile of a machine of the same kind with other links and no measurements: rates in
 *         proportion to the links, all other constants kept, no ranges and residuals
 * @param gpuGBps rate of a GPU's links inside the host, one direction
 * @param nicGBps rate of a NIC, one direction
 */
MachineProfile ScaleProfile(const MachineProfile& measured,
                            const NcclEnvironment& nccl,
                            double gpuGBps,
                            double nicGBps);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROFILE_RESIDUALS_H */
