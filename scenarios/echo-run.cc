// SPDX-License-Identifier: GPL-2.0-only
// ./echo run: simulates one step of a scenario and shows where the time went.

#include "ns3/echo-command-line.h"
#include "ns3/echo-run-command.h"

using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        RunCommand command;
        EchoCommandLine line(
            "./echo run FILE.yaml: simulate one training step (or a list of collectives) and show "
            "where the time went.\nResults go to --out (default: echo-out/NAME).");
        uint64_t seed = 0;
        uint64_t hosts = 0;
        line.AddArgument("FILE", "a scenario (doc/formats/scenario.md)", command.file, true);
        line.AddOption("fidelity",
                       "packet, flow, analytical or hybrid; default: as the file says",
                       command.overrides.fidelity);
        line.AddOption("out", "folder for the results; none: write no files", command.out);
        line.AddSeed(seed);
        line.AddHosts(hosts);
        line.AddList("set", "path.to.key=value: any key of the scenario", command.overrides.sets);
        line.Parse(argc, argv);
        if (seed > 0)
        {
            command.overrides.seed = seed;
        }
        command.overrides.hosts = static_cast<uint32_t>(hosts);
        return command.Run();
    });
}
