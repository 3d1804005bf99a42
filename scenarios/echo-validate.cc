// SPDX-License-Identifier: GPL-2.0-only
// ./echo validate: every distinct communication of a scenario in packet, flow and analytical
// fidelity, alone in the cluster; errors printed and plotted.

#include "ns3/echo-command-line.h"
#include "ns3/echo-validate-command.h"

using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        ValidateCommand command;
        EchoCommandLine line(
            "./echo validate FILE.yaml: every distinct communication of a scenario "
            "in packet, flow and analytical fidelity, alone in the cluster.\n"
            "Results go to --out (default: echo-out/NAME-validation).");
        uint64_t hosts = 0;
        line.AddArgument("FILE", "a scenario (doc/formats/scenario.md)", command.file, true);
        line.AddOption("out", "folder for the results; none: write no files", command.out);
        line.AddHosts(hosts);
        line.AddList("set", "path.to.key=value: any key of the scenario", command.overrides.sets);
        line.Parse(argc, argv);
        command.overrides.hosts = static_cast<uint32_t>(hosts);
        return command.Run();
    });
}
