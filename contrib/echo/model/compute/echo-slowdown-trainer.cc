// SPDX-License-Identifier: GPL-2.0-only
#include "echo-slowdown-trainer.h"

#include "ns3/echo-error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ns3
{
namespace echo
{

namespace
{

/** @return the median of what is known of a feature; not a number if nothing is */
float MedianOf(const std::vector<std::vector<float>>& rows, size_t feature)
{
    std::vector<float> values;
    for (const auto& row : rows)
    {
        if (!std::isnan(row[feature]))
        {
            values.push_back(row[feature]);
        }
    }
    if (values.empty())
    {
        return NAN;
    }
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/** @return places in MakeFeatures() of the features to learn from */
std::vector<size_t> ChooseFeatures(const std::vector<std::vector<float>>& rows,
                                   const std::vector<std::string>& wanted)
{
    const auto& names = GetFeatureNames();
    std::vector<size_t> chosen;
    for (size_t i = 0; i < names.size(); ++i)
    {
        const bool isWanted =
            wanted.empty() || std::find(wanted.begin(), wanted.end(), names[i]) != wanted.end();
        if (isWanted && !std::isnan(MedianOf(rows, i)))
        {
            chosen.push_back(i);
        }
    }
    return chosen;
}

} // namespace

std::shared_ptr<const TreeEnsemble> TrainSlowdown(const std::vector<OverlapSample>& samples,
                                                  const SlowdownTraining& training,
                                                  const std::string& source)
{
    std::vector<const OverlapSample*> used;
    std::vector<std::vector<float>> all;
    for (const auto& sample : samples)
    {
        if (sample.overlap > 0)
        {
            used.push_back(&sample);
            all.push_back(MakeFeatures(sample.description));
        }
    }
    if (used.empty())
    {
        throw InputError({samples.empty() ? "" : samples.front().file, 0, ""},
                         "no kernel that communication overlaps",
                         "one or more to learn from");
    }
    const std::vector<size_t> chosen = ChooseFeatures(all, training.features);
    std::vector<std::vector<float>> rows(all.size());
    std::vector<std::string> names;
    std::string defaults;
    for (const size_t feature : chosen)
    {
        names.push_back(GetFeatureNames()[feature]);
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", MedianOf(all, feature));
        defaults += (defaults.empty() ? "" : " ") + std::string(text);
        for (size_t i = 0; i < all.size(); ++i)
        {
            rows[i].push_back(all[i][feature]);
        }
    }
    const auto gradient = [&](const std::vector<float>& predictions,
                              std::vector<float>& first,
                              std::vector<float>& second) {
        for (size_t i = 0; i < used.size(); ++i)
        {
            // log T = log durationUs - log(1 - r + r / f), f = exp(z): d log T / dz = r / (f q),
            // q = 1 - r + r / f.
            const OverlapSample& sample = *used[i];
            const double factor = std::exp(predictions[i]);
            const double slope =
                sample.overlap / factor / (1 - sample.overlap + sample.overlap / factor);
            const double error = std::log(sample.GetTimeUs(factor) / sample.measuredUs);
            // Huber's loss by reweighting: quadratic near zero, linear beyond.
            const double weight = std::min(1.0, training.huber / std::max(std::fabs(error), 1e-12));
            first[i] = static_cast<float>(weight * error * slope);
            second[i] = static_cast<float>(std::max(1e-6, weight * slope * slope));
        }
    };
    BoostingSettings boosting = training.boosting;
    for (const std::string& name : names)
    {
        // A slower clock is never known to slow less; other directions are left to the rows.
        boosting.monotone.push_back(name == "clock" ? -1 : 0);
    }
    return TreeEnsemble::Train(
        rows,
        names,
        boosting,
        gradient,
        {{"echo_target", "log-factor"}, {"echo_defaults", defaults}, {"echo_source", source}});
}

} // namespace echo
} // namespace ns3
