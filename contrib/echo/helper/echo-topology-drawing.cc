// SPDX-License-Identifier: GPL-2.0-only
#include "echo-topology-drawing.h"

#include "echo-cluster-description.h"
#include "echo-topology-layout.h"

#include "ns3/echo-html-page.h"
#include "ns3/echo-text-table.h"
#include "ns3/echo-units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr double LEFT = 130;  //!< room for the names of rows
constexpr double TOP = 70;    //!< room for the title
constexpr double RIGHT = 20;  //!< empty
constexpr double INSIDE = 46; //!< height reserved for a heading

struct Style
{
    const char* fill;
    const char* stroke;
    const char* plural;
};

Style StyleOf(DeviceRole role)
{
    switch (role)
    {
    case DeviceRole::CORE:
        return {"#f6c6b4", "#b5502c", "core switches"};
    case DeviceRole::SPINE:
        return {"#f4e0a6", "#a67c00", "spine switches"};
    case DeviceRole::LEAF:
        return {"#bfe3d6", "#23775c", "leaf switches"};
    case DeviceRole::NIC:
        return {"#d9d2ec", "#5b4a94", "NICs"};
    case DeviceRole::NV_SWITCH:
        return {"#d5ecb8", "#557a1c", "NVSwitches"};
    case DeviceRole::PCIE_SWITCH:
        return {"#e2e2e2", "#666666", "PCIe switches"};
    default:
        return {"#cfe0f5", "#2d5f9a", "hosts"};
    }
}

/** Builds SVG text; keeps coordinates short. */
class Svg
{
  public:
    Svg()
    {
        m_out.precision(6);
    }

    void Line(double x1, double y1, double x2, double y2, const std::string& style)
    {
        m_out << "<path d=\"M" << Round(x1) << ' ' << Round(y1) << 'L' << Round(x2) << ' '
              << Round(y2) << "\" " << style << "/>\n";
    }

    void Arc(double x1, double x2, double y, double height, const std::string& style)
    {
        m_out << "<path d=\"M" << Round(x1) << ' ' << Round(y) << 'Q' << Round((x1 + x2) / 2) << ' '
              << Round(y - 2 * height) << ' ' << Round(x2) << ' ' << Round(y) << "\" fill=\"none\" "
              << style << "/>\n";
    }

    void Box(double x, double y, double width, double height, Style style, const std::string& title)
    {
        m_out << "<rect x=\"" << Round(x - width / 2) << "\" y=\"" << Round(y - height / 2)
              << "\" width=\"" << Round(width) << "\" height=\"" << Round(height) << "\" rx=\""
              << Round(std::min(3.0, width / 4)) << "\" fill=\"" << style.fill << "\" stroke=\""
              << style.stroke << "\"><title>" << EscapeHtml(title) << "</title></rect>\n";
    }

    void Text(double x, double y, double size, const char* anchor, const std::string& text)
    {
        m_out << "<text x=\"" << Round(x) << "\" y=\"" << Round(y) << "\" font-size=\""
              << Round(size) << "\" text-anchor=\"" << anchor << "\">" << EscapeHtml(text)
              << "</text>\n";
    }

    std::string Finish(double width, double height) const
    {
        std::ostringstream all;
        all << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << Round(width)
            << "\" height=\"" << Round(height) << "\" viewBox=\"0 0 " << Round(width) << ' '
            << Round(height) << "\" font-family=\"sans-serif\" fill=\"#222222\">\n"
            << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
            << m_out.str() << "</svg>\n";
        return all.str();
    }

  private:
    static double Round(double value)
    {
        return std::round(value * 10) / 10;
    }

    std::ostringstream m_out;
};

std::string Stroke(const char* color, double width, double opacity)
{
    std::ostringstream style;
    style.precision(3);
    style << "stroke=\"" << color << "\" stroke-width=\"" << width << "\" stroke-opacity=\""
          << opacity << '"';
    return style.str();
}

std::string Count(size_t count, const std::string& plural)
{
    std::string word = plural;
    if (count == 1)
    {
        word.erase(word.size() -
                   (word.size() > 8 && word.substr(word.size() - 4) == "ches" ? 2 : 1));
    }
    return FormatCount(count) + " " + word;
}

