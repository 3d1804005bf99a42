// SPDX-License-Identifier: GPL-2.0-only
#include "echo-job-reader.h"

#include "echo-generator-reader.h"
#include "echo-graph-reader.h"
#include "echo-import-reader.h"
#include "echo-scenario-settings-reader.h"
#include "echo-workload-reader.h"

#include "ns3/echo-job-merger.h"
#include "ns3/echo-memory-estimate.h"
#include "ns3/echo-pipeline-composer.h"
#include "ns3/echo-time-limit.h"
#include "ns3/echo-transformer-generator.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

constexpr int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();
constexpr size_t LONGEST_NAME = 40;

/** The GPUs that `placement` names. */
struct GpuChoice
{
    std::string order{"linear"};
    std::vector<DeviceId> gpus; //!< in order of rank; empty: all of the cluster
    bool isExact{false};        //!< each was named: there is a rank for each
};

/** @return "3" or "0-7" as numbers below @p limit. @throws InputError at @p node */
std::vector<uint32_t> ReadRange(const YamlNode& node, const char* what, size_t limit)
{
    const std::string text = node.AsString();
    const auto fail = [&]() {
        node.Fail("'" + text + "'",
                  std::string("numbers of ") + what + " from 0 to " + std::to_string(limit - 1) +
                      ", such as 3 or 0-1");
    };
    const auto number = [&](const std::string& digits) {
        uint32_t value = 0;
        const char* end = digits.data() + digits.size();
        const auto result = std::from_chars(digits.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end || value >= limit)
        {
            fail();
        }
        return value;
    };
    const size_t dash = text.find('-');
    const uint32_t first = number(text.substr(0, dash));
    const uint32_t last = dash == std::string::npos ? first : number(text.substr(dash + 1));
    if (last < first)
    {
        fail();
    }
    std::vector<uint32_t> numbers;
    for (uint32_t i = first; i <= last; ++i)
    {
        numbers.push_back(i);
    }
    return numbers;
}

/** @return a range, or a list of numbers and ranges, each number once */
std::vector<uint32_t> ReadNumbers(const YamlNode& node, const char* what, size_t limit)
{
    if (!node.IsSequence())
    {
        return ReadRange(node, what, limit);
    }
    std::vector<uint32_t> numbers;
    std::set<uint32_t> seen;
    for (const YamlNode& entry : node.GetEntries())
    {
        for (const uint32_t number : ReadRange(entry, what, limit))
        {
            if (!seen.insert(number).second)
            {
                entry.Fail(std::to_string(number) + " twice", "each once");
            }
            numbers.push_back(number);
        }
    }
    if (numbers.empty())
    {
        node.Fail("an empty list", std::string("numbers of ") + what);
    }
    return numbers;
}

/** `hosts`, and `gpus` as numbers on each of them. */
std::vector<DeviceId> ReadHosts(const YamlNode& node,
                                const Topology& topology,
                                const std::string& order)
{
    std::vector<std::vector<DeviceId>> rounds; // GPUs by number on their host
    std::vector<DeviceId> filled;              // by host
    for (const uint32_t number : ReadNumbers(node.Get("hosts"), "hosts", topology.GetHostCount()))
    {
        std::vector<DeviceId> gpus = topology.GetGpus(HostId(number));
        if (node.Has("gpus"))
        {
            std::vector<DeviceId> chosen;
            for (const uint32_t gpu : ReadNumbers(node.Get("gpus"), "GPUs", gpus.size()))
            {
                chosen.push_back(gpus[gpu]);
            }
            gpus = std::move(chosen);
        }
        filled.insert(filled.end(), gpus.begin(), gpus.end());
        rounds.resize(std::max(rounds.size(), gpus.size()));
        for (size_t i = 0; i < gpus.size(); ++i)
        {
            rounds[i].push_back(gpus[i]);
        }
    }
    if (order == "linear")
    {
        return filled;
    }
    std::vector<DeviceId> dealt;
    for (const auto& round : rounds)
    {
        dealt.insert(dealt.end(), round.begin(), round.end());
    }
    return dealt;
}

GpuChoice ReadPlacement(const YamlNode& node, const Topology& topology)
{
    GpuChoice choice;
    choice.order = OneOf(node, "order", choice.order, {"linear", "round-robin"});
    if (node.Has("hosts"))
    {
        choice.gpus = ReadHosts(node, topology, choice.order);
    }
    else if (node.Has("gpus"))
    {
        choice.isExact = true;
        for (const auto& entry : node.Get("gpus").GetEntries())
        {
            const DeviceId gpu = topology.FindDevice(entry.AsString());
            if (!gpu.IsValid() || topology.GetDevice(gpu).role != DeviceRole::GPU)
            {
                entry.Fail("'" + entry.AsString() + "'", "the name of a GPU such as host0/gpu0");
            }
            choice.gpus.push_back(gpu);
        }
    }
    node.RefuseUnknownKeys();
    return choice;
}

