// SPDX-License-Identifier: GPL-2.0-only
// The builders of hosts and fabrics.

#include "error-message.h"
#include "topology-fixtures.h"

#include "ns3/echo-error.h"
#include "ns3/echo-graph-builder.h"
#include "ns3/echo-units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::echo;
using ns3::echo::fixtures::Build;
using ns3::echo::fixtures::HostShape;
using ns3::echo::fixtures::MakeHost;
using ::testing::HasSubstr;

namespace
{

const DataRate RATE(100000000000);

uint32_t Count(const Topology& topology, DeviceRole role)
{
    return static_cast<uint32_t>(topology.GetDevices(role).size());
}

/** Links between devices of two roles. */
uint32_t CountLinks(const Topology& topology, DeviceRole a, DeviceRole b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const DeviceRole from = topology.GetDevice(link.a).role;
        const DeviceRole to = topology.GetDevice(link.b).role;
        count += (from == a && to == b) || (from == b && to == a) ? 1 : 0;
    }
    return count;
}

/** Links of one device to devices of a role. */
uint32_t CountPorts(const Topology& topology, DeviceId id, DeviceRole role)
{
    uint32_t count = 0;
    for (const PortId port : topology.GetPorts(id))
    {
        count += topology.GetDevice(topology.NeighborOf(port)).role == role ? 1 : 0;
    }
    return count;
}

TEST(HostBuilder, NvSwitchAndNicsWithPcie)
{
    // 8 GPUs, 4 NICs: NIC n serves GPUs 2n and 2n + 1. 100 Gb/s NICs behind 64 Gb/s of PCIe run at
    // 64 Gb/s. Two NVSwitches halve the 2.4 Tb/s of a GPU.
    HostShape shape{8, 4, "nvswitch", "100Gbps"};
    auto host = MakeHost(shape);
    host->SetAttribute("NvSwitches", UintegerValue(2));
    host->SetAttribute("PcieRate", StringValue("64Gbps"));
    Topology topology;
    const auto nics = host->AddTo(topology, HostId(0));
    topology.Seal();
    EXPECT_EQ(nics, topology.GetNics(HostId(0)));
    EXPECT_EQ(Count(topology, DeviceRole::NV_SWITCH), 2u);
    EXPECT_TRUE(topology.HasNvSwitch(HostId(0)));
    EXPECT_EQ(CountLinks(topology, DeviceRole::GPU, DeviceRole::NV_SWITCH), 16u);
    EXPECT_EQ(CountLinks(topology, DeviceRole::GPU, DeviceRole::NIC), 8u);
    for (uint32_t i = 0; i < 8; ++i)
    {
        EXPECT_EQ(topology.GetNicOf(topology.GetGpus(HostId(0))[i]), nics[i / 2]);
    }
    EXPECT_EQ(topology.RateOf(topology.GetPorts(topology.GetGpus(HostId(0))[0])[0]).GetBitRate(),
              1200000000000u);
    EXPECT_EQ(host->GetNicRate().GetBitRate(), 64000000000u);
}

TEST(HostBuilder, MoreNicsThanGpus)
{
    // 2 GPUs, 4 NICs: GPU 0 is linked to NICs 0 and 1 and served by the first.
    auto host = MakeHost({2, 4, "pcie", "100Gbps"});
    host->SetAttribute("PcieRate", StringValue("256Gbps"));
    Topology topology;
    const auto nics = host->AddTo(topology, HostId(0));
    topology.Seal();
    EXPECT_EQ(Count(topology, DeviceRole::PCIE_SWITCH), 1u);
    EXPECT_FALSE(topology.HasNvSwitch(HostId(0)));
    EXPECT_EQ(CountPorts(topology, topology.GetGpus(HostId(0))[1], DeviceRole::NIC), 2u);
    EXPECT_EQ(topology.GetNicOf(topology.GetGpus(HostId(0))[1]), nics[2]);
    EXPECT_EQ(host->GetNicRate().GetBitRate(), 100000000000u);
}

