// SPDX-License-Identifier: GPL-2.0-only
#include "echo-kineto-health.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

/** Appends cells padded on the left, the first one on the right. */
std::string Row(const std::vector<std::string>& cells, const std::vector<size_t>& widths)
{
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i)
    {
        const std::string pad(widths[i] > cells[i].size() ? widths[i] - cells[i].size() : 0, ' ');
        line += (i == 0 ? "  " : "  ") + pad + cells[i];
    }
    return line + "\n";
}

std::string Table(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
    {
        for (size_t i = 0; i < row.size(); ++i)
        {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto& row : rows)
    {
        text += Row(row, widths);
    }
    return text;
}

std::string Counts(const std::map<std::string, uint64_t>& counts)
{
    std::string text;
    for (const auto& [name, count] : counts)
    {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name;
    }
    return text;
}

std::string Milliseconds(Time time)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(time.GetNanoSeconds()) / 1e6);
    return text;
}

} // namespace

std::string FormatRankList(const std::vector<uint32_t>& ranks)
{
    std::vector<std::string> parts;
    for (size_t i = 0; i < ranks.size();)
    {
        size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
        {
            ++last;
        }
        parts.push_back(std::to_string(ranks[i]));
        if (last > i)
        {
            parts.back() += " to " + std::to_string(ranks[last]);
        }
        i = last + 1;
    }
    const size_t shown = std::min<size_t>(parts.size(), 20);
    std::string text;
    for (size_t i = 0; i < shown; ++i)
    {
        const bool isLast = i + 1 == shown && shown == parts.size();
        text += (i == 0 ? "" : isLast ? " and " : ", ") + parts[i];
    }
    return shown < parts.size() ? text + " and more" : text;
}

void KinetoHealth::WarnOfCommunications()
{
    if (withoutGroup > 0 && worldSize > 1)
    {
        warnings.push_back(std::to_string(withoutGroup) +
                           " communications name no process group: taken to be of all " +
                           std::to_string(worldSize) + " ranks");
    }
    if (!otherCommunications.empty())
    {
        Time all;
        for (const Rank& rank : ranks)
        {
            all += rank.kernelTime;
        }
        std::string names;
        for (const auto& [name, kernels] : otherCommunications)
        {
            char share[16];
            std::snprintf(share,
                          sizeof(share),
                          "%.1f",
                          100 * static_cast<double>(kernels.time.GetTimeStep()) /
                              static_cast<double>(std::max<int64_t>(all.GetTimeStep(), 1)));
            names += (names.empty() ? "" : ", ") + std::to_string(kernels.count) + " " + name +
                     " (" + FormatTime(kernels.time) + ", " + share + " % of kernel time)";
        }
        warnings.push_back("kernels that look like communication outside NCCL and RCCL are "
                           "replayed as compute, with recorded times and without bytes: " +
                           names);
    }
}

std::string KinetoHealth::ToString() const
{
    std::ostringstream out;
    out << "ranks: " << worldSize << ", files for " << ranks.size() << "\n";
    std::vector<std::vector<std::string>> rows{{"rank",
                                                "step",
                                                "start_ms",
                                                "span_ms",
                                                "kernels",
                                                "copies",
                                                "communications",
                                                "streams",
                                                "threads",
                                                "kernel_ms",
                                                "launch_us",
                                                "unexplained_waits",
                                                "waits_ms"}};
    for (const Rank& rank : ranks)
    {
        rows.push_back({std::to_string(rank.rank),
                        rank.step,
                        Milliseconds(rank.start),
                        Milliseconds(rank.span),
                        std::to_string(rank.kernels),
                        std::to_string(rank.copies),
                        std::to_string(rank.communications),
                        std::to_string(rank.streams),
                        std::to_string(rank.threads),
                        Milliseconds(rank.kernelTime),
                        Milliseconds(rank.launchLatency * 1000),
                        std::to_string(rank.longGaps),
                        Milliseconds(rank.longGapTime)});
    }
    out << Table(rows);
    out << "communications of these ranks:" << (collectives.empty() ? " none" : "") << "\n";
    for (const auto& [name, kind] : collectives)
    {
        out << "  " << name << ": " << kind.count << ", " << FormatBytes(kind.bytes) << "\n";
    }
    if (!sources.empty())
    {
        out << "sizes from: " << Counts(sources) << "\n";
    }
    if (!hints.empty())
    {
        out << "kernel names (hints only): " << Counts(hints) << "\n";
    }
    out << "dependencies inferred by times: " << inferredByTime
        << ", guessed and dropped: " << droppedDependencies << "\n";
    out << "not used: " << (ignored.empty() ? "nothing" : Counts(ignored)) << "\n";
    for (const auto& warning : warnings)
    {
        out << "warning: " << warning << "\n";
    }
    return out.str();
}

} // namespace echo
} // namespace ns3
