// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SLOWDOWN_TRAINER_H
#define ECHO_SLOWDOWN_TRAINER_H

#include "echo-kernel-features.h"
#include "echo-tree-ensemble.h"

namespace ns3
{
namespace echo
{

/** How a slowdown is learned. */
struct SlowdownTraining
{
    BoostingSettings boosting;
    double huber{0.02};                //!< relative error of a time above which it counts linearly
    std::vector<std::string> features; //!< names; empty: all that the rows have
};

/**
 * Trains a model for LearnedSlowdown on kernels that were measured alone and beside communication.
 *
 * The trees give z, the logarithm of the factor. What is fitted is not the factor, which a short
 * overlap blows up, but the logarithm of the measured time: OverlapSample::GetTimeUs(exp(z))
 * against measuredUs, under Huber's loss, so that a kernel counts by how much its overlap matters
 * and outliers (a clock that changed between the two measurements) pull no more than others. Rows
 * without overlap are left out.
 *
 * @param source where the rows are from, kept in the model
 * @throws InputError if no row has overlap; UnsupportedError without XGBoost
 */
std::shared_ptr<const TreeEnsemble> TrainSlowdown(const std::vector<OverlapSample>& samples,
                                                  const SlowdownTraining& training,
                                                  const std::string& source);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SLOWDOWN_TRAINER_H */
