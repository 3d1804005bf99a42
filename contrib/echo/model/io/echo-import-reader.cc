// SPDX-License-Identifier: GPL-2.0-only
#include "echo-import-reader.h"

#include "echo-foreign-import.h"
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

/** What @p import says of an option is said at the key. */
template <typename Import>
auto AtKeys(const YamlNode& node, Import import)
{
    try
    {
        return import();
    }
    catch (const InputError& error)
    {
        const SourceLocation& where = error.GetLocation();
        if (where.file.empty() && !where.item.empty() && node.Has(where.item))
        {
            throw error.At(node.Get(where.item).GetLocation());
        }
        throw;
    }
}

std::vector<std::string> ReadPaths(const YamlNode& node)
{
    std::vector<std::string> paths;
    const YamlNode path = node.Get("path");
    if (path.IsSequence())
    {
        for (const auto& entry : path.GetEntries())
        {
            paths.push_back(node.ResolvePath(entry.AsString()));
        }
        if (paths.empty())
        {
            path.Fail("an empty list", "at least one file, folder or pattern");
        }
    }
    else
    {
        paths.push_back(node.ResolvePath(path.AsString()));
    }
    return paths;
}

/** A workload of another tool than PyTorch's profiler. */
void ReadForeign(const YamlNode& node,
                 const std::string& format,
                 uint32_t ranks,
                 Scenario& scenario)
{
    ForeignOptions options;
    options.defaultRanks = ranks;
    const std::vector<std::string> paths = ReadPaths(node);
    auto file = [&node](const char* key) {
        const std::string name = node.GetString(key, "");
        return name.empty() ? name : node.ResolvePath(name);
    };
    if (format == "chakra")
    {
        options.groups = file("groups");
        options.system = file("system");
        options.replicate = OneOf(node, "replicate", {"none", "dp"});
    }
    options.ranks = static_cast<uint32_t>(node.GetInteger("ranks", 0, 1, 1 << 20));
    if (format == "simai" || format == "astra-sim")
    {
        options.firstDimension =
            static_cast<uint32_t>(node.GetInteger("first_dimension", 0, 1, 1 << 20));
        options.passes = static_cast<uint32_t>(node.GetInteger("passes", 1, 1, 1000));
    }
    node.RefuseUnknownKeys();
    const ImportedJob job = AtKeys(node, [&] { return ImportForeign(format, paths, options); });
    scenario.workload = job.graph;
    scenario.workloadReport = job.report;
    scenario.warnings.insert(scenario.warnings.end(), job.warnings.begin(), job.warnings.end());
}

void ReadKineto(const YamlNode& node, Scenario& scenario)
{
    const std::vector<std::string> paths = ReadPaths(node);
    KinetoOptions options;
    options.step = node.GetString("step", options.step);
    options.keepGaps = node.GetBool("keep_gaps", options.keepGaps);
    options.alignClocks = node.GetBool("align_clocks", options.alignClocks);
    options.missingRanks = OneOf(node, "missing_ranks", {"auto", "refuse", "copy"});
    options.replicate = OneOf(node, "replicate", {"none", "dp"});
    options.ranks = static_cast<uint32_t>(node.GetInteger("ranks", 0, 1, 1 << 20));
    const bool isMeasured =
        OneOf(node, "communication", {"simulated", "measured-transfer"}) == "measured-transfer";
    node.RefuseUnknownKeys();

    const ImportedWorkload imported = AtKeys(node, [&] { return ImportKineto(paths, options); });
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

} // namespace

void ReadImport(const YamlNode& node, uint32_t ranks, Scenario& scenario)
{
    std::vector<std::string> formats{"kineto"};
    formats.insert(formats.end(), GetForeignFormats().begin(), GetForeignFormats().end());
    const std::string format = OneOf(node, "from", formats);
    if (format == "kineto")
    {
        ReadKineto(node, scenario);
    }
    else
    {
        ReadForeign(node, format, ranks, scenario);
    }
}

} // namespace echo
} // namespace ns3
