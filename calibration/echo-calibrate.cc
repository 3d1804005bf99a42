// SPDX-License-Identifier: GPL-2.0-only
// ./echo calibrate: fits an estimator profile to measurements of nccl-tests.

#include "calibration-report.h"
#include "profile-search.h"

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
    std::string net;
    std::string op;
    SearchOptions search;
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
    line.AddOption("net",
                   "beside --like: a profile of a machine with the same NICs; constants between "
                   "hosts are its own",
                   options.net);
    line.AddOption("op", "operation of logs that do not say it", options.op);
    SearchOptions& search = options.search;
    line.AddOption(
        "nccl", "version whose tuner picked; auto: the log's, or what fits", search.nccl);
    line.AddOption("cpu", "amd, intel or other; auto: what fits", search.cpu);
    line.AddOption("ll128", "on, off between hosts; auto: what fits", search.ll128);
    line.AddOption("cross-nic",
                   "on, or off: NCCL_CROSS_NIC=0 on hosts of GH200, whose rings then come back by "
                   "the NIC they left by; auto: on, beside --like as that profile has it",
                   search.crossNic);
    line.AddOption("eager",
                   "largest message between hosts that costs a host no time of its own, bytes, or "
                   "none; auto: none, 1 (all cost it) or 16384 (rendezvous of libfabric's cxi "
                   "provider): what fits",
                   search.eager);
    line.AddOption(
        "nvls", "on, off: NVLink SHARP; auto: from Hopper on with NVSwitch", search.nvls);
    line.AddOption("thread",
                   "one, several: threads that issue a host's kernels, for logs that do not say "
                   "it; auto: what fits",
                   search.thread);
    line.AddOption("selection", "tuner or least-cost, for those who use it", search.selection);
    line.AddOption("name", "of the profile; default: the file's", options.name);
    line.AddOption("source", "where the measurements come from, for the profile", options.source);
    line.AddFlag("check", "only read the logs and say what was understood", options.check);
    line.AddFlag("rows", "print every row with its estimate", options.rows);
    line.AddOption("out", "the profile to write; default: none is written", options.out);
}

/** An operation as nccl-tests or as Echo writes it, of @p option. */
CollectiveKind ParseOperation(const std::string& name, const char* option)
{
    const auto kind = FindOperation(name);
    if (kind)
    {
        return *kind;
    }
    try
    {
        return ParseCollectiveKind(name);
    }
    catch (const InputError& error)
    {
        throw error.At({"", 0, option});
    }
}

/** Refuses options that what is asked for would not look at. */
void RefuseIgnored(const EchoCommandLine& line)
{
    const bool scales = line.IsGiven("like");
    for (const char* name : {"check", "rows", "eager", "thread", "selection", "op"})
    {
        if (scales && line.IsGiven(name))
        {
            throw InputError({"", 0, "--" + std::string(name)},
                             "it beside --like",
                             "it with --log, whose rows it is about");
        }
    }
    for (const char* name : {"rows", "out", "name", "source"})
    {
        if (line.IsGiven("check") && line.IsGiven(name))
        {
            throw InputError({"", 0, "--" + std::string(name)},
                             "it beside --check",
                             "one of the two: with --check nothing is fitted");
        }
    }
}

