// SPDX-License-Identifier: GPL-2.0-only
// The cluster format: what it makes and what it refuses.

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-gpu-presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>

using namespace ns3;
using namespace ns3::echo;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace
{

/** A cluster file in pieces that a test can exchange. */
struct Pieces
{
    std::string head = "echo_cluster: 1\nname: test\nhosts: 4\n";
    std::string gpu = "gpu: {name: G, memory: 40GiB, memory_bandwidth: 1555GB/s, "
                      "peak_tflops: {bf16: 312, tf32: 156}}\n";
    std::string host = "host: {gpus: 2, nvlink: {type: nvswitch, rate: 300GB/s, delay: 200ns}, "
                       "nics: 2, nic: {rate: 200Gbps, delay: 600ns}}\n";
    std::string fabric = "fabric: {type: single-switch}\n";

    std::string Text() const
    {
        return head + gpu + host + fabric;
    }
};

Cluster Read(const Pieces& pieces, uint32_t hosts = 0)
{
    return ReadCluster(YamlNode::LoadText(pieces.Text(), "c.yaml"), hosts);
}

std::string ErrorOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "no error";
}

std::string ErrorOf(const Pieces& pieces, uint32_t hosts = 0)
{
    return ErrorOf([&] { Read(pieces, hosts); });
}

std::string ErrorOfHead(const std::string& head)
{
    Pieces pieces;
    pieces.head = head;
    return ErrorOf(pieces);
}

std::string ErrorOfGpu(const std::string& gpu)
{
    Pieces pieces;
    pieces.gpu = gpu;
    return ErrorOf(pieces);
}

std::string ErrorOfHost(const std::string& host)
{
    Pieces pieces;
    pieces.host = host;
    return ErrorOf(pieces);
}

std::string ErrorOfFabric(const std::string& fabric, uint32_t hosts = 0)
{
    Pieces pieces;
    pieces.fabric = fabric;
    return ErrorOf(pieces, hosts);
}

TEST(ClusterReader, ReadsEverything)
{
    Pieces pieces;
    pieces.head += "profile: ../profiles/p.yaml\n";
    const YamlNode node = YamlNode::LoadText(pieces.Text(), "dir/clusters/c.yaml");
    const Cluster cluster = ReadCluster(node);
    EXPECT_EQ(cluster.name, "test");
    EXPECT_EQ(cluster.fabric, "single-switch");
    EXPECT_EQ(cluster.profile, "dir/profiles/p.yaml");
    EXPECT_EQ(cluster.gpu.name, "G");
    EXPECT_EQ(cluster.gpu.memoryBytes, 42949672960u);
    EXPECT_DOUBLE_EQ(cluster.gpu.memoryBandwidthBytesPerSecond, 1.555e12);
    EXPECT_DOUBLE_EQ(cluster.gpu.peakFlops.at(DataType::BF16), 312e12);
    EXPECT_DOUBLE_EQ(cluster.gpu.peakFlops.at(DataType::TF32), 156e12);
    const Topology& topology = *cluster.topology;
    EXPECT_EQ(topology.GetHostCount(), 4u);
    EXPECT_EQ(topology.GetDevices(DeviceRole::GPU).size(), 8u);
    const PortId nvlink = topology.GetPorts(topology.GetGpus(HostId(0))[0])[0];
    EXPECT_EQ(topology.RateOf(nvlink).GetBitRate(), 2400000000000u);
    EXPECT_EQ(topology.DelayOf(nvlink), NanoSeconds(200));
    const PortId nic = topology.GetPorts(topology.GetNics(HostId(3))[1])[0];
    EXPECT_EQ(topology.RateOf(nic).GetBitRate(), 200000000000u);
    EXPECT_EQ(topology.DelayOf(nic), NanoSeconds(600));
}

TEST(ClusterReader, PcieCapsNics)
{
    Pieces pieces;
    pieces.host = "host: {gpus: 2, nvlink: {type: pcie, rate: 128Gbps}, nics: 1, "
                  "nic: {rate: 200Gbps}, pcie: {rate: 128Gbps, delay: 400ns}}\n";
    const Cluster cluster = Read(pieces);
    const DeviceId nic = cluster.topology->GetNics(HostId(0))[0];
    const DeviceId leaf = cluster.topology->FindDevice("leaf0");
    for (const PortId port : cluster.topology->GetPorts(nic))
    {
        EXPECT_EQ(cluster.topology->RateOf(port).GetBitRate(), 128000000000u);
        EXPECT_EQ(cluster.topology->DelayOf(port),
                  cluster.topology->NeighborOf(port) == leaf ? MicroSeconds(1) : NanoSeconds(400));
    }
}

