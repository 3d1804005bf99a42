// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bars.h"

#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-units.h"

#include <iomanip>
#include <ostream>
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
    text << std::fixed << std::setprecision(1) << value;
    return text.str();
}

ResidualStatistics ErrorsFrom(const std::vector<Measurement>& rows,
                              const std::vector<double>& estimates,
                              uint64_t minBytes)
{
    std::vector<double> errors;
    for (size_t i = 0; i < rows.size() && i < estimates.size(); ++i)
    {
        if (rows[i].bytes >= minBytes)
        {
            errors.push_back(estimates[i] / TimeOf(rows[i]) - 1);
        }
    }
    return SummariseErrors(errors);
}

/** Mean, median, 90th percentile and worst as one cell; a dash without rows. */
std::string Cell(const ResidualStatistics& errors)
{
    return errors.rows == 0
               ? "-"
               : Percent(errors.meanPercent) + ", " + Percent(errors.medianPercent) + ", " +
                     Percent(errors.p90Percent) + ", " + Percent(errors.worstPercent);
}

} // namespace

void WriteBarColumns(std::ostream& out)
{
    out << "| kind | machine | from | rows | Echo | NCCL's own | alpha-beta fit | bar | |\n"
        << "|---|---|---:|---:|---|---|---|---:|---|\n";
}

void WriteBars(std::ostream& out,
               const std::string& kind,
               const std::string& machine,
               const std::vector<AccuracyBar>& bars,
               const std::vector<Measurement>& rows,
               const std::vector<double>& estimates,
               const Baselines& baselines)
{
    for (const AccuracyBar& bar : bars)
    {
        const ResidualStatistics echo = ErrorsFrom(rows, estimates, bar.minBytes);
        const bool met = echo.rows > 0 && echo.meanPercent <= bar.percent;
        out << "| " << kind << " | " << machine << " | "
            << (bar.minBytes > 0 ? FormatBytes(bar.minBytes) : "all") << " | " << echo.rows << " | "
            << Cell(echo) << " | "
            << Cell(ErrorsFrom(baselines.tuned, baselines.nccl, bar.minBytes)) << " | "
            << Cell(ErrorsFrom(rows, baselines.plain, bar.minBytes)) << " | "
            << Percent(bar.percent) << " | " << (met ? "met" : "missed") << " |\n";
    }
}

void PooledRows::Add(const std::string& kind,
                     const std::string& pool,
                     const std::vector<AccuracyBar>& bars,
                     const std::vector<Measurement>& rows,
                     const std::vector<double>& estimates,
                     const Baselines& baselines)
{
    if (pool.empty())
    {
        return;
    }
    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    Pool& all = m_pools[{kind, pool}];
    all.bars = bars;
    append(all.rows, rows);
    append(all.estimates, estimates);
    append(all.baselines.tuned, baselines.tuned);
    append(all.baselines.nccl, baselines.nccl);
    append(all.baselines.plain, baselines.plain);
}

void PooledRows::Write(std::ostream& out) const
{
    for (const auto& [name, pool] : m_pools)
    {
        WriteBars(
            out, name.first, name.second, pool.bars, pool.rows, pool.estimates, pool.baselines);
    }
}

} // namespace echo
} // namespace ns3