TEST(HostBuilder, NicsWithoutPcieGoByNumber)
{
    // Without links the NIC of GPU g of 4 is g * 2 / 4.
    auto topology = Build("SingleSwitch", 1, {4, 2, "nvswitch", "100Gbps"});
    const auto& gpus = topology->GetGpus(HostId(0));
    const auto& nics = topology->GetNics(HostId(0));
    EXPECT_EQ(topology->GetNicOf(gpus[1]), nics[0]);
    EXPECT_EQ(topology->GetNicOf(gpus[2]), nics[1]);
    // No NIC at all.
    auto single = Build("SingleSwitch", 1, {4, 0, "nvswitch", "100Gbps"});
    EXPECT_FALSE(single->GetNicOf(single->GetGpus(HostId(0))[0]).IsValid());
    EXPECT_EQ(Count(*single, DeviceRole::LEAF), 0u);
}

TEST(HostBuilder, Refuses)
{
    const auto add = [](Ptr<HostBuilder> host) {
        return MessageOf([&] {
            Topology topology;
            host->AddTo(topology, HostId(0));
        });
    };
    EXPECT_THAT(add(MakeHost({2, 1, "none", "1Gbps"})), HasSubstr("2 GPUs that nothing joins"));
    EXPECT_THAT(add(MakeHost({2, 1, "ring", "1Gbps"})), HasSubstr("Interconnect: found 'ring'"));
    auto zero = MakeHost({2, 1, "nvswitch", "1Gbps"});
    zero->SetAttribute("GpuRate", StringValue("0bps"));
    EXPECT_THAT(add(zero), HasSubstr("GpuRate: found rate 0"));
    EXPECT_THAT(add(MakeHost({2, 1, "nvswitch", "0bps"})), HasSubstr("NicRate: found rate 0"));
    auto noNic = MakeHost({2, 0, "nvswitch", "1Gbps"});
    noNic->SetAttribute("PcieRate", StringValue("1Gbps"));
    EXPECT_THAT(add(noNic), HasSubstr("PcieRate"));
    auto island = MakeHost({4, 1, "links", "1Gbps"});
    island->AddGpuLink(0, 1, RATE);
    island->AddGpuLink(2, 3, RATE);
    EXPECT_THAT(add(island), HasSubstr("no way between GPU 0 and GPU 2"));
    island->SetAttribute("PeerPcieRate", StringValue("256Gbps"));
    EXPECT_EQ(add(island), "");
    auto self = MakeHost({2, 1, "links", "1Gbps"});
    self->AddGpuLink(1, 1, RATE);
    EXPECT_THAT(add(self), HasSubstr("link 1-1 from a GPU to itself"));
    auto beyond = MakeHost({2, 1, "links", "1Gbps"});
    beyond->AddGpuLink(0, 2, RATE);
    EXPECT_THAT(add(beyond), HasSubstr("GPU numbers below 2"));
}

TEST(Builders, SingleSwitch)
{
    auto topology = Build("SingleSwitch", 8);
    EXPECT_EQ(topology->GetHostCount(), 8u);
    EXPECT_EQ(Count(*topology, DeviceRole::LEAF), 1u);
    EXPECT_EQ(topology->GetLinkCount(), 8u);
    EXPECT_EQ(topology->FindDevice("host7/gpu0").Get(), 14u);
    EXPECT_EQ(topology->GetDevice(topology->FindDevice("leaf0")).index, 0u);
}

