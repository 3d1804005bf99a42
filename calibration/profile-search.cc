// SPDX-License-Identifier: GPL-2.0-only
#include "profile-search.h"

#include "ns3/echo-error.h"
#include "ns3/echo-nccl-tuner.h"
#include "ns3/echo-profile-residuals.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

void Check(const char* option, const std::string& value, const std::vector<std::string>& known)
{
    if (std::find(known.begin(), known.end(), value) == known.end())
    {
        std::string list;
        for (const std::string& word : known)
        {
            list += (list.empty() ? "" : ", ") + word;
        }
        throw InputError({"", 0, option}, "'" + value + "'", "one of " + list);
    }
}

/** @return releases with other tables; the log's own among them */
std::vector<std::string> ListReleases(const std::string& asked,
                                      const std::vector<Measurement>& rows)
{
    if (asked != "auto")
    {
        return {asked};
    }
    std::set<std::string> releases{"2.10", "2.18", "2.19", "2.22", "2.23", "2.28"};
    for (const Measurement& row : rows)
    {
        if (!row.ncclRelease.empty())
        {
            releases.insert(row.ncclRelease);
        }
    }
    return {releases.begin(), releases.end()};
}

/** Between hosts only LL's bandwidth and the proxy's time depend on the processor. */
std::vector<CpuVendor> ListProcessors(const std::string& asked, bool severalHosts)
{
    if (asked != "auto")
    {
        return {ParseCpuVendor(asked)};
    }
    return severalHosts ? std::vector<CpuVendor>{CpuVendor::OTHER, CpuVendor::AMD}
                        : std::vector<CpuVendor>{CpuVendor::OTHER};
}

std::vector<bool> ListSwitch(const std::string& asked, const char* on, bool both)
{
    if (asked != "auto")
    {
        return {asked == on};
    }
    return both ? std::vector<bool>{true, false} : std::vector<bool>{true};
}

/** Largest messages that need no serving, bytes; 0: none needs it. */
std::vector<double> ListEager(const std::string& asked, bool severalHosts)
{
    if (asked == "auto")
    {
        return severalHosts ? ListEagerSizes() : std::vector<double>{0};
    }
    if (asked == "none")
    {
        return {0};
    }
    char* end = nullptr;
    const double bytes = std::strtod(asked.c_str(), &end);
    if (end == asked.c_str() || *end != '\0' || !(bytes >= 1 && bytes <= 1e12))
    {
        throw InputError({"", 0, "--eager"}, "'" + asked + "'", "bytes, none or auto");
    }
    return {bytes};
}

bool UsesNvls(const std::string& asked, const HostLinks& links, const NcclEnvironment& environment)
{
    return asked == "on" ||
           (asked == "auto" && links.hasSwitch && environment.gpu >= GpuGeneration::HOPPER &&
            ParseNcclVersion(environment.version) >= 217);
}

/**
 * @return the time that calls take at least on one host where many sizes take the same (from the
 *         least to 64 times it and more within 8 %): half-way of the scales that show it; 0 if none
 */
double FindFloor(const std::vector<Measurement>& rows, bool oneThread)
{
    std::map<std::pair<CollectiveKind, uint32_t>, std::vector<const Measurement*>> scales;
    for (const Measurement& row : rows)
    {
        if (row.hosts == 1 && !row.singleCall)
        {
            scales[{row.kind, row.ranks}].push_back(&row); // by bytes
        }
    }
    std::vector<double> floors;
    for (const auto& [scale, list] : scales)
    {
        double least = INFINITY;
        for (const Measurement* row : list)
        {
            least = std::min(least, TimeOf(*row));
        }
        const Measurement* last = list.front();
        for (const Measurement* row : list)
        {
            last = TimeOf(*row) <= 1.08 * least ? row : last;
        }
        if (last->bytes >= 64 * list.front()->bytes)
        {
            floors.push_back(least / (oneThread ? scale.second : 1));
        }
    }
    std::sort(floors.begin(), floors.end());
    return floors.empty() ? 0 : floors[floors.size() / 2];
}

MachineProfile MakeStart(const SearchOptions& options,
                         const HostLinks& links,
                         const NcclEnvironment& environment)
{
    // NVLink and NICs sustain eight to nine and a half tenths of their rates.
    MachineProfile start =
        MakePriorProfile(environment, 0.8 * links.gpuGBps, 0.95 * std::max(links.nicGBps, 0.1));
    start.linkGpuGBps = links.gpuGBps;
    start.linkNicGBps = links.nicGBps;
    start.nicsPerHost = links.nicsPerHost;
    start.selection = ParseSelectionRule(options.selection);
    return start;
}

/** @return all that may have run, NCCL's defaults first */
std::vector<NcclEnvironment> ListEnvironments(const SearchOptions& options,
                                              const HostLinks& links,
                                              const NcclEnvironment& deduced,
                                              const std::vector<Measurement>& rows,
                                              bool severalHosts)
{
    std::vector<NcclEnvironment> environments;
    for (const std::string& release : ListReleases(options.nccl, rows))
    {
        for (const CpuVendor cpu : ListProcessors(options.cpu, severalHosts))
        {
            for (const bool ll128 : ListSwitch(options.ll128, "on", severalHosts))
            {
                for (const double eager : ListEager(options.eager, severalHosts))
                {
                    NcclEnvironment environment = deduced;
                    environment.version = release;
                    environment.cpu = cpu;
                    environment.ll128BetweenHosts = ll128;
                    environment.eagerBytes = eager;
                    if (!UsesNvls(options.nvls, links, environment))
                    {
                        environment.nvlsPathGBps = 0;
                    }
                    environments.push_back(environment);
                }
            }
        }
    }
    return environments;
}

