// SPDX-License-Identifier: GPL-2.0-only
#include "echo-network-drawing.h"

#include "echo-report-tables.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

/** A layer's place from the bottom, and what its devices are called together. */
struct Layer
{
    uint32_t order;
    const char* name;
};

constexpr Layer HOSTS{0, "hosts"};

Layer LayerOf(DeviceRole role)
{
    switch (role)
    {
    case DeviceRole::NV_SWITCH:
        return {1, "NVLink switches"};
    case DeviceRole::GPU:
        return {2, "GPUs"};
    case DeviceRole::PCIE_SWITCH:
        return {3, "PCIe switches"};
    case DeviceRole::NIC:
        return {4, "NICs"};
    case DeviceRole::LEAF:
        return {5, "leaf switches"};
    case DeviceRole::SPINE:
        return {6, "spine switches"};
    default:
        return {7, "core switches"};
    }
}

} // namespace

LayeredGraph MakeLayeredGraph(const std::vector<LinkRecord>& links)
{
    LayeredGraph graph;
    std::map<std::string, uint32_t> nodes;
    std::map<std::string, uint32_t> hosts;
    const auto node = [&](const std::string& name, DeviceRole role) {
        const auto [at, isNew] = nodes.emplace(name, graph.nodes.size());
        if (isNew)
        {
            const size_t slash = name.find('/');
            HostId host;
            if (slash != std::string::npos)
            {
                host = HostId(hosts.emplace(name.substr(0, slash), hosts.size()).first->second);
            }
            graph.nodes.push_back({name, role, host});
        }
        return at->second;
    };
    std::set<LinkId> seen;
    for (const auto& link : links)
    {
        // Edges are found by the link's number.
        const uint32_t from = node(link.from, link.fromRole);
        const uint32_t to = node(link.to, link.toRole);
        if (link.link.IsValid() && seen.insert(link.link).second)
        {
            graph.edges.resize(std::max<size_t>(graph.edges.size(), link.link.Get() + 1));
            const bool first = link.port.Get() % 2 == 0;
            graph.edges[link.link.Get()] = {first ? from : to, first ? to : from, link.rate};
        }
    }
    return graph;
}

double NetworkDrawing::Edge::GetLargest() const
{
    return std::max(load[0].largest, load[1].largest);
}

NetworkDrawing::NetworkDrawing(const LayeredGraph& graph,
                               const std::vector<LinkRecord>& links,
                               Time stepTime)
{
    MakeNodes(graph);
    MakeEdges(graph, links, stepTime);
}

std::vector<uint32_t> NetworkDrawing::GroupHosts(const LayeredGraph& graph, uint32_t hosts) const
{
    std::vector<uint32_t> groupOf(hosts);
    std::iota(groupOf.begin(), groupOf.end(), 0);
    if (hosts <= MAX_HOSTS)
    {
        return groupOf;
    }
    std::vector<std::set<uint32_t>> switches(hosts);
    for (const auto& edge : graph.edges)
    {
        for (const auto& [inside, outside] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)})
        {
            const HostId host = graph.nodes[inside].host;
            if (host.IsValid() && !graph.nodes[outside].host.IsValid())
            {
                switches[host.Get()].insert(outside);
            }
        }
    }
    std::map<std::set<uint32_t>, uint32_t> groups;
    for (uint32_t host = 0; host < hosts; ++host)
    {
        groupOf[host] = groups.emplace(switches[host], host).first->second;
    }
    return groupOf;
}

uint32_t NetworkDrawing::AddNode(const std::string& label, uint32_t order)
{
    m_nodes.push_back({label, order});
    return static_cast<uint32_t>(m_nodes.size() - 1);
}

void NetworkDrawing::MakeNodes(const LayeredGraph& graph)
{
    uint32_t hosts = 0;
    for (const auto& node : graph.nodes)
    {
        hosts = std::max(hosts, node.host.IsValid() ? node.host.Get() + 1 : 0);
    }
    const std::vector<uint32_t> groupOf = GroupHosts(graph, hosts);
    std::map<uint32_t, std::vector<uint32_t>> members;
    for (uint32_t host = 0; host < hosts; ++host)
    {
        members[groupOf[host]].push_back(host);
    }
    std::map<uint32_t, uint32_t> nodeOfGroup;
    std::map<uint32_t, std::string> layers;
    const bool collapse = hosts > 1;
    for (const auto& [group, list] : members)
    {
        if (collapse)
        {
            std::string label = "host " + std::to_string(list.front());
            if (list.size() > 1)
            {
                const bool dense = list.back() - list.front() + 1 == list.size();
                label = std::to_string(list.size()) + " hosts: " + std::to_string(list.front()) +
                        (dense ? " to " : " .. ") + std::to_string(list.back());
            }
            nodeOfGroup[group] = AddNode(label, HOSTS.order);
            layers[HOSTS.order] = HOSTS.name;
        }
    }
    for (const auto& node : graph.nodes)
    {
        if (collapse && node.host.IsValid())
        {
            m_nodeOf.push_back(nodeOfGroup[groupOf[node.host.Get()]]);
            continue;
        }
        const Layer layer = LayerOf(node.role);
        m_nodeOf.push_back(AddNode(node.name, layer.order));
        layers[layer.order] = layer.name;
    }
    std::map<uint32_t, uint32_t> place;
    for (const auto& [order, name] : layers)
    {
        place[order] = static_cast<uint32_t>(m_layers.size());
        m_layers.push_back(name);
    }
    for (auto& node : m_nodes)
    {
        node.layer = place[node.layer];
    }
}