/**
 * @return ranks of a job whose file does not say: a generated plan that names its data parallelism
 *         has as many as its degrees multiply to, all else uses every GPU
 */
int64_t DefaultRanks(const YamlNode& root, int64_t gpus)
{
    const YamlNode workload = root.Get("workload");
    if (!workload.Has("generate") || !workload.Get("generate").Has("parallel"))
    {
        return gpus;
    }
    const YamlNode parallel = workload.Get("generate").Get("parallel");
    if (!parallel.Has("dp"))
    {
        return gpus;
    }
    int64_t ranks = 1;
    for (const char* degree : {"tp", "cp", "dp", "pp"})
    {
        ranks *= parallel.GetInteger(degree, 1, 1, MAX_COUNT);
        ranks = std::min(ranks, MAX_COUNT);
    }
    return ranks;
}

/** Traces and graphs, whose files say how many ranks there are. */
void ReadFiles(const YamlNode& root, const YamlNode& node, uint32_t ranks, Scenario& scenario)
{
    if (node.Has("import"))
    {
        ReadImport(node.Get("import"), ranks, scenario);
    }
    else
    {
        scenario.workload = ReadExecutionGraphs(node.ResolvePath(node.Get("graph").AsString()));
        if (node.Has("compose"))
        {
            const YamlNode compose = node.Get("compose");
            const Ptr<PipelineSchedule> schedule = ReadPipelineSchedule(compose);
            const auto microBatches =
                static_cast<uint32_t>(compose.Get("micro_batches").AsInteger(1, MAX_COUNT));
            compose.RefuseUnknownKeys();
            try
            {
                scenario.workload = ComposePipeline(*scenario.workload, *schedule, microBatches);
            }
            catch (const InputError& error)
            {
                // A schedule speaks of the generator's key, where it usually stands.
                if (error.GetLocation().item != "parallel.schedule")
                {
                    throw;
                }
                throw error.At(compose.Has("schedule") ? compose.Get("schedule").GetLocation()
                                                       : compose.GetLocation());
            }
        }
    }
    node.RefuseUnknownKeys();
    if (root.Has("ranks") && ranks != scenario.workload->GetRankCount())
    {
        root.Get("ranks").Fail("'" + root.Get("ranks").AsString() + "'",
                               std::to_string(scenario.workload->GetRankCount()) +
                                   ", as the files have");
    }
}

void ReadWorkloadKey(const YamlNode& root, uint32_t ranks, Scenario& scenario)
{
    const YamlNode node = root.Get("workload");
    node.RequireMap();
    if (node.Has("import") || node.Has("graph"))
    {
        ReadFiles(root, node, ranks, scenario);
    }
    else if (node.Has("generate"))
    {
        const TrainingPlan plan = ReadTrainingPlan(node.Get("generate"), ranks);
        CheckFormats(node.Get("generate"), plan, scenario.cluster.gpu);
        scenario.workload = GenerateTransformer(plan, ranks);
        if (const std::string warning = CheckMemory(plan, scenario.cluster.gpu); !warning.empty())
        {
            scenario.warnings.push_back(warning);
        }
        node.RefuseUnknownKeys();
    }
    else
    {
        scenario.workload = ReadWorkload(node, ranks);
    }
}

/** Ranks take the chosen GPUs in turn. */
void PlaceRanks(const YamlNode& root, const GpuChoice& choice, Scenario& scenario)
{
    const uint32_t ranks = scenario.workload->GetRankCount();
    scenario.placementOrder = choice.order;
    scenario.placementGpus = choice.gpus;
    const size_t all = scenario.cluster.topology->GetDevices(DeviceRole::GPU).size();
    if (choice.gpus.empty() && ranks > all)
    {
        root.Get(root.Has("ranks") ? "ranks" : "workload")
            .Fail(std::to_string(ranks) + " ranks for " + std::to_string(all) + " GPUs",
                  "from 1 rank to one for each GPU");
    }
    if (choice.gpus.empty() || ranks == choice.gpus.size())
    {
        return;
    }
    const std::string found = std::to_string(choice.gpus.size()) + " GPUs";
    if (choice.isExact)
    {
        root.Get("placement")
            .Get("gpus")
            .Fail(found, std::to_string(ranks) + ", one for each rank of the workload");
    }
    if (ranks > choice.gpus.size())
    {
        root.Get("placement").Fail(found, std::to_string(ranks) + " or more, one for each rank");
    }
    scenario.placementGpus.resize(ranks);
}

/** A job as it stands in the list. */
struct ListedJob
{
    JobWorkload work;
    std::vector<DeviceId> gpus; //!< of its ranks
    DeviceId firstGpu;          //!< lowest of these
    std::string report;         //!< of an import
    std::vector<std::string> warnings;
};

