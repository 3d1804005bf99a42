// SPDX-License-Identifier: GPL-2.0-only
// Topology files of SimAI, HPCC and ASTRA-sim.

#include "error-message.h"
#include "kineto-text.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-foreign-topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

Cluster ReadText(const std::string& text, const std::string& name = "a file")
{
    TemporaryFolder folder;
    return ReadClusterFile(folder.Write(name, text));
}

/** Two servers of two GPUs, a rail switch for each GPU number, one switch above. */
const std::string SIMAI = "9 2 2 3 10 H800\n"
                          "4 5 6 7 8\n"
                          "0 4 2880Gbps 0.000025ms 0\n0 6 400Gbps 0.0005ms 0\n"
                          "1 4 2880Gbps 0.000025ms 0\n1 7 400Gbps 0.0005ms 0\n"
                          "2 5 2880Gbps 0.000025ms 0\n2 6 400Gbps 0.0005ms 0\n"
                          "3 5 2880Gbps 0.000025ms 0\n3 7 400Gbps 0.0005ms 0\n"
                          "6 8 400Gbps 0.0005ms 0\n7 8 200Gbps 0.002ms 0\n";

const std::string HPCC = "4 1 3\n1\n0 1 100Gbps 0.001ms 0\n2 1 100Gbps 1000ns 0.000000\n"
                         "1 3 25Gbps 0.001ms 0\nFirst line: total node #, switch node #, link #\n";

const std::string RING = "topology: [ Ring ]\nnpus_count: [ 4 ]  # NPUs\nbandwidth: [ 50.0 ]\n"
                         "latency: [ 500.0 ]\n";

TEST(ForeignTopology, SimAiServersBecomeHosts)
{
    const Cluster cluster = ReadText(SIMAI);
    const Topology& topology = *cluster.topology;
    EXPECT_EQ(cluster.gpu.name, "H800");
    ASSERT_EQ(topology.GetHostCount(), 2u);
    EXPECT_EQ(topology.GetGpus(HostId(1)).size(), 2u);
    EXPECT_TRUE(topology.HasNvSwitch(HostId(0)));
    EXPECT_EQ(topology.GetDevices(DeviceRole::LEAF).size(), 2u);
    EXPECT_EQ(topology.GetDevices(DeviceRole::SPINE).size(), 1u);
    const DeviceId nic = topology.FindDevice("host1/nic1"); // GPU 3
    ASSERT_EQ(topology.GetPorts(nic).size(), 1u);
    const PortId port = topology.GetPorts(nic).front();
    EXPECT_EQ(topology.GetDevice(topology.NeighborOf(port)).name, "switch7");
    EXPECT_EQ(topology.RateOf(port), DataRate(400000000000));
    EXPECT_EQ(topology.DelayOf(port), NanoSeconds(500));
    const PortId up = topology.GetPorts(topology.FindDevice("switch8")).back();
    EXPECT_EQ(topology.RateOf(up), DataRate(200000000000));
    EXPECT_EQ(topology.DelayOf(up), MicroSeconds(2));
    const DeviceId gpu = topology.FindDevice("host0/gpu1");
    EXPECT_EQ(topology.RateOf(topology.GetPorts(gpu).front()), DataRate(2880000000000));
}

TEST(ForeignTopology, HpccHostsHaveOneGpuEach)
{
    const Cluster cluster = ReadText(HPCC);
    const Topology& topology = *cluster.topology;
    ASSERT_EQ(topology.GetHostCount(), 3u);
    const DeviceId last = topology.FindDevice("host2/nic0"); // node 3
    EXPECT_EQ(topology.RateOf(topology.GetPorts(last).front()), DataRate(25000000000));
    EXPECT_EQ(topology.GetDevices(DeviceRole::LEAF).size(), 1u);
    TemporaryFolder folder;
    const std::string path = folder.Write("a file", HPCC);
    EXPECT_THAT(ReadForeignTopology(path, TopologyFormat::HPCC).notes,
                testing::ElementsAre(HasSubstr("1 lines behind the 3 links")));
}

TEST(ForeignTopology, AstraSimDimensions)
{
    const Cluster ring = ReadText(RING);
    EXPECT_EQ(ring.topology->GetHostCount(), 4u);
    // A switch, its NIC and two neighbours each.
    EXPECT_EQ(ring.topology->GetLinkCount(), 4u + 4u);
    const DeviceId node = ring.topology->FindDevice("npu2");
    ASSERT_EQ(ring.topology->GetPorts(node).size(), 3u);
    EXPECT_EQ(ring.topology->RateOf(ring.topology->GetPorts(node).back()), DataRate(400000000000));

    const Cluster hosts = ReadText("topology: [Switch, Switch]\nnpus_count: [8, 3]\n"
                                   "bandwidth: [400.0, 50.0]\nlatency: [936.25, 500]\n");
    EXPECT_EQ(hosts.topology->GetHostCount(), 3u);
    EXPECT_EQ(hosts.topology->GetGpus(HostId(2)).size(), 8u);
    const DeviceId gpu = hosts.topology->FindDevice("host0/gpu0");
    EXPECT_EQ(hosts.topology->DelayOf(hosts.topology->GetPorts(gpu).front()), PicoSeconds(936250));

    const Cluster mesh = ReadText("topology: [Ring, FullyConnected, Switch]\n"
                                  "npus_count: [2, 3, 4]\nbandwidth: [200, 100, 50]\n"
                                  "latency: [50, 500, 2000]\n");
    // 24 NPUs: 24 NICs, 12 pairs, 8 triangles, 24 links to 6 switches.
    EXPECT_EQ(mesh.topology->GetHostCount(), 24u);
    EXPECT_EQ(mesh.topology->GetLinkCount(), 24u + 12u + 24u + 24u);
    EXPECT_EQ(mesh.topology->GetDevices(DeviceRole::SPINE).size(), 6u);
}