TEST(Builders, FatTreeOfK)
{
    // Al-Fares: k pods of k/2 + k/2 switches, (k/2)^2 cores, k^3/4 hosts; k^3/4 links in each tier.
    for (const uint32_t k : {2u, 4u, 8u})
    {
        const uint32_t hosts = k * k * k / 4;
        auto topology = Build("FatTree", hosts, {}, {{"K", std::to_string(k)}});
        EXPECT_EQ(Count(*topology, DeviceRole::LEAF), k * k / 2);
        EXPECT_EQ(Count(*topology, DeviceRole::SPINE), k * k / 2);
        EXPECT_EQ(Count(*topology, DeviceRole::CORE), k * k / 4);
        EXPECT_EQ(topology->GetLinkCount(), 3 * hosts);
        for (const DeviceRole role : {DeviceRole::LEAF, DeviceRole::SPINE, DeviceRole::CORE})
        {
            for (const DeviceId id : topology->GetDevices(role))
            {
                EXPECT_EQ(topology->GetPorts(id).size(), k);
            }
        }
        // Every core reaches every pod once.
        for (const DeviceId core : topology->GetDevices(DeviceRole::CORE))
        {
            std::set<uint32_t> pods;
            for (const PortId port : topology->GetPorts(core))
            {
                pods.insert(topology->GetDevice(topology->NeighborOf(port)).index / (k / 2));
            }
            EXPECT_EQ(pods.size(), k);
        }
    }
}

TEST(Builders, FatTreePartlyFilled)
{
    // 5 of 16 places: two full leaves and one with one host; the tree itself stays whole.
    auto topology = Build("FatTree", 5, {}, {{"K", "4"}});
    EXPECT_EQ(Count(*topology, DeviceRole::LEAF), 8u);
    EXPECT_EQ(topology->GetLinkCount(), 5u + 16 + 16);
    const auto& leaves = topology->GetDevices(DeviceRole::LEAF);
    EXPECT_EQ(CountPorts(*topology, leaves[2], DeviceRole::NIC), 1u);
    EXPECT_EQ(CountPorts(*topology, leaves[3], DeviceRole::NIC), 0u);
    // Two pods only: 4 leaves, 4 spines, still 4 cores.
    auto two = Build("FatTree", 8, {}, {{"K", "4"}, {"Pods", "2"}});
    EXPECT_EQ(Count(*two, DeviceRole::LEAF), 4u);
    EXPECT_EQ(Count(*two, DeviceRole::CORE), 4u);
}

TEST(Builders, FatTreeGeneral)
{
    // Leaf: 4 hosts x 2 NICs x 100 Gb/s = 800 Gb/s down, oversubscription 2, 100 Gb/s links: 4 up,
    // so 4 spines a pod. Spine: 3 leaves x 1 link = 300 Gb/s down, oversubscription 3, 100 Gb/s: 1
    // up, so 4 cores. 20 hosts need 5 leaves: a pod of 3 and one of 2.
    auto topology = Build("FatTree",
                          20,
                          {8, 2, "nvswitch", "100Gbps"},
                          {{"HostsPerLeaf", "4"},
                           {"LeavesPerPod", "3"},
                           {"Oversubscription", "2"},
                           {"SpineOversubscription", "3"},
                           {"CoreLinkDelay", "2us"}});
    EXPECT_EQ(Count(*topology, DeviceRole::LEAF), 5u);
    EXPECT_EQ(Count(*topology, DeviceRole::SPINE), 8u);
    EXPECT_EQ(Count(*topology, DeviceRole::CORE), 4u);
    EXPECT_EQ(CountLinks(*topology, DeviceRole::NIC, DeviceRole::LEAF), 40u);
    EXPECT_EQ(CountLinks(*topology, DeviceRole::LEAF, DeviceRole::SPINE), 20u);
    EXPECT_EQ(CountLinks(*topology, DeviceRole::SPINE, DeviceRole::CORE), 8u);
    const DeviceId core = topology->GetDevices(DeviceRole::CORE)[0];
    EXPECT_EQ(topology->DelayOf(topology->GetPorts(core)[0]), MicroSeconds(2));
    // Both NICs of a host hang on its leaf.
    const auto& nics = topology->GetNics(HostId(19));
    EXPECT_EQ(topology->NeighborOf(topology->GetPorts(nics[0])[0]),
              topology->NeighborOf(topology->GetPorts(nics[1])[0]));
    // With pods given all leaves are there, used or not.
    auto whole =
        Build("FatTree", 1, {}, {{"HostsPerLeaf", "4"}, {"LeavesPerPod", "3"}, {"Pods", "2"}});
    EXPECT_EQ(Count(*whole, DeviceRole::LEAF), 6u);
    EXPECT_EQ(Count(*whole, DeviceRole::CORE), 12u);
    // One pod needs no core.
    auto pod = Build("FatTree", 12, {}, {{"HostsPerLeaf", "4"}, {"LeavesPerPod", "3"}});
    EXPECT_EQ(Count(*pod, DeviceRole::CORE), 0u);
}

