// SPDX-License-Identifier: GPL-2.0-only
#include "calibration-report.h"

#include "ns3/echo-units.h"

#include <iomanip>
#include <iostream>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

std::string Percent(double value)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << std::setw(6) << value << " %";
    return text.str();
}

} // namespace

void PrintBands(const std::vector<Measurement>& rows, const std::vector<double>& estimates)
{
    const std::vector<uint64_t> edges{0, 65536, LARGE_BYTES, 16 * LARGE_BYTES, 256 * LARGE_BYTES};
    std::cout << "mean absolute error by size\n"
              << "operation       ranks hosts   < 64KiB  64KiB-1MiB   1-16MiB  16-256MiB  >= 256MiB"
              << "\n";
    for (const ResidualStatistics& scale : ComputeResiduals(rows, estimates, 0))
    {
        std::cout << std::left << std::setw(16) << ToString(scale.kind) << std::right
                  << std::setw(5) << scale.ranks << std::setw(6) << scale.hosts;
        for (size_t band = 0; band < edges.size(); ++band)
        {
            const uint64_t end = band + 1 < edges.size() ? edges[band + 1] : UINT64_MAX;
            std::vector<double> errors;
            for (size_t i = 0; i < rows.size(); ++i)
            {
                if (rows[i].kind == scale.kind && rows[i].ranks == scale.ranks &&
                    rows[i].hosts == scale.hosts && rows[i].bytes >= edges[band] &&
                    rows[i].bytes < end)
                {
                    errors.push_back(estimates[i] / TimeOf(rows[i]) - 1);
                }
            }
            std::cout << "   "
                      << (errors.empty() ? "     -  "
                                         : Percent(SummariseErrors(errors).meanPercent));
        }
        std::cout << "\n";
    }
}

void PrintRows(const std::vector<Measurement>& rows, const std::vector<RowEstimate>& estimates)
{
    std::cout << "operation       ranks hosts         bytes    measured    estimate     error  "
                 "algorithm protocol channels\n";
    for (size_t i = 0; i < rows.size(); ++i)
    {
        const double time = TimeOf(rows[i]);
        std::cout << std::left << std::setw(16) << ToString(rows[i].kind) << std::right
                  << std::setw(5) << rows[i].ranks << std::setw(6) << rows[i].hosts << std::setw(14)
                  << rows[i].bytes << std::fixed << std::setprecision(1) << std::setw(12) << time
                  << std::setw(12) << estimates[i].us << "  "
                  << Percent(100 * (estimates[i].us / time - 1)) << "  " << std::left
                  << std::setw(10) << ToString(estimates[i].choice.algorithm) << std::setw(9)
                  << ToString(estimates[i].choice.protocol) << std::right << std::setw(8)
                  << estimates[i].choice.channels << "\n";
    }
    std::cout << "\n";
}

void PrintStatistics(const std::string& title, const std::vector<ResidualStatistics>& list)
{
    std::cout << title << "\n"
              << "operation       ranks hosts  rows      mean    median       p90     worst\n";
    for (const ResidualStatistics& scale : list)
    {
        std::cout << std::left << std::setw(16) << ToString(scale.kind) << std::right
                  << std::setw(5) << scale.ranks << std::setw(6) << scale.hosts << std::setw(6)
                  << scale.rows << "  " << Percent(scale.meanPercent) << "  "
                  << Percent(scale.medianPercent) << "  " << Percent(scale.p90Percent) << "  "
                  << Percent(scale.worstPercent) << "\n";
    }
}

void PrintConstants(const MachineProfile& profile)
{
    std::cout << "constant                       value    95 % interval\n";
    MachineConstants constants = profile.constants;
    for (const ConstantInfo& info : GetConstantInfos())
    {
        const double value = info.access(constants);
        if (value <= 0)
        {
            continue;
        }
        const auto it = profile.intervals.find(info.name);
        std::cout << std::left << std::setw(24) << info.name << std::right << std::setw(12)
                  << std::defaultfloat << std::setprecision(4) << value << "    ";
        if (it == profile.intervals.end())
        {
            std::cout << "as believed before: the rows do not tell it";
        }
        else
        {
            std::cout << it->second.first << " to " << it->second.second;
        }
        std::cout << "\n";
    }
    for (const CalibratedRange& range : profile.ranges)
    {
        std::cout << "range: " << ToString(range.kind) << ", " << FormatBytes(range.minBytes)
                  << " to " << FormatBytes(range.maxBytes) << ", " << range.minRanks << " to "
                  << range.maxRanks << " ranks on " << range.minHosts << " to " << range.maxHosts
                  << " hosts\n";
    }
}

void PrintHeldOut(const std::vector<HeldOutScale>& scales)
{
    if (scales.empty())
    {
        std::cout << "one scale only: none can be held out\n";
        return;
    }
    std::vector<ResidualStatistics> large;
    std::vector<ResidualStatistics> all;
    for (const HeldOutScale& scale : scales)
    {
        if (scale.large.rows > 0)
        {
            large.push_back(scale.large);
        }
        all.push_back(scale.all);
    }
    PrintStatistics("each scale predicted from the others, 1 MiB and more", large);
    PrintStatistics("each scale predicted from the others, all sizes", all);
}

} // namespace echo
} // namespace ns3
