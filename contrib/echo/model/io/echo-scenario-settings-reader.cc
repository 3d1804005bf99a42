// SPDX-License-Identifier: GPL-2.0-only
#include "echo-scenario-settings-reader.h"

#include "echo-fabric-settings-reader.h"
#include "echo-scenario-reader.h"

#include "ns3/echo-learned-slowdown.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-units.h"

#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

const int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();

} // namespace

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

namespace
{

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
    if (rule.minimumBytes > rule.maximumBytes)
    {
        node.Fail("min_bytes above max_bytes", "sizes that some communication can have");
    }
    if (!node.Has("fidelity"))
    {
        node.Fail("a rule without 'fidelity'", "analytical, flow or packet");
    }
    rule.fidelity = ParseFidelity(OneOf(node, "fidelity", "", {"analytical", "flow", "packet"}));
    node.RefuseUnknownKeys();
    return rule;
}

} // namespace

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
    if (node.Has("congestion_control"))
    {
        settings.congestionControl =
            node.Get("congestion_control").Parse<std::string>(ParseCongestionControl);
    }
    settings.pfc = node.GetBool("pfc", settings.pfc);
    ReadFabricSettings(node, settings);
    node.RefuseUnknownKeys();
    return settings;
}

HybridSettings ReadHybrid(const YamlNode& node)
{
    HybridSettings settings;
    settings.policy = OneOf(node, "policy", settings.policy, {"contention", "sampled", "rules"});
    settings.samples = static_cast<uint32_t>(node.GetInteger("samples", settings.samples, 1, 1000));
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
    if (node.Has("meeting"))
    {
        settings.partsMeeting =
            OneOf(node, "meeting", "together", {"together", "apart"}) == "apart";
        if (settings.policy != "rules")
        {
            node.Get("meeting").Fail("meeting beside policy '" + settings.policy + "'",
                                     "policy: rules");
        }
    }
    // What is the default may be written, so that a study can vary the policy.
    const HybridSettings plain;
    const auto refuse = [&](const char* key, bool isIgnored, const std::string& use) {
        if (isIgnored)
        {
            node.Get(key).Fail(std::string(key) + " beside policy '" + settings.policy + "'", use);
        }
    };
    refuse("samples",
           settings.policy != "sampled" && settings.samples != plain.samples,
           "policy: sampled");
    refuse("contended",
           settings.policy == "rules" && settings.contended != plain.contended,
           "policy: contention or sampled");
    refuse("packet_hop_budget",
           (settings.policy != "contention" || settings.contended != plain.contended) &&
               settings.packetHopBudget != plain.packetHopBudget,
           "policy: contention with contended: auto");
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

SlowdownSettings ReadSlowdown(const YamlNode& node)
{
    SlowdownSettings settings;
    if (node.IsScalar())
    {
        if (node.AsString() != "none")
        {
            settings.model = "constant";
            settings.factor = node.AsNumber(1, 1000);
        }
        return settings;
    }
    const YamlNode model = node.Get("model");
    settings.model = model.AsString();
    if (settings.model == "constant")
    {
        if (node.Has("factor") == node.Has("file"))
        {
            node.Fail(node.Has("file") ? "both factor and file" : "neither factor nor file",
                      "one of them");
        }
        settings.factor = node.GetNumber("factor", 1, 1, 1000);
        settings.file = node.Has("file") ? node.ResolvePath(node.Get("file").AsString()) : "";
    }
    else if (settings.model == "learned")
    {
        settings.file = node.ResolvePath(node.Get("file").AsString());
        if (node.Has("features"))
        {
            for (const YamlNode& name : node.Get("features").GetEntries())
            {
                settings.features.push_back(name.AsString());
            }
        }
        if (node.Has("target"))
        {
            settings.target = node.Get("target").AsString();
            node.Get("target").Parse<SlowdownTarget>(ParseSlowdownTarget);
        }
    }
    else if (settings.model != "none")
    {
        model.Fail("'" + settings.model + "'", "none, constant or learned");
    }
    node.RefuseUnknownKeys();
    return settings;
}

} // namespace echo
} // namespace ns3