TEST(Builders, LeafSpine)
{
    // 10 hosts, 4 a leaf: 3 leaves. 2 spines, 4 uplinks: 2 parallel links to each.
    auto topology =
        Build("LeafSpine", 10, {}, {{"HostsPerLeaf", "4"}, {"Spines", "2"}, {"Uplinks", "4"}});
    EXPECT_EQ(Count(*topology, DeviceRole::LEAF), 3u);
    EXPECT_EQ(Count(*topology, DeviceRole::SPINE), 2u);
    EXPECT_EQ(CountLinks(*topology, DeviceRole::LEAF, DeviceRole::SPINE), 12u);
    EXPECT_EQ(CountPorts(*topology, topology->FindDevice("leaf2"), DeviceRole::NIC), 2u);
    // Leaves given: 10 hosts over 3 leaves are 4, 4 and 2. Rate 400 Gb/s up: one uplink, one spine.
    auto byLeaves = Build("LeafSpine", 10, {}, {{"Leaves", "3"}, {"LinkRate", "400Gbps"}});
    EXPECT_EQ(Count(*byLeaves, DeviceRole::SPINE), 1u);
    EXPECT_EQ(CountPorts(*byLeaves, byLeaves->FindDevice("leaf0"), DeviceRole::NIC), 4u);
    EXPECT_EQ(CountLinks(*byLeaves, DeviceRole::LEAF, DeviceRole::SPINE), 3u);
}

TEST(Builders, RailOptimised)
{
    // 6 hosts of 4 NICs, pods of 4 hosts: 2 pods x 4 rails = 8 leaves. A full leaf has 4 NICs, so 4
    // uplinks and 4 spines at equal rates.
    auto topology =
        Build("RailOptimised", 6, {4, 4, "nvswitch", "400Gbps"}, {{"HostsPerPod", "4"}});
    EXPECT_EQ(Count(*topology, DeviceRole::LEAF), 8u);
    EXPECT_EQ(Count(*topology, DeviceRole::SPINE), 4u);
    EXPECT_EQ(CountLinks(*topology, DeviceRole::LEAF, DeviceRole::SPINE), 32u);
    const auto leafOf = [&](uint32_t host, uint32_t nic) {
        const DeviceId id = topology->GetNics(HostId(host))[nic];
        return topology->GetDevice(topology->NeighborOf(topology->GetPorts(id)[0])).index;
    };
    EXPECT_EQ(leafOf(0, 2), 2u);
    EXPECT_EQ(leafOf(3, 2), 2u);
    EXPECT_EQ(leafOf(5, 2), 6u);
    // Two rails for four NICs: NICs 0 and 1 share one.
    auto two = Build("RailOptimised", 2, {4, 4, "nvswitch", "400Gbps"}, {{"Rails", "2"}});
    EXPECT_EQ(Count(*two, DeviceRole::LEAF), 2u);
    EXPECT_EQ(CountPorts(*two, two->FindDevice("leaf0"), DeviceRole::NIC), 4u);
}

