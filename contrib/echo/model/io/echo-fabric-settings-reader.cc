// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fabric-settings-reader.h"

#include "echo-input-file.h"

#include "ns3/echo-path-choice.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();
constexpr size_t MOST_CLASSES = 8; //!< priorities of IEEE 802.1Q

TrafficClassSettings ReadClass(const YamlNode& node, std::set<GroupKind>& taken)
{
    TrafficClassSettings settings;
    const std::string scheduling = node.GetString("scheduling", "weighted");
    if (scheduling != "strict" && scheduling != "weighted")
    {
        node.Get("scheduling").Fail("'" + scheduling + "'", "strict or weighted");
    }
    settings.strict = scheduling == "strict";
    if (settings.strict && node.Has("weight"))
    {
        node.Get("weight").Fail("a weight of a strict class", "none");
    }
    settings.weight = static_cast<uint32_t>(node.GetInteger("weight", 1, 1, 1000));
    if (node.Has("groups"))
    {
        for (const auto& entry : node.Get("groups").GetEntries())
        {
            const auto kind = entry.Parse<GroupKind>(ParseGroupKind);
            if (!taken.insert(kind).second)
            {
                entry.Fail("'" + entry.AsString() + "' in two classes", "each group in one");
            }
            settings.groups.push_back(kind);
        }
    }
    node.RefuseUnknownKeys();
    return settings;
}

DeviceId FindFabricDevice(const YamlNode& node, const Topology& topology)
{
    const DeviceId device = topology.FindDevice(node.AsString());
    bool inFabric = false;
    if (device.IsValid())
    {
        for (const PortId port : topology.GetPorts(device))
        {
            inFabric |= topology.IsFabricLink(Topology::LinkOf(port));
        }
    }
    if (!inFabric)
    {
        node.Fail("'" + node.AsString() + "'",
                  "the name of a NIC or switch of the fabric such as host0/nic0 or leaf0 "
                  "(./echo topology lists them)");
    }
    return device;
}

/** `switch: NAME`: all its fabric links. */
void ReadSwitch(const YamlNode& node, const Topology& topology, LinkEvent& event)
{
    const DeviceId device = FindFabricDevice(node, topology);
    event.subject = topology.GetDevice(device).name;
    for (const PortId port : topology.GetPorts(device))
    {
        if (topology.IsFabricLink(Topology::LinkOf(port)))
        {
            event.links.push_back(Topology::LinkOf(port));
        }
    }
}

/**
 * `link: [A, B]` or `[A, B, n]`: all links of the two, or the n-th, from 0. The subject is the same
 * whichever of the two comes first, and has no number if there is one link.
 */
void ReadLink(const YamlNode& node, const Topology& topology, LinkEvent& event)
{
    const std::vector<YamlNode> entries = node.GetEntries();
    if (entries.size() < 2 || entries.size() > 3)
    {
        node.Fail(std::to_string(entries.size()) + " entries",
                  "two devices, and the number of the link if they have several");
    }
    const auto [a, b] = std::minmax(
        {FindFabricDevice(entries[0], topology), FindFabricDevice(entries[1], topology)});
    event.subject = topology.GetDevice(a).name + " - " + topology.GetDevice(b).name;
    for (const PortId port : topology.GetPorts(a))
    {
        if (topology.NeighborOf(port) == b)
        {
            event.links.push_back(Topology::LinkOf(port));
        }
    }
    if (event.links.empty())
    {
        node.Fail("no link between " + topology.GetDevice(a).name + " and " +
                      topology.GetDevice(b).name,
                  "two devices that are joined");
    }
    if (entries.size() == 3)
    {
        const int64_t last = static_cast<int64_t>(event.links.size()) - 1;
        const int64_t number = entries[2].AsInteger(0, last);
        event.links = {event.links[static_cast<size_t>(number)]};
        event.subject += last > 0 ? " " + std::to_string(number) : "";
    }
}

/** A failure makes no link faster than the cluster says. */
void RefuseHigherRate(const YamlNode& node, const Topology& topology, const LinkEvent& event)
{
    for (const LinkId link : event.links)
    {
        const DataRate nominal = topology.GetLink(link).rate;
        if (event.rate > nominal)
        {
            const LinkRecord record = topology.DescribeLink(PortId(2 * link.Get()));
            node.Fail("'" + node.AsString() + "' on " + record.from + " - " + record.to,
                      "at most " + FormatRate(nominal) + ", the rate of that link");
        }
    }
}

