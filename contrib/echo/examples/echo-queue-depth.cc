// SPDX-License-Identifier: GPL-2.0-only
// Time series by ns-3's trace sinks: eight hosts send 1 MB each to a ninth at once; the queue of
// the switch's port towards it is printed as CSV, each time it changes by more than a tenth of its
// peak so far, with and without DCQCN. With --pcap=PREFIX the port is captured too (open it in
// Wireshark).

#include "ns3/core-module.h"
#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-roce-pcap-helper.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-units.h"
#include "ns3/echo-yaml.h"

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace ns3;
using namespace ns3::echo;

namespace
{

/** Prints a queue's length as it changes. */
class DepthPrinter
{
  public:
    explicit DepthPrinter(std::string name) : m_name(std::move(name))
    {
    }

    void Trace(Time at, uint64_t bytes)
    {
        m_peak = std::max(m_peak, bytes);
        const double step = static_cast<double>(m_peak) / 10;
        const double change = std::abs(static_cast<double>(bytes) - static_cast<double>(m_last));
        if (bytes == 0 || change > step)
        {
            std::cout << m_name << ',' << Microseconds(at) << ',' << bytes << '\n';
            m_last = bytes;
        }
    }

  private:
    std::string m_name;
    uint64_t m_peak{0};
    uint64_t m_last{0};
};

} // namespace

int main(int argc, char* argv[])
{
    UsePicoseconds();
    std::string pcap;
    CommandLine cmd(__FILE__);
    cmd.AddValue("pcap", "prefix of a capture of the port; empty: none", pcap);
    cmd.Parse(argc, argv);

    const Cluster cluster = ReadCluster(YamlNode::LoadText(R"(
echo_cluster: 1
name: one-switch
hosts: 9
gpu: {name: any}
host:
  gpus: 1
  nics: 1
  nic: {rate: 100Gbps, delay: 1us}
fabric: {type: single-switch}
)",
                                                           "one-switch"),
                                        0);
    const Topology& topology = *cluster.topology;
    std::cout << "congestion_control,time_us,queue_bytes\n";
    for (const std::string control : {"FixedRate", "Dcqcn"})
    {
        Ptr<ShortestPathRouter> router = CreateObject<ShortestPathRouter>();
        router->Prepare(cluster.topology);
        Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
        network->SetAttribute("CongestionControl", StringValue("ns3::echo::" + control));
        network->Prepare(router, nullptr);

        const DeviceId receiver = topology.FindDevice("host8/nic0");
        const PortId port = Topology::PeerOf(topology.GetPorts(receiver).back());
        DepthPrinter printer(control);
        network->GetPort(port)->TraceConnectWithoutContext(
            "Queue", MakeCallback(&DepthPrinter::Trace, &printer));
        if (!pcap.empty())
        {
            RocePcapHelper().EnablePcap(pcap + "-" + control, network->GetPort(port));
        }
        for (uint32_t host = 0; host < 8; ++host)
        {
            Message message;
            message.source = topology.FindDevice("host" + std::to_string(host) + "/nic0");
            message.destination = receiver;
            message.bytes = 1000000;
            network->Send(message, nullptr);
        }
        Simulator::Run();
        network->Dispose();
        Simulator::Destroy();
    }
    return 0;
}
