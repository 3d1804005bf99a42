// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-reader.h"

#include "echo-cluster-reader.h"
#include "echo-generator-reader.h"
#include "echo-graph-reader.h"
#include "echo-import-reader.h"
#include "echo-workload-reader.h"

#include "ns3/echo-units.h"

#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-transformer-generator.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

const int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();

template <typename Value>
Value ParseKey(const YamlNode& node,
               const std::string& key,
               Value fallback,
               Value (*parse)(const std::string&))
{
    return node.Has(key) ? node.Get(key).Parse<Value>(parse) : fallback;
}

/** @return the text of a key that must be one of a few words */
std::string OneOf(const YamlNode& node,
                  const std::string& key,
                  const std::string& fallback,
                  const std::vector<std::string>& words)
{
    const std::string text = node.GetString(key, fallback);
    std::string expected;
    for (const auto& word : words)
    {
        if (text == word)
        {
            return text;
        }
        expected += (expected.empty() ? "" : ", ") + word;
    }
    node.Get(key).Fail("'" + text + "'", "one of " + expected);
}

CollectiveSettings ReadCollective(const YamlNode& node)
{
    CollectiveSettings settings;
    settings.algorithm = ParseKey(node, "algorithm", settings.algorithm, ParseCollectiveAlgorithm);
    settings.protocol = ParseKey(node, "protocol", settings.protocol, ParseCollectiveProtocol);
    settings.channels = static_cast<uint32_t>(node.GetInteger("channels", 0, 0, 64));
    settings.chunkBytes = node.GetBytes("chunk", 0);
    node.RefuseUnknownKeys();
    return settings;
}

NetworkSettings ReadNetwork(const YamlNode& node)
{
    NetworkSettings settings;
    if (node.Has("mtu"))
    {
        settings.mtuBytes = node.Get("mtu").Parse<uint64_t>(ParseMtu);
    }
    settings.congestionControl =
        OneOf(node, "congestion_control", settings.congestionControl, {"none", "dcqcn"});
    settings.pfc = node.GetBool("pfc", settings.pfc);
    node.RefuseUnknownKeys();
    return settings;
}

FidelityRule ReadRule(const YamlNode& node)
{
    FidelityRule rule;
    if (node.Has("group"))
    {
        rule.group = node.Get("group").Parse<GroupKind>(ParseGroupKind);
    }
    if (node.Has("op"))
    {
        rule.kind = node.Get("op").Parse<CollectiveKind>(ParseCollectiveKind);
    }
    if (node.Has("scope"))
    {
        rule.interHost = OneOf(node, "scope", "", {"intra-host", "inter-host"}) == "inter-host";
    }
    rule.minimumBytes = node.GetBytes("min_bytes", rule.minimumBytes);
    rule.maximumBytes = node.GetBytes("max_bytes", rule.maximumBytes);
    if (!node.Has("fidelity"))
    {
        node.Fail("a rule without 'fidelity'", "analytical, flow or packet");
    }
    rule.fidelity = ParseFidelity(OneOf(node, "fidelity", "", {"analytical", "flow", "packet"}));
    node.RefuseUnknownKeys();
    return rule;
}

HybridSettings ReadHybrid(const YamlNode& node)
{
    HybridSettings settings;
    settings.policy = OneOf(node, "policy", settings.policy, {"contention", "rules"});
    settings.contended = OneOf(node, "contended", settings.contended, {"auto", "flow", "packet"});
    settings.packetHopBudget =
        static_cast<uint64_t>(node.GetInteger("packet_hop_budget",
                                              static_cast<int64_t>(settings.packetHopBudget),
                                              0,
                                              std::numeric_limits<int64_t>::max()));
    if (node.Has("rules"))
    {
        for (const auto& rule : node.Get("rules").GetEntries())
        {
            settings.rules.push_back(ReadRule(rule));
        }
    }
    if (settings.policy == "rules" && settings.rules.empty())
    {
        node.Fail("policy 'rules' without rules", "at least one");
    }
    if (settings.policy != "rules" && !settings.rules.empty())
    {
        node.Get("rules").Fail("rules beside policy '" + settings.policy + "'", "policy: rules");
    }
    node.RefuseUnknownKeys();
    return settings;
}