/** Lines between boxes; many are drawn faintly, so that a bundle still shows where it is dense. */
void DrawFabricLines(const TopologyLayout& layout, Svg& svg)
{
    const auto rolesOf = [&](const TopologyLayout::Line& line) {
        return std::minmax({layout.GetBoxes()[line.a].role, layout.GetBoxes()[line.b].role});
    };
    std::map<std::pair<DeviceRole, DeviceRole>, double> lines;
    for (const auto& line : layout.GetLines())
    {
        ++lines[rolesOf(line)];
    }
    for (const auto& line : layout.GetLines())
    {
        const double count = lines[rolesOf(line)];
        const double opacity = std::clamp(0.7 * std::pow(128 / count, 0.65), 0.04, 0.7);
        const auto& a = layout.GetBoxes()[line.a];
        const auto& b = layout.GetBoxes()[line.b];
        const bool ofHost = a.role == DeviceRole::GPU || b.role == DeviceRole::GPU;
        const double thickness = 0.7 + 0.5 * std::log2(static_cast<double>(line.links));
        const std::string style =
            Stroke(StyleOf(ofHost ? DeviceRole::GPU : std::max(a.role, b.role)).stroke,
                   std::min(thickness, 4.0),
                   opacity);
        if (a.y == b.y)
        {
            svg.Arc(LEFT + a.x, LEFT + b.x, TOP + a.y, 24, style);
        }
        else
        {
            svg.Line(LEFT + a.x, TOP + a.y, LEFT + b.x, TOP + b.y, style);
        }
    }
}

/** Names in the boxes of a row if all fit, else numbers, else some numbers below. */
void DrawRowNames(const TopologyLayout& layout,
                  const TopologyLayout::Layer& layer,
                  double boxWidth,
                  Svg& svg)
{
    constexpr double LETTER = 0.58;      // width of a letter for a font of size 1
    constexpr double LEAST_LETTERS = 12; // of a name that is shortened
    size_t longestName = 0;
    size_t longestNumber = 0;
    for (const uint32_t id : layer.boxes)
    {
        longestName = std::max(longestName, layout.GetBoxes()[id].name.size());
        longestNumber = std::max(longestNumber, layout.GetBoxes()[id].shortName.size());
    }
    const auto lettersOf = [&](double size) { return boxWidth / (LETTER * size); };
    const double size = static_cast<double>(longestName) <= lettersOf(11) ? 11 : 9;
    const double letters = lettersOf(size);
    const bool isNamed = static_cast<double>(longestName) <= letters || letters >= LEAST_LETTERS;
    const bool isInside = isNamed || static_cast<double>(longestNumber) <= letters;
    const double textWidth = static_cast<double>(longestNumber + 1) * LETTER * size;
    const auto every = isInside ? 1 : static_cast<size_t>(std::ceil(textWidth / layer.pitch));
    for (size_t i = 0; i < layer.boxes.size(); i += every)
    {
        const auto& box = layout.GetBoxes()[layer.boxes[i]];
        svg.Text(LEFT + box.x,
                 TOP + box.y + (isInside ? 4 : 24),
                 size,
                 "middle",
                 isNamed ? FormatLabel(box.name, static_cast<size_t>(letters)) : box.shortName);
    }
}

/** The fabric; @return height that it took. */
double DrawFabric(const Topology& topology, Svg& svg, double& width)
{
    const TopologyLayout layout(topology);
    width = std::max(width, LEFT + layout.GetWidth() + RIGHT);
    DrawFabricLines(layout, svg);
    for (const auto& layer : layout.GetLayers())
    {
        const Style style = StyleOf(layer.role);
        const double boxWidth = std::clamp(layer.pitch * 0.86, 2.0, 84.0);
        for (const uint32_t id : layer.boxes)
        {
            const auto& box = layout.GetBoxes()[id];
            svg.Box(LEFT + box.x, TOP + box.y, boxWidth, 24, style, box.name);
        }
        DrawRowNames(layout, layer, boxWidth, svg);
        const auto& first = layout.GetBoxes()[layer.boxes.front()];
        const size_t count =
            layer.role == DeviceRole::GPU ? topology.GetHostCount() : layer.boxes.size();
        svg.Text(10, TOP + first.y + 4, 13, "start", Count(count, style.plural));
    }
    return layout.GetHeight();
}

/** The devices of host 0 in rows: NICs, GPUs, switches of the host. */
struct HostPicture
{
    std::vector<std::vector<DeviceId>> rows;
    std::map<DeviceId, std::pair<double, double>> places;
    double pitch{0};  //!< between devices of the longest row
    double height{0}; //!< of all rows and arcs
};

