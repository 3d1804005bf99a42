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
    for (const auto& [key, sizes] : scales)
    {
        std::vector<Measurement> kept;
        double least = INFINITY; // over the larger sizes
        for (auto it = sizes.rbegin(); it != sizes.rend(); ++it)
        {
            const double time = TimeOf(it->second);
            if (time > FALL * least)
            {
                ++clean.falling;
                continue;
            }
            least = std::min(least, time);
            kept.push_back(it->second);
        }
        clean.rows.insert(clean.rows.end(), kept.rbegin(), kept.rend());
    }
    return clean;
}

} // namespace echo
} // namespace ns3
