// SPDX-License-Identifier: GPL-2.0-only
#include "replay-accuracy.h"

#include "ns3/echo-error.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-text-table.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

namespace ns3
{
namespace echo
{

namespace
{

const char* HEAD =
    R"(# Accuracy: a recorded DLRM step on 8 V100, replayed

Written by `./echo accuracy dlrm`; do not edit. From the recording in `scenarios/traces/dlrm-8xv100`
(source and licence there) and `scenarios/dlrm-8xv100.yaml`.

Kernels, copies and CPU time between launches are inputs from the recording; so are the times at
which ranks start the step. Durations of NCCL kernels are not, as they include waiting for other
ranks. What is predicted is when everything happens: who waits for whom, within a rank and across
ranks, and how long the communication transfers.

- (a) takes each collective's transfer time from the recording: the duration on the rank that
  arrived last. Its error is that of the execution graph and the timeline alone.
- The others simulate the communication on `clusters/dgx1-v100.yaml`. Their difference from (a) is
  the communication model's part.

)";

const char* TAIL = R"(
How to read it. Communication is about 1 % of this step, so its model hardly moves the step time,
and the agreement of the step says little about it: the table of collectives does. The recording
takes 7 to 10 us for an all-to-all of a few kilobytes and 20 us for an all-reduce of 448 bytes: that
is latency of launches and protocols, which link rates and delays do not hold. The step is made of CPU
time between launches and of waiting for the slowest rank (kernels are 5 % of it), as recorded
under the profiler.
)";

class ReplaySink : public RecordSink
{
  public:
    void OnRank(const RankRecord& record) override
    {
        ranks.push_back(record);
    }

    void OnCollective(const CollectiveRecord& record) override
    {
        collectives.push_back(record);
    }

