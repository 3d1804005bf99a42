// SPDX-License-Identifier: GPL-2.0-only
// Why an estimate is outside what was measured.
#include "echo-white-box-cost-model.h"

#include "ns3/echo-units.h"

#include <cmath>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

/** Links this much slower or faster than a profile's are other links, not the same ones rounded. */
constexpr double OTHER_LINK = 0.99;

std::string OutOf(const std::string& found, const std::string& least, const std::string& most)
{
    return found + ", calibrated with " + (least == most ? least : least + " to " + most);
}

std::string OutOf(uint32_t found, uint32_t least, uint32_t most, const char* what)
{
    return OutOf(std::to_string(found) + what, std::to_string(least), std::to_string(most));
}

} // namespace

std::string WhiteBoxCostModel::ExplainExtrapolation(CollectiveKind kind,
                                                    uint64_t bytes,
                                                    const GroupShape& shape) const
{
    const CalibratedRange* range = m_profile->FindRange(kind);
    if (m_profile->ranges.empty())
    {
        return "profile " + m_profile->name + " has no measurements of its own";
    }
    if (!range)
    {
        return std::string(ToString(kind)) + " is not calibrated in profile " + m_profile->name +
               ": constants of its other operations";
    }
    if (shape.ranks < range->minRanks || shape.ranks > range->maxRanks)
    {
        return OutOf(shape.ranks, range->minRanks, range->maxRanks, " ranks");
    }
    if (shape.hosts < range->minHosts || shape.hosts > range->maxHosts)
    {
        return OutOf(shape.hosts, range->minHosts, range->maxHosts, " hosts");
    }
    if (shape.localRanks < range->minLocalRanks || shape.localRanks > range->maxLocalRanks)
    {
        return OutOf(shape.localRanks, range->minLocalRanks, range->maxLocalRanks, " ranks a host");
    }
    if (bytes < range->minBytes || bytes > range->maxBytes)
    {
        return OutOf(
            FormatBytes(bytes), FormatBytes(range->minBytes), FormatBytes(range->maxBytes));
    }
    return "";
}

std::string WhiteBoxCostModel::ExplainLinks(const GroupShape& shape, const LinkRates& links) const
{
    const auto explain = [this](double rate, double measured, const char* what) {
        std::ostringstream text;
        text << what << " of " << rate << " GB/s, in profile " << m_profile->name << " "
             << measured;
        return text.str();
    };
    // Slower ones bound the estimate; of faster ones it has only what the profile's sustain.
    const auto other = [](double rate, double measured) {
        return measured > 0 && (rate < OTHER_LINK * measured ||
                                (std::isfinite(rate) && rate * OTHER_LINK > measured));
    };
    if (shape.localRanks > 1 && other(links.gpuGBps, m_profile->linkGpuGBps))
    {
        return explain(links.gpuGBps, m_profile->linkGpuGBps, "GPUs with links");
    }
    if (shape.hosts > 1 && other(links.nicGBps, m_profile->linkNicGBps))
    {
        return explain(links.nicGBps, m_profile->linkNicGBps, "NICs");
    }
    return "";
}

std::string WhiteBoxCostModel::ExplainUneven(const GroupLayout& layout)
{
    if (!NicLoads::IsUneven(layout))
    {
        return "";
    }
    return "hosts of " + std::to_string(layout.minLocal) + " to " +
           std::to_string(layout.maxLocal) + " ranks, calibrated with equal ones";
}

} // namespace echo
} // namespace ns3
