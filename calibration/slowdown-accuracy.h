// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SLOWDOWN_ACCURACY_H
#define ECHO_SLOWDOWN_ACCURACY_H

#include "ns3/echo-learned-slowdown.h"
#include "ns3/echo-overlap-table-reader.h"
#include "ns3/echo-slowdown-trainer.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** How far times beside communication are from the measured ones, over overlapped kernels. */
struct OverlapAccuracy
{
    size_t kernels{0};
    double within5{0};  //!< share of the kernels whose time is within 5 % of the measured one
    double within10{0}; //!< the same, 10 %
    double within15{0}; //!< the same, 15 %
    double total{0};    //!< sum of the times over the sum of the measured ones, less 1
    double mean{1};     //!< mean over kernels of the estimated time over that alone
};

/** @param factors one a sample; samples without overlap do not count */
OverlapAccuracy JudgeFactors(const std::vector<OverlapSample>& samples,
                             const std::vector<double>& factors);

/** @return the factors of ConstantSlowdown with a file's factors for a GPU */
std::vector<double> GetConstantFactors(const std::vector<OverlapSample>& samples,
                                       const SlowdownFactors& factors);
/** @return the factors of LearnedSlowdown */
std::vector<double> GetLearnedFactors(const std::vector<OverlapSample>& samples,
                                      const LearnedSlowdown& model);

/** What is kept together when rows are held out. */
enum class HeldOut
{
    ROWS,   //!< nothing: other measurements of the same kernels stay in training
    KERNELS //!< all rows of a kernel's name: nothing of the kernel is known
};

/**
 * Learns from four fifths, five times over, and judges each fifth by the model that did not see it.
 * Clocks that EstimateClocks() found are found again from each part alone where rows are held out.
 * @param seed of the division
 * @return a factor a sample
 */
std::vector<double> CrossValidate(const std::vector<OverlapSample>& samples,
                                  const SlowdownTraining& training,
                                  HeldOut heldOut,
                                  uint32_t seed);

/** @return means of CrossValidate()'s accuracy over 5 divisions */
OverlapAccuracy JudgeHeldOut(const std::vector<OverlapSample>& samples,
                             const SlowdownTraining& training,
                             HeldOut heldOut);

/** Prints accuracies as a table for a terminal. */
void PrintAccuracy(std::ostream& out,
                   const std::vector<std::pair<std::string, OverlapAccuracy>>& rows);

/** Writes doc/accuracy-slowdown.md. @param root the project's folder */
void WriteSlowdownAccuracy(std::ostream& out, const std::string& root);

} // namespace echo
} // namespace ns3

#endif /* ECHO_SLOWDOWN_ACCURACY_H */
