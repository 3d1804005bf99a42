// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TOPOLOGY_LAYOUT_H
#define ECHO_TOPOLOGY_LAYOUT_H

#include "ns3/echo-topology.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Where a picture of a fabric puts things: cores above spines above leaves above hosts. Hosts stand
 * below the leaves that they hang on; where there are more than MAX_HOSTS, those of the same leaves
 * are one box.
 */
class TopologyLayout
{
  public:
    static constexpr uint32_t MAX_HOSTS = 160;

    /** A switch, a host or a group of hosts. */
    struct Box
    {
        DeviceRole role{DeviceRole::LEAF}; //!< GPU stands for hosts
        std::string name;                  //!< in full
        std::string shortName;             //!< number, or numbers of the hosts
        double x{0};                       //!< centre
        double y{0};                       //!< centre
    };

    /** All links between two boxes. */
    struct Line
    {
        uint32_t a{0};     //!< box
        uint32_t b{0};     //!< box
        uint32_t links{0}; //!< drawn as one line
        LinkId first;      //!< one of them
    };

    /** A row of boxes. */
    struct Layer
    {
        DeviceRole role{DeviceRole::LEAF}; //!< GPU stands for hosts
        std::vector<uint32_t> boxes;       //!< left to right
        double pitch{0};                   //!< smallest distance between neighbours
    };

    explicit TopologyLayout(const Topology& topology);

    const std::vector<Box>& GetBoxes() const
    {
        return m_boxes;
    }

    const std::vector<Line>& GetLines() const
    {
        return m_lines;
    }

    /** @return rows from top to bottom */
    const std::vector<Layer>& GetLayers() const
    {
        return m_layers;
    }

    double GetWidth() const
    {
        return m_width;
    }

    double GetHeight() const
    {
        return m_height;
    }

  private:
    using Span = std::pair<uint32_t, uint32_t>;

    void GroupHosts(const Topology& topology);
    void AddLayers(const Topology& topology);
    void AddLines(const Topology& topology);
    void Place();
    bool PlaceHostsBelowLeaves(const std::vector<Span>& spans);
    std::vector<Span> SpansOfHosts() const;

    std::vector<Box> m_boxes;
    std::vector<Line> m_lines;
    std::vector<Layer> m_layers;
    std::vector<std::vector<uint32_t>> m_hostGroups; //!< hosts by box of the bottom row
    std::vector<std::vector<DeviceId>> m_switchesOf; //!< switches by host
    std::vector<uint32_t> m_boxOfHost;               //!< box by host
    std::map<DeviceId, uint32_t> m_boxOfSwitch;      //!< box by switch
    double m_width{0};
    double m_height{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TOPOLOGY_LAYOUT_H */
