// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROFILE_FITTER_H
#define ECHO_PROFILE_FITTER_H

#include "echo-machine-profile.h"
#include "echo-measurement.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Fits a profile's constants to measurements (Ceres Solver).
 *
 * Minimised over the logarithms of the constants: the sum over rows of a robust loss (soft L1 from
 * 5 % on) of log(estimate / measured), plus for each constant ((log - log of its prior) / spread)^2
 * weighed as one row of 5 %: what the rows do not say stays as the prior has it. Each row is
 * estimated with the algorithm and protocol that NCCL's tuner picks for it. No constant belongs to
 * a row, a size or a scale.
 */
class ProfileFitter
{
  public:
    /** A fit and what was left of the cost. */
    struct Result
    {
        MachineProfile profile;
        double cost{0};
    };

    /** @param prior structure of the machine, and constants as believed before measuring */
    explicit ProfileFitter(MachineProfile prior);

    /** Has the fit find intervals of the constants too, which takes longer. */
    void FindIntervals()
    {
        m_intervals = true;
    }

    /**
     * @param rows cleaned up
     * @return the prior with fitted constants (four digits), ranges and residuals
     * @throws InputError if there are no rows
     */
    Result Fit(const std::vector<Measurement>& rows) const;

  private:
    MachineProfile m_prior;  //!< start and centre
    bool m_intervals{false}; //!< find confidence intervals too
};

/** One operation and scale as a fit to all others predicts it. */
struct HeldOutScale
{
    ResidualStatistics large; //!< rows of 1 MiB and more
    ResidualStatistics all;   //!< all rows
};

/** @return every operation and scale held out in turn; nothing if there is just one */
std::vector<HeldOutScale> LeaveOneScaleOut(const ProfileFitter& fitter,
                                           const std::vector<Measurement>& rows);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROFILE_FITTER_H */
