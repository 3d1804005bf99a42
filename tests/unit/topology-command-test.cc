// SPDX-License-Identifier: GPL-2.0-only
// What ./echo topology shows and writes.

#include "ns3/echo-cluster-description.h"
#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-error.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-topology-command.h"
#include "ns3/echo-topology-drawing.h"
#include "ns3/echo-topology-layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace ns3;
using namespace ns3::echo;
using ::testing::HasSubstr;
using ::testing::Not;

namespace
{

const std::string CLUSTERS = std::string(ECHO_SOURCE_DIR) + "/scenarios/clusters/";

TopologyFigures Measure(const Cluster& cluster)
{
    auto router = CreateObject<ShortestPathRouter>();
    router->Prepare(cluster.topology);
    return MeasureTopology(*router);
}

std::string ReadFile(const std::filesystem::path& path)
{
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/** A folder that goes when the test ends. */
class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name =
            (std::filesystem::temp_directory_path() / "echo-topology-XXXXXX").string();
        m_path = mkdtemp(name.data());
    }

    ~TemporaryFolder()
    {
        std::filesystem::remove_all(m_path);
    }

    const std::filesystem::path& Get() const
    {
        return m_path;
    }

  private:
    std::filesystem::path m_path;
};

/** Checks that tags nest and that no text holds a bare '&'. @return elements by name */
std::map<std::string, uint32_t> CountElements(const std::string& xml)
{
    std::map<std::string, uint32_t> elements;
    std::vector<std::string> open;
    for (size_t at = 0; at < xml.size(); ++at)
    {
        if (xml[at] == '&')
        {
            const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
            EXPECT_TRUE(std::set<std::string>({"&lt;", "&gt;", "&amp;", "&quot;"}).count(entity))
                << entity;
        }
        if (xml[at] != '<')
        {
            continue;
        }
        const size_t end = xml.find('>', at);
        EXPECT_NE(end, std::string::npos);
        const std::string tag = xml.substr(at + 1, end - at - 1);
        if (tag[0] == '/')
        {
            EXPECT_FALSE(open.empty());
            EXPECT_EQ(tag.substr(1), open.back());
            open.pop_back();
        }
        else
        {
            const std::string name = tag.substr(0, tag.find(' '));
            ++elements[name];
            if (tag.back() != '/')
            {
                open.push_back(name);
            }
        }
        at = end;
    }
    EXPECT_TRUE(open.empty());
    return elements;
}

TEST(TopologyCommand, TellsWhatAClusterIs)
{
    const Cluster cluster = ReadClusterFile(CLUSTERS + "rail-64xh100.yaml");
    const std::string text = DescribeCluster(cluster, Measure(cluster));
    EXPECT_THAT(text, HasSubstr("rail-64xh100\n"));
    EXPECT_THAT(text, HasSubstr("ranks 0-63 on host0-host7 (gpu0-gpu7 each)"));
    EXPECT_THAT(text, HasSubstr("nic - leaf"));
    EXPECT_THAT(text, HasSubstr("3.6 Tb/s (450 GB/s)  300 ns"));
    // 4 hosts x 8 NICs x 400 Gb/s.
    EXPECT_THAT(text, HasSubstr("12.8 Tb/s, 100.0 % of the NICs of a half"));
    EXPECT_THAT(text, HasSubstr("farthest pair (diameter)"));
    // One host: nothing about paths between hosts.
    const Cluster single = ReadClusterFile(CLUSTERS + "dgx1-v100.yaml");
    EXPECT_THAT(DescribeCluster(single, Measure(single)), Not(HasSubstr("Bisection")));
}

TEST(TopologyCommand, WritesJsonPictureAndPage)
{
    const Cluster cluster = ReadClusterFile(CLUSTERS + "fat-tree-k4-16x100g.yaml");
    const TemporaryFolder folder;
    WriteTopology(cluster, Measure(cluster), folder.Get().string());
    const auto json = nlohmann::json::parse(ReadFile(folder.Get() / "topology.json"));
    EXPECT_EQ(json.at("name"), "fat-tree-k4-16x100g");
    EXPECT_EQ(json.at("nodes").size(), 16u + 16 + 8 + 8 + 4);
    EXPECT_EQ(json.at("links").size(), 48u);
    EXPECT_EQ(json.at("links")[0].at("rate_bps"), 100000000000u);
    EXPECT_EQ(json.at("links")[0].at("delay_ps"), 1000000);
    EXPECT_EQ(json.at("figures").at("diameter_links"), 6);
    EXPECT_EQ(json.at("figures").at("tiers").size(), 3u);
    std::map<std::string, double> height;
    for (const auto& node : json.at("nodes"))
    {
        EXPECT_GT(node.at("x").get<double>(), 0);
        EXPECT_LT(node.at("x").get<double>(), 1);
        height[node.at("role")] = node.at("y");
    }
    EXPECT_LT(height["core"], height["spine"]);
    EXPECT_LT(height["spine"], height["leaf"]);
    EXPECT_LT(height["leaf"], height["nic"]);
    EXPECT_THAT(ReadFile(folder.Get() / "topology.html"), HasSubstr("fat-tree-k4-16x100g"));
    EXPECT_EQ(ReadFile(folder.Get() / "topology.svg"), DrawTopology(cluster));
    // Written again: the same bytes.
    const std::string before = ReadFile(folder.Get() / "topology.json");
    WriteTopology(cluster, Measure(cluster), folder.Get().string());
    EXPECT_EQ(ReadFile(folder.Get() / "topology.json"), before);
}

