// SPDX-License-Identifier: GPL-2.0-only
// Writes the report of a made-up run, for looking at the page and testing it in a browser.

#include "synthetic-run.h"

#include "ns3/command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-report-writer.h"
#include "ns3/echo-summary-text.h"
#include "ns3/echo-units.h"

#include <iostream>

using namespace ns3;
using namespace ns3::echo;

int main(int argc, char* argv[])
{
    UsePicoseconds();
    SyntheticShape shape;
    std::string out;
    CommandLine command;
    command.AddValue("out", "folder to write", out);
    command.AddValue("scenario", "its name", shape.scenario);
    command.AddValue("ranks", "ranks", shape.ranks);
    command.AddValue("tensor", "ranks of a tensor-parallel group", shape.tensor);
    command.AddValue("pipeline", "stages", shape.pipeline);
    command.AddValue("layers", "layers of a stage", shape.layers);
    command.AddValue("microBatches", "micro-batches", shape.microBatches);
    command.AddValue("communication", "whether there is any", shape.communication);
    command.Parse(argc, argv);
    try
    {
        const SyntheticRun run(shape);
        ReportOptions options;
        options.cluster = "made-up cluster";
        options.ranks = shape.ranks;
        options.network = run.network;
        ReportWriter writer(out, options);
        run.Replay(writer);
        writer.Finish();
        std::cout << FormatSummary(writer.GetSummary()) << run.operators.size() << " operators\n";
    }
    catch (const InputError& error)
    {
        std::cerr << error.what() << "\n";
        return 2;
    }
    return 0;
}