OutputSettings ReadOutput(const YamlNode& node)
{
    OutputSettings settings;
    const auto count = [&](const char* key, uint64_t fallback) {
        return static_cast<uint64_t>(
            node.GetInteger(key, static_cast<int64_t>(fallback), 0, MAX_COUNT));
    };
    settings.timelineEvents = count("timeline_events", settings.timelineEvents);
    settings.timelineRanks = static_cast<uint32_t>(count("timeline_ranks", settings.timelineRanks));
    settings.rows = count("rows", settings.rows);
    node.RefuseUnknownKeys();
    return settings;
}

void ReadPlacement(const YamlNode& node, Scenario& scenario)
{
    scenario.placementOrder =
        OneOf(node, "order", scenario.placementOrder, {"linear", "round-robin"});
    if (node.Has("gpus"))
    {
        for (const auto& entry : node.Get("gpus").GetEntries())
        {
            const DeviceId gpu = scenario.cluster.topology->FindDevice(entry.AsString());
            if (!gpu.IsValid() || scenario.cluster.topology->GetDevice(gpu).role != DeviceRole::GPU)
            {
                entry.Fail("'" + entry.AsString() + "'", "the name of a GPU such as host0/gpu0");
            }
            scenario.placementGpus.push_back(gpu);
        }
    }
    node.RefuseUnknownKeys();
}

