// SPDX-License-Identifier: GPL-2.0-only
#include "collective-extrapolation.h"

#include "collective-accuracy.h"
#include "profile-search.h"

#include "ns3/echo-error.h"
#include "ns3/echo-nccl-chunks.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-profile-fitter.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-units.h"
#include "ns3/echo-white-box-terms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

std::string Digits(double value, int digits)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

void WriteErrors(std::ostream& out,
                 const std::string& title,
                 const std::string& model,
                 const std::vector<Measurement>& rows,
                 const std::vector<double>& estimates)
{
    for (const uint64_t minBytes : {LARGE_BYTES, uint64_t{1024}})
    {
        for (const ResidualStatistics& scale : ComputeResiduals(rows, estimates, minBytes))
        {
            out << "| " << title << " | " << model << " | " << ToString(scale.kind) << " | "
                << scale.ranks << " | " << scale.hosts << " | " << FormatBytes(minBytes) << " | "
                << scale.rows << " | " << Digits(scale.meanPercent, 1) << " | "
                << Digits(scale.medianPercent, 1) << " | " << Digits(scale.p90Percent, 1) << " | "
                << Digits(scale.worstPercent, 1) << " |\n";
        }
    }
}

/** NCCL's own model and the alpha-beta fit, on the rows that they are for. */
void WriteBaselines(std::ostream& out,
                    const std::string& title,
                    const MachineProfile& profile,
                    const std::vector<Measurement>& rows,
                    const Baselines& baselines)
{
    WriteErrors(
        out, title, "NCCL's own (" + profile.nccl.version + ")", baselines.tuned, baselines.nccl);
    if (!baselines.plain.empty())
    {
        WriteErrors(out, title, "alpha-beta fit", rows, baselines.plain);
    }
}

/** @return a machine's constants, fitted from those of any machine with its links and NCCL */
ProfileFitter::Result Fit(const MachineProfile& whole,
                          double eagerBytes,
                          const FabricHabits& habits,
                          const std::vector<Measurement>& rows)
{
    NcclEnvironment nccl = whole.nccl;
    nccl.eagerBytes = eagerBytes;
    MachineProfile prior =
        MakePriorProfile(nccl, 0.8 * whole.linkGpuGBps, 0.95 * whole.linkNicGBps);
    prior.linkGpuGBps = whole.linkGpuGBps;
    prior.linkNicGBps = whole.linkNicGBps;
    prior.nicsPerHost = whole.nicsPerHost;
    prior.oneThreadPerHost = whole.oneThreadPerHost;
    prior.name = whole.name;
    prior.constants.treeBurstBytes = habits.burstBytes;
    prior.constants.copyUs = habits.copyUs;
    return ProfileFitter(prior).Fit(rows);
}

/**
 * @return constants fitted to rows of few hosts; what NCCL finds in the machine is known without a
 *         measurement, which messages are served is not
 */
MachineProfile FitToFew(const MachineProfile& whole, const std::vector<Measurement>& rows)
{
    ProfileFitter::Result best;
    double least = INFINITY;
    for (const double eagerBytes : ListEagerSizes())
    {
        for (const FabricHabits& habits : ListHabits(eagerBytes))
        {
            const ProfileFitter::Result result = Fit(whole, eagerBytes, habits, rows);
            if (BelievedCost(result) < SURELY_LESS * least)
            {
                least = BelievedCost(result);
                best = result;
            }
        }
    }
    return best.profile;
}

} // namespace

void WriteExtrapolation(std::ostream& out,
                        std::ostream& bars,
                        PooledRows& pooled,
                        const ExtrapolatedMachine& machine)
{
    const MachineProfile whole = ReadProfile(YamlNode::LoadFile(machine.profile));
    std::vector<Measurement> seen;
    std::vector<Measurement> unseen;
    std::vector<Measurement> all = CleanUp(ReadNcclTests(machine.table, {})).rows;
    if (!machine.further.empty())
    {
        const auto further = CleanUp(ReadNcclTests(machine.further, {})).rows;
        all.insert(all.end(), further.begin(), further.end());
    }
    for (Measurement row : all)
    {
        row.oneThread = row.threadKnown ? row.oneThread : whole.oneThreadPerHost && row.hosts == 1;
        if (row.hosts <= machine.mostHosts)
        {
            seen.push_back(row);
        }
        else if (row.hosts > machine.beyond && row.hosts <= machine.upTo)
        {
            unseen.push_back(row);
        }
    }
    const MachineProfile fitted = FitToFew(whole, seen);
    const std::string title =
        machine.title + ", fitted on up to " + std::to_string(machine.mostHosts);
    const std::vector<double> estimates = EstimateRows(fitted, unseen);
    const AlphaBetaFit alphaBeta(seen);
    const Baselines baselines = EstimateBaselines(fitted, &alphaBeta, unseen);
    WriteErrors(out, title, "Echo", unseen, estimates);
    WriteBaselines(out, title, fitted, unseen, baselines);
    WriteBars(bars, "extrapolated", title, machine.bars, unseen, estimates, baselines);
    for (const std::string& pool : machine.pools)
    {
        pooled.Add("extrapolated", pool, machine.bars, unseen, estimates, baselines);
    }
}

