// SPDX-License-Identifier: GPL-2.0-only
#ifndef GEMM_POINTS_ACCURACY_H
#define GEMM_POINTS_ACCURACY_H

#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A GPU whose profile holds measured matrix products, and a cluster file that describes it. */
struct MeasuredProducts
{
    std::string gpu; //!< for the table
    std::string cluster;
};

/**
 * Writes how well the products of a compute profile are predicted: by the curve of efficiency
 * alone, by the other products, and by those of other matrices only (other columns or inner size).
 */
void WriteGemmPointAccuracy(std::ostream& out,
                            const std::string& profile,
                            const std::vector<MeasuredProducts>& gpus);

} // namespace echo
} // namespace ns3

#endif /* GEMM_POINTS_ACCURACY_H */
