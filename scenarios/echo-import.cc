// SPDX-License-Identifier: GPL-2.0-only
// ./echo import: foreign traces to Echo execution graphs, with a health report.

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"
#include "ns3/echo-graph-writer.h"
#include "ns3/echo-kineto-importer.h"
#include "ns3/echo-units.h"

#include <iostream>

using namespace ns3;
using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        EchoCommandLine line("./echo import --from=kineto --in=PATH [--in=PATH ...] --out=DIR: "
                             "read traces, print what "
                             "is in them, write execution graphs (doc/formats/import.md).");
        std::string from = "kineto";
        std::vector<std::string> in;
        std::string out;
        KinetoOptions options;
        line.AddOption("from", "kineto: PyTorch's profiler, with execution traces if any", from);
        line.AddList("in", "a file, a folder or a pattern; in any order", in);
        line.AddOption("out", "folder for the execution graphs; none: report only", out);
        line.AddOption("step", "last, all or N of ProfilerStep#N", options.step);
        line.AddOption("missing-ranks",
                       "ranks without files: refuse; copy a rank that has one; auto: copy if there "
                       "is one file only",
                       options.missingRanks);
        line.AddFlag("keep-gaps", "keep delays of the GPU that nothing explains", options.keepGaps);
        line.AddFlag("align-clocks",
                     "shift clocks that differ so that collectives end together",
                     options.alignClocks);
        line.Parse(argc, argv);
        if (from != "kineto")
        {
            throw InputError({"", 0, "--from"}, "'" + from + "'", "kineto");
        }
        if (in.empty())
        {
            throw InputError({"", 0, "--in"}, "none", "a file, a folder or a pattern");
        }
        const bool writes = !out.empty() && out != "none";
        std::unique_ptr<OutputFolder> folder;
        if (writes)
        {
            folder = std::make_unique<OutputFolder>(out); // before the work: it may be refused
        }
        options.onHealth = [](const KinetoHealth& health) { std::cout << health.ToString(); };
        const ImportedWorkload imported = ImportKineto(in, options);
        std::cout << "measured step, latest end less earliest start: " << FormatTime(imported.span)
                  << "\n";
        if (writes)
        {
            WriteExecutionGraphs(*imported.graph, *folder);
            folder->Commit();
            std::cout << "execution graphs: " << out << "/workload.json, one program a file\n";
        }
        return 0;
    });
}
