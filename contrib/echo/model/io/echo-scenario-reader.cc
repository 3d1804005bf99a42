// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-reader.h"

#include "echo-attribute-reader.h"
#include "echo-cluster-reader.h"
#include "echo-fabric-settings-reader.h"
#include "echo-foreign-topology.h"
#include "echo-job-reader.h"
#include "echo-scenario-settings-reader.h"

#include "ns3/echo-policy.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <optional>

namespace ns3
{
namespace echo
{

namespace
{

const int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();

/** Cluster: a file name (relative to the scenario) or a map. */
Cluster ReadClusterKey(const YamlNode& root, uint32_t hosts)
{
    const YamlNode node = root.Get("cluster");
    if (node.IsScalar())
    {
        return ReadCluster(LoadCluster(root.ResolvePath(node.AsString())), hosts);
    }
    return ReadCluster(node, hosts);
}

void ReadModels(const YamlNode& root, Scenario& scenario)
{
    if (root.Has("measured"))
    {
        const YamlNode node = root.Get("measured");
        scenario.measuredSpan = node.Get("step_time").AsTime();
        if (scenario.measuredSpan.IsZero())
        {
            node.Get("step_time").Fail("zero", "the time of a step");
        }
        node.GetString("source", "");
        node.RefuseUnknownKeys();
    }
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
        scenario.sharesLinks =
            OneOf(node, "contention", "shared", {"shared", "marked"}) == "shared";
        node.RefuseUnknownKeys();
    }
    if (root.Has("compute"))
    {
        const YamlNode node = root.Get("compute");
        const std::string profile = node.GetString("profile", "");
        scenario.computeProfile = profile.empty() ? "" : node.ResolvePath(profile);
        scenario.computeScale = node.GetNumber("scale", 1, 1e-6, 1e6);
        if (node.Has("slowdown"))
        {
            scenario.slowdown = ReadSlowdown(node.Get("slowdown"));
        }
        node.RefuseUnknownKeys();
    }
}

/** The name is that of a folder too. */
void CheckName(const YamlNode& root, const std::string& name)
{
    const bool isPlain = !name.empty() && name.find('/') == std::string::npos && name != "." &&
                         name != ".." && std::none_of(name.begin(), name.end(), [](char letter) {
                             return std::iscntrl(static_cast<unsigned char>(letter)) != 0;
                         });
    if (!isPlain)
    {
        root.Get("name").Fail("'" + name + "'", "a name that a folder can have");
    }
}

/** Before anything is made, so that they hold for builders of the cluster too. */
void SetAttributeDefaults(const YamlNode& root)
{
    RestoreAttributeDefaults(); // those that a scenario before this one set
    if (!root.Has("attributes"))
    {
        return;
    }
    const YamlNode attributes = root.Get("attributes");
    for (const auto& key : attributes.GetKeys())
    {
        SetAttributeDefault(key, attributes.Get(key), true);
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
    if (overrides.hosts > 0)
    {
        root.Set("hosts", std::to_string(overrides.hosts));
    }
}

/** @throws InputError if the fidelity cannot show them */
void ReadFailuresAndBackground(const YamlNode& root, Scenario& scenario)
{
    const Topology& topology = *scenario.cluster.topology;
    const std::string fidelity = ToString(scenario.fidelity);
    if (root.Has("failures"))
    {
        const YamlNode node = root.Get("failures");
        scenario.failures = ReadFailures(node, topology);
        if (!scenario.failures.empty() && scenario.fidelity != Fidelity::PACKET &&
            scenario.fidelity != Fidelity::FLOW)
        {
            node.Fail("failures with fidelity " + fidelity, "fidelity: packet or flow");
        }
        const bool loses =
            std::any_of(scenario.failures.begin(),
                        scenario.failures.end(),
                        [](const LinkEvent& event) { return event.kind == LinkEvent::Kind::LOSS; });
        if (loses && scenario.fidelity == Fidelity::FLOW)
        {
            node.Fail("loss with fidelity flow, which has no packets to lose", "fidelity: packet");
        }
    }
    if (root.Has("background"))
    {
        const YamlNode node = root.Get("background");
        scenario.background =
            ReadBackground(node, topology, std::max<size_t>(scenario.network.classes.size(), 1));
        if (!scenario.background.empty() && scenario.fidelity != Fidelity::PACKET &&
            scenario.fidelity != Fidelity::FLOW)
        {
            node.Fail("background traffic with fidelity " + fidelity, "fidelity: packet or flow");
        }
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
    SetAttributeDefaults(root);

    Scenario scenario;
    scenario.file = root.GetLocation().file;
    scenario.name = root.GetString("name", std::filesystem::path(scenario.file).stem().string());
    CheckName(root, scenario.name);
    scenario.seed = static_cast<uint64_t>(root.GetInteger("seed", 1, 1, MAX_COUNT));
    scenario.fidelity = ParseKey(root, "fidelity", scenario.fidelity, ParseFidelity);
    const auto hosts = static_cast<uint32_t>(root.GetInteger("hosts", 0, 1, MAX_COUNT));
    scenario.cluster = ReadClusterKey(root, hosts);
    ReadModels(root, scenario);
    if (root.Has("collective"))
    {
        scenario.collective = ReadCollective(root.Get("collective"));
    }
    if (root.Has("network"))
    {
        scenario.network = ReadNetwork(root.Get("network"));
    }
    if (root.Has("hybrid"))
    {
        scenario.hybrid = ReadHybrid(root.Get("hybrid"));
    }
    ReadFailuresAndBackground(root, scenario);
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
    if (root.Has("jobs"))
    {
        ReadJobs(root, scenario);
    }
    else
    {
        ReadJob(root, scenario);
    }
    root.RefuseUnknownKeys();
    if (!scenario.measuredTransfers.empty() && scenario.fidelity != Fidelity::ANALYTICAL)
    {
        root.Get("workload")
            .Fail("communication: measured-transfer",
                  "fidelity: analytical with it, as nothing is simulated");
    }
    return scenario;
}

std::string ParseCongestionControl(const std::string& text)
{
    const TypeId parent = TypeId::LookupByName("ns3::echo::CongestionControl");
    if (const std::optional<TypeId> found = LookupPolicy(text, parent, ""))
    {
        return found->GetName();
    }
    throw InputError({}, "'" + text + "'", ListPolicies(parent, ""));
}

bool KnowsCongestionControl(const std::string& policy)
{
    return ParseCongestionControl(policy) != ParseCongestionControl("none");
}

uint64_t ParseMtu(const std::string& text)
{
    const uint64_t bytes = ParseBytes(text);
    if (bytes < 64 || bytes > 65280) // with headers no more than IPv4's length tells
    {
        throw InputError(SourceLocation{}, "'" + text + "'", "from 64 to 65280 B");
    }
    return bytes;
}

} // namespace echo
} // namespace ns3
