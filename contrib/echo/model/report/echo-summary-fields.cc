// SPDX-License-Identifier: GPL-2.0-only
#include "echo-summary-fields.h"

#include "echo-job-tables.h"

#ifndef ECHO_VERSION
#define ECHO_VERSION "unknown"
#endif
#ifndef ECHO_NS3_VERSION
#define ECHO_NS3_VERSION "unknown"
#endif

namespace ns3
{
namespace echo
{

namespace
{

using Json = JsonWriter;
using S = RunSummary;

double PerSecond(uint64_t count, double seconds)
{
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

void WriteByFidelity(Json& json, const S& s)
{
    json.BeginObject();
    for (const auto& [fidelity, count] : s.byFidelity)
    {
        json.Member(ToString(fidelity), count);
    }
    json.EndObject();
}

void WriteTexts(Json& json, const std::vector<std::string>& texts)
{
    json.BeginArray();
    for (const auto& text : texts)
    {
        json.Value(text);
    }
    json.EndArray();
}

void WriteZeroCounters(Json& json, const S& s)
{
    json.BeginObject();
    for (const auto& [counter, reason] : s.run.zeroCounters)
    {
        json.Member(counter, reason);
    }
    json.EndObject();
}

void WriteVersions(Json& json, const S&)
{
    json.BeginObject();
    json.Member("echo", ECHO_VERSION);
    json.Member("ns3", ECHO_NS3_VERSION);
    json.Member("compiler", __VERSION__);
    json.EndObject();
}

const std::vector<SummaryField> SUMMARY_FIELDS{
    {"scenario", "text", "its name", [](Json& j, const S& s) { j.Value(s.run.scenario); }},
    {"fidelity",
     "text",
     "the fidelity that was asked for",
     [](Json& j, const S& s) { j.Value(ToString(s.run.fidelity)); }},
    {"seed", "number", "of every random choice", [](Json& j, const S& s) { j.Value(s.run.seed); }},
    {"ranks", "count", "processes of the job", [](Json& j, const S& s) { j.Value(s.run.ranks); }},
    {"hosts",
     "count",
     "servers that they run on",
     [](Json& j, const S& s) { j.Value(s.run.hosts); }},
    {"step_time_us",
     "us",
     "latest end less earliest start of an operator, over all ranks",
     [](Json& j, const S& s) { j.Value(s.run.stepTime); }},
    {"jobs",
     "list of maps",
     "what became of each job: see below",
     [](Json& j, const S& s) { WriteJobs(j, s.run.jobs); },
     [](const S& s) { return !s.run.jobs.empty(); }},
    {"compute_us",
     "us",
     "some kernel or copy runs; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.compute.mean); }},
    {"compute_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.compute.largest); }},
    {"communication_us",
     "us",
     "some communication transfers, overlapped or not; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.communication.mean); }},
    {"communication_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.communication.largest); }},
    {"exposed_communication_us",
     "us",
     "no kernel or copy runs, some communication transfers; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.exposedCommunication.mean); }},
    {"exposed_communication_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.exposedCommunication.largest); }},
    {"waiting_us",
     "us",
     "neither, but a communication is joined that others have not reached; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.waiting.mean); }},
    {"waiting_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.waiting.largest); }},
    {"idle_us",
     "us",
     "none of these; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.idle.mean); }},
    {"idle_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.idle.largest); }},
    {"slowdown_us",
     "us",
     "time that kernels take longer because communication overlaps them; mean over the ranks",
     [](Json& j, const S& s) { j.Value(s.slowdown.mean); }},
    {"slowdown_us_max",
     "us",
     "largest over the ranks",
     [](Json& j, const S& s) { j.Value(s.slowdown.largest); }},
    {"operators", "count", "operators that ran", [](Json& j, const S& s) { j.Value(s.operators); }},
    {"collectives",
     "count",
     "instances of collectives and of pairs of send and receive: in collectives.csv, the sum of "
     "replicas",
     [](Json& j, const S& s) { j.Value(s.collectives); }},
    {"by_fidelity",
     "count",
     "of these, served by each model: analytical, flow, packet (inside a host fluid flows)",
     WriteByFidelity},
    {"extrapolated",
     "count",
     "of these, with an estimate outside the calibrated range",
     [](Json& j, const S& s) { j.Value(s.extrapolated); }},
    {"contended",
     "count",
     "of these, that shared links between hosts with another at the same time",
     [](Json& j, const S& s) { j.Value(s.contended); }},
    {"uncoupled",
     "count",
     "of these, that shared links with one that another model served",
     [](Json& j, const S& s) { j.Value(s.uncoupled); }},
    {"bytes_on_wire",
     "bytes",
     "sum of wire_bytes over the links of links.csv between hosts (NICs and fabric switches)",
     [](Json& j, const S& s) { j.Value(s.bytesOnWire); }},
    {"flows",
     "count",
     "messages: rows of flows.csv",
     [](Json& j, const S& s) { j.Value(s.flows); }},
    {"packets",
     "count",
     "data packets sent (packet fidelity)",
     [](Json& j, const S& s) { j.Value(s.run.packets); }},
    {"packet_hops",
     "count",
     "packets times links (packet fidelity)",
     [](Json& j, const S& s) { j.Value(s.run.packetHops); }},
    {"drops",
     "count",
     "packets lost: sum over links.csv",
     [](Json& j, const S& s) { j.Value(s.drops); }},
    {"pauses",
     "count",
     "PFC pause frames: sum over links.csv",
     [](Json& j, const S& s) { j.Value(s.pauses); }},
    {"ecn_marks",
     "count",
     "packets marked: sum over links.csv",
     [](Json& j, const S& s) { j.Value(s.ecnMarks); }},
    {"cnps",
     "count",
     "congestion notification packets that reached their senders",
     [](Json& j, const S& s) { j.Value(s.run.cnps); }},
    {"zero_counters",
     "texts",
     "of drops, pauses, ecn_marks and cnps those that are 0, and why",
     WriteZeroCounters},
    {"congestion_control",
     "text",
     "scheme of the senders; empty if no packets were simulated",
     [](Json& j, const S& s) { j.Value(s.run.congestionControl); }},
    {"estimator_profile",
     "text",
     "calibrated profile of the estimates; derived: from link rates and delays; empty: none made",
     [](Json& j, const S& s) { j.Value(s.run.profile); }},
    {"fingerprint",
     "text",
     "64-bit hash of all records without names, with the numbers of streams, hosts and links as "
     "given: equal input and seed have equal fingerprints, results that are equal but for those "
     "numbers have not",
     [](Json& j, const S& s) { j.Value(s.fingerprint); }},
    {"warnings",
     "list of texts",
     "what to know before trusting the numbers",
     [](Json& j, const S& s) { WriteTexts(j, s.warnings); }},
    {"notes",
     "list of texts",
     "ranks that were folded, and what timeline.json and the tables leave out",
     [](Json& j, const S& s) { WriteTexts(j, s.notes); }},
};

const std::vector<SummaryField> RUN_FIELDS{
    {"scenario", "text", "its name", [](Json& j, const S& s) { j.Value(s.run.scenario); }},
    {"fingerprint",
     "text",
     "as in summary.json",
     [](Json& j, const S& s) { j.Value(s.fingerprint); }},
    {"wall_seconds",
     "s",
     "time that the run took",
     [](Json& j, const S& s) { j.Value(s.run.wallSeconds); }},
    {"cpu_seconds",
     "s",
     "processor time that the run took",
     [](Json& j, const S& s) { j.Value(s.run.cpuSeconds); }},
    {"peak_memory_bytes",
     "bytes",
     "largest resident memory of the process",
     [](Json& j, const S& s) { j.Value(s.run.peakMemoryBytes); }},
    {"events",
     "count",
     "events that the simulator executed",
     [](Json& j, const S& s) { j.Value(s.run.events); }},
    {"events_per_second",
     "1/s",
     "events over wall_seconds",
     [](Json& j, const S& s) { j.Value(PerSecond(s.run.events, s.run.wallSeconds)); }},
    {"packet_hops_per_second",
     "1/s",
     "packet hops over wall_seconds",
     [](Json& j, const S& s) { j.Value(PerSecond(s.run.packetHops, s.run.wallSeconds)); }},
    {"versions", "texts", "of Echo, ns-3 and the compiler", WriteVersions},
};

} // namespace

const std::vector<SummaryField>& GetSummaryFields()
{
    return SUMMARY_FIELDS;
}

const std::vector<SummaryField>& GetRunFields()
{
    return RUN_FIELDS;
}

void WriteFields(JsonWriter& json,
                 const std::vector<SummaryField>& fields,
                 const RunSummary& summary)
{
    json.BeginObject();
    for (const auto& field : fields)
    {
        if (!field.isThere || field.isThere(summary))
        {
            json.Key(field.key);
            field.write(json, summary);
        }
    }
    json.EndObject();
}

std::string DescribeFields(const std::vector<SummaryField>& fields, const RunSummary& summary)
{
    std::string text = "| key | unit | meaning |\n|---|---|---|\n";
    for (const auto& field : fields)
    {
        if (!field.isThere || field.isThere(summary))
        {
            text += std::string("| `") + field.key + "` | " + field.unit + " | " + field.meaning +
                    " |\n";
        }
    }
    return text;
}

} // namespace echo
} // namespace ns3