void NetworkDrawing::MakeEdges(const LayeredGraph& graph,
                               const std::vector<LinkRecord>& links,
                               Time stepTime)
{
    std::map<std::pair<uint32_t, uint32_t>, Edge> edges;
    const auto edgeOf = [&](const LayeredGraph::Edge& link) -> Edge* {
        const uint32_t a = std::min(m_nodeOf[link.a], m_nodeOf[link.b]);
        const uint32_t b = std::max(m_nodeOf[link.a], m_nodeOf[link.b]);
        if (a == b)
        {
            return nullptr; // inside a host
        }
        Edge& edge = edges[{a, b}];
        edge.a = a;
        edge.b = b;
        return &edge;
    };
    for (const auto& link : graph.edges)
    {
        if (link.rate.GetBitRate() == 0 || link.a >= m_nodeOf.size() || link.b >= m_nodeOf.size())
        {
            continue; // a number that no record used
        }
        if (Edge* edge = edgeOf(link))
        {
            ++edge->links;
            edge->rateGBps = std::max(edge->rateGBps, GigabytesPerSecond(link.rate));
        }
    }
    for (const auto& record : links)
    {
        if (!record.link.IsValid() || record.link.Get() >= graph.edges.size())
        {
            continue;
        }
        const LayeredGraph::Edge& link = graph.edges[record.link.Get()];
        Edge* edge = edgeOf(link);
        if (!edge)
        {
            continue;
        }
        const bool forward = record.port.Get() % 2 == 0;
        const uint32_t from = m_nodeOf[forward ? link.a : link.b];
        Load& load = edge->load[from == edge->a ? 0 : 1];
        const double utilization = MeanUtilization(record, stepTime);
        load.largest = std::max(load.largest, utilization);
        load.sum += utilization;
        load.peak = std::max(load.peak, record.peakRate);
        load.bytes += record.wireBytes;
        load.drops += record.drops;
        load.pauses += record.pauses;
        load.ecnMarks += record.ecnMarks;
        load.maxQueueBytes = std::max(load.maxQueueBytes, record.maxQueueBytes);
    }
    for (const auto& [ends, edge] : edges)
    {
        m_edges.push_back(edge);
    }
    if (m_edges.size() > MAX_EDGES)
    {
        std::stable_sort(m_edges.begin(), m_edges.end(), [](const Edge& a, const Edge& b) {
            return a.GetLargest() > b.GetLargest();
        });
        m_leftOut = m_edges.size() - MAX_EDGES;
        m_edges.resize(MAX_EDGES);
    }
}

void NetworkDrawing::Write(JsonWriter& json) const
{
    json.BeginObject().Key("layers").BeginArray();
    for (const auto& name : m_layers)
    {
        json.Value(name);
    }
    json.EndArray().Key("nodes").BeginArray();
    for (const auto& node : m_nodes)
    {
        json.BeginArray().Value(node.label).Value(node.layer).EndArray();
    }
    json.EndArray().Key("edges").BeginArray();
    for (const auto& edge : m_edges)
    {
        json.BeginObject().Member("a", edge.a).Member("b", edge.b).Member("links", edge.links);
        json.Member("rate_GBps", edge.rateGBps).Key("loads").BeginArray();
        for (const Load& load : edge.load)
        {
            json.BeginObject();
            if (load.bytes > 0)
            {
                json.Member("bytes", load.bytes).Member("largest", load.largest);
                json.Member("mean", edge.links > 0 ? load.sum / edge.links : 0.0);
                json.Member("peak", load.peak).Member("queue", load.maxQueueBytes);
                json.Member("drops", load.drops).Member("pauses", load.pauses);
                json.Member("marks", load.ecnMarks);
            }
            json.EndObject();
        }
        json.EndArray().EndObject();
    }
    json.EndArray().Member("edges_left_out", m_leftOut).EndObject();
}

} // namespace echo
} // namespace ns3