TEST(ClusterReader, EveryKeyOfEveryFabric)
{
    const std::map<std::string, uint32_t> linksOf{
        // NICs 8; leaves x spines.
        {"{type: leaf-spine, hosts_per_leaf: 2, leaves: 2, spines: 2, uplinks: 4, "
         "link_rate: 100Gbps, link_delay: 1us, radix: 8}",
         8 + 8},
        // Leaf: 4 NICs x 200 / 2 / 100 = 4 uplinks.
        {"{type: leaf-spine, hosts_per_leaf: 2, oversubscription: 2, link_rate: 100Gbps}", 8 + 8},
        {"{type: fat-tree, k: 4, pods: 2, link_delay: 1us, core_link_delay: 2us}", 8 + 8 + 8},
        // Leaves of 2 NICs, 2 uplinks; pods of 2 leaves; spines: 2 links down, 2 up; 4 cores.
        {"{type: fat-tree, hosts_per_leaf: 1, leaves_per_pod: 2, spines_per_pod: 2, uplinks: 2, "
         "spine_uplinks: 2, cores: 4, core_link_rate: 400Gbps}",
         8 + 8 + 8},
        {"{type: fat-tree, hosts_per_leaf: 1, leaves_per_pod: 2, oversubscription: 2, "
         "spine_oversubscription: 2}",
         8 + 4 + 2},
        // 2 rails x 2 pods = 4 leaves of 2 NICs, 2 uplinks each.
        {"{type: rail-optimised, hosts_per_pod: 2, rails: 2, spines: 2, uplinks: 2}", 8 + 8},
        {"{type: ns3::echo::SingleSwitchBuilder, radix: 8}", 8},
    };
    for (const auto& [fabric, links] : linksOf)
    {
        Pieces pieces;
        pieces.fabric = "fabric: " + fabric + "\n";
        const Cluster cluster = Read(pieces);
        uint32_t fabricLinks = 0;
        for (uint32_t i = 0; i < cluster.topology->GetLinkCount(); ++i)
        {
            fabricLinks += cluster.topology->IsFabricLink(LinkId(i)) ? 1 : 0;
        }
        EXPECT_EQ(fabricLinks, links) << fabric;
    }
}

TEST(ClusterReader, Graph)
{
    Pieces pieces;
    pieces.head = "name: two\nhosts: 2\n";
    pieces.host = "host: {gpus: 1, nics: 1, nic: {rate: 100Gbps, delay: 1us}}\n";
    pieces.fabric = R"(fabric:
  type: graph
  nodes:
    - {name: red, role: leaf}
    - {name: blue, role: spine}
  links:
    - {a: host0/nic0, b: red}
    - {a: red, b: blue, rate: 50GB/s, delay: 2us, count: 2}
    - {a: host1/nic0, b: blue, rate: 40Gbps}
)";
    const Cluster cluster = Read(pieces);
    EXPECT_EQ(cluster.fabric, "graph");
    EXPECT_EQ(cluster.topology->GetLinkCount(), 4u);
    EXPECT_EQ(cluster.topology->GetLink(LinkId(3)).rate.GetBitRate(), 40000000000u);
    EXPECT_EQ(cluster.topology->GetLink(LinkId(3)).delay, MicroSeconds(1));
    EXPECT_EQ(Read(pieces, 2).topology->GetHostCount(), 2u);
    EXPECT_THAT(ErrorOf(pieces, 3),
                HasSubstr("c.yaml:2: hosts: found 3 hosts instead, expected 2: a graph"));
}

