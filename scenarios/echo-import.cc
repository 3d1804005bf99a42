// SPDX-License-Identifier: GPL-2.0-only
// ./echo import: foreign workloads to Echo execution graphs, with a health report.

#include "ns3/echo-command-line.h"
#include "ns3/echo-import-command.h"

using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        ImportCommand command;
        EchoCommandLine line("./echo import --from=FORMAT --in=PATH [--in=PATH ...] --out=DIR: "
                             "read workloads of other tools, print what is in them, write "
                             "execution graphs (doc/formats/import.md).");
        command.AddOptions(line);
        line.Parse(argc, argv);
        return command.Run();
    });
}
