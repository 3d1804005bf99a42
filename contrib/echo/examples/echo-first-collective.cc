// SPDX-License-Identifier: GPL-2.0-only
// The shortest way from a script to a figure: an all-reduce of 8 ranks on one switch, by packets,
// by fluid flows and by the closed form, as the size grows.

#include "ns3/core-module.h"
#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-collective-experiment.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <iostream>

using namespace ns3;
using namespace ns3::echo;

int main(int argc, char* argv[])
{
    UsePicoseconds();
    uint32_t hosts = 8;
    CommandLine cmd(__FILE__);
    cmd.AddValue("hosts", "hosts on the switch, one GPU each", hosts);
    cmd.Parse(argc, argv);

    const Cluster cluster = ReadCluster(YamlNode::LoadText(R"(
echo_cluster: 1
name: one-switch
hosts: 8
gpu: {name: any}
host:
  gpus: 1
  nics: 1
  nic: {rate: 100Gbps, delay: 1us}
fabric: {type: single-switch}
)",
                                                           "one-switch"),
                                        hosts);

    const CollectiveExperiment experiment(cluster, hosts, BackendSettings{});
    std::cout << "all-reduce of " << hosts << " ranks, 100 Gb/s\n";
    for (uint64_t bytes : ParseByteSizes("64KiB:16MiB:4"))
    {
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_REDUCE;
        spec.bytes = bytes;
        std::cout << FormatBytes(bytes);
        for (Fidelity fidelity : {Fidelity::PACKET, Fidelity::FLOW, Fidelity::ANALYTICAL})
        {
            std::cout << "  " << ToString(fidelity) << ' '
                      << FormatTime(experiment.Run(spec, fidelity).GetDuration());
        }
        std::cout << std::endl;
    }
    return 0;
}
