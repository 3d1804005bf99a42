// SPDX-License-Identifier: GPL-2.0-only
// Rates over time: several hosts send to one, and a trace sink prints what congestion control makes
// of their rates as CSV. Any scheme: --control=dcqcn, hpcc, swift or a class of one's own.

#include "ns3/core-module.h"
#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <iostream>

using namespace ns3;
using namespace ns3::echo;

namespace
{

void PrintRate(Time at, const QueuePair& queuePair, double bitsPerSecond, double windowBytes)
{
    std::cout << at.ToDouble(Time::US) << ',' << queuePair.GetNumber() << ',' << bitsPerSecond / 1e9
              << ',' << windowBytes << '\n';
}

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    uint32_t senders = 4;
    uint64_t bytes = 1000000;
    std::string control = "hpcc";
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "hosts that send to one", senders);
    cmd.AddValue("bytes", "what each sends", bytes);
    cmd.AddValue("control", "congestion control", control);
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
                                        senders + 1);
    Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
    router->Prepare(cluster.topology);
    Ptr<PacketNetwork> network = CreateObjectWithAttributes<PacketNetwork>(
        "CongestionControl", StringValue(control), "AckInterval", UintegerValue(1));
    network->Prepare(router, nullptr);
    Config::ConnectWithoutContext("/NodeList/*/$ns3::echo::RoceNic/Rate", MakeCallback(&PrintRate));

    std::cout << "time_us,queue_pair,rate_gbps,window_bytes\n";
    for (uint32_t host = 1; host <= senders; ++host)
    {
        Message message;
        message.source = cluster.topology->FindDevice("host" + std::to_string(host) + "/nic0");
        message.destination = cluster.topology->FindDevice("host0/nic0");
        message.bytes = bytes;
        network->Send(message, nullptr);
    }
    Simulator::Run();
    network->Dispose();
    Simulator::Destroy();
    return 0;
}