TEST(Builders, RefuseImpossibleCounts)
{
    using Attributes = std::vector<std::pair<std::string, std::string>>;
    const auto error = [](const std::string& type,
                          uint32_t hosts,
                          const HostShape& shape,
                          const Attributes& attributes) {
        return MessageOf([&] { Build(type, hosts, shape, attributes); });
    };
    EXPECT_THAT(error("FatTree", 17, {}, {{"K", "4"}}),
                HasSubstr("Hosts: found 17 hosts, expected at most 16"));
    EXPECT_THAT(error("FatTree", 3, {8, 8, "nvswitch", "1Gbps"}, {{"K", "4"}}),
                HasSubstr("at most 2 (the tree has 16 ports for NICs, 8 for each host)"));
    EXPECT_THAT(error("FatTree", 1, {}, {{"K", "5"}}), HasSubstr("an even number of ports"));
    EXPECT_THAT(error("FatTree", 1, {}, {{"K", "4"}, {"Cores", "4"}}),
                HasSubstr("Cores: found a count beside k"));
    EXPECT_THAT(error("FatTree", 1, {}, {{"K", "4"}, {"Pods", "5"}}), HasSubstr("at most k = 4"));
    EXPECT_THAT(error("FatTree", 1, {}, {{"HostsPerLeaf", "4"}}), HasSubstr("LeavesPerPod"));
    EXPECT_THAT(
        error("FatTree", 8, {}, {{"HostsPerLeaf", "4"}, {"LeavesPerPod", "1"}, {"Cores", "6"}}),
        HasSubstr("Cores: found 6 cores, expected a multiple of the 4 spines"));
    EXPECT_THAT(error("FatTree",
                      8,
                      {},
                      {{"HostsPerLeaf", "4"}, {"LeavesPerPod", "1"}, {"SpinesPerPod", "3"}}),
                HasSubstr("SpinesPerPod: found 4 uplinks to 3 switches"));
    // 4 x 100 Gb/s over 3 is 1.33 uplinks.
    EXPECT_THAT(error("LeafSpine", 8, {}, {{"HostsPerLeaf", "4"}, {"Oversubscription", "3"}}),
                HasSubstr("Oversubscription: found 1.33333 uplinks (400 Gb/s from below, "
                          "oversubscription 3, 100 Gb/s an uplink), expected a whole number"));
    EXPECT_THAT(error("LeafSpine",
                      8,
                      {},
                      {{"HostsPerLeaf", "4"}, {"Oversubscription", "2"}, {"Uplinks", "2"}}),
                HasSubstr("both uplinks and oversubscription"));
    EXPECT_THAT(error("LeafSpine", 8, {}, {}), HasSubstr("neither hosts per leaf nor leaves"));
    EXPECT_THAT(error("LeafSpine", 8, {}, {{"HostsPerLeaf", "4"}, {"Spines", "3"}}),
                HasSubstr("Spines: found 4 uplinks to 3 switches"));
    EXPECT_THAT(error("LeafSpine", 9, {}, {{"HostsPerLeaf", "4"}, {"Leaves", "2"}}),
                HasSubstr("Hosts: found 9 hosts, expected at most 8"));
    EXPECT_THAT(error("RailOptimised", 2, {4, 4, "nvswitch", "1Gbps"}, {{"Rails", "3"}}),
                HasSubstr("Rails: found 3 rails for 4 NICs"));
    EXPECT_THAT(error("SingleSwitch", 9, {}, {{"Radix", "8"}}),
                HasSubstr("Radix: found leaf0 with 9 links, expected at most 8"));
    EXPECT_THAT(error("SingleSwitch", 2, {1, 0, "none", "1Gbps"}, {}),
                HasSubstr("no NIC in hosts of a cluster of 2"));
    // Absurd numbers end in a message, not in memory.
    EXPECT_THAT(
        error(
            "LeafSpine", 1, {}, {{"HostsPerLeaf", "1"}, {"Leaves", "65536"}, {"Uplinks", "4096"}}),
        HasSubstr("Uplinks: found 65536 switches of 4096 uplinks, expected at most 4194304"));
}

Ptr<GraphBuilder> MakeGraph(uint32_t hosts, const HostShape& shape = {})
{
    auto graph = CreateObject<GraphBuilder>();
    graph->SetAttribute("Hosts", UintegerValue(hosts));
    graph->SetHost(MakeHost(shape));
    return graph;
}

