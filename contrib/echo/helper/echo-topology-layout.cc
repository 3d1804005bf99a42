// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-layout.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double SMALLEST_WIDTH = 480;

/** Room that a box wants: enough for its name while there are few, then for its number. */
double WantedPitch(size_t boxes)
{
    return boxes <= 40 ? 58 : boxes <= 100 ? 24 : 7;
}

double WantedHostPitch(size_t boxes, bool isGrouped)
{
    return isGrouped ? (boxes <= 60 ? 76 : 10) : boxes <= 24 ? 46 : 22;
}

std::string RangeOf(const std::vector<uint32_t>& hosts)
{
    const std::string first = std::to_string(hosts.front());
    return hosts.size() == 1 ? first : first + "-" + std::to_string(hosts.back());
}

} // namespace

TopologyLayout::TopologyLayout(const Topology& topology)
{
    GroupHosts(topology);
    AddLayers(topology);
    AddLines(topology);
    Place();
}

void TopologyLayout::GroupHosts(const Topology& topology)
{
    m_switchesOf.resize(topology.GetHostCount());
    for (const DeviceId nic : topology.GetDevices(DeviceRole::NIC))
    {
        auto& switches = m_switchesOf[topology.GetDevice(nic).host.Get()];
        for (const PortId port : topology.GetPorts(nic))
        {
            const DeviceId neighbor = topology.NeighborOf(port);
            if (!topology.GetDevice(neighbor).host.IsValid())
            {
                switches.push_back(neighbor);
            }
        }
    }
    for (uint32_t host = 0; host < topology.GetHostCount(); ++host)
    {
        auto& switches = m_switchesOf[host];
        std::sort(switches.begin(), switches.end());
        switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
        // Only neighbours by number are one box, so that it can show them as a range.
        const bool joins =
            host > 0 && topology.GetHostCount() > MAX_HOSTS && m_switchesOf[host - 1] == switches;
        if (!joins)
        {
            m_hostGroups.emplace_back();
        }
        m_hostGroups.back().push_back(host);
    }
}

void TopologyLayout::AddLayers(const Topology& topology)
{
    for (const DeviceRole role : {DeviceRole::CORE, DeviceRole::SPINE, DeviceRole::LEAF})
    {
        Layer layer;
        layer.role = role;
        for (const DeviceId id : topology.GetDevices(role))
        {
            const Device& device = topology.GetDevice(id);
            m_boxOfSwitch[id] = static_cast<uint32_t>(m_boxes.size());
            layer.boxes.push_back(static_cast<uint32_t>(m_boxes.size()));
            m_boxes.push_back({role, device.name, std::to_string(device.index), 0, 0});
        }
        if (!layer.boxes.empty())
        {
            m_layers.push_back(layer);
        }
    }
    Layer layer;
    layer.role = DeviceRole::GPU;
    m_boxOfHost.resize(topology.GetHostCount());
    for (const auto& hosts : m_hostGroups)
    {
        const auto box = static_cast<uint32_t>(m_boxes.size());
        for (const uint32_t host : hosts)
        {
            m_boxOfHost[host] = box;
        }
        layer.boxes.push_back(box);
        const std::string name = (hosts.size() == 1 ? "host" : "hosts ") + RangeOf(hosts);
        m_boxes.push_back({DeviceRole::GPU, name, RangeOf(hosts), 0, 0});
    }
    m_layers.push_back(layer);
}

void TopologyLayout::AddLines(const Topology& topology)
{
    const auto boxOf = [&](DeviceId id) {
        const HostId host = topology.GetDevice(id).host;
        return host.IsValid() ? m_boxOfHost[host.Get()] : m_boxOfSwitch.at(id);
    };
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> lineOf;
    for (uint32_t i = 0; i < topology.GetLinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const auto ends = std::minmax({boxOf(link.a), boxOf(link.b)});
        if (!topology.IsFabricLink(LinkId(i)) || ends.first == ends.second)
        {
            continue;
        }
        const auto [found, isNew] = lineOf.emplace(ends, static_cast<uint32_t>(m_lines.size()));
        if (isNew)
        {
            m_lines.push_back({ends.first, ends.second, 0, LinkId(i)});
        }
        ++m_lines[found->second].links;
    }
}