/** Names are in tables, names of groups and messages. */
std::string ReadName(const YamlNode& node)
{
    const YamlNode key = node.Get("name");
    const std::string name = key.AsString();
    const bool isPlain = std::all_of(name.begin(), name.end(), [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
               (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '_' || letter == '.';
    });
    if (name.empty() || name.size() > LONGEST_NAME || !isPlain)
    {
        key.Fail("'" + name + "'",
                 "at most " + std::to_string(LONGEST_NAME) +
                     " letters, digits, dots, dashes and underscores");
    }
    return name;
}

ListedJob ReadListedJob(const YamlNode& node, const Scenario& shared)
{
    node.RequireMap();
    ListedJob job;
    job.work.name = ReadName(node);
    job.work.start = WithinClock(node.GetTime("start", Time()));
    Scenario own;
    own.file = shared.file;
    own.cluster = shared.cluster;
    if (!node.Has("placement"))
    {
        node.Fail("job '" + job.work.name + "' without 'placement'",
                  "its GPUs, such as placement: {hosts: 0-1}");
    }
    ReadJob(node, own);
    if (own.placementGpus.empty())
    {
        node.Get("placement")
            .Fail("neither hosts nor gpus", "one of them, as the job is one of several");
    }
    if (!own.measuredTransfers.empty())
    {
        node.Get("workload")
            .Fail("communication: measured-transfer in one of several jobs",
                  "communication: simulated, so that jobs meet on the network");
    }
    node.RefuseUnknownKeys();
    job.work.workload = own.workload;
    job.gpus = std::move(own.placementGpus);
    job.firstGpu = *std::min_element(job.gpus.begin(), job.gpus.end());
    job.report = std::move(own.workloadReport);
    job.warnings = std::move(own.warnings);
    return job;
}

/** @throws InputError at the job that takes a name or a GPU of another */
void CheckApart(const std::vector<YamlNode>& entries,
                const std::vector<ListedJob>& jobs,
                const Topology& topology)
{
    std::map<DeviceId, std::string> owners;
    std::set<std::string> names;
    for (size_t i = 0; i < jobs.size(); ++i)
    {
        const std::string& name = jobs[i].work.name;
        if (!names.insert(name).second)
        {
            entries[i].Get("name").Fail("'" + name + "' twice", "a name of its own for each job");
        }
        for (const DeviceId gpu : jobs[i].gpus)
        {
            const auto [owner, isFree] = owners.emplace(gpu, name);
            if (!isFree)
            {
                entries[i]
                    .Get("placement")
                    .Fail(topology.GetDevice(gpu).name + " for job '" + name + "', and " +
                              (owner->second == name ? "again for it"
                                                     : "for job '" + owner->second + "'"),
                          "each GPU for one rank of one job");
            }
        }
    }
}

} // namespace

void ReadJob(const YamlNode& node, Scenario& scenario)
{
    const Topology& topology = *scenario.cluster.topology;
    GpuChoice choice;
    if (node.Has("placement"))
    {
        choice = ReadPlacement(node.Get("placement"), topology);
    }
    const size_t gpus =
        choice.gpus.empty() ? topology.GetDevices(DeviceRole::GPU).size() : choice.gpus.size();
    const auto ranks = static_cast<uint32_t>(
        node.GetInteger("ranks", DefaultRanks(node, static_cast<int64_t>(gpus)), 1, MAX_COUNT));
    ReadWorkloadKey(node, ranks, scenario);
    PlaceRanks(node, choice, scenario);
}

void ReadJobs(const YamlNode& root, Scenario& scenario)
{
    for (const char* key : {"workload", "ranks", "placement", "measured"})
    {
        if (root.Has(key))
        {
            root.Get(key).Fail(std::string("'") + key + "' beside 'jobs'",
                               key == std::string("measured") ? "it with a single job only"
                                                              : "it in each entry of 'jobs'");
        }
    }
    const std::vector<YamlNode> entries = root.Get("jobs").GetEntries();
    if (entries.empty())
    {
        root.Get("jobs").Fail("no job", "at least one");
    }
    std::vector<ListedJob> jobs;
    for (const YamlNode& entry : entries)
    {
        jobs.push_back(ReadListedJob(entry, scenario));
    }
    CheckApart(entries, jobs, *scenario.cluster.topology);
    std::sort(jobs.begin(), jobs.end(), [](const ListedJob& a, const ListedJob& b) {
        return a.firstGpu < b.firstGpu;
    });

    std::vector<JobWorkload> works;
    scenario.placementGpus.clear();
    for (ListedJob& job : jobs)
    {
        works.push_back(job.work);
        scenario.placementGpus.insert(
            scenario.placementGpus.end(), job.gpus.begin(), job.gpus.end());
        for (const std::string& warning : job.warnings)
        {
            scenario.warnings.push_back("job '" + job.work.name + "': " + warning);
        }
        if (!job.report.empty())
        {
            scenario.workloadReport += "Job '" + job.work.name + "':\n" + job.report;
        }
    }
    scenario.workload = MergeJobs(works);
    scenario.comparesAlone = root.GetBool("compare_alone", false);
}

} // namespace echo
} // namespace ns3
