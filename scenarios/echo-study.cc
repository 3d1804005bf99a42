// SPDX-License-Identifier: GPL-2.0-only
// ./echo study: a scenario for every combination of the values of some axes; a table and a picture.

#include "ns3/echo-command-line.h"
#include "ns3/echo-study-command.h"

using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        StudyCommand command;
        EchoCommandLine line(
            "./echo study FILE.yaml: run a scenario for every combination of the values of some "
            "axes.\nResults go to --out (default: echo-out/NAME).");
        line.AddArgument("FILE", "a study (doc/formats/study.md)", command.file, true);
        line.AddOption("out", "folder for the results; none: write no files", command.out);
        line.AddList("set", "path.to.key=value: any key of the scenario", command.sets);
        line.Parse(argc, argv);
        return command.Run();
    });
}