TEST(TopologyCommand, RefusesAFolderThatCannotBe)
{
    const TemporaryFolder folder;
    const auto file = folder.Get() / "file";
    std::ofstream(file) << "x";
    TopologyCommand command;
    command.file = CLUSTERS + "single-switch-8x100g.yaml";
    command.out = (file / "below").string();
    EXPECT_THROW(command.Run(), InputError);
    command.out.clear();
    command.file = folder.Get() / "missing.yaml";
    EXPECT_THROW(command.Run(), InputError);
}

TEST(TopologyDrawing, ShowsEverySwitchHostAndDeviceOfAHost)
{
    // 4 cores, 8 spines, 8 leaves, 16 hosts, and the NIC and GPU of a host; one more rectangle is
    // the background. 16 + 16 + 16 links and a dotted line.
    const std::string svg = DrawTopology(ReadClusterFile(CLUSTERS + "fat-tree-k4-16x100g.yaml"));
    auto elements = CountElements(svg);
    EXPECT_EQ(elements["rect"], 4u + 8 + 8 + 16 + 2 + 1);
    EXPECT_EQ(elements["path"], 48u + 1);
    EXPECT_THAT(svg, HasSubstr(">spine7</text>"));
    EXPECT_THAT(svg, HasSubstr(">host15</text>"));
    // The DGX-1: 16 pairs of GPUs, 8 links to NICs, 1 line to the switch (four links in one).
    elements = CountElements(DrawTopology(ReadClusterFile(CLUSTERS + "dgx1-v100.yaml")));
    EXPECT_EQ(elements["path"], 16u + 8 + 1);
}

TEST(TopologyDrawing, NamesAreEscaped)
{
    Cluster cluster = ReadClusterFile(CLUSTERS + "single-switch-8x100g.yaml");
    cluster.name = "a <b> & \"c\"";
    const std::string svg = DrawTopology(cluster);
    CountElements(svg);
    EXPECT_THAT(svg, HasSubstr("a &lt;b&gt; &amp; &quot;c&quot;"));
}

TEST(TopologyLayout, BoxesOfARowDoNotOverlap)
{
    for (const char* name : {"fat-tree-k8-128x400g", "rail-64xh100", "azure-ndv4", "polaris"})
    {
        const Cluster cluster = ReadClusterFile(CLUSTERS + name + ".yaml");
        const TopologyLayout layout(*cluster.topology);
        for (const auto& layer : layout.GetLayers())
        {
            for (size_t i = 1; i < layer.boxes.size(); ++i)
            {
                const auto& left = layout.GetBoxes()[layer.boxes[i - 1]];
                const auto& right = layout.GetBoxes()[layer.boxes[i]];
                EXPECT_EQ(left.y, right.y);
                EXPECT_GE(right.x - left.x, layer.pitch - 1e-6) << name;
            }
            EXPECT_GT(layer.pitch, 20) << name;
        }
    }
}

TEST(TopologyLayout, HostsStandBelowTheirLeaf)
{
    const Cluster cluster = ReadClusterFile(CLUSTERS + "fat-tree-k8-128x400g.yaml");
    const TopologyLayout layout(*cluster.topology);
    std::map<uint32_t, double> sum;
    for (const auto& line : layout.GetLines())
    {
        const auto& a = layout.GetBoxes()[line.a];
        const auto& b = layout.GetBoxes()[line.b];
        if (b.role == DeviceRole::GPU)
        {
            sum[line.a] += b.x - a.x;
        }
    }
    EXPECT_EQ(sum.size(), 32u);
    for (const auto& [leaf, offset] : sum)
    {
        EXPECT_NEAR(offset, 0, 1e-6);
    }
}

TEST(TopologyLayout, ManyHostsOfALeafAreOneBox)
{
    // 512 hosts, 4 a leaf.
    const Cluster cluster = ReadClusterFile(CLUSTERS + "alps.yaml", 512);
    const TopologyLayout layout(*cluster.topology);
    const auto& hosts = layout.GetLayers().back();
    ASSERT_EQ(hosts.boxes.size(), 128u);
    EXPECT_EQ(layout.GetBoxes()[hosts.boxes[1]].name, "hosts 4-7");
    // A line from each box to its leaf for 4 hosts x 4 NICs.
    uint32_t links = 0;
    for (const auto& line : layout.GetLines())
    {
        links += line.b == hosts.boxes[1] ? line.links : 0;
    }
    EXPECT_EQ(links, 16u);
}

} // namespace
