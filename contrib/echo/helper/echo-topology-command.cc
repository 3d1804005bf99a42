// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-command.h"

#include "echo-cluster-description.h"
#include "echo-run-command.h"
#include "echo-topology-drawing.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-foreign-topology.h"
#include "ns3/echo-json-writer.h"
#include "ns3/echo-output-folder.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-topology-report.h"

#include <iostream>
#include <map>

namespace ns3
{
namespace echo
{

namespace
{

/** Row of a device in a layered picture, from the top. */
uint32_t LayerOf(DeviceRole role)
{
    switch (role)
    {
    case DeviceRole::CORE:
        return 0;
    case DeviceRole::SPINE:
        return 1;
    case DeviceRole::LEAF:
        return 2;
    case DeviceRole::NIC:
        return 3;
    case DeviceRole::GPU:
        return 4;
    default:
        return 5;
    }
}

void WriteFigures(JsonWriter& json, const TopologyFigures& figures)
{
    json.Key("figures").BeginObject();
    json.Member("nic_pairs", figures.nicPairs);
    json.Member("shortest_paths_min", figures.minPaths);
    json.Member("shortest_paths_mean", figures.meanPaths);
    json.Member("links_min", figures.minLinks);
    json.Member("diameter_links", figures.diameter);
    json.Member("pairs_without_path", figures.unreached);
    json.Member("bisection_bps", figures.bisectionBitsPerSecond);
    json.Member("bisection_nic_bps", figures.halfNicBitsPerSecond);
    json.Member("bisection_hosts", figures.halfHosts);
    json.Key("tiers").BeginArray();
    for (const TierFigures& tier : figures.tiers)
    {
        json.BeginObject().Member("role", ToString(tier.role)).Member("switches", tier.switches);
        json.Member("down_bps", tier.downBitsPerSecond).Member("up_bps", tier.upBitsPerSecond);
        json.Member("oversubscription", tier.oversubscription).EndObject();
    }
    json.EndArray().EndObject();
}

/** Coordinates run from 0 to 1: x evenly over a role's devices, y by layer. */
void WriteGraph(JsonWriter& json, const Topology& topology)
{
    std::map<DeviceRole, uint32_t> placed;
    json.Key("nodes").BeginArray();
    for (uint32_t i = 0; i < topology.GetDeviceCount(); ++i)
    {
        const Device& device = topology.GetDevice(DeviceId(i));
        const auto count = static_cast<double>(topology.GetDevices(device.role).size());
        json.BeginObject().Member("id", i).Member("name", device.name);
        json.Member("role", ToString(device.role));
        if (device.host.IsValid())
        {
            json.Member("host", device.host.Get());
        }
        json.Member("index", device.index);
        json.Member("x", (placed[device.role]++ + 0.5) / count);
        json.Member("y", LayerOf(device.role) / 5.0).EndObject();
    }
    json.EndArray().Key("links").BeginArray();
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        json.BeginObject().Member("id", i).Member("a", link.a.Get()).Member("b", link.b.Get());
        json.Member("rate_bps", link.rate.GetBitRate());
        json.Member("delay_ps", link.delay.GetPicoSeconds()).EndObject();
    }
    json.EndArray();
}

} // namespace

void WriteTopology(const Cluster& cluster,
                   const TopologyFigures& figures,
                   const std::string& directory)
{
    OutputFolder folder(directory);
    folder.Create("topology.svg").Write(DrawTopology(cluster));
    const bool isSmall = cluster.topology->GetLinkCount() <= 4096;
    JsonWriter json(folder.Create("topology.json"),
                    isSmall ? JsonWriter::INDENTED : JsonWriter::COMPACT);
    json.BeginObject().Member("name", cluster.name).Member("fabric", cluster.fabric);
    json.Member("gpu", cluster.gpu.name).Member("hosts", cluster.topology->GetHostCount());
    WriteFigures(json, figures);
    WriteGraph(json, *cluster.topology);
    json.EndObject();
    json.Flush();
    folder.Commit();
    TopologyPage page = MakeTopologyPage(cluster, figures);
    page.network = MakeLayeredGraph(*cluster.topology);
    WriteTopologyReport(directory, page);
}

int TopologyCommand::Run() const
{
    const TopologyFormat format =
        from == "auto" ? RecognizeTopology(file) : ParseTopologyFormat(from);
    const bool isForeign = format != TopologyFormat::ECHO;
    ForeignTopology foreign;
    if (isForeign)
    {
        foreign = ReadForeignTopology(file, format);
    }
    const Cluster cluster = isForeign
                                ? ReadCluster(YamlNode::LoadText(foreign.ToYaml(), file), hosts)
                                : ReadClusterFile(file, hosts);
    auto router = CreateObject<ShortestPathRouter>();
    router->Prepare(cluster.topology);
    const TopologyFigures figures = MeasureTopology(*router);
    std::cout << DescribeCluster(cluster, figures);
    for (const auto& note : foreign.notes)
    {
        std::cout << "note: " << note << "\n";
    }
    if (!out.empty())
    {
        WriteTopology(cluster, figures, out);
        std::cout << "\nWritten to " << out << ": topology.json, topology.svg, topology.html";
        if (isForeign)
        {
            OutputFolder folder(out);
            folder.Create("cluster.yaml").Write(foreign.ToYaml());
            folder.Commit();
            std::cout << ", cluster.yaml";
        }
        std::cout << "\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
