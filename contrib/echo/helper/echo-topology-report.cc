// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-report.h"

#include "echo-topology-drawing.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-json-writer.h"
#include "ns3/echo-output-folder.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-text-table.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

constexpr DeviceRole ROLES[] = {DeviceRole::GPU,
                                DeviceRole::NV_SWITCH,
                                DeviceRole::PCIE_SWITCH,
                                DeviceRole::NIC,
                                DeviceRole::LEAF,
                                DeviceRole::SPINE,
                                DeviceRole::CORE};

/** A kind of link: roles of its ends, rate, delay. */
using LinkKind = std::tuple<DeviceRole, DeviceRole, uint64_t, Time>;

std::map<LinkKind, uint64_t> CountLinks(const Topology& topology)
{
    std::map<LinkKind, uint64_t> kinds;
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const auto roles =
            std::minmax({topology.GetDevice(link.a).role, topology.GetDevice(link.b).role});
        ++kinds[{roles.first, roles.second, link.rate.GetBitRate(), link.delay}];
    }
    return kinds;
}

std::string NameOf(const LinkKind& kind)
{
    return std::string(ToString(std::get<0>(kind))) + " - " + ToString(std::get<1>(kind));
}

/** "300 GB/s" beside "2.4 Tb/s": NVLink is sold in bytes, networks in bits. */
std::string RateOf(const LinkKind& kind)
{
    const DataRate rate(std::get<2>(kind));
    return FormatRate(rate) + " (" + FormatNumber(GigabytesPerSecond(rate)) + " GB/s)";
}

/** "300 ns", not "300.000 ns" */
std::string DelayOf(const LinkKind& kind)
{
    std::string text = FormatTime(std::get<3>(kind));
    const size_t point = text.find('.');
    const size_t space = text.find(' ');
    if (point != std::string::npos && space != std::string::npos && point < space)
    {
        std::string number = text.substr(0, space);
        number.erase(number.find_last_not_of('0') + 1);
        number.erase(number.find_last_not_of('.') + 1);
        text = number + text.substr(space);
    }
    return text;
}

std::string FormatBits(double bitsPerSecond)
{
    return FormatRate(DataRate(static_cast<uint64_t>(bitsPerSecond)));
}

std::string DescribePaths(const TopologyFigures& figures)
{
    std::string text = "Paths between NICs of equal number in different hosts: ";
    if (figures.nicPairs == 0)
    {
        return text + "none\n";
    }
    text += FormatCount(figures.nicPairs) + " ordered pairs\n";
    TextTable table({{"", TextTable::LEFT}, {"", TextTable::RIGHT}});
    table.Add({"distinct shortest paths, fewest", FormatCount(figures.minPaths)});
    table.Add({"distinct shortest paths, mean", FormatFixed(figures.meanPaths, 2)});
    table.Add({"links of a path, nearest pair", FormatCount(figures.minLinks)});
    table.Add({"links of a path, farthest pair (diameter)", FormatCount(figures.diameter)});
    if (figures.unreached > 0)
    {
        table.Add({"pairs without a path", FormatCount(figures.unreached)});
    }
    return text + table.ToString();
}

std::string DescribeBisection(const TopologyFigures& figures)
{
    if (figures.nicPairs == 0)
    {
        return "";
    }
    const std::string half = FormatCount(figures.halfHosts);
    return "\nBisection bandwidth: " + FormatBits(figures.bisectionBitsPerSecond) + ", " +
           FormatPercent(figures.bisectionBitsPerSecond, figures.halfNicBitsPerSecond) +
           " of the NICs of a half\n  (the most that the first " + half +
           " hosts can send to the last " + half + " at once: maximum flow, one direction)\n";
}

std::string DescribeTiers(const TopologyFigures& figures)
{
    std::string text = "\nOversubscription (rate down / rate up; above 1 the way up is narrower)\n";
    TextTable table({{"tier", TextTable::LEFT},
                     {"switches", TextTable::RIGHT},
                     {"down", TextTable::RIGHT},
                     {"up", TextTable::RIGHT},
                     {"largest of a switch", TextTable::RIGHT}});
    for (const TierFigures& tier : figures.tiers)
    {
        table.Add({ToString(tier.role),
                   FormatCount(tier.switches),
                   tier.downBitsPerSecond > 0 ? FormatBits(tier.downBitsPerSecond) : "-",
                   tier.upBitsPerSecond > 0 ? FormatBits(tier.upBitsPerSecond) : "-",
                   tier.oversubscription > 0 ? FormatFixed(tier.oversubscription, 2) : "-"});
    }
    return figures.tiers.empty() ? "" : text + table.ToString();
}

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

std::vector<std::string> DescribeLinks(const Topology& topology)
{
    std::vector<std::string> lines;
    for (const auto& [kind, count] : CountLinks(topology))
    {
        lines.push_back(FormatCount(count) + " " + NameOf(kind) + ": " + RateOf(kind) + ", " +
                        DelayOf(kind));
    }
    return lines;
}

std::string DescribeCluster(const Cluster& cluster, const TopologyFigures& figures)
{
    const Topology& topology = *cluster.topology;
    const auto gpus = static_cast<uint32_t>(topology.GetDevices(DeviceRole::GPU).size());
    std::string text = cluster.name + ": " + FormatCount(topology.GetHostCount()) + " hosts, " +
                       FormatCount(gpus) + " GPUs (" + cluster.gpu.name + "), " + cluster.fabric +
                       "\n\nDevices\n";
    TextTable devices({{"role", TextTable::LEFT}, {"number", TextTable::RIGHT}});
    for (const DeviceRole role : ROLES)
    {
        const size_t count = topology.GetDevices(role).size();
        if (count > 0)
        {
            devices.Add({ToString(role), FormatCount(count)});
        }
    }
    TextTable links({{"kind", TextTable::LEFT},
                     {"number", TextTable::RIGHT},
                     {"rate per direction", TextTable::RIGHT},
                     {"delay", TextTable::RIGHT}});
    for (const auto& [kind, count] : CountLinks(topology))
    {
        links.Add({NameOf(kind), FormatCount(count), RateOf(kind), DelayOf(kind)});
    }
    text += devices.ToString() + "\nLinks\n" + links.ToString();
    text += "\nPlacement of one rank on each GPU\n  " +
            Placement::Linear(cluster.topology, gpus).Describe() + "\n\n";
    return text + DescribePaths(figures) + DescribeBisection(figures) + DescribeTiers(figures);
}

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
}

int TopologyCommand::Run() const
{
    const Cluster cluster = ReadClusterFile(file, hosts);
    auto router = CreateObject<ShortestPathRouter>();
    router->Prepare(cluster.topology);
    const TopologyFigures figures = MeasureTopology(*router);
    std::cout << DescribeCluster(cluster, figures);
    if (!out.empty())
    {
        WriteTopology(cluster, figures, out);
        std::cout << "\nWritten: " << out << "/topology.json, " << out << "/topology.svg\n";
    }
    return 0;
}

} // namespace echo
} // namespace ns3
