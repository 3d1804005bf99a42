// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GEMM_POINTS_H
#define ECHO_GEMM_POINTS_H

#include "ns3/echo-enums.h"
#include "ns3/echo-kernel.h"
#include "ns3/nstime.h"

#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/** A measured matrix product of [rows x inner] by [inner x columns]. */
struct GemmPoint
{
    DataType type{DataType::FP16}; //!< of the inputs; FP16 and BF16 count as one
    uint32_t rows{0};
    uint32_t columns{0};
    uint32_t inner{0};
    Time time;        //!< above 0, launching included
    uint32_t line{0}; //!< of the file that it was read from; 0: none
};

/**
 * Interpolates over measured matrix products what a model of them misses: measured over modelled
 * time. A product's factor is that of its nearest points, weighted by the inverse square of their
 * distances (Shepard, ACM National Conference 1968), and tends to 1 away from all of them. The
 * distance is that of the logarithms of rows, columns and inner size.
 */
class GemmPoints
{
  public:
    /** Seconds that the model gives a product; below or equal 0: none. */
    using Model = std::function<double(const GemmPoint&)>;

    GemmPoints() = default;
    GemmPoints(const std::vector<GemmPoint>& points, const Model& model);

    struct Correction
    {
        double factor{1};      //!< on the model's time
        double distance{1e99}; //!< of the nearest point
    };

    bool IsEmpty() const
    {
        return m_entries.empty();
    }

    /** @return the factor for a product in @p type; {1, far} for batches, which were not measured
     */
    Correction Find(DataType type, const KernelShape& shape) const;

  private:
    struct Entry
    {
        DataType type;
        std::array<double, 3> place; //!< logarithms of rows, columns, inner
        double logFactor;
    };

    Correction Interpolate(DataType type, const KernelShape& shape) const;

    std::vector<Entry> m_entries;
    /// Steps repeat few products many times.
    mutable std::map<std::tuple<DataType, uint32_t, uint32_t, uint32_t>, Correction> m_known;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_GEMM_POINTS_H */