TEST(ClusterReader, HostsCanBeOverridden)
{
    Pieces pieces;
    pieces.fabric = "fabric: {type: leaf-spine, hosts_per_leaf: 2}\n";
    EXPECT_EQ(Read(pieces, 9).topology->GetHostCount(), 9u);
    EXPECT_EQ(Read(pieces, 9).topology->GetDevices(DeviceRole::LEAF).size(), 5u);
    pieces.fabric = "fabric: {type: fat-tree, k: 4}\n";
    // 16 ports for NICs, two a host.
    EXPECT_EQ(Read(pieces, 8).topology->GetHostCount(), 8u);
    EXPECT_THAT(ErrorOf(pieces, 9),
                StartsWith("c.yaml:3: hosts: found 9 hosts, expected at most 8"));
}

TEST(ClusterReader, GpuLinks)
{
    Pieces pieces;
    pieces.host = "host: {gpus: 3, nvlink: {type: links, delay: 1us, links: [[0, 1, 50GB/s], "
                  "[1, 2, 25GB/s]]}, nics: 1, nic: {rate: 100Gbps}}\n";
    const Cluster cluster = Read(pieces);
    const auto& gpus = cluster.topology->GetGpus(HostId(1));
    ASSERT_EQ(cluster.topology->GetPorts(gpus[1]).size(), 2u);
    EXPECT_EQ(cluster.topology->RateOf(cluster.topology->GetPorts(gpus[2])[0]).GetBitRate(),
              200000000000u);
    EXPECT_EQ(cluster.topology->DelayOf(cluster.topology->GetPorts(gpus[2])[0]), MicroSeconds(1));
    // Pairs with NVLink on PCIe.
    pieces.host = "host: {gpus: 4, nvlink: {type: links, links: [[0, 1, 50GB/s], [2, 3, 50GB/s]], "
                  "pcie: {rate: 128Gbps, delay: 600ns}}, nics: 1, nic: {rate: 100Gbps}}\n";
    EXPECT_EQ(Read(pieces).topology->GetDevices(DeviceRole::PCIE_SWITCH).size(), 4u);
}

TEST(ClusterReader, RefusesHeads)
{
    EXPECT_THAT(
        ErrorOfHead("echo_cluster: 2\nname: t\nhosts: 1\n"),
        StartsWith("c.yaml:1: echo_cluster: found '2', expected a whole number from 1 to 1"));
    EXPECT_THAT(ErrorOfHead("hosts: 1\n"), HasSubstr("no key 'name'"));
    EXPECT_THAT(ErrorOfHead("name: t\n"), HasSubstr("no key 'hosts'"));
    EXPECT_THAT(ErrorOfHead("name: t\nhosts: 0\n"), StartsWith("c.yaml:2: hosts: found '0'"));
    EXPECT_THAT(ErrorOfHead("name: t\nhosts: 2.5\n"), HasSubstr("found '2.5'"));
    EXPECT_THAT(ErrorOfHead("name: t\nhosts: 4\nrack: 1\n"),
                StartsWith("c.yaml:3: found unknown key 'rack', expected one of "));
    EXPECT_THAT(ErrorOf([] { ReadCluster(YamlNode::LoadText("[1, 2]", "c.yaml")); }),
                HasSubstr("found a list, expected a map"));
}