    std::vector<RankRecord> ranks;
    std::vector<CollectiveRecord> collectives;
};

/** Records in the order of the measured collectives: by group, then by instance. */
std::vector<CollectiveRecord> InMeasuredOrder(std::vector<CollectiveRecord> records,
                                              const ImportedWorkload& measured)
{
    std::map<std::string, uint32_t> groups;
    for (const auto& group : measured.graph->GetGroups())
    {
        groups[group->GetName()] = group->GetId().Get();
    }
    std::sort(records.begin(), records.end(), [&groups](const auto& a, const auto& b) {
        return std::make_pair(groups[a.groupName], a.id.Get()) <
               std::make_pair(groups[b.groupName], b.id.Get());
    });
    if (records.size() != measured.collectives.size())
    {
        throw StallError("the replay ran " + std::to_string(records.size()) +
                         " collectives, the recording has " +
                         std::to_string(measured.collectives.size()));
    }
    return records;
}

ReplayVariant Replay(const std::string& scenario,
                     const std::string& name,
                     const std::string& fidelity,
                     const std::string& communication,
                     const ImportedWorkload& measured)
{
    ScenarioOverrides overrides;
    overrides.fidelity = fidelity;
    overrides.sets = {"workload.import.communication=" + communication};
    ScenarioRunner runner(ReadScenario(scenario, overrides));
    ReplaySink sink;
    const RunRecord run = runner.Run([&sink]() -> RecordSink& {
        sink = ReplaySink();
        return sink;
    });
    ReplayVariant variant;
    variant.name = name;
    variant.step = run.stepTime;
    for (const auto& rank : sink.ranks)
    {
        variant.rankEnds.push_back(rank.lastEnd);
    }
    variant.collectives = InMeasuredOrder(std::move(sink.collectives), measured);
    return variant;
}

ImportedWorkload ReadMeasured(const std::string& scenario)
{
    const YamlNode import = YamlNode::LoadFile(scenario).Get("workload").Get("import");
    return ImportKineto({import.ResolvePath(import.Get("path").AsString())});
}

std::string Row(const std::vector<std::string>& cells)
{
    std::string line = "|";
    for (const auto& cell : cells)
    {
        line += " " + cell + " |";
    }
    return line + "\n";
}

std::string Rule(size_t columns)
{
    std::string line = "| ---";
    for (size_t i = 1; i < columns; ++i)
    {
        line += " | ---:";
    }
    return line + " |\n";
}

double MicrosecondsOf(Time time)
{
    return static_cast<double>(time.GetPicoSeconds()) / 1e6;
}

std::string Us(Time time)
{
    return FormatFixed(MicrosecondsOf(time), 1);
}

std::string SignedPercent(double ratio)
{
    return (ratio < 0 ? "-" : "+") + FormatFixed(std::abs(100 * ratio), 2) + " %";
}

Time Largest(Time a, Time b)
{
    return Max(a, Abs(b));
}

double ErrorOf(const ReplayVariant& variant, const ImportedWorkload& measured)
{
    return MicrosecondsOf(variant.step) / MicrosecondsOf(measured.span) - 1;
}

std::string VariantRow(const ReplayVariant& variant, const ReplayAccuracy& accuracy)
{
    const ImportedWorkload& measured = accuracy.measured;
    Time rankError;
    for (size_t i = 0; i < measured.ranks.size(); ++i)
    {
        rankError = Largest(rankError, variant.rankEnds[i] - measured.ranks[i].end);
    }
    Time startError;
    Time endError;
    Time transfer;
    for (size_t i = 0; i < measured.collectives.size(); ++i)
    {
        const auto& record = variant.collectives[i];
        startError = Largest(startError, record.start - measured.collectives[i].lastStart);
        endError = Largest(endError, record.end - measured.collectives[i].end);
        transfer += record.end - record.start;
    }
    const double error = ErrorOf(variant, measured);
    return Row({variant.name,
                Us(variant.step),
                SignedPercent(error),
                SignedPercent(error - ErrorOf(accuracy.variants.front(), measured)),
                Us(rankError),
                Us(startError),
                Us(endError),
                Us(transfer)});
}

std::string FormatSummary(const ReplayAccuracy& accuracy)
{
    const ImportedWorkload& measured = accuracy.measured;
    Time transfer;
    Time lastStart;
    for (const auto& collective : measured.collectives)
    {
        transfer += collective.transfer;
    }
    for (const auto& rank : measured.ranks)
    {
        lastStart = std::max(lastStart, rank.start);
    }
    std::string text = "Measured: " + std::to_string(measured.ranks.size()) +
                       " ranks; latest end less earliest start " + Us(measured.span) +
                       " us (the last rank starts " + Us(lastStart) + " us after the first); " +
                       std::to_string(measured.collectives.size()) +
                       " collectives, which transfer for " + Us(transfer) + " us together.\n\n";
    text += Row({"replay",
                 "step, us",
                 "error",
                 "of it communication model",
                 "largest error of a rank's end, us",
                 "of a collective's start, us",
                 "of a collective's end, us",
                 "transfer in all, us"});
    text += Rule(8);
    for (const auto& variant : accuracy.variants)
    {
        text += VariantRow(variant, accuracy);
    }
    return text + "\n";
}

std::string FormatCollectives(const ReplayAccuracy& accuracy)
{
    const ImportedWorkload& measured = accuracy.measured;
    std::vector<std::string> header{"transfer of each collective, us", "size, B", "measured"};
    for (size_t i = 1; i < accuracy.variants.size(); ++i)
    {
        header.push_back(accuracy.variants[i].name);
    }
    std::string text = Row(header) + Rule(header.size());
    for (size_t k = 0; k < measured.collectives.size(); ++k)
    {
        const auto& collective = measured.collectives[k];
        std::vector<std::string> cells{std::to_string(k + 1) + " " + ToString(collective.kind),
                                       std::to_string(collective.bytes),
                                       Us(collective.transfer)};
        for (size_t i = 1; i < accuracy.variants.size(); ++i)
        {
            const auto& record = accuracy.variants[i].collectives[k];
            cells.push_back(Us(record.end - record.start));
        }
        text += Row(cells);
    }
    return text + "\n";
}

std::string FormatRanks(const ReplayAccuracy& accuracy)
{
    const ImportedWorkload& measured = accuracy.measured;
    std::vector<std::string> header{"end of each rank, us", "start", "measured"};
    for (const auto& variant : accuracy.variants)
    {
        header.push_back(variant.name);
    }
    std::string text = Row(header) + Rule(header.size());
    for (size_t i = 0; i < measured.ranks.size(); ++i)
    {
        std::vector<std::string> cells{std::to_string(measured.ranks[i].rank),
                                       Us(measured.ranks[i].start),
                                       Us(measured.ranks[i].end)};
        for (const auto& variant : accuracy.variants)
        {
            cells.push_back(Us(variant.rankEnds[i]));
        }
        text += Row(cells);
    }
    return text;
}

} // namespace

ReplayAccuracy CheckReplay(const std::string& scenario)
{
    ReplayAccuracy accuracy;
    accuracy.measured = ReadMeasured(scenario);
    const auto add = [&](const char* name, const char* fidelity, const char* communication) {
        accuracy.variants.push_back(
            Replay(scenario, name, fidelity, communication, accuracy.measured));
    };
    add("(a) measured transfers", "analytical", "measured-transfer");
    add("(b) analytical", "analytical", "simulated");
    add("(c) flow", "flow", "simulated");
    add("(d) packet", "packet", "simulated");
    return accuracy;
}

void WriteReplayAccuracy(std::ostream& out, const std::string& scenario)
{
    const ReplayAccuracy accuracy = CheckReplay(scenario);
    out << HEAD << FormatSummary(accuracy) << FormatCollectives(accuracy) << FormatRanks(accuracy)
        << TAIL;
}

} // namespace echo
} // namespace ns3
