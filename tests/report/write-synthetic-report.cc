// SPDX-License-Identifier: GPL-2.0-only
// Writes the report of a made-up run, for looking at the page and testing it in a browser.

#include "synthetic-run.h"

#include "ns3/command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-report-writer.h"
#include "ns3/echo-summary-text.h"
#include "ns3/echo-topology-report.h"
#include "ns3/echo-units.h"
#include "ns3/echo-validation-report.h"

#include <iostream>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** Made-up communications of all sizes; the estimate is off by up to a sixth. */
std::vector<ValidationRow> MakeValidation()
{
    std::vector<ValidationRow> rows;
    for (uint32_t i = 0; i < 40; ++i)
    {
        ValidationRow row;
        row.kind = i % 2 == 0 ? CollectiveKind::ALL_REDUCE : CollectiveKind::ALL_GATHER;
        row.group = i % 2 == 0 ? GroupKind::DATA : GroupKind::TENSOR;
        row.ranks = 8 << (i % 4);
        row.hosts = 1 << (i % 4);
        row.bytes = uint64_t{1024} << (i / 2);
        row.algorithm = CollectiveAlgorithmKind::RING;
        row.protocol = CollectiveProtocol::SIMPLE;
        row.channels = 8;
        row.instances = i + 1;
        row.packet = NanoSeconds(20000 + row.bytes / 40);
        row.flow = row.packet * static_cast<int64_t>(1000 - i) / 1000;
        row.analytical = row.packet * static_cast<int64_t>(900 + i * 7919 % 260) / 1000;
        row.extrapolated = i == 39;
        rows.push_back(row);
    }
    rows[3].packet = Time(); // too large to run
    rows[4].flow = Time();
    return rows;
}

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    SyntheticShape shape;
    std::string out;
    bool otherPages = false;
    CommandLine command;
    command.AddValue("out", "folder to write", out);
    command.AddValue("scenario", "its name", shape.scenario);
    command.AddValue("ranks", "ranks", shape.ranks);
    command.AddValue("tensor", "ranks of a tensor-parallel group", shape.tensor);
    command.AddValue("pipeline", "stages", shape.pipeline);
    command.AddValue("layers", "layers of a stage", shape.layers);
    command.AddValue("microBatches", "micro-batches", shape.microBatches);
    command.AddValue("communication", "whether there is any", shape.communication);
    command.AddValue("jobs", "jobs that share the ranks; 0: one", shape.jobs);
    command.AddValue("otherPages", "write made-up pages of other commands too", otherPages);
    command.Parse(argc, argv);
    try
    {
        const SyntheticRun run(shape);
        ReportOptions options;
        options.cluster = "made-up cluster";
        options.ranks = shape.ranks;
        options.network = run.network;
        options.jobs = {run.run.jobs.begin(), run.run.jobs.end()};
        ReportWriter writer(out, options);
        run.Replay(writer);
        writer.Finish();
        std::cout << FormatSummary(writer.GetSummary()) << run.operators.size() << " operators\n";
        if (otherPages)
        {
            WriteValidationReport(
                out + "/validation",
                shape.scenario,
                MakeValidation(),
                {{"analytical, no slowdown", MilliSeconds(90), Time(), MilliSeconds(100)},
                 {"hybrid, <b>learned</b> slowdown",
                  MilliSeconds(103),
                  MilliSeconds(12),
                  MilliSeconds(100)}});
            std::cout << FormatValidation(MakeValidation());
            TopologyPage page;
            page.title = shape.scenario;
            page.facts = {{"Ranks", std::to_string(shape.ranks)}, {"Bisection", "1.6 TB/s"}};
            page.network = run.network;
            page.tables = {{"Placement",
                            {"rank", "device"},
                            {{"0", "host0/gpu0"}, {"1", "host0/<b>gpu1"}, {"10", "host1/gpu2"}}}};
            WriteTopologyReport(out + "/topology", page);
        }
    }
    catch (const InputError& error)
    {
        std::cerr << error.what() << "\n";
        return 2;
    }
    return 0;
}
