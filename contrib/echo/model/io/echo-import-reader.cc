// SPDX-License-Identifier: GPL-2.0-only
#include "echo-import-reader.h"

#include "echo-kineto-importer.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

std::string OneOf(const YamlNode& node,
                  const std::string& key,
                  const std::vector<std::string>& words)
{
    const std::string text = node.GetString(key, words.front());
    if (std::find(words.begin(), words.end(), text) == words.end())
    {
        std::string expected;
        for (const auto& word : words)
        {
            expected += (expected.empty() ? "" : ", ") + word;
        }
        node.Get(key).Fail("'" + text + "'", "one of " + expected);
    }
    return text;
}

} // namespace

void ReadImport(const YamlNode& node, Scenario& scenario)
{
    OneOf(node, "from", {"kineto"});
    std::vector<std::string> paths;
    const YamlNode path = node.Get("path");
    if (path.IsSequence())
    {
        for (const auto& entry : path.GetEntries())
        {
            paths.push_back(node.ResolvePath(entry.AsString()));
        }
    }
    else
    {
        paths.push_back(node.ResolvePath(path.AsString()));
    }
    KinetoOptions options;
    options.step = node.GetString("step", options.step);
    options.keepGaps = node.GetBool("keep_gaps", options.keepGaps);
    options.alignClocks = node.GetBool("align_clocks", options.alignClocks);
    options.missingRanks = OneOf(node, "missing_ranks", {"auto", "refuse", "copy"});
    const bool isMeasured =
        OneOf(node, "communication", {"simulated", "measured-transfer"}) == "measured-transfer";
    node.RefuseUnknownKeys();

    const ImportedWorkload imported = ImportKineto(paths, options);
    scenario.workload = imported.graph;
    scenario.workloadReport = imported.health.ToString();
    scenario.measuredSpan = imported.span;
    if (!isMeasured)
    {
        return;
    }
    if (imported.collectives.empty())
    {
        node.Get("communication")
            .Fail("measured-transfer for a trace without measured transfers",
                  "collectives and a file for every rank");
    }
    for (const auto& collective : imported.collectives)
    {
        scenario.measuredTransfers.push_back(
            {collective.group, collective.sequence, collective.transfer});
    }
}

} // namespace echo
} // namespace ns3