LinkEvent ReadFailure(const YamlNode& node, const Topology& topology)
{
    node.RequireMap();
    LinkEvent event;
    event.time = node.Get("time").AsTime();
    if (node.Has("switch") == node.Has("link"))
    {
        node.Fail("a failure of neither or both of a switch and a link", "'switch' or 'link'");
    }
    if (node.Has("switch"))
    {
        ReadSwitch(node.Get("switch"), topology, event);
    }
    else
    {
        ReadLink(node.Get("link"), topology, event);
    }
    if (node.Has("state") + node.Has("rate") + node.Has("loss") != 1)
    {
        node.Fail("a failure that does not say one thing", "one of 'state', 'rate' and 'loss'");
    }
    if (node.Has("state"))
    {
        const std::string state = node.Get("state").AsString();
        if (state != "down" && state != "up")
        {
            node.Get("state").Fail("'" + state + "'", "down or up");
        }
        event.kind = state == "down" ? LinkEvent::Kind::DOWN : LinkEvent::Kind::UP;
    }
    else if (node.Has("rate"))
    {
        event.kind = LinkEvent::Kind::RATE;
        event.rate = node.Get("rate").AsRate();
        RefuseHigherRate(node.Get("rate"), topology, event);
    }
    else
    {
        event.kind = LinkEvent::Kind::LOSS;
        event.loss = node.GetNumber("loss", 0, 0, 0.5);
    }
    node.RefuseUnknownKeys();
    return event;
}

/** An event that ends a failure follows one of the same subject, by time and then by line. */
void RefuseEndsOfNothing(const std::vector<YamlNode>& entries, const std::vector<LinkEvent>& events)
{
    std::vector<size_t> order(events.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&events](size_t a, size_t b) {
        return events[a].time < events[b].time;
    });
    std::set<std::string> failed;
    for (const size_t number : order)
    {
        const LinkEvent& event = events[number];
        if (event.kind == LinkEvent::Kind::DOWN)
        {
            failed.insert(event.subject);
        }
        else if (event.kind == LinkEvent::Kind::UP && failed.count(event.subject) == 0)
        {
            entries[number].Fail("'state: up' of " + event.subject +
                                     ", which never went down before",
                                 "an earlier 'state: down' of the same switch or link");
        }
    }
}

/** `sizes`: a file, or `bytes`: one size. */
SizeDistribution ReadSizes(const YamlNode& node)
{
    if (node.Has("sizes") == node.Has("bytes"))
    {
        node.Fail("neither or both of 'sizes' and 'bytes'",
                  "'bytes: SIZE' or 'sizes: FILE' such as traffic/websearch.cdf");
    }
    if (node.Has("sizes"))
    {
        return ReadSizeDistribution(node.ResolvePath(node.Get("sizes").AsString()));
    }
    const uint64_t bytes = node.Get("bytes").AsBytes();
    if (bytes == 0)
    {
        node.Get("bytes").Fail("0", "1 B or more");
    }
    return SizeDistribution(bytes);
}