namespace
{

/** What a profile makes of the rows of a machine that it was not fitted to. */
struct Transfer
{
    explicit Transfer(const TransferredMachine& machine)
        : profile(ReadFor(machine)),
          rows(CleanUp(ReadNcclTests(machine.table, {})).rows),
          title(machine.title + ", profile " + profile.name),
          estimates(EstimateRows(profile, rows)),
          baselines(EstimateBaselines(profile, nullptr, rows))
    {
    }

    static MachineProfile ReadFor(const TransferredMachine& machine)
    {
        MachineProfile read = ReadProfile(YamlNode::LoadFile(machine.profile));
        if (machine.isCrossNicDefault)
        {
            read.nccl.returnPathGBps = 0;
        }
        read.nccl.version = machine.nccl.empty() ? read.nccl.version : machine.nccl;
        return read;
    }

    void Write(std::ostream& out) const
    {
        WriteErrors(out, title, "Echo", rows, estimates);
        WriteBaselines(out, title, profile, rows, baselines);
    }

    MachineProfile profile;
    std::vector<Measurement> rows;
    std::string title;
    std::vector<double> estimates;
    Baselines baselines;
};

} // namespace

void WriteTransfer(std::ostream& out,
                   std::ostream& bars,
                   PooledRows& pooled,
                   const TransferredMachine& machine)
{
    const Transfer one(machine);
    one.Write(out);
    const std::vector<AccuracyBar> most{{LARGE_BYTES, 12}};
    WriteBars(bars, "transferred", one.title, most, one.rows, one.estimates, one.baselines);
    pooled.Add("transferred", machine.pool, most, one.rows, one.estimates, one.baselines);
}

void WriteHeldOut(std::ostream& out, const TransferredMachine& machine)
{
    Transfer(machine).Write(out);
}

void WriteTable6(std::ostream& out, const std::string& table, const std::string& path)
{
    const MachineProfile profile = ReadProfile(YamlNode::LoadFile(path));
    const GroupShape shape = EvenShape(32, 4, profile.nicsPerHost);
    std::ifstream in(table);
    if (!in)
    {
        throw InputError({table, 0, ""}, "no readable file", "the Echo paper's Table 6");
    }
    out << "| size | chunk, paper | chunk, Echo | paper's rows and 35 us | Echo, tree LL128 | "
           "difference | least by NVLink |\n|---:|---:|---:|---:|---:|---:|---:|\n";
    std::string line;
    while (std::getline(in, line))
    {
        std::istringstream cells(line);
        std::array<double, 5> values{};
        char comma = ',';
        bool whole = true;
        for (size_t i = 0; i < values.size(); ++i)
        {
            whole = whole && (i == 0 || cells >> comma) && cells >> values[i];
        }
        if (!whole)
        {
            continue; // comments and header
        }
        CostQuery query;
        query.kind = CollectiveKind::ALL_REDUCE;
        query.bytes = values[0];
        query.how = {CollectiveAlgorithmKind::TREE, CollectiveProtocol::LL128};
        const double channels = NcclChannels(profile.nccl, shape);
        const double chunk = NcclTreeChunks(CollectiveProtocol::LL128, shape, values[0] / channels)
                                 .front()
                                 .chunkBytes;
        const double paper = values[2] + values[3] + values[4] + 35;
        const double echo = EvaluateWhiteBox(profile, shape, query).GetTotal();
        // A GPU sends nearly twice the buffer to its host's others, whatever ring or tree.
        const double ranks = shape.ranks;
        const double least = 2 * values[0] * (ranks - 1) / ranks / (1000 * profile.linkGpuGBps);
        out << "| " << FormatBytes(static_cast<uint64_t>(values[0])) << " | "
            << Digits(values[1] * 1000, 0) << " | " << Digits(chunk, 0) << " | " << Digits(paper, 0)
            << " | " << Digits(echo, 0) << " | " << Digits(100 * (echo / paper - 1), 1) << " % | "
            << Digits(least, 0) << " |\n";
    }
    out << "\n";
}

} // namespace echo
} // namespace ns3
