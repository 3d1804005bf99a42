// SPDX-License-Identifier: GPL-2.0-only
// ./echo topology: checks a cluster, prints its figures and draws it.

#include "ns3/echo-command-line.h"
#include "ns3/echo-topology-command.h"

using namespace ns3::echo;

int main(int argc, char* argv[])
{
    return RunProgram([&] {
        TopologyCommand command;
        EchoCommandLine line("./echo topology FILE.yaml: check a cluster; print devices, links, "
                             "placement, paths, bisection bandwidth and oversubscription.");
        uint64_t hosts = 0;
        line.AddArgument("FILE",
                         "a cluster (doc/formats/cluster.md), or a topology file of SimAI, HPCC or "
                         "ASTRA-sim",
                         command.file,
                         true);
        line.AddOption(
            "from", "format of the file: auto, echo, simai, hpcc or astra-sim", command.from);
        line.AddHosts(hosts);
        line.AddOption(
            "out",
            "folder for topology.json, topology.svg and topology.html, and for cluster.yaml if the "
            "file is another tool's",
            command.out);
        line.Parse(argc, argv);
        command.hosts = static_cast<uint32_t>(hosts);
        return command.Run();
    });
}
