// SPDX-License-Identifier: GPL-2.0-only
// Groups whose hosts have different numbers of members.
#include "echo-white-box-cost-model.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

double WhiteBoxCostModel::GetNicUs(const CollectivePlan& plan, const GroupShape& shape) const
{
    if (plan.spec.bytes == 0)
    {
        return 0; // a barrier
    }
    const auto bytes = static_cast<double>(plan.spec.bytes);
    const AlgorithmProtocol how{plan.choice.algorithm, plan.choice.protocol};
    const auto countChannels = [&](AlgorithmProtocol way, double size) {
        return NcclChannelsUsed(m_profile->nccl, way, size, shape);
    };
    const bool isAsked = plan.choice.channels != std::ceil(countChannels(how, bytes));
    const auto usOf = [&](AlgorithmProtocol way, double size) {
        // Channels come one by one as bytes grow, each with as many as the others: so time grows.
        const double used = isAsked ? std::max(plan.choice.channels, 1u) : countChannels(way, size);
        CollectivePlan counted = plan;
        counted.choice.algorithm = way.algorithm;
        counted.choice.channels = static_cast<uint32_t>(std::ceil(used));
        return m_nicLoads.GetUsPerByte(counted) * size * counted.choice.channels / used;
    };
    double longest = usOf(how, bytes);
    if (IsPairwise(plan.spec.kind) || m_profile->selection != SelectionRule::TUNER)
    {
        return longest;
    }
    // Nor does the time fall where NCCL picks another algorithm.
    for (const NcclPick& pick : GetPicks(plan.spec, shape, GetLinks(plan.layout)))
    {
        if (pick.maxBytes >= bytes)
        {
            break;
        }
        longest = std::max(longest, usOf(pick.how, pick.maxBytes));
    }
    return longest;
}

void WhiteBoxCostModel::BoundByNics(const CollectivePlan& plan,
                                    const GroupShape& shape,
                                    CostTerms& terms) const
{
    const double lacking = GetNicUs(plan, shape) - (terms.GetTotal() - terms.setup);
    terms.inter += std::max(0.0, lacking);
}

} // namespace echo
} // namespace ns3
