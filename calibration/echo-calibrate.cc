// SPDX-License-Identifier: GPL-2.0-only
// ./echo calibrate: fits an estimator profile to measurements of nccl-tests.

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-nccl-environment.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-nccl-tests-words.h"
#include "ns3/echo-nccl-tuner.h"
#include "ns3/echo-profile-fitter.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-units.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

using namespace ns3::echo;

namespace
{

struct Options
{
    std::string cluster;
    std::vector<std::string> logs;
    std::string like;
    std::string op;
    std::string nccl{"auto"};
    std::string cpu{"other"};
    std::string ll128{"auto"};
    std::string nvls{"auto"};
    std::string selection{"tuner"};
    std::string name;
    std::string source;
    std::string out;
    bool check{false};
    bool rows{false};
};

void AddOptions(EchoCommandLine& line, Options& options)
{
    line.AddOption("cluster", "the machine measured: a cluster file", options.cluster);
    line.AddList("log",
                 "output of an nccl-tests program, or CSV; what it does not say itself follows as "
                 "FILE@ranks=N@hosts=M@op=NAME; commas part several",
                 options.logs);
    line.AddArguments("log", "further logs", options.logs);
    line.AddOption("like",
                   "instead of logs: a profile of a machine of the same kind with other links; its "
                   "rates are scaled to the cluster's",
                   options.like);
    line.AddOption("op", "operation of logs that do not say it", options.op);
    line.AddOption("nccl", "version whose tuner picked; auto: the one that fits", options.nccl);
    line.AddOption("cpu", "amd, intel or other: the tuner asks between hosts", options.cpu);
    line.AddOption("ll128", "on, off between hosts; auto: the one that fits", options.ll128);
    line.AddOption(
        "nvls", "on, off: NVLink SHARP; auto: from Hopper on with NVSwitch", options.nvls);
    line.AddOption("selection", "tuner or least-cost, for those who use it", options.selection);
    line.AddOption("name", "of the profile; default: the file's", options.name);
    line.AddOption("source", "where the measurements come from, for the profile", options.source);
    line.AddFlag("check", "only read the logs and say what was understood", options.check);
    line.AddFlag("rows", "print every row with its estimate", options.rows);
    line.AddOption("out", "the profile to write; default: none is written", options.out);
}

/** An operation as nccl-tests or as Echo writes it. */
CollectiveKind ParseOperation(const std::string& name)
{
    const auto kind = FindOperation(name);
    return kind ? *kind : ParseCollectiveKind(name);
}

/** Reads FILE@key=value...: the file and what the user knows of it. */
std::vector<Measurement> ReadLog(const std::string& argument,
                                 const std::string& op,
                                 std::vector<std::string>& notes)
{
    NcclTestsHints hints;
    if (!op.empty())
    {
        hints.kind = ParseOperation(op);
    }
    std::istringstream parts(argument);
    std::string path;
    std::string part;
    std::getline(parts, path, '@');
    while (std::getline(parts, part, '@'))
    {
        const size_t equal = part.find('=');
        const std::string key = part.substr(0, equal);
        const std::string value = equal == std::string::npos ? "" : part.substr(equal + 1);
        char* end = nullptr;
        const unsigned long count = std::strtoul(value.c_str(), &end, 10);
        const bool number = !value.empty() && *end == '\0' && count > 0 && count < 10000000;
        if (key == "op")
        {
            hints.kind = ParseOperation(value);
        }
        else if (number && (key == "ranks" || key == "hosts"))
        {
            (key == "ranks" ? hints.ranks : hints.hosts) = static_cast<uint32_t>(count);
        }
        else
        {
            throw InputError({"", 0, "--log"}, "'@" + part + "'", "@ranks=N, @hosts=M or @op=NAME");
        }
    }
    return ReadNcclTests(path, hints, &notes);
}

std::vector<Measurement> ReadLogs(const Options& options, const HostLinks& links)
{
    std::vector<Measurement> rows;
    std::vector<std::string> notes;
    for (const std::string& list : options.logs)
    {
        std::istringstream entries(list);
        std::string entry;
        while (std::getline(entries, entry, ','))
        {
            const std::vector<Measurement> more = ReadLog(entry, options.op, notes);
            rows.insert(rows.end(), more.begin(), more.end());
        }
    }
    for (const std::string& note : notes)
    {
        std::cout << "note: " << note << "\n";
    }
    for (const Measurement& row : rows)
    {
        if (row.ranks > row.hosts * links.gpusPerHost)
        {
            throw InputError(
                {row.file, row.line, ""},
                std::to_string(row.ranks) + " ranks on " + std::to_string(row.hosts) + " hosts",
                "at most " + std::to_string(links.gpusPerHost) + " on a host of the cluster");
        }
    }
    return rows;
}

/** The environments that the options leave open. */
std::vector<NcclEnvironment> ListEnvironments(const Options& options,
                                              const NcclEnvironment& deduced,
                                              bool severalHosts)
{
    std::vector<std::string> versions{options.nccl};
    if (options.nccl == "auto")
    {
        versions = {"2.10", "2.18", "2.19", "2.22", "2.23"}; // releases with other tables
    }
    std::vector<bool> ll128{options.ll128 != "off"};
    if (options.ll128 == "auto" && severalHosts)
    {
        ll128 = {true, false};
    }
    else if (options.ll128 != "auto" && options.ll128 != "on" && options.ll128 != "off")
    {
        throw InputError({"", 0, "--ll128"}, "'" + options.ll128 + "'", "auto, on or off");
    }
    std::vector<NcclEnvironment> environments;
    for (const std::string& version : versions)
    {
        ParseNcclVersion(version);
        for (const bool on : ll128)
        {
            NcclEnvironment environment = deduced;
            environment.version = version;
            environment.ll128BetweenHosts = on;
            environments.push_back(environment);
        }
    }
    return environments;
}

std::string Percent(double value)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << std::setw(6) << value << " %";
    return text.str();
}

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

