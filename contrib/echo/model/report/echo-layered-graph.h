// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LAYERED_GRAPH_H
#define ECHO_LAYERED_GRAPH_H

#include "ns3/data-rate.h"
#include "ns3/echo-enums.h"
#include "ns3/echo-ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A cluster as the report draws it: devices in layers by role, joined by links. */
struct LayeredGraph
{
    struct Node
    {
        std::string name;
        DeviceRole role{DeviceRole::GPU};
        HostId host; //!< invalid for fabric switches
    };

    struct Edge
    {
        uint32_t a{0}; //!< index of a node; port 2 * edge transmits from here
        uint32_t b{0}; //!< index of a node; port 2 * edge + 1 transmits from here
        DataRate rate;
    };

    std::vector<Node> nodes; //!< by DeviceId; the order within a layer is the order here
    std::vector<Edge> edges; //!< by LinkId
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LAYERED_GRAPH_H */