/** Reads FILE@key=value...: the file and what the user knows of it. */
std::vector<Measurement> ReadLog(const std::string& argument,
                                 const std::string& op,
                                 std::vector<std::string>& notes)
{
    NcclTestsHints hints;
    if (!op.empty())
    {
        hints.kind = ParseOperation(op, "--op");
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
            hints.kind = ParseOperation(value, "--log");
            hints.isKindOfLog = true;
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
    const Measurement* before = nullptr;
    for (const Measurement& row : rows)
    {
        // No operating system has so many GPUs: names of hosts in a log are not those of domains.
        constexpr uint32_t MOST_OF_A_SYSTEM = 16;
        if (links.gpusPerHost > MOST_OF_A_SYSTEM && row.hosts > 1 &&
            row.ranks <= row.hosts * MOST_OF_A_SYSTEM &&
            (!before || before->file != row.file || before->hosts != row.hosts))
        {
            notes.push_back(row.file + ":" + std::to_string(row.line) + ": " +
                            std::to_string(row.ranks) + " ranks on " + std::to_string(row.hosts) +
                            " hosts count as so many NVLink domains; if they share fewer, say "
                            "--log=FILE@hosts=M");
        }
        before = &row;
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

/** Takes the constants between hosts from the profile of a machine with the same NICs. */
void TakeNet(const std::string& path, double nicGBps, MachineProfile& profile)
{
    const MachineProfile net = ReadProfile(YamlNode::LoadFile(path));
    if (std::abs(net.linkNicGBps / nicGBps - 1) > 0.01)
    {
        std::ostringstream found;
        found << path << " of NICs of " << net.linkNicGBps << " GB/s";
        throw InputError({"", 0, "--net"}, found.str(), "the cluster's NICs");
    }
    MachineConstants& to = profile.constants;
    const MachineConstants& from = net.constants;
    to.nicGBps = from.nicGBps;
    to.simplexGain = from.simplexGain;
    to.netOverlapExponent = from.netOverlapExponent;
    to.netChannelGBps = from.netChannelGBps;
    to.messageUs = from.messageUs;
    to.copyUs = from.copyUs;
    to.treeBurstBytes = from.treeBurstBytes;
    profile.nccl.eagerBytes = net.nccl.eagerBytes;
    for (size_t i = 0; i < to.protocols.size(); ++i)
    {
        to.protocols[i].interStepUs = from.protocols[i].interStepUs;
        to.protocols[i].interEfficiency = from.protocols[i].interEfficiency;
    }
    profile.source += "; between hosts profile " + net.name + ": " + net.source;
    profile.fit += ", those between hosts of profile " + net.name;
}

/** @return what NCCL finds in the cluster's hosts, with the options' way of rings back */
NcclEnvironment DeduceFor(const Options& options, const Cluster& cluster, const HostLinks& links)
{
    NcclEnvironment nccl = DeduceNcclEnvironment(links, GenerationOf(cluster.gpu.name));
    if (options.search.crossNic == "off")
    {
        ReturnByOwnNic(cluster.gpu.name, links, nccl);
    }
    return nccl;
}

/** Without measurements: another machine's profile, its rates scaled. */
int Scale(const Options& options, const Cluster& cluster, const HostLinks& links)
{
    if (!options.logs.empty())
    {
        throw InputError({"", 0, "--like"}, "--log too", "one of the two");
    }
    const MachineProfile measured = ReadProfile(YamlNode::LoadFile(options.like));
    NcclEnvironment nccl = DeduceFor(options, cluster, links);
    const SearchOptions& search = options.search;
    if (search.crossNic == "auto" && HasProcessorEach(cluster.gpu.name, links))
    {
        nccl.returnPathGBps = measured.nccl.returnPathGBps;
    }
    nccl.version = search.nccl == "auto" ? measured.nccl.version : search.nccl;
    nccl.cpu = search.cpu == "auto" ? measured.nccl.cpu : ParseCpuVendor(search.cpu);
    nccl.ll128BetweenHosts =
        search.ll128 == "auto" ? measured.nccl.ll128BetweenHosts : search.ll128 == "on";
    nccl.eagerBytes = measured.nccl.eagerBytes;
    MachineProfile profile = ScaleProfile(measured, nccl, links.gpuGBps, links.nicGBps);
    if (search.nvls == "on" && profile.constants.nvlsGBps <= 0)
    {
        throw InputError({"", 0, "--nvls"},
                         "on with profile " + measured.name + ", which has no NVLink SHARP",
                         "a profile with it");
    }
    if (search.nvls == "off")
    {
        profile.nccl.nvlsPathGBps = 0;
        profile.constants.nvlsUs = profile.constants.nvlsChunkUs = profile.constants.nvlsGBps = 0;
        profile.constants.nvlsOverlapExponent = 0;
    }
    profile.nicsPerHost = links.nicsPerHost;
    profile.hardware = DescribeHardware(cluster, links);
    profile.source = "profile " + measured.name + ": " + measured.source;
    profile.fit = "not measured: constants of profile " + measured.name +
                  ", its rates scaled by the links' rates";
    if (!options.net.empty())
    {
        TakeNet(options.net, links.nicGBps, profile);
    }
    profile.source += options.source.empty() ? "" : "; " + options.source;
    if (options.out.empty())
    {
        throw InputError({"", 0, "--like"}, "no --out", "where to write the profile");
    }
    WriteProfile(options, profile);
    return 0;
}

int Run(const Options& options)
{
    if (options.cluster.empty() || (options.logs.empty() && options.like.empty()))
    {
        throw InputError({},
                         options.cluster.empty() ? "no --cluster" : "neither --log nor --like",
                         "--cluster=FILE.yaml, and --log or --like");
    }
    CheckSearchOptions(options.search);
    const Cluster cluster = ReadClusterFile(options.cluster);
    const HostLinks links = ReadHostLinks(*cluster.topology);
    if (!options.like.empty())
    {
        return Scale(options, cluster, links);
    }
    if (!options.net.empty())
    {
        throw InputError({"", 0, "--net"}, "no --like", "a profile for what is inside hosts");
    }
    const NcclEnvironment deduced = DeduceFor(options, cluster, links);
    const CleanMeasurements clean = CleanUp(ReadLogs(options, links));
    std::cout << clean.rows.size() << " rows count; left out: " << clean.wrong
              << " with wrong results, " << clean.empty << " without bytes or time, "
              << clean.falling << " slower than a larger size, " << clean.alone
              << " of a single rank\n";
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
    SearchResult found = SearchProfile(options.search, links, deduced, clean.rows);
    MachineProfile& profile = found.best.profile;
    profile.hardware = DescribeHardware(cluster, links);
    profile.source = options.source;
    profile.fit = std::to_string(clean.rows.size()) +
                  " rows; the lower of out-of-place and in-place; left out " +
                  std::to_string(clean.wrong + clean.empty + clean.falling + clean.alone) +
                  "; robust fit on log error, ./echo calibrate";

    std::cout << "chosen: NCCL " << profile.nccl.version << ", processor "
              << ToString(profile.nccl.cpu) << ", LL128 between hosts "
              << (profile.nccl.ll128BetweenHosts ? "on" : "off")
              << (profile.oneThreadPerHost ? ", one thread a host" : "") << "\n\n";
    const std::vector<double> estimates = EstimateRows(profile, found.rows);
    if (options.rows)
    {
        PrintRows(found.rows, EstimateWithChoices(profile, found.rows));
    }
    PrintConstants(profile);
    std::cout << "\n";
    PrintBands(found.rows, estimates);
    std::cout << "\n";
    PrintStatistics("absolute error, 1 MiB and more",
                    ComputeResiduals(found.rows, estimates, LARGE_BYTES));
    std::cout << "\n";
    PrintStatistics("absolute error, all sizes", ComputeResiduals(found.rows, estimates, 0));
    std::cout << "\n";
    PrintHeldOut(LeaveOneScaleOut(ProfileFitter(found.prior), found.rows));
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
        RefuseIgnored(line);
        return Run(options);
    });
}