TEST(Builders, Graph)
{
    auto graph = MakeGraph(2);
    graph->AddNode("red", DeviceRole::LEAF);
    graph->AddNode("blue", DeviceRole::LEAF);
    graph->AddLink({"host0/nic0", "red", {}, {}, 1, {}});
    graph->AddLink({"blue", "host1/nic0", DataRate(50000000000), NanoSeconds(7), 1, {}});
    graph->AddLink({"red", "blue", DataRate(400000000000), NanoSeconds(9), 3, {}});
    auto topology = graph->Build();
    EXPECT_EQ(topology->GetLinkCount(), 5u);
    EXPECT_EQ(topology->GetDevice(topology->FindDevice("blue")).index, 1u);
    EXPECT_EQ(topology->GetLink(LinkId(0)).rate.GetBitRate(), 100000000000u);
    EXPECT_EQ(topology->GetLink(LinkId(1)).delay, NanoSeconds(7));
    EXPECT_EQ(topology->GetLink(LinkId(4)).rate.GetBitRate(), 400000000000u);
    // Two NICs joined directly, no switch.
    auto pair = MakeGraph(2);
    pair->AddLink({"host0/nic0", "host1/nic0", {}, {}, 1, {}});
    EXPECT_EQ(pair->Build()->GetLinkCount(), 1u);
}

TEST(Builders, GraphRefuses)
{
    const SourceLocation where{"net.yaml", 7, "links[0]"};
    const auto error = [&](const std::string& a, const std::string& b) {
        auto graph = MakeGraph(2);
        graph->AddNode("red", DeviceRole::LEAF);
        graph->AddNode("blue", DeviceRole::LEAF);
        graph->AddLink({a, b, {}, {}, 1, where});
        return MessageOf([&] { graph->Build(); });
    };
    EXPECT_THAT(error("host0/nic0", "green"),
                HasSubstr("net.yaml:7: links[0]: found unknown node 'green'"));
    EXPECT_THAT(error("host0/nic0", "host0/nic0"), HasSubstr("net.yaml:7"));
    EXPECT_THAT(error("red", "blue"), HasSubstr("found no rate"));
    EXPECT_THAT(error("host0/nic0", "red"), HasSubstr("host1/nic0 without a link to the fabric"));
    EXPECT_THAT(MessageOf([&] {
                    auto graph = MakeGraph(1);
                    graph->AddNode("x", DeviceRole::GPU);
                }),
                HasSubstr("leaf, spine or core"));
    EXPECT_THAT(MessageOf([&] {
                    auto graph = MakeGraph(1);
                    graph->AddNode("red", DeviceRole::LEAF, where);
                    graph->AddNode("red", DeviceRole::LEAF, where);
                    graph->Build();
                }),
                HasSubstr("net.yaml:7"));
    // Two islands. A host with a NIC on each does not join them: NICs do not forward.
    auto islands = MakeGraph(3, {1, 2, "none", "1Gbps"});
    islands->AddNode("red", DeviceRole::LEAF);
    islands->AddNode("blue", DeviceRole::LEAF);
    for (const char* nic : {"host0/nic0", "host0/nic1", "host1/nic0"})
    {
        islands->AddLink({nic, "red", {}, {}, 1, {}});
    }
    for (const char* nic : {"host1/nic1", "host2/nic0", "host2/nic1"})
    {
        islands->AddLink({nic, "blue", {}, {}, 1, {}});
    }
    EXPECT_THAT(MessageOf([&] { islands->Build(); }), HasSubstr("no way between host0 and host2"));
}

TEST(Builders, EqualInputsMakeEqualClusters)
{
    for (int round = 0; round < 2; ++round)
    {
        auto a = Build("FatTree", 16, {}, {{"K", "4"}});
        auto b = Build("FatTree", 16, {}, {{"K", "4"}});
        ASSERT_EQ(a->GetLinkCount(), b->GetLinkCount());
        for (uint32_t i = 0; i < a->GetLinkCount(); ++i)
        {
            EXPECT_EQ(a->GetLink(LinkId(i)).a, b->GetLink(LinkId(i)).a);
            EXPECT_EQ(a->GetLink(LinkId(i)).b, b->GetLink(LinkId(i)).b);
        }
    }
}

} // namespace
