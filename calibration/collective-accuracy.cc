// SPDX-License-Identifier: GPL-2.0-only
#include "collective-accuracy.h"

#include "collective-bars.h"

#include "ns3/echo-nccl-selector.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-nccl-tuner.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-units.h"

#include <cmath>
#include <iomanip>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

using Scale = std::tuple<CollectiveKind, uint32_t, uint32_t>;

Scale ScaleOf(const Measurement& row)
{
    return {row.kind, row.ranks, row.hosts};
}

double LoadOf(const Measurement& row)
{
    return BusBandwidthFactor(row.kind, row.ranks) * static_cast<double>(row.bytes);
}

std::string Digits(double value, int digits, bool sign = false)
{
    std::ostringstream text;
    text << (sign ? std::showpos : std::noshowpos) << std::fixed << std::setprecision(digits)
         << value;
    return text.str();
}

/** Microseconds with three or four significant digits. */
std::string Time(double us)
{
    return Digits(us, us < 100 ? 1 : 0);
}

/** Times of one operation. */
void WriteRows(std::ostream& out,
               CollectiveKind kind,
               const std::vector<Measurement>& rows,
               const std::vector<double>& estimates)
{
    out << ToString(kind) << ", times in microseconds, errors in percent:\n\n";
    std::set<Scale> scales;
    std::set<uint64_t> sizes;
    std::map<std::pair<uint64_t, Scale>, size_t> index;
    for (size_t i = 0; i < rows.size(); ++i)
    {
        if (rows[i].kind != kind)
        {
            continue;
        }
        scales.insert(ScaleOf(rows[i]));
        sizes.insert(rows[i].bytes);
        index[{rows[i].bytes, ScaleOf(rows[i])}] = i;
    }
    out << "| size |";
    for (const Scale& scale : scales)
    {
        out << " " << std::get<1>(scale) << " GPUs, " << std::get<2>(scale)
            << " hosts | estimate | error |";
    }
    out << "\n|---:|";
    for (size_t i = 0; i < scales.size(); ++i)
    {
        out << "---:|---:|---:|";
    }
    out << "\n";
    for (const uint64_t bytes : sizes)
    {
        out << "| " << FormatBytes(bytes) << " |";
        for (const Scale& scale : scales)
        {
            const auto it = index.find({bytes, scale});
            if (it == index.end())
            {
                out << " | | |";
                continue; // not measured
            }
            const double measured = TimeOf(rows[it->second]);
            const double estimate = estimates[it->second];
            out << " " << Time(measured) << " | " << Time(estimate) << " | "
                << Digits(100 * (estimate / measured - 1), 1, true) << " |";
        }
        out << "\n";
    }
}

void WriteStatistics(std::ostream& out,
                     const std::string& model,
                     const std::vector<Measurement>& rows,
                     const std::vector<double>& estimates,
                     uint64_t minBytes)
{
    for (const ResidualStatistics& scale : ComputeResiduals(rows, estimates, minBytes))
    {
        out << "| " << model << " | " << ToString(scale.kind) << " | " << scale.ranks << " | "
            << scale.hosts << " | " << scale.rows << " | " << Digits(scale.meanPercent, 1) << " | "
            << Digits(scale.medianPercent, 1) << " | " << Digits(scale.p90Percent, 1) << " | "
            << Digits(scale.worstPercent, 1) << " |\n";
    }
}

} // namespace

AlphaBetaFit::AlphaBetaFit(const std::vector<Measurement>& rows)
{
    for (size_t between = 0; between < 2; ++between)
    {
        // For a ratio r = alpha / beta the best beta has a closed form: the mean of the logs of
        // time / (r + x). So the fit is a search over one number.
        const auto fitBeta = [&](double ratio, double& error) {
            double sum = 0;
            double squares = 0;
            double count = 0;
            for (const Measurement& row : rows)
            {
                if ((row.hosts > 1) == (between == 1))
                {
                    const double log = std::log(TimeOf(row) / (ratio + LoadOf(row)));
                    sum += log;
                    squares += log * log;
                    ++count;
                }
            }
            error = count > 0 ? squares - sum * sum / count : 0;
            return count > 0 ? std::exp(sum / count) : 0;
        };
        double least = INFINITY;
        for (double step = 0; step <= 1000; ++step)
        {
            const double ratio = std::exp2(step * 0.03); // 1 B to 1 GiB
            double error = 0;
            const double beta = fitBeta(ratio, error);
            if (error < least)
            {
                least = error;
                m_beta[between] = beta;
                m_alpha[between] = beta * ratio;
            }
        }
    }
}

