// SPDX-License-Identifier: GPL-2.0-only
#include "echo-short-cycle.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
constexpr uint64_t EDGE_VISITS = 20'000'000;

/** Breadth-first searches that stay inside one strongly connected component each. */
class CycleSearch
{
  public:
    explicit CycleSearch(const Graph& graph)
        : m_graph(graph),
          m_component(boost::num_vertices(graph)),
          m_depth(boost::num_vertices(graph), NONE),
          m_parent(boost::num_vertices(graph), NONE)
    {
        auto components = boost::make_iterator_property_map(m_component.begin(),
                                                            boost::get(boost::vertex_index, graph));
        m_sizes.resize(boost::strong_components(graph, components));
        for (uint32_t component : m_component)
        {
            ++m_sizes[component];
        }
    }

    std::vector<uint32_t> Run()
    {
        for (uint32_t node = 0; node < m_component.size() && m_best.size() != 1; ++node)
        {
            if (!m_best.empty() && m_visits > EDGE_VISITS)
            {
                break;
            }
            // A component of one node holds a cycle only if that node points at itself.
            if (m_sizes[m_component[node]] > 1 ||
                boost::edge(Vertex(node), Vertex(node), m_graph).second)
            {
                SearchFrom(node);
            }
        }
        return m_best;
    }

  private:
    void SearchFrom(uint32_t start)
    {
        m_queue.assign(1, start);
        m_depth[start] = 0;
        uint32_t last = NONE;
        for (size_t head = 0; head < m_queue.size() && last == NONE; ++head)
        {
            const uint32_t node = m_queue[head];
            if (!m_best.empty() && m_depth[node] + 1 >= m_best.size())
            {
                break; // cannot become shorter than the best
            }
            auto [edge, end] = boost::out_edges(Vertex(node), m_graph);
            for (; edge != end && last == NONE; ++edge)
            {
                ++m_visits;
                const auto next = static_cast<uint32_t>(boost::target(*edge, m_graph));
                if (next == start)
                {
                    last = node;
                }
                else if (m_component[next] == m_component[start] && m_depth[next] == NONE)
                {
                    m_depth[next] = m_depth[node] + 1;
                    m_parent[next] = node;
                    m_queue.push_back(next);
                }
            }
        }
        if (last != NONE)
        {
            m_best.clear();
            for (uint32_t node = last; node != start; node = m_parent[node])
            {
                m_best.push_back(node);
            }
            m_best.push_back(start);
            std::reverse(m_best.begin(), m_best.end());
        }
        for (uint32_t node : m_queue)
        {
            m_depth[node] = NONE;
        }
    }

    const Graph& m_graph;
    std::vector<uint32_t> m_component; //!< by node
    std::vector<uint32_t> m_sizes;     //!< by component
    std::vector<uint32_t> m_depth;     //!< by node, of the current search
    std::vector<uint32_t> m_parent;    //!< by node, of the current search
    std::vector<uint32_t> m_queue;
    std::vector<uint32_t> m_best;
    uint64_t m_visits{0};
};

} // namespace

std::vector<uint32_t> FindShortCycle(uint32_t nodes,
                                     std::vector<std::pair<uint32_t, uint32_t>> edges)
{
    std::sort(edges.begin(), edges.end());
    const Graph graph(boost::edges_are_sorted, edges.begin(), edges.end(), nodes);
    return CycleSearch(graph).Run();
}

} // namespace echo
} // namespace ns3