TrafficSpec ReadTraffic(const YamlNode& node, const Topology& topology, size_t classes)
{
    node.RequireMap();
    TrafficSpec spec;
    const std::string pattern = node.Get("pattern").AsString();
    spec.sizes = ReadSizes(node);
    if (pattern == "poisson")
    {
        spec.pattern = TrafficSpec::Pattern::POISSON;
        spec.load = node.Get("load").AsNumber(1e-6, 1);
    }
    else if (pattern == "incast")
    {
        spec.pattern = TrafficSpec::Pattern::INCAST;
        spec.senders = static_cast<uint32_t>(node.Get("senders").AsInteger(1, MAX_COUNT));
        spec.interval = node.Get("interval").AsTime();
        if (spec.interval.IsZero())
        {
            node.Get("interval").Fail("0", "a time between two bursts");
        }
        if (node.Has("receiver"))
        {
            const YamlNode receiver = node.Get("receiver");
            spec.receiver = FindFabricDevice(receiver, topology);
            if (topology.GetDevice(spec.receiver).role != DeviceRole::NIC)
            {
                receiver.Fail("'" + receiver.AsString() + "'", "a NIC such as host0/nic0");
            }
        }
    }
    else if (pattern == "permutation")
    {
        spec.pattern = TrafficSpec::Pattern::PERMUTATION;
    }
    else
    {
        node.Get("pattern").Fail("'" + pattern + "'", "poisson, incast or permutation");
    }
    spec.start = node.GetTime("start", spec.start);
    spec.stop = node.GetTime("stop", spec.stop);
    if (node.Has("stop") && spec.stop <= spec.start)
    {
        node.Get("stop").Fail("'" + node.Get("stop").AsString() + "'", "a time after start");
    }
    spec.trafficClass =
        static_cast<uint8_t>(node.GetInteger("class", 0, 0, static_cast<int64_t>(classes) - 1));
    node.RefuseUnknownKeys();
    return spec;
}

} // namespace

std::string ParseLoadBalancing(const std::string& text)
{
    const TypeId balancers = TypeId::LookupByName("ns3::echo::LoadBalancer");
    if (!LookupPolicy(text, PathChoice::GetTypeId(), "PathChoice") &&
        !LookupPolicy(text, balancers, "Balancer"))
    {
        throw InputError(SourceLocation{},
                         "'" + text + "'",
                         "ecmp, static, spray, flowlet, adaptive or a TypeId");
    }
    return text;
}

void ReadFabricSettings(const YamlNode& network, NetworkSettings& settings)
{
    if (network.Has("load_balancing"))
    {
        settings.loadBalancing =
            network.Get("load_balancing").Parse<std::string>(ParseLoadBalancing);
    }
    settings.rerouteDelay = network.GetTime("reroute_delay", settings.rerouteDelay);
    if (!network.Has("classes"))
    {
        return;
    }
    const std::vector<YamlNode> entries = network.Get("classes").GetEntries();
    if (entries.empty() || entries.size() > MOST_CLASSES)
    {
        network.Get("classes").Fail(std::to_string(entries.size()) + " classes", "1 to 8");
    }
    std::set<GroupKind> taken;
    settings.classes.clear();
    for (const auto& entry : entries)
    {
        settings.classes.push_back(ReadClass(entry, taken));
    }
}

std::vector<LinkEvent> ReadFailures(const YamlNode& node, const Topology& topology)
{
    const std::vector<YamlNode> entries = node.GetEntries();
    std::vector<LinkEvent> events;
    for (const auto& entry : entries)
    {
        events.push_back(ReadFailure(entry, topology));
    }
    RefuseEndsOfNothing(entries, events);
    return events;
}

std::vector<TrafficSpec> ReadBackground(const YamlNode& node,
                                        const Topology& topology,
                                        size_t classes)
{
    std::vector<TrafficSpec> specs;
    for (const auto& entry : node.GetEntries())
    {
        specs.push_back(ReadTraffic(entry, topology, classes));
    }
    return specs;
}

SizeDistribution ReadSizeDistribution(const std::string& path)
{
    std::istringstream text(ReadInputFile(path));
    std::vector<SizeDistribution::Point> points;
    std::vector<uint32_t> lines;
    std::string line;
    for (uint32_t number = 1; std::getline(text, line); ++number)
    {
        std::istringstream words(line.substr(0, line.find('#')));
        double bytes = 0;
        double percent = 0;
        std::string rest;
        if (!(words >> bytes))
        {
            if (words.eof())
            {
                continue; // nothing but a comment
            }
            words.clear();
        }
        if (!(words >> percent) || words >> rest || !(bytes >= 0 && bytes < 1e18))
        {
            throw InputError({path, number, ""},
                             "'" + line + "'",
                             "a size in bytes and a cumulative chance in percent");
        }
        points.push_back({static_cast<uint64_t>(bytes), percent / 100});
        lines.push_back(number);
    }
    try
    {
        return SizeDistribution(std::move(points));
    }
    catch (const InputError& error)
    {
        throw error.At({path, 0, error.GetLocation().item});
    }
}

} // namespace echo
} // namespace ns3