double AlphaBetaFit::Estimate(const Measurement& row) const
{
    const size_t between = row.hosts > 1 ? 1 : 0;
    return m_alpha[between] + m_beta[between] * LoadOf(row);
}

namespace
{

/** @return what NCCL's own model expects for a row by its own choice, us; nothing for grouped sends
 *          and receives, for which it has none */
std::optional<double> NcclModelTime(const MachineProfile& profile, const Measurement& row)
{
    if (row.kind == CollectiveKind::ALL_TO_ALL || row.kind == CollectiveKind::SEND_RECV)
    {
        return std::nullopt;
    }
    const NcclTuner tuner(EnvironmentOf(profile.nccl, row),
                          EvenShape(row.ranks, row.hosts, profile.nicsPerHost));
    return tuner.GetTime(row.kind, tuner.Choose(row.kind, row.bytes), row.bytes).value();
}

} // namespace

Baselines EstimateBaselines(const MachineProfile& profile,
                            const AlphaBetaFit* alphaBeta,
                            const std::vector<Measurement>& rows)
{
    Baselines baselines;
    for (const Measurement& row : rows)
    {
        if (const auto time = NcclModelTime(profile, row))
        {
            baselines.tuned.push_back(row);
            baselines.nccl.push_back(*time);
        }
        if (alphaBeta)
        {
            baselines.plain.push_back(alphaBeta->Estimate(row));
        }
    }
    return baselines;
}

void WriteAccuracy(std::ostream& out,
                   std::ostream& bars,
                   PooledRows& pooled,
                   const MeasuredMachine& machine)
{
    const MachineProfile profile = ReadProfile(YamlNode::LoadFile(machine.profile));
    const std::vector<Measurement> rows = CleanUp(ReadNcclTests(machine.table, {})).rows;
    const AlphaBetaFit alphaBeta(rows);
    const std::vector<double> estimates = EstimateRows(profile, rows);
    const Baselines baselines = EstimateBaselines(profile, &alphaBeta, rows);
    constexpr AccuracyBar LARGE{LARGE_BYTES, 4};
    constexpr AccuracyBar ALL{0, 8};
    WriteBars(bars, "in sample", machine.title, {LARGE, ALL}, rows, estimates, baselines);
    pooled.Add("in sample", machine.pool, {LARGE, ALL}, rows, estimates, baselines);
    out << "## " << machine.title << "\n\n"
        << "Measured: " << profile.source << ".\n\n"
        << "Absolute error in percent, in sample.\n\n";
    for (const uint64_t minBytes : {LARGE_BYTES, uint64_t{0}})
    {
        out << (minBytes > 0 ? "1 MiB and more:" : "All sizes:") << "\n\n"
            << "| model | operation | GPUs | hosts | rows | mean | median | p90 | worst |\n"
            << "|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
        WriteStatistics(out, "Echo, profile " + profile.name, rows, estimates, minBytes);
        WriteStatistics(out,
                        "NCCL's own (" + profile.nccl.version + ")",
                        baselines.tuned,
                        baselines.nccl,
                        minBytes);
        WriteStatistics(out, "alpha-beta fit", rows, baselines.plain, minBytes);
        out << "\n";
    }
    std::set<CollectiveKind> kinds;
    for (const Measurement& row : rows)
    {
        kinds.insert(row.kind);
    }
    for (const CollectiveKind kind : kinds)
    {
        WriteRows(out, kind, rows, estimates);
        out << "\n";
    }
}

} // namespace echo
} // namespace ns3