std::string Describe(const NcclEnvironment& environment)
{
    return "NCCL " + environment.version + ", processor " + ToString(environment.cpu) +
           ", LL128 between hosts " + (environment.ll128BetweenHosts ? "on" : "off") +
           (environment.eagerBytes > 0
                ? ", messages above " + FormatBytes(static_cast<uint64_t>(environment.eagerBytes)) +
                      " served"
                : "");
}

} // namespace

std::vector<double> ListEagerSizes()
{
    // FI_CXI_RDZV_THRESHOLD of libfabric's provider for Slingshot (fi_cxi(7)).
    constexpr double CXI = 16384;
    return {0, 1, CXI};
}

std::vector<FabricHabits> ListHabits(double eagerBytes)
{
    constexpr double BURST = 1048576;
    constexpr double COPY = 8;
    return eagerBytes > 0 ? std::vector<FabricHabits>{{0, 0}, {BURST, 0}, {0, COPY}, {BURST, COPY}}
                          : std::vector<FabricHabits>{{0, 0}};
}

double BelievedCost(const ProfileFitter::Result& result)
{
    constexpr double FURTHER = 0.9;
    return result.cost / (result.profile.nccl.eagerBytes > 0 ? FURTHER : 1) /
           (result.profile.constants.copyUs > 0 ? FURTHER : 1) /
           (result.profile.constants.treeBurstBytes > 0 ? FURTHER : 1);
}

void CheckSearchOptions(const SearchOptions& options)
{
    Check("--ll128", options.ll128, {"auto", "on", "off"});
    Check("--nvls", options.nvls, {"auto", "on", "off"});
    Check("--cross-nic", options.crossNic, {"auto", "on", "off"});
    Check("--thread", options.thread, {"auto", "one", "several"});
    Check("--selection", options.selection, {"tuner", "least-cost"});
    Check("--cpu", options.cpu, {"auto", "amd", "intel", "other"});
    ListEager(options.eager, true);
    if (options.nccl != "auto")
    {
        try
        {
            ParseNcclVersion(options.nccl);
        }
        catch (const InputError& error)
        {
            throw error.At({"", 0, "--nccl"});
        }
    }
}

SearchResult SearchProfile(const SearchOptions& options,
                           const HostLinks& links,
                           const NcclEnvironment& deduced,
                           const std::vector<Measurement>& rows)
{
    bool several = false;
    bool unknown = false;
    bool oneThread = false;
    for (const Measurement& row : rows)
    {
        several = several || row.hosts > 1;
        unknown = unknown || (!row.threadKnown && row.hosts == 1);
        oneThread = oneThread || row.oneThread;
    }
    SearchResult found;
    double least = INFINITY;
    for (const bool one :
         unknown ? ListSwitch(options.thread, "one", true) : std::vector<bool>{oneThread})
    {
        std::vector<Measurement> assumed = rows;
        for (Measurement& row : assumed)
        {
            row.oneThread = row.threadKnown ? row.oneThread : one && row.hosts == 1;
        }
        for (const NcclEnvironment& environment :
             ListEnvironments(options, links, deduced, rows, several))
        {
            MachineProfile start = MakeStart(options, links, environment);
            start.oneThreadPerHost = one;
            start.constants.hostIssueUs =
                std::max(start.constants.hostIssueUs, FindFloor(assumed, one));
            for (const FabricHabits& habits : ListHabits(environment.eagerBytes))
            {
                start.constants.treeBurstBytes = habits.burstBytes;
                start.constants.copyUs = habits.copyUs;
                const ProfileFitter::Result result = ProfileFitter(start).Fit(assumed);
                std::cout << Describe(environment) << (habits.copyUs > 0 ? ", copied by hosts" : "")
                          << (habits.burstBytes > 0 ? ", trees in bursts" : "")
                          << (one ? ", one thread a host" : "") << ": cost " << std::setprecision(4)
                          << result.cost << "\n";
                if (BelievedCost(result) < SURELY_LESS * least)
                {
                    least = BelievedCost(result);
                    found = {result, start, assumed};
                }
            }
        }
    }
    ProfileFitter last(found.prior);
    last.FindIntervals();
    found.best = last.Fit(found.rows);
    std::set<std::string> said;
    for (const Measurement& row : rows)
    {
        said.insert(row.ncclRelease);
    }
    said.erase("");
    const std::string& chosen = found.best.profile.nccl.version;
    if (!said.empty() && said.count(chosen) == 0)
    {
        std::cout << "note: the logs are of NCCL " << *said.begin()
                  << ", but what ran fits the tuner of " << chosen << " better\n";
    }
    return found;
}

} // namespace echo
} // namespace ns3
