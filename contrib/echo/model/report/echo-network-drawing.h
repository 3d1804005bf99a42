// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NETWORK_DRAWING_H
#define ECHO_NETWORK_DRAWING_H

#include "echo-json-writer.h"
#include "echo-layered-graph.h"

#include "ns3/echo-records.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** @return the graph of the links alone, for where no cluster is at hand; a device "host3/gpu0" is
 *          taken to be in a host with all others whose name begins so */
LayeredGraph MakeLayeredGraph(const std::vector<LinkRecord>& links);

/**
 * A network as the page draws it, in layers: cores, spines, leaves, hosts. A host is one node (a
 * network of one host is drawn device by device); where there are more than MAX_HOSTS, hosts that
 * reach the same switches are one node. Links between the same two nodes are one edge. Of more than
 * MAX_EDGES edges the busiest are kept.
 */
class NetworkDrawing
{
  public:
    static constexpr size_t MAX_HOSTS = 96;
    static constexpr size_t MAX_EDGES = 4000;

    /** @param links records of the directions that carried bytes; others count as unused */
    NetworkDrawing(const LayeredGraph& graph, const std::vector<LinkRecord>& links, Time stepTime);

    /** Sums over one direction of the links of an edge. */
    struct Load
    {
        double largest{0}; //!< utilisation over the step
        double sum{0};     //!< of utilisations; mean = sum / links
        double peak{0};
        uint64_t bytes{0};
        uint64_t drops{0};
        uint64_t pauses{0};
        uint64_t ecnMarks{0};
        uint64_t maxQueueBytes{0};
    };

    struct Node
    {
        std::string label;
        uint32_t layer; //!< 0 at the bottom
    };

    struct Edge
    {
        uint32_t a{0};
        uint32_t b{0};
        uint32_t links{0};
        double rateGBps{0};       //!< of one link
        std::array<Load, 2> load; //!< from a to b, from b to a

        double GetLargest() const;
    };

    const std::vector<Node>& GetNodes() const
    {
        return m_nodes;
    }

    const std::vector<Edge>& GetEdges() const
    {
        return m_edges;
    }

    /** Writes an object: layers (names, bottom first), nodes, edges, edges_left_out. */
    void Write(JsonWriter& json) const;

  private:
    void MakeNodes(const LayeredGraph& graph);
    std::vector<uint32_t> GroupHosts(const LayeredGraph& graph, uint32_t hosts) const;
    void MakeEdges(const LayeredGraph& graph, const std::vector<LinkRecord>& links, Time stepTime);
    uint32_t AddNode(const std::string& label, uint32_t order);

    std::vector<Node> m_nodes;
    std::vector<Edge> m_edges;
    std::vector<std::string> m_layers; //!< names
    std::vector<uint32_t> m_nodeOf;    //!< by node of the graph
    size_t m_leftOut{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NETWORK_DRAWING_H */
