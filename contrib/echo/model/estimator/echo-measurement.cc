// SPDX-License-Identifier: GPL-2.0-only
#include "echo-measurement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

double TimeOf(const Measurement& row)
{
    if (row.inPlaceUs > 0 && row.outOfPlaceUs > 0)
    {
        return std::min(row.inPlaceUs, row.outOfPlaceUs);
    }
    return std::max(row.inPlaceUs, row.outOfPlaceUs);
}

namespace
{

/**
 * @return the median time of the rows from 2/3 to 3/2 of each row's size: of a sweep that doubles
 *         the row's own, of a dense one what a single quick row does not change
 */
std::vector<double> TypicalTimes(const std::vector<Measurement>& sizes)
{
    std::vector<double> typical;
    std::vector<double> window;
    size_t begin = 0;
    size_t end = 0;
    for (const Measurement& row : sizes)
    {
        while (3 * sizes[begin].bytes < 2 * row.bytes)
        {
            ++begin;
        }
        while (end < sizes.size() && 2 * sizes[end].bytes <= 3 * row.bytes)
        {
            ++end;
        }
        window.clear();
        for (size_t i = begin; i < end; ++i)
        {
            window.push_back(TimeOf(sizes[i]));
        }
        const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
        std::nth_element(window.begin(), middle, window.end());
        typical.push_back(*middle);
    }
    return typical;
}

} // namespace

CleanMeasurements CleanUp(std::vector<Measurement> rows)
{
    constexpr double FALL = 1.25;
    CleanMeasurements clean;
    using Scale = std::tuple<CollectiveKind, uint32_t, uint32_t>;
    std::map<Scale, std::map<uint64_t, Measurement>> scales;
    for (const Measurement& row : rows)
    {
        if (row.wrongElements > 0)
        {
            ++clean.wrong;
            continue;
        }
        if (row.ranks < 2)
        {
            ++clean.alone;
            continue;
        }
        if (row.bytes == 0 || !(TimeOf(row) > 0))
        {
            ++clean.empty;
            continue;
        }
        auto& scale = scales[{row.kind, row.ranks, row.hosts}];
        const auto [it, added] = scale.emplace(row.bytes, row);
        if (!added && TimeOf(row) < TimeOf(it->second))
        {
            it->second = row;
        }
    }
    for (const auto& [key, bySize] : scales)
    {
        std::vector<Measurement> sizes;
        for (const auto& [bytes, row] : bySize)
        {
            sizes.push_back(row);
        }
        const std::vector<double> typical = TypicalTimes(sizes);
        std::vector<Measurement> kept;
        double least = INFINITY; // over the larger sizes
        for (size_t i = sizes.size(); i-- > 0;)
        {
            if (TimeOf(sizes[i]) > FALL * least)
            {
                ++clean.falling;
            }
            else
            {
                kept.push_back(sizes[i]);
            }
            least = std::min(least, typical[i]);
        }
        clean.rows.insert(clean.rows.end(), kept.rbegin(), kept.rend());
    }
    return clean;
}

} // namespace echo
} // namespace ns3