/** Cluster: a file name (relative to the scenario) or a map. */
Cluster ReadClusterKey(const YamlNode& root, uint32_t hosts)
{
    const YamlNode node = root.Get("cluster");
    if (node.IsScalar())
    {
        return ReadCluster(YamlNode::LoadFile(root.ResolvePath(node.AsString())), hosts);
    }
    return ReadCluster(node, hosts);
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

void ReadWorkloadKey(const YamlNode& root, uint32_t ranks, Scenario& scenario)
{
    const YamlNode node = root.Get("workload");
    node.RequireMap();
    if (node.Has("import") || node.Has("graph"))
    {
        // Their files say how many ranks there are.
        if (node.Has("import"))
        {
            ReadImport(node.Get("import"), scenario);
        }
        else
        {
            scenario.workload = ReadExecutionGraphs(node.ResolvePath(node.Get("graph").AsString()));
        }
        node.RefuseUnknownKeys();
        if (root.Has("ranks") && ranks != scenario.workload->GetRankCount())
        {
            root.Get("ranks").Fail("'" + root.Get("ranks").AsString() + "'",
                                   std::to_string(scenario.workload->GetRankCount()) +
                                       ", as the files have");
        }
    }
    else if (node.Has("generate"))
    {
        const TrainingPlan plan = ReadTrainingPlan(node.Get("generate"), ranks);
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

void ReadModels(const YamlNode& root, Scenario& scenario)
{
    scenario.profile = scenario.cluster.profile;
    if (root.Has("estimator"))
    {
        const YamlNode node = root.Get("estimator");
        const std::string profile = node.GetString("profile", "");
        if (profile == "derived")
        {
            scenario.profile = "";
        }
        else if (!profile.empty())
        {
            scenario.profile = node.ResolvePath(profile);
        }
        node.RefuseUnknownKeys();
    }
    if (root.Has("compute"))
    {
        const YamlNode node = root.Get("compute");
        const std::string profile = node.GetString("profile", "");
        scenario.computeProfile = profile.empty() ? "" : node.ResolvePath(profile);
        scenario.computeScale = node.GetNumber("scale", 1, 1e-6, 1e6);
        scenario.slowdown = node.GetNumber("slowdown", 1, 1, 100);
        node.RefuseUnknownKeys();
    }
}

void ApplyOverrides(YamlNode& root, const ScenarioOverrides& overrides)
{
    for (const auto& text : overrides.sets)
    {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
        {
            throw InputError({"", 0, "--set"}, "'" + text + "'", "path.to.key=value");
        }
        root.Set(text.substr(0, equals), text.substr(equals + 1));
    }
    if (!overrides.fidelity.empty())
    {
        root.Set("fidelity", overrides.fidelity);
    }
    if (overrides.seed)
    {
        root.Set("seed", std::to_string(*overrides.seed));
    }
}

} // namespace

Scenario ReadScenario(const std::string& path, const ScenarioOverrides& overrides)
{
    return ReadScenario(YamlNode::LoadFile(path), overrides);
}

Scenario ReadScenario(YamlNode root, const ScenarioOverrides& overrides)
{
    root.RequireMap();
    ApplyOverrides(root, overrides);
    root.Get("echo").AsInteger(1, 1);

    Scenario scenario;
    scenario.file = root.GetLocation().file;
    scenario.name = root.GetString("name", std::filesystem::path(scenario.file).stem().string());
    scenario.seed = static_cast<uint64_t>(root.GetInteger("seed", 1, 1, MAX_COUNT));
    scenario.fidelity = ParseKey(root, "fidelity", scenario.fidelity, ParseFidelity);
    const uint32_t hosts = overrides.hosts > 0
                               ? overrides.hosts
                               : static_cast<uint32_t>(root.GetInteger("hosts", 0, 1, MAX_COUNT));
    scenario.cluster = ReadClusterKey(root, hosts);
    if (root.Has("placement"))
    {
        ReadPlacement(root.Get("placement"), scenario);
    }
    const size_t gpus = scenario.cluster.topology->GetDevices(DeviceRole::GPU).size();
    const uint32_t ranks = static_cast<uint32_t>(root.GetInteger(
        "ranks",
        DefaultRanks(root,
                     static_cast<int64_t>(
                         scenario.placementGpus.empty() ? gpus : scenario.placementGpus.size())),
        1,
        MAX_COUNT));
    ReadModels(root, scenario);
    if (root.Has("collective"))
    {
        scenario.collective = ReadCollective(root.Get("collective"));
    }
    if (root.Has("timeline"))
    {
        const YamlNode timeline = root.Get("timeline");
        scenario.folding = OneOf(timeline, "folding", scenario.folding, {"auto", "on", "off"});
        timeline.RefuseUnknownKeys();
    }
    if (root.Has("output"))
    {
        scenario.output = ReadOutput(root.Get("output"));
    }
    if (root.Has("network"))
    {
        scenario.network = ReadNetwork(root.Get("network"));
    }
    if (root.Has("hybrid"))
    {
        scenario.hybrid = ReadHybrid(root.Get("hybrid"));
    }
    if (root.Has("attributes"))
    {
        const YamlNode attributes = root.Get("attributes");
        for (const auto& key : attributes.GetKeys())
        {
            scenario.attributes.emplace_back(key, attributes.Get(key).AsString());
        }
    }
    ReadWorkloadKey(root, ranks, scenario);
    root.RefuseUnknownKeys();
    if (!scenario.measuredTransfers.empty() && scenario.fidelity != Fidelity::ANALYTICAL)
    {
        root.Get("workload")
            .Fail("communication: measured-transfer",
                  "fidelity: analytical with it, as nothing is simulated");
    }
    return scenario;
}

uint64_t ParseMtu(const std::string& text)
{
    const uint64_t bytes = ParseBytes(text);
    if (bytes < 64 || bytes > 65536)
    {
        throw InputError(SourceLocation{}, "'" + text + "'", "from 64 B to 64 KiB");
    }
    return bytes;
}

} // namespace echo
} // namespace ns3
