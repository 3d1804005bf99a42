// SPDX-License-Identifier: GPL-2.0-only
#include "echo-size-distribution.h"

#include "echo-error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace ns3
{
namespace echo
{

SizeDistribution::SizeDistribution(uint64_t bytes) : m_points{{bytes, 0}, {bytes, 1}}
{
}

SizeDistribution::SizeDistribution(std::vector<Point> points) : m_points(std::move(points))
{
    for (size_t i = 0; i < m_points.size(); ++i)
    {
        const Point& point = m_points[i];
        const bool grows = i == 0 || (point.bytes > m_points[i - 1].bytes &&
                                      point.cumulative >= m_points[i - 1].cumulative);
        if (!grows || !(point.cumulative >= 0) || point.cumulative > 1)
        {
            throw InputError({"", 0, "point " + std::to_string(i + 1)},
                             std::to_string(point.bytes) + " B with a cumulative chance of " +
                                 std::to_string(point.cumulative),
                             "sizes that grow with chances that do not fall, up to 1");
        }
    }
    if (m_points.empty() || m_points.back().cumulative != 1)
    {
        throw InputError({"", 0, "last point"},
                         m_points.empty() ? "none" : std::to_string(m_points.back().cumulative),
                         "a cumulative chance of 1");
    }
    if (m_points.front().cumulative > 0)
    {
        m_points.insert(m_points.begin(), Point{m_points.front().bytes, 0});
    }
}

uint64_t SizeDistribution::At(double uniform) const
{
    // The first point above; the last one's chance of 1 is.
    const auto above = std::upper_bound(
        m_points.begin() + 1, m_points.end() - 1, uniform, [](double u, const Point& point) {
            return u < point.cumulative;
        });
    const Point& a = *(above - 1);
    const Point& b = *above;
    const double rise = b.cumulative - a.cumulative;
    const double part = rise > 0 ? (uniform - a.cumulative) / rise : 0;
    const double bytes =
        static_cast<double>(a.bytes) + part * static_cast<double>(b.bytes - a.bytes);
    return std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(bytes)));
}

double SizeDistribution::GetMean() const
{
    double mean = 0;
    for (size_t i = 1; i < m_points.size(); ++i)
    {
        mean += (m_points[i].cumulative - m_points[i - 1].cumulative) *
                static_cast<double>(m_points[i].bytes + m_points[i - 1].bytes) / 2;
    }
    return std::max(mean, 1.0);
}

} // namespace echo
} // namespace ns3
