// SPDX-License-Identifier: GPL-2.0-only
#include "echo-cluster-description.h"

#include "ns3/echo-json-writer.h"
#include "ns3/echo-placement.h"
#include "ns3/echo-text-table.h"
#include "ns3/echo-units.h"

#include <algorithm>
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

PageTable TabulateDevices(const Topology& topology)
{
    PageTable table{"Devices", {"role", "number"}, {}};
    for (const DeviceRole role : ROLES)
    {
        const size_t count = topology.GetDevices(role).size();
        if (count > 0)
        {
            table.rows.push_back({ToString(role), FormatCount(count)});
        }
    }
    return table;
}

PageTable TabulateLinks(const Topology& topology)
{
    PageTable table{"Links", {"kind", "number", "rate per direction", "delay"}, {}};
    for (const auto& [kind, count] : CountLinks(topology))
    {
        table.rows.push_back({NameOf(kind), FormatCount(count), RateOf(kind), DelayOf(kind)});
    }
    return table;
}

PageTable TabulatePaths(const TopologyFigures& figures)
{
    PageTable table{
        "Paths between NICs of equal number in different hosts", {"figure", "value"}, {}};
    table.rows = {{"ordered pairs", FormatCount(figures.nicPairs)},
                  {"distinct shortest paths, fewest", FormatCount(figures.minPaths)},
                  {"distinct shortest paths, mean", FormatFixed(figures.meanPaths, 2)},
                  {"links of a path, nearest pair", FormatCount(figures.minLinks)},
                  {"links of a path, farthest pair (diameter)", FormatCount(figures.diameter)}};
    if (figures.unreached > 0)
    {
        table.rows.push_back({"pairs without a path", FormatCount(figures.unreached)});
    }
    return table;
}

PageTable TabulateTiers(const TopologyFigures& figures)
{
    PageTable table{"Oversubscription (rate down / rate up; above 1 the way up is narrower)",
                    {"tier", "switches", "down", "up", "largest of a switch"},
                    {}};
    for (const TierFigures& tier : figures.tiers)
    {
        table.rows.push_back(
            {ToString(tier.role),
             FormatCount(tier.switches),
             tier.downBitsPerSecond > 0 ? FormatBits(tier.downBitsPerSecond) : "-",
             tier.upBitsPerSecond > 0 ? FormatBits(tier.upBitsPerSecond) : "-",
             tier.oversubscription > 0 ? FormatFixed(tier.oversubscription, 2) : "-"});
    }
    return table;
}

std::string DescribeTable(const PageTable& table)
{
    std::vector<TextTable::Column> columns;
    for (const auto& title : table.columns)
    {
        columns.push_back({title, columns.empty() ? TextTable::LEFT : TextTable::RIGHT});
    }
    TextTable text(columns);
    for (const auto& row : table.rows)
    {
        text.Add(row);
    }
    return "\n" + table.title + "\n" + text.ToString();
}

std::string DescribeBisection(const TopologyFigures& figures)
{
    const std::string half = FormatCount(figures.halfHosts);
    return FormatBits(figures.bisectionBitsPerSecond) + ", " +
           FormatPercent(figures.bisectionBitsPerSecond, figures.halfNicBitsPerSecond) +
           " of the NICs of a half (the most that the first " + half +
           " hosts can send to the last " + half + " at once: maximum flow, one direction)";
}

std::string DescribePlacement(const Cluster& cluster)
{
    const auto gpus = cluster.topology->GetDevices(DeviceRole::GPU).size();
    return Placement::Linear(cluster.topology, static_cast<uint32_t>(gpus)).Describe();
}

} // namespace

std::vector<std::string> DescribeLinks(const Topology& topology)
{
    std::vector<std::string> lines;
    for (const auto& row : TabulateLinks(topology).rows)
    {
        lines.push_back(row[1] + " " + row[0] + ": " + row[2] + ", " + row[3]);
    }
    return lines;
}

TopologyPage MakeTopologyPage(const Cluster& cluster, const TopologyFigures& figures)
{
    const Topology& topology = *cluster.topology;
    TopologyPage page;
    page.title = cluster.name;
    page.facts = {{"Hosts", FormatCount(topology.GetHostCount())},
                  {"GPUs", FormatCount(topology.GetDevices(DeviceRole::GPU).size())},
                  {"GPU", cluster.gpu.name},
                  {"Fabric", cluster.fabric},
                  {"One rank on each GPU", DescribePlacement(cluster)}};
    page.tables = {TabulateDevices(topology), TabulateLinks(topology)};
    if (figures.nicPairs > 0)
    {
        page.facts.emplace_back("Bisection bandwidth", DescribeBisection(figures));
        page.tables.push_back(TabulatePaths(figures));
    }
    if (!figures.tiers.empty())
    {
        page.tables.push_back(TabulateTiers(figures));
    }
    return page;
}

std::string DescribeCluster(const Cluster& cluster, const TopologyFigures& figures)
{
    const TopologyPage page = MakeTopologyPage(cluster, figures);
    size_t longest = 0;
    for (const auto& fact : page.facts)
    {
        longest = std::max(longest, fact.first.size());
    }
    std::string text = cluster.name + "\n";
    for (const auto& [name, value] : page.facts)
    {
        text += "  " + name + std::string(longest + 2 - name.size(), ' ') + value + "\n";
    }
    for (const PageTable& table : page.tables)
    {
        text += DescribeTable(table);
    }
    return text;
}

} // namespace echo
} // namespace ns3