void PrintRows(const std::vector<Measurement>& rows,
               const std::vector<RowEstimate>& estimates)
{
    std::cout << "operation       ranks hosts         bytes    measured    estimate     error  "
                 "algorithm protocol channels\n";
    for (size_t i = 0; i < rows.size(); ++i)
    {
        const double time = TimeOf(rows[i]);
        std::cout << std::left << std::setw(16) << ToString(rows[i].kind) << std::right
                  << std::setw(5) << rows[i].ranks << std::setw(6) << rows[i].hosts
                  << std::setw(14) << rows[i].bytes << std::fixed << std::setprecision(1)
                  << std::setw(12) << time << std::setw(12) << estimates[i].us << "  "
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

bool UsesNvls(const Options& options, const HostLinks& links, const NcclEnvironment& environment)
{
    if (options.nvls != "auto" && options.nvls != "on" && options.nvls != "off")
    {
        throw InputError({"", 0, "--nvls"}, "'" + options.nvls + "'", "auto, on or off");
    }
    return options.nvls == "on" ||
           (options.nvls == "auto" && links.hasSwitch && environment.gpu >= GpuGeneration::HOPPER &&
            ParseNcclVersion(environment.version) >= 217);
}

ProfileFitter::Result FitBest(const Options& options,
                              const HostLinks& links,
                              const NcclEnvironment& deduced,
                              const std::vector<Measurement>& rows,
                              MachineProfile& prior)
{
    bool several = false;
    bool oneThread = false;
    for (const Measurement& row : rows)
    {
        several = several || row.hosts > 1;
        oneThread = oneThread || row.oneThread;
    }
    ProfileFitter::Result best;
    best.cost = INFINITY;
    for (const NcclEnvironment& environment : ListEnvironments(options, deduced, several))
    {
        // NVLink and NICs sustain some nine tenths of their rates at best.
        MachineProfile start =
            MakePriorProfile(environment, 0.8 * links.gpuGBps, 0.9 * std::max(links.nicGBps, 0.1));
        if (UsesNvls(options, links, environment))
        {
            start.constants.nvlsUs = 40;
            start.constants.nvlsGBps = 0.7 * links.gpuGBps;
        }
        start.linkGpuGBps = links.gpuGBps;
        start.linkNicGBps = links.nicGBps;
        start.nicsPerHost = links.nicsPerHost;
        start.oneThreadPerHost = oneThread;
        start.selection = ParseSelectionRule(options.selection);
        const ProfileFitter::Result result = ProfileFitter(start).Fit(rows);
        std::cout << "NCCL " << environment.version << ", LL128 between hosts "
                  << (environment.ll128BetweenHosts ? "on " : "off") << ": cost "
                  << std::setprecision(4) << result.cost << "\n";
        if (result.cost < best.cost)
        {
            best = result;
            prior = start;
        }
    }
    return best;
}

void WriteProfile(const Options& options, MachineProfile& profile)
{
    profile.name = options.name.empty() && !options.out.empty()
                       ? std::filesystem::path(options.out).stem().string()
                       : options.name;
    if (options.out.empty())
    {
        return;
    }
    std::ofstream out(options.out);
    out << FormatProfile(profile);
    if (!out.flush())
    {
        throw InputError({options.out, 0, ""}, "no writable file", "one");
    }
    std::cout << "\nwritten: " << options.out << "\n";
}

std::string DescribeHardware(const Cluster& cluster, const HostLinks& links)
{
    return cluster.name + ": hosts of " + std::to_string(links.gpusPerHost) + " " +
           cluster.gpu.name + " and " + std::to_string(links.nicsPerHost) + " NICs";
}

/** Without measurements: another machine's profile, its rates scaled. */
int Scale(const Options& options, const Cluster& cluster, const HostLinks& links)
{
    if (!options.logs.empty())
    {
        throw InputError({"", 0, "--like"}, "--log too", "one of the two");
    }
    const MachineProfile measured = ReadProfile(YamlNode::LoadFile(options.like));
    NcclEnvironment nccl = DeduceNcclEnvironment(links, GenerationOf(cluster.gpu.name));
    nccl.version = options.nccl == "auto" ? measured.nccl.version : options.nccl;
    nccl.cpu = ParseCpuVendor(options.cpu);
    nccl.ll128BetweenHosts = options.ll128 != "off";
    MachineProfile profile = ScaleProfile(measured, nccl, links.gpuGBps, links.nicGBps);
    profile.nicsPerHost = links.nicsPerHost;
    profile.hardware = DescribeHardware(cluster, links);
    profile.source = "profile " + measured.name + ": " + measured.source;
    profile.fit = "not measured: constants of profile " + measured.name +
                  ", its rates scaled by the links' rates";
    WriteProfile(options, profile);
    return 0;
}

int Run(const Options& options)
{
    if (options.cluster.empty() || (options.logs.empty() && options.like.empty()))
    {
        throw InputError({}, options.cluster.empty() ? "no --cluster" : "no --log", "both");
    }
    const Cluster cluster = ReadClusterFile(options.cluster);
    const HostLinks links = ReadHostLinks(*cluster.topology);
    if (!options.like.empty())
    {
        return Scale(options, cluster, links);
    }
    NcclEnvironment deduced = DeduceNcclEnvironment(links, GenerationOf(cluster.gpu.name));
    deduced.cpu = ParseCpuVendor(options.cpu);

    const CleanMeasurements clean = CleanUp(ReadLogs(options, links));
    std::cout << clean.rows.size() << " rows count; left out: " << clean.wrong
              << " with wrong results, " << clean.empty << " without bytes or time, "
              << clean.falling << " slower than a larger size\n";
    if (options.check)
    {
        for (const CalibratedRange& range : ComputeRanges(clean.rows))
        {
            std::cout << ToString(range.kind) << ": " << FormatBytes(range.minBytes) << " to "
                      << FormatBytes(range.maxBytes) << ", " << range.minRanks << " to "
                      << range.maxRanks << " ranks, " << range.minHosts << " to " << range.maxHosts
                      << " hosts\n";
        }
        return 0;
    }
    MachineProfile prior;
    ProfileFitter::Result result = FitBest(options, links, deduced, clean.rows, prior);
    MachineProfile& profile = result.profile;
    profile.hardware = DescribeHardware(cluster, links);
    profile.source = options.source;
    profile.fit = std::to_string(clean.rows.size()) +
                  " rows; the lower of out-of-place and in-place; left out " +
                  std::to_string(clean.wrong + clean.empty + clean.falling) +
                  "; robust fit on log error, ./echo calibrate";

    std::cout << "chosen: NCCL " << profile.nccl.version << "\n\n";
    const std::vector<double> estimates = EstimateRows(profile, clean.rows);
    if (options.rows)
    {
        PrintRows(clean.rows, EstimateWithChoices(profile, clean.rows));
    }
    PrintBands(clean.rows, estimates);
    std::cout << "\n";
    PrintStatistics("absolute error, 1 MiB and more",
                    ComputeResiduals(clean.rows, estimates, LARGE_BYTES));
    std::cout << "\n";
    PrintStatistics("absolute error, all sizes", ComputeResiduals(clean.rows, estimates, 0));
    std::cout << "\n";
    PrintHeldOut(LeaveOneScaleOut(ProfileFitter(prior), clean.rows));
    WriteProfile(options, profile);
    return 0;
}

} // namespace

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        Options options;
        EchoCommandLine line("./echo calibrate --cluster=FILE.yaml --log=FILE ... "
                             "--out=profile.yaml: fits an estimator profile to nccl-tests.");
        AddOptions(line, options);
        line.Parse(argc, argv);
        return Run(options);
    });
}
