// SPDX-License-Identifier: GPL-2.0-only
#include "echo-gemm-points.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

// calibration/compute/README.md has the errors for products that were left out.
const size_t NEIGHBOURS = 8;
const double REACH = 0.7; //!< distance at which a factor's logarithm has shrunk to 1/e: a factor of
                          //!< two in one size

/** FP16 and BF16 run at the same rates. */
DataType ClassOf(DataType type)
{
    return type == DataType::BF16 ? DataType::FP16 : type;
}

std::array<double, 3> PlaceOf(double rows, double columns, double inner)
{
    return {std::log(rows), std::log(columns), std::log(inner)};
}

} // namespace

GemmPoints::GemmPoints(const std::vector<GemmPoint>& points, const Model& model)
{
    for (const GemmPoint& point : points)
    {
        const double modelled = model(point);
        if (modelled > 0)
        {
            m_entries.push_back({ClassOf(point.type),
                                 PlaceOf(point.rows, point.columns, point.inner),
                                 std::log(point.time.GetSeconds() / modelled)});
        }
    }
}

GemmPoints::Correction GemmPoints::Find(DataType type, const KernelShape& shape) const
{
    if (m_entries.empty() || shape.batch > 1 || shape.rows == 0 || shape.columns == 0 ||
        shape.inner == 0)
    {
        return {};
    }
    const auto [known, isNew] = m_known.emplace(
        std::make_tuple(ClassOf(type), shape.rows, shape.columns, shape.inner), Correction());
    if (isNew)
    {
        known->second = Interpolate(ClassOf(type), shape);
    }
    return known->second;
}

GemmPoints::Correction GemmPoints::Interpolate(DataType type, const KernelShape& shape) const
{
    const std::array<double, 3> place = PlaceOf(shape.rows, shape.columns, shape.inner);
    std::vector<std::pair<double, double>> near; // squared distance, logarithm of the factor
    for (const Entry& entry : m_entries)
    {
        if (entry.type == type)
        {
            double square = 0;
            for (size_t i = 0; i < place.size(); ++i)
            {
                square += (place[i] - entry.place[i]) * (place[i] - entry.place[i]);
            }
            near.emplace_back(square, entry.logFactor);
        }
    }
    if (near.empty())
    {
        return {};
    }
    const size_t count = std::min(NEIGHBOURS, near.size());
    std::partial_sort(near.begin(), near.begin() + static_cast<ptrdiff_t>(count), near.end());
    if (near.front().first < 1e-12)
    {
        return {std::exp(near.front().second), 0};
    }
    double weights = 0;
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
    {
        weights += 1 / near[i].first;
        sum += near[i].second / near[i].first;
    }
    const double trust = std::exp(-near.front().first / (REACH * REACH));
    return {std::exp(trust * sum / weights), std::sqrt(near.front().first)};
}

} // namespace echo
} // namespace ns3