/** First and last leaf (by place in its row) that each box of hosts hangs on; empty if one has
 * none, or hangs on something else. */
std::vector<TopologyLayout::Span> TopologyLayout::SpansOfHosts() const
{
    std::vector<Span> spans;
    const bool hasLeaves =
        m_layers.size() > 1 && m_layers[m_layers.size() - 2].role == DeviceRole::LEAF;
    for (const auto& hosts : m_hostGroups)
    {
        const auto& switches = m_switchesOf[hosts.front()];
        if (!hasLeaves || switches.empty() ||
            m_boxes[m_boxOfSwitch.at(switches.front())].role != DeviceRole::LEAF ||
            m_boxes[m_boxOfSwitch.at(switches.back())].role != DeviceRole::LEAF)
        {
            return {};
        }
        const uint32_t firstLeaf = m_layers[m_layers.size() - 2].boxes.front();
        spans.emplace_back(m_boxOfSwitch.at(switches.front()) - firstLeaf,
                           m_boxOfSwitch.at(switches.back()) - firstLeaf);
    }
    return spans;
}

bool TopologyLayout::PlaceHostsBelowLeaves(const std::vector<Span>& spans)
{
    // Boxes of the same leaves share the room below them; rooms must not overlap.
    std::map<Span, std::vector<uint32_t>> rooms;
    for (uint32_t i = 0; i < spans.size(); ++i)
    {
        rooms[spans[i]].push_back(m_layers.back().boxes[i]);
    }
    uint32_t next = 0;
    for (const auto& room : rooms)
    {
        if (room.first.first < next)
        {
            return false;
        }
        next = room.first.second + 1;
    }
    if (rooms.empty())
    {
        return false;
    }
    Layer& hosts = m_layers.back();
    const Layer& leaves = m_layers[m_layers.size() - 2];
    const double hostPitch = WantedHostPitch(hosts.boxes.size(), m_boxOfHost.size() > MAX_HOSTS);
    double leafPitch = m_width / static_cast<double>(leaves.boxes.size());
    for (const auto& [span, boxes] : rooms)
    {
        const double leavesOfRoom = span.second - span.first + 1;
        leafPitch =
            std::max(leafPitch, static_cast<double>(boxes.size()) * hostPitch / leavesOfRoom);
    }
    m_width = leafPitch * static_cast<double>(leaves.boxes.size());
    hosts.pitch = m_width;
    for (const auto& [span, boxes] : rooms)
    {
        const double room = leafPitch * (span.second - span.first + 1);
        const double pitch = room / static_cast<double>(boxes.size());
        hosts.pitch = std::min(hosts.pitch, pitch);
        for (size_t i = 0; i < boxes.size(); ++i)
        {
            m_boxes[boxes[i]].x = leafPitch * span.first + pitch * (static_cast<double>(i) + 0.5);
        }
    }
    return true;
}

void TopologyLayout::Place()
{
    m_width = SMALLEST_WIDTH;
    for (const Layer& layer : m_layers)
    {
        const size_t boxes = layer.boxes.size();
        const double pitch = layer.role == DeviceRole::GPU
                                 ? WantedHostPitch(boxes, m_boxOfHost.size() > MAX_HOSTS)
                                 : WantedPitch(boxes);
        m_width = std::max(m_width, pitch * static_cast<double>(boxes));
    }
    const bool hostsPlaced = PlaceHostsBelowLeaves(SpansOfHosts());
    // Wide pictures need room between rows, or their lines lie flat upon each other.
    const double gap = std::clamp(m_width / 12, 110.0, 280.0);
    for (size_t row = 0; row < m_layers.size(); ++row)
    {
        Layer& layer = m_layers[row];
        const bool isPlaced = layer.role == DeviceRole::GPU && hostsPlaced;
        const double pitch = m_width / static_cast<double>(layer.boxes.size());
        layer.pitch = isPlaced ? layer.pitch : pitch;
        for (size_t i = 0; i < layer.boxes.size(); ++i)
        {
            Box& box = m_boxes[layer.boxes[i]];
            box.y = gap * (static_cast<double>(row) + 0.5);
            box.x = isPlaced ? box.x : pitch * (static_cast<double>(i) + 0.5);
        }
    }
    m_height = gap * static_cast<double>(m_layers.size());
}

} // namespace echo
} // namespace ns3