HostPicture LayOutHost(const Topology& topology, double top)
{
    constexpr double ROW = 90;
    HostPicture picture;
    picture.rows = {topology.GetNics(HostId(0)), topology.GetGpus(HostId(0)), {}};
    for (const DeviceRole role : {DeviceRole::NV_SWITCH, DeviceRole::PCIE_SWITCH})
    {
        for (const DeviceId id : topology.GetDevices(role))
        {
            if (topology.GetDevice(id).host == HostId(0))
            {
                picture.rows[2].push_back(id);
            }
        }
    }
    size_t widest = 1;
    for (const auto& row : picture.rows)
    {
        widest = std::max(widest, row.size());
    }
    picture.pitch = widest <= 16 ? 74 : 30;
    for (const auto& row : picture.rows)
    {
        const double pitch = picture.pitch * static_cast<double>(widest) /
                             std::max(1.0, static_cast<double>(row.size()));
        for (size_t i = 0; i < row.size(); ++i)
        {
            picture.places[row[i]] = {LEFT + pitch * (static_cast<double>(i) + 0.5),
                                      top + picture.height};
        }
        picture.height += row.empty() ? 0 : ROW;
    }
    return picture;
}

/** Links inside the host, and dotted lines where none says which NIC serves a GPU. @return height
 * of the arcs below the last row */
double DrawHostLinks(const Topology& topology, const HostPicture& picture, Svg& svg)
{
    double arcs = 0;
    std::set<LinkId> drawn;
    for (const auto& [id, place] : picture.places)
    {
        bool isServed = topology.GetDevice(id).role != DeviceRole::GPU;
        for (const PortId port : topology.GetPorts(id))
        {
            const auto other = picture.places.find(topology.NeighborOf(port));
            isServed = isServed || topology.NeighborOf(port) == topology.GetNicOf(id);
            if (other == picture.places.end() || !drawn.insert(Topology::LinkOf(port)).second)
            {
                continue;
            }
            const double gbps = GigabytesPerSecond(topology.RateOf(port));
            const auto style = Stroke("#557a1c", std::clamp(std::sqrt(gbps) / 5, 0.8, 5.0), 0.75);
            const auto& [x, y] = other->second;
            if (y == place.second)
            {
                // Below the row, free of the links to NICs; longer arcs go deeper.
                const double depth = 16 + 0.2 * std::abs(x - place.first);
                svg.Arc(place.first, x, y, -depth, style);
                arcs = std::max(arcs, depth);
            }
            else
            {
                svg.Line(place.first, place.second, x, y, style);
            }
        }
        const auto nic = picture.places.find(topology.GetNicOf(id));
        if (!isServed && nic != picture.places.end())
        {
            const auto& [x, y] = nic->second;
            const auto style = Stroke("#5b4a94", 1, 0.8) + " stroke-dasharray=\"2 4\"";
            svg.Line(place.first, place.second, x, y, style);
        }
    }
    return picture.rows[2].empty() ? arcs : 0;
}

/** The inside of host 0; @return height that it took. */
double DrawHost(const Topology& topology, Svg& svg, double top, double& width)
{
    const HostPicture picture = LayOutHost(topology, top + INSIDE + 50);
    const double arcs = DrawHostLinks(topology, picture, svg);
    svg.Text(10, top + INSIDE, 14, "start", "Inside each host");
    for (const auto& row : picture.rows)
    {
        if (row.empty())
        {
            continue;
        }
        const DeviceRole role = topology.GetDevice(row.front()).role;
        const char* plural = role == DeviceRole::GPU ? "GPUs" : StyleOf(role).plural;
        svg.Text(
            10, picture.places.at(row.front()).second + 4, 13, "start", Count(row.size(), plural));
        width = std::max(width, picture.places.at(row.back()).first + picture.pitch + RIGHT);
    }
    for (const auto& [id, place] : picture.places)
    {
        const Device& device = topology.GetDevice(id);
        const bool isWide = picture.pitch > 40;
        const std::string name = device.name.substr(device.name.find('/') + 1);
        svg.Box(
            place.first, place.second, picture.pitch * 0.8, 24, StyleOf(device.role), device.name);
        svg.Text(place.first,
                 place.second + 4,
                 isWide ? 11 : 9,
                 "middle",
                 isWide ? name : std::to_string(device.index));
    }
    return INSIDE + 50 + picture.height + arcs;
}

} // namespace

std::string DrawTopology(const Cluster& cluster)
{
    Svg svg;
    double width = 640;
    const Topology& topology = *cluster.topology;
    double height = TOP + DrawFabric(topology, svg, width);
    height += DrawHost(topology, svg, height, width);
    for (const auto& line : DescribeLinks(topology))
    {
        svg.Text(LEFT, height, 12, "start", line);
        height += 18;
    }
    svg.Text(10, 28, 18, "start", cluster.name);
    svg.Text(10,
             50,
             13,
             "start",
             Count(topology.GetHostCount(), "hosts") + ", " +
                 Count(topology.GetDevices(DeviceRole::GPU).size(), "GPUs") + " (" +
                 cluster.gpu.name + "), " + cluster.fabric);
    return svg.Finish(width, height + 10);
}

} // namespace echo
} // namespace ns3