TEST(ClusterReader, GpusByPreset)
{
    Pieces pieces;
    pieces.gpu = "gpu: h100-sxm\n";
    const GpuSpec h100 = Read(pieces).gpu;
    EXPECT_EQ(h100.name, "H100-SXM5-80GB");
    EXPECT_EQ(h100.memoryBytes, 80ULL << 30);
    EXPECT_DOUBLE_EQ(h100.memoryBandwidthBytesPerSecond, 3.35e12);
    EXPECT_DOUBLE_EQ(h100.peakFlops.at(DataType::BF16), 989.4e12);
    EXPECT_EQ(h100.peakFlops.count(DataType::FP4), 0u);
    // Single figures are replaced, the others stay.
    pieces.gpu = "gpu: {preset: h100-sxm, memory: 94GB, peak_tflops: {bf16: 800}}\n";
    const GpuSpec other = Read(pieces).gpu;
    EXPECT_EQ(other.name, "H100-SXM5-80GB");
    EXPECT_EQ(other.memoryBytes, 94'000'000'000ULL);
    EXPECT_DOUBLE_EQ(other.peakFlops.at(DataType::BF16), 800e12);
    EXPECT_DOUBLE_EQ(other.peakFlops.at(DataType::FP8), 1978.9e12);
    for (const GpuPreset& preset : GetGpuPresets())
    {
        // No product that was measured is faster than the GPU can be.
        const GpuSpec& spec = preset.spec;
        EXPECT_LT(preset.bestTeraflops16 * 1e12, spec.peakFlops.at(DataType::FP16)) << preset.key;
        EXPECT_TRUE(preset.bestTeraflops8 == 0 ||
                    preset.bestTeraflops8 * 1e12 < spec.peakFlops.at(DataType::FP8))
            << preset.key;
        EXPECT_EQ(&FindGpuPreset(preset.key), &preset);
    }
    EXPECT_THAT(ErrorOfGpu("gpu: h100\n"),
                HasSubstr("c.yaml:4: gpu: found 'h100', expected one of v100-sxm-32gb, a100-sxm"));
    EXPECT_THAT(ErrorOfGpu("gpu: {preset: x}\n"), HasSubstr("gpu.preset: found 'x'"));
    EXPECT_THAT(ErrorOfGpu("gpu:\n"),
                HasSubstr(": gpu: found no map, expected the name of a preset, or a map"));
    EXPECT_THAT(ErrorOfGpu("gpu: {preset: h100-sxm, name: ''}\n"),
                HasSubstr("c.yaml:4: gpu.name: found '', expected a name"));
}

TEST(ClusterReader, RefusesGpus)
{
    EXPECT_THAT(ErrorOfGpu(""), HasSubstr("no key 'gpu'"));
    EXPECT_EQ(ErrorOfGpu("gpu: {name: G}\n"), "no error"); // enough for a network study
    EXPECT_THAT(ErrorOfGpu("gpu: {memory: 40GiB}\n"),
                HasSubstr("c.yaml:4: gpu: found no key 'name'"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 40, memory_bandwidth: 1555}\n"),
                HasSubstr("gpu.memory_bandwidth: found '1555', expected a rate"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 0, memory_bandwidth: 1GB/s, "
                           "peak_tflops: {bf16: 1}}\n"),
                HasSubstr("gpu.memory: found no memory"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 1, memory_bandwidth: 1GB/s, "
                           "peak_tflops: {}}\n"),
                HasSubstr("gpu.peak_tflops: found no rate"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 1, memory_bandwidth: 1GB/s, "
                           "peak_tflops: {bf17: 1}}\n"),
                HasSubstr("gpu.peak_tflops.bf17: found 'bf17', expected one of int8"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 1, memory_bandwidth: 1GB/s, "
                           "peak_tflops: {bf16: -1}}\n"),
                HasSubstr("found '-1'"));
    EXPECT_THAT(ErrorOfGpu("gpu: {name: G, memory: 1, memory_bandwidth: 1GB/s, "
                           "peak_tflops: {bf16: 1}, cores: 3}\n"),
                HasSubstr("unknown key 'cores'"));
}

TEST(ClusterReader, RefusesHosts)
{
    const std::string nic = "nics: 1, nic: {rate: 1Gbps}";
    const std::map<std::string, std::string> errors{
        {"gpus: 0, " + nic, "host.gpus: found '0', expected a whole number from 1"},
        {"gpus: 2, " + nic, "host: found no key 'nvlink' for 2 GPUs"},
        {"gpus: 1, nics: 1", "host: found no key 'nic'"},
        {"gpus: 1", "host: found no key 'nics'"},
        {"gpus: 1, nics: 0", "host.nics: found no NIC in hosts of a cluster of 4"},
        {"gpus: 1, nics: 0, nic: {rate: 1Gbps}", "unknown key 'nic'"},
        {"gpus: 1, nics: 1, nic: {rate: 100}", "host.nic.rate: found '100', expected a rate"},
        {"gpus: 1, nics: 1, nic: {rate: 1Gbps, delay: 5}", "host.nic.delay: found '5'"},
        {"gpus: 1, nics: 1, nic: {rate: 1Gbps, mtu: 5}", "host.nic: found unknown key 'mtu'"},
        {"gpus: 1, pcie: {delay: 1us}, " + nic, "host.pcie: found no key 'rate'"},
        {"gpus: 1, pcie: {rate: 1Gbps, lanes: 16}, " + nic, "host.pcie: found unknown key 'lanes'"},
        {"gpus: 1, cpus: 2, " + nic, "host: found unknown key 'cpus'"},
        {"gpus: 2, nvlink: {type: mesh}, " + nic,
         "host.nvlink.type: found 'mesh', expected nvswitch, links or pcie"},
        {"gpus: 2, nvlink: {rate: 1Gbps}, " + nic, "host.nvlink: found no key 'type'"},
        {"gpus: 2, nvlink: {type: nvswitch}, " + nic, "host.nvlink: found no key 'rate'"},
        {"gpus: 2, nvlink: {type: nvswitch, rate: 1Gbps, links: []}, " + nic,
         "host.nvlink: found unknown key 'links'"},
        {"gpus: 2, nvlink: {type: nvswitch, rate: 1Gbps, switches: 0}, " + nic,
         "host.nvlink.switches: found '0'"},
        {"gpus: 2, nvlink: {type: links, links: [[0, 1]]}, " + nic,
         "host.nvlink.links[0]: found a list of 2, expected [GPU, GPU, rate]"},
        {"gpus: 2, nvlink: {type: links, links: [[0, 2, 1Gbps]]}, " + nic,
         "host.nvlink.links[0][1]: found '2', expected a whole number from 0 to 1"},
        {"gpus: 2, nvlink: {type: links, links: [[1, 1, 1Gbps]]}, " + nic,
         "host.nvlink.links[0]: found a link from GPU 1 to itself"},
        {"gpus: 3, nvlink: {type: links, links: [[0, 1, 1Gbps]]}, " + nic,
         "host.nvlink.links: found no way between GPU 0 and GPU 2"},
        {"gpus: 3, nvlink: {type: links, links: [[0, 1, 1Gbps]], pcie: {}}, " + nic,
         "host.nvlink.pcie: found no key 'rate'"},
    };
    for (const auto& [host, message] : errors)
    {
        const std::string error = ErrorOfHost("host: {" + host + "}\n");
        EXPECT_THAT(error, HasSubstr(message)) << host;
        EXPECT_THAT(error, StartsWith("c.yaml:5: ")) << host;
    }
}

TEST(ClusterReader, RefusesFabrics)
{
    const std::map<std::string, std::string> errors{
        {"type: torus",
         "fabric.type: found 'torus', expected one of fat-tree, graph, leaf-spine, "
         "rail-optimised, single-switch"},
        {"type: ns3::echo::ClosBuilder", "fabric.type: found 'ns3::echo::ClosBuilder'"},
        {"leaves: 2", "fabric: found no key 'type'"},
        {"type: single-switch, link_rate: 1Gbps", "fabric: found unknown key 'link_rate'"},
        {"type: single-switch, hosts: 2", "fabric: found unknown key 'hosts'"},
        {"type: single-switch, load_balancing: ecpm",
         "fabric.load_balancing: found 'ecpm', expected ecmp, static, spray"},
        {"type: leaf-spine", "fabric.hosts_per_leaf: found neither hosts per leaf nor leaves"},
        {"type: leaf-spine, hosts_per_leaf: 0", "fabric.hosts_per_leaf: found '0', expected a"},
        {"type: leaf-spine, hosts_per_leaf: 2, spines: 0", "fabric.spines: found '0'"},
        {"type: leaf-spine, hosts_per_leaf: 2, uplinks: 5000",
         "fabric.uplinks: found '5000', expected from 0 to 4096"},
        {"type: leaf-spine, hosts_per_leaf: 2, spines: 3",
         "fabric.spines: found 4 uplinks to 3 switches"},
        {"type: leaf-spine, hosts_per_leaf: 2, oversubscription: 3",
         "fabric.oversubscription: found 1.33333 uplinks"},
        {"type: leaf-spine, hosts_per_leaf: 2, link_rate: 300Gbps",
         "fabric.oversubscription: found 2.66667 uplinks"},
        {"type: leaf-spine, hosts_per_leaf: 2, oversubscription: -1",
         "fabric.oversubscription: found '-1'"},
        {"type: leaf-spine, hosts_per_leaf: 2, oversubscription: 0",
         "fabric.oversubscription: found '0'"},
        {"type: leaf-spine, hosts_per_leaf: 2, link_delay: 3", "fabric.link_delay: found '3'"},
        {"type: leaf-spine, hosts_per_leaf: 2, link_rate: fast", "fabric.link_rate: found 'fast'"},
        {"type: leaf-spine, hosts_per_leaf: 1, leaves: 3",
         "hosts: found 4 hosts, expected at most 3"},
        {"type: leaf-spine, hosts_per_leaf: 2, radix: 4", "fabric.radix: found leaf0 with 8 links"},
        {"type: fat-tree, k: 2", "hosts: found 4 hosts, expected at most 1"},
        {"type: fat-tree, k: 3", "fabric.k: found 3, expected an even"},
        {"type: fat-tree, k: 4, uplinks: 2", "fabric.uplinks: found a count beside k"},
        {"type: fat-tree, leaves_per_pod: 2", "fabric.hosts_per_leaf: found neither"},
        {"type: rail-optimised, rails: 3", "fabric.rails: found 3 rails for 2 NICs"},
    };
    for (const auto& [fabric, message] : errors)
    {
        const std::string error = ErrorOfFabric("fabric: {" + fabric + "}\n");
        EXPECT_THAT(error, HasSubstr(message)) << fabric;
        EXPECT_THAT(error,
                    StartsWith(message.rfind("hosts:", 0) == 0 ? "c.yaml:3: " : "c.yaml:6: "))
            << fabric;
    }
}

TEST(ClusterReader, RefusesGraphs)
{
    const auto graph = [](const std::string& nodes, const std::string& links) {
        return ErrorOfFabric("fabric:\n  type: graph\n  nodes:\n" + nodes + "  links:\n" + links);
    };
    const std::string red = "    - {name: red, role: leaf}\n";
    const std::string link = "    - {a: host0/nic0, b: red}\n";
    EXPECT_THAT(ErrorOfFabric("fabric: {type: graph}\n"),
                HasSubstr("fabric: found no key 'nodes'"));
    EXPECT_THAT(graph("    - {name: red}\n", link),
                StartsWith("c.yaml:9: fabric.nodes[0]: found no key 'role'"));
    EXPECT_THAT(graph("    - {name: red, role: tor}\n", link),
                StartsWith("c.yaml:9: fabric.nodes[0].role: found 'tor'"));
    EXPECT_THAT(graph("    - {name: red, role: gpu}\n", link),
                StartsWith("c.yaml:9: fabric.nodes[0].role: found a node of role gpu"));
    EXPECT_THAT(graph("    - {name: red, role: leaf, x: 1}\n", link), HasSubstr("unknown key 'x'"));
    EXPECT_THAT(graph(red + red, link), StartsWith("c.yaml:10: "));
    EXPECT_THAT(graph(red, "    - {a: host0/nic0, b: blue}\n"),
                StartsWith("c.yaml:11: fabric.links[0]: found unknown node 'blue'"));
    EXPECT_THAT(graph(red, "    - {a: red, b: red, rate: 1Gbps, delay: 1us}\n"),
                StartsWith("c.yaml:11: fabric.links[0]: found a link from a device to itself"));
    EXPECT_THAT(graph(red, "    - {a: host0/gpu0, b: red, rate: 1Gbps, delay: 1us}\n"),
                HasSubstr("links between hosts and switches to start at NICs"));
    EXPECT_THAT(graph(red, "    - {a: host0/nic0, b: red, count: 0}\n"),
                HasSubstr("fabric.links[0].count: found '0'"));
    EXPECT_THAT(graph(red, "    - {a: host0/nic0, b: red, speed: 1}\n"),
                HasSubstr("unknown key 'speed'"));
    EXPECT_THAT(graph(red, link), HasSubstr("host0/nic1 without a link to the fabric"));
}

TEST(ClusterReader, RefusesFiles)
{
    EXPECT_THAT(ErrorOf([] { ReadClusterFile("/nonexistent/c.yaml"); }),
                HasSubstr("/nonexistent/c.yaml: found no readable file"));
    const auto path = std::filesystem::temp_directory_path() / "echo-cluster-without-format.yaml";
    YamlNode::LoadText(Pieces().Text(), "c"); // the pieces are fine
    {
        std::FILE* file = std::fopen(path.c_str(), "w");
        ASSERT_NE(file, nullptr);
        std::fputs("name: x\n", file);
        std::fclose(file);
    }
    EXPECT_THAT(ErrorOf([&] { ReadClusterFile(path.string()); }),
                HasSubstr("no key 'echo_cluster'"));
    std::filesystem::remove(path);
}

} // namespace
