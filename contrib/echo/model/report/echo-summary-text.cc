// SPDX-License-Identifier: GPL-2.0-only
#include "echo-summary-text.h"

#include "echo-job-tables.h"
#include "echo-report-column.h"
#include "echo-report-tables.h"
#include "echo-text-table.h"

#include "ns3/echo-units.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t SHOWN_TOTALS = 16;
constexpr size_t SHOWN_FABRIC_LINKS = 4;
constexpr size_t SHOWN_HOST_LINKS = 2;
constexpr size_t SHOWN_WARNINGS = 20;

std::string Plural(uint64_t count, const std::string& noun)
{
    return FormatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ShownTime(Time time)
{
    return time.IsZero() ? "0" : FormatTime(time);
}

std::string FormatHead(const RunSummary& s)
{
    return FormatLabel(s.run.scenario, 60) + ": " + Plural(s.run.ranks, "rank") + " on " +
           Plural(s.run.hosts, "host") + ", " + ToString(s.run.fidelity) + " fidelity, seed " +
           std::to_string(s.run.seed) + "\n\n" +
           (s.run.jobs.empty() ? "Step time " : "A step of each job: ") +
           ShownTime(s.run.stepTime) + (s.run.jobs.empty() ? "" : " in all") + "\n";
}

std::string FormatJobsOf(const RunSummary& s)
{
    return s.run.jobs.empty() ? "" : "\n" + FormatJobs(s.run.jobs);
}

std::string FormatParts(const RunSummary& s)
{
    TextTable table({{"where it went", TextTable::LEFT},
                     {"mean", TextTable::RIGHT},
                     {"share", TextTable::RIGHT},
                     {"largest", TextTable::RIGHT}});
    const double step = s.run.stepTime.GetDouble();
    const auto add = [&](const std::string& name, const RankStatistic& part) {
        table.Add({name,
                   ShownTime(part.mean),
                   FormatPercent(part.mean.GetDouble(), step),
                   ShownTime(part.largest)});
    };
    add("compute", s.compute);
    add("exposed communication", s.exposedCommunication);
    add("waiting for other ranks", s.waiting);
    add("idle", s.idle);
    table.Add({"", "", "", ""});
    add("communication in all", s.communication);
    if (!s.slowdown.largest.IsZero())
    {
        add("slowdown of kernels", s.slowdown);
    }
    return "\n" + table.ToString();
}

std::string FormatFlags(const CollectiveTotals& t)
{
    std::string flags;
    const auto add = [&](uint64_t count, const char* name) {
        if (count > 0)
        {
            flags += (flags.empty() ? "" : ", ") + FormatCount(count) + " " + name;
        }
    };
    add(t.extrapolated, "extrapolated");
    add(t.contended, "contended");
    add(t.uncoupled, "uncoupled");
    return flags;
}

std::string FormatTotals(const RunSummary& s)
{
    if (s.totals.empty())
    {
        return "\nNo communication.\n";
    }
    std::vector<TextTable::Column> columns{{"communication", TextTable::LEFT},
                                           {"group", TextTable::LEFT},
                                           {"fidelity", TextTable::LEFT},
                                           {"count", TextTable::RIGHT},
                                           {"mean size", TextTable::RIGHT},
                                           {"mean time", TextTable::RIGHT},
                                           {"longest", TextTable::RIGHT},
                                           {"mean wait", TextTable::RIGHT},
                                           {"busbw GB/s", TextTable::RIGHT},
                                           {"", TextTable::LEFT}};
    const bool hasJobs = !s.run.jobs.empty();
    if (hasJobs)
    {
        columns.insert(columns.begin(), {"job", TextTable::LEFT});
    }
    TextTable table(std::move(columns));
    for (size_t i = 0; i < std::min(SHOWN_TOTALS, s.totals.size()); ++i)
    {
        const CollectiveTotals& t = s.totals[i];
        const auto count = static_cast<int64_t>(t.count);
        std::vector<std::string> cells{ToString(t.kind),
                                       ToString(t.group),
                                       ToString(t.fidelity),
                                       FormatCount(t.count),
                                       FormatBytes(t.bytes / t.count),
                                       ShownTime(PicoSeconds(t.duration.GetPicoSeconds() / count)),
                                       ShownTime(t.longest),
                                       ShownTime(PicoSeconds(t.waiting.GetPicoSeconds() / count)),
                                       FormatFixed(RateGBps(t.busBytes, t.duration), 2),
                                       FormatFlags(t)};
        if (hasJobs)
        {
            cells.insert(cells.begin(), FormatLabel(t.job, 24));
        }
        table.Add(std::move(cells));
    }
    std::string text = "\n" + table.ToString();
    if (s.totals.size() > SHOWN_TOTALS)
    {
        text += "  and " + std::to_string(s.totals.size() - SHOWN_TOTALS) +
                " more kinds: see collectives.csv\n";
    }
    return text;
}

std::string FormatLinks(const RunSummary& s)
{
    TextTable table({{"busiest links", TextTable::LEFT},
                     {"rate GB/s", TextTable::RIGHT},
                     {"used of step", TextTable::RIGHT},
                     {"peak", TextTable::RIGHT},
                     {"bytes", TextTable::RIGHT},
                     {"largest queue", TextTable::RIGHT}});
    const auto add = [&](const std::vector<LinkRecord>& links, size_t limit) {
        for (size_t i = 0; i < std::min(limit, links.size()); ++i)
        {
            const LinkRecord& link = links[i];
            table.Add({FormatLabel(link.from, 24) + " -> " + FormatLabel(link.to, 24),
                       FormatFixed(GigabytesPerSecond(link.rate), 1),
                       FormatPercent(MeanUtilization(link, s.run.stepTime), 1),
                       link.peakRate > 0 ? FormatPercent(link.peakRate, 1) : "-",
                       FormatBytes(link.wireBytes),
                       link.maxQueueBytes > 0 ? FormatBytes(link.maxQueueBytes) : "-"});
        }
    };
    add(s.hottestFabricLinks, SHOWN_FABRIC_LINKS);
    add(s.hottestHostLinks, SHOWN_HOST_LINKS);
    return s.hottestFabricLinks.empty() && s.hottestHostLinks.empty() ? ""
                                                                      : "\n" + table.ToString();
}

std::string FormatNetwork(const RunSummary& s)
{
    std::string text = "\nBetween hosts: " + FormatBytes(s.bytesOnWire) + " on links";
    if (s.run.packets > 0)
    {
        text += ", " + Plural(s.run.packets, "packet") + ", " + Plural(s.drops, "drop") + ", " +
                Plural(s.pauses, "pause") + ", " + Plural(s.ecnMarks, "ECN mark") + ", " +
                Plural(s.run.cnps, "CNP");
    }
    if (!s.run.congestionControl.empty())
    {
        text += "; congestion control: " + s.run.congestionControl;
    }
    if (!s.run.profile.empty())
    {
        text += s.run.profile == "derived" ? "; estimates derived from link rates and delays"
                                           : "; estimates: profile " + s.run.profile;
    }
    text += "\n";
    for (const auto& [counter, reason] : s.run.zeroCounters)
    {
        text += s.run.packets > 0 ? "  " + counter + " 0: " + reason + "\n" : "";
    }
    return text;
}

std::string FormatWarnings(const RunSummary& s)
{
    std::string text;
    for (size_t i = 0; i < std::min(SHOWN_WARNINGS, s.warnings.size()); ++i)
    {
        text += "\nWarning: " + FormatLabel(s.warnings[i], 400);
    }
    if (s.warnings.size() > SHOWN_WARNINGS)
    {
        text += "\nand " + Plural(s.warnings.size() - SHOWN_WARNINGS, "more warning") +
                ": see summary.json";
    }
    return text.empty() ? "" : text + "\n";
}

std::string FormatNotes(const RunSummary& s)
{
    std::string text;
    for (const auto& note : s.notes)
    {
        text += "\nNote: " + FormatLabel(note, 400);
    }
    return text.empty() ? "" : text + "\n";
}

} // namespace

std::string FormatSummary(const RunSummary& summary)
{
    return FormatHead(summary) + FormatJobsOf(summary) + FormatParts(summary) +
           FormatTotals(summary) + FormatLinks(summary) + FormatNetwork(summary) +
           FormatWarnings(summary) + FormatNotes(summary);
}

} // namespace echo
} // namespace ns3