TEST(ForeignTopology, HostsWithoutSwitchesPassTrafficOn)
{
    const Cluster cluster = ReadText("3 0 3\n\n0 1 25Gbps 0.005ms 0\n1 2 25Gbps 0.005ms 0\n"
                                     "2 0 25Gbps 0.005ms 0\n");
    EXPECT_EQ(cluster.topology->GetHostCount(), 3u);
    EXPECT_EQ(cluster.topology->GetDevices(DeviceRole::LEAF).size(), 3u);
    const DeviceId nic = cluster.topology->FindDevice("host0/nic0");
    EXPECT_EQ(cluster.topology->RateOf(cluster.topology->GetPorts(nic).front()),
              DataRate(50000000000));
}

TEST(ForeignTopology, AsAClusterFileItIsTheSameCluster)
{
    TemporaryFolder folder;
    for (const std::string& text : {SIMAI, HPCC, RING})
    {
        const std::string path = folder.Write("a \"file\"", text);
        const std::string yaml = ReadForeignTopology(path, RecognizeTopology(path)).ToYaml();
        const Cluster one = ReadClusterFile(path);
        const Cluster other = ReadClusterFile(folder.Write("cluster.yaml", yaml));
        EXPECT_EQ(one.name, "a \"file\"");
        ASSERT_EQ(one.topology->GetDeviceCount(), other.topology->GetDeviceCount());
        ASSERT_EQ(one.topology->GetLinkCount(), other.topology->GetLinkCount());
    }
    EXPECT_EQ(ParseTopologyFormat("simai"), TopologyFormat::SIMAI);
    EXPECT_THROW(ParseTopologyFormat("ns2"), InputError);
}

TEST(ForeignTopology, BadFilesAreRefusedByLine)
{
    auto replaced = [](std::string text, const std::string& from, const std::string& to) {
        return text.replace(text.find(from), from.size(), to);
    };
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"4 1 3\n", "a file:2: found the end of the file"},
             {"4 4 3\n", "a file:1: found 4 nodes of which 4 are switches"},
             {"4 1 9999999999\n", "links: found '9999999999'"},
             {"9 2 x 3 10 H800\n", "NVSwitches: found 'x'"},
             {replaced(HPCC, "\n1\n", "\n1 2\n"), "a file:2: switches: found 2 numbers"},
             {replaced(HPCC, "\n1\n", "\n7\n"), "a file:2: switches: found '7'"},
             {replaced(HPCC, "0 1 100Gbps", "0 9 100Gbps"), "a file:3: link: found '9'"},
             {replaced(HPCC, "100Gbps", "fast"), "a file:3: link: found 'fast'"},
             {replaced(HPCC, "0.001ms", "soon"), "a file:3: link: found 'soon'"},
             {replaced(HPCC, "0.001ms 0", "0.001ms 7"), "error rate '7'"},
             {replaced(HPCC, "0.001ms 0", "0.001ms"), "a file:3: link: found 4 words"},
             {replaced(HPCC, "4 1 3", "4 1 4"), "a file:6: link: found 10 words"},
             {replaced(SIMAI, "9 2 2", "9 3 2"), "4 GPUs in servers of 3"},
             {replaced(SIMAI, "1 4 2880", "1 4 900"), "links to NVSwitches that differ"},
             {replaced(SIMAI, "2 5 ", "2 4 "), "NVSwitch 4 in two servers"},
             {replaced(RING, "Ring", "Torus"), "'Torus', expected Ring, FullyConnected or Switch"},
             {replaced(RING, "[ 50.0 ]", "[ 50.0, 1 ]"), "bandwidth: found 2 entries"},
             {replaced(RING, "[ 4 ]", "[ 0 ]"), "npus_count"},
             {RING + "hops: [1]\n", "hops"},
             {"{\"logical-dims\": [\"8\"]}", "a logical topology of ASTRA-sim"},
             {std::string("\x00\x01\x02", 3), "a file"}})
    {
        const std::string message = MessageOf([&text = text] { ReadText(text); });
        EXPECT_THAT(message, HasSubstr(part));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
}

} // namespace
