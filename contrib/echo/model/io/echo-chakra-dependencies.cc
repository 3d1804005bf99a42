// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-order.h"

#include "ns3/echo-error.h"
#include "ns3/echo-short-cycle.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t MAX_STEPS = 24; //!< of a cycle, in its message

/** @return "node 17 'name'" */
std::string DescribeNode(const ChakraTrace& trace, const ChakraNode& node)
{
    return "node " + std::to_string(node.id) + " '" + trace.names[node.name] + "'";
}

} // namespace

std::vector<uint32_t> ResolveChakraDependencies(ChakraTrace& trace, uint64_t& placeholders)
{
    std::unordered_map<uint64_t, uint32_t> indexOf; // looked up only
    for (uint32_t i = 0; i < trace.nodes.size(); ++i)
    {
        indexOf.emplace(trace.nodes[i].id, i);
    }
    std::vector<uint32_t> resolved;
    resolved.reserve(trace.dependencies.size());
    for (ChakraNode& node : trace.nodes)
    {
        const uint32_t first = node.firstDependency;
        node.firstDependency = static_cast<uint32_t>(resolved.size());
        for (uint32_t k = first; k < first + node.dependencyCount; ++k)
        {
            const uint64_t id = trace.dependencies[k];
            const auto known = indexOf.find(id);
            if (trace.isConverted && trace.isControl[k])
            {
                ++trace.parents;
                continue;
            }
            if (known != indexOf.end())
            {
                resolved.push_back(known->second);
                continue;
            }
            if (id != 0)
            {
                throw InputError({trace.file, 0, DescribeNode(trace, node)},
                                 "a dependency on node " + std::to_string(id) +
                                     ", which is not there",
                                 "a node of the file");
            }
            ++placeholders;
        }
        node.dependencyCount = static_cast<uint32_t>(resolved.size()) - node.firstDependency;
    }
    trace.dependencies = {};
    trace.isControl = {};
    return resolved;
}

void RefuseChakraCycle(const ChakraTrace& trace, const std::vector<uint32_t>& dependencies)
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t i = 0; i < trace.nodes.size(); ++i)
    {
        const ChakraNode& node = trace.nodes[i];
        for (uint32_t k = 0; k < node.dependencyCount; ++k)
        {
            edges.emplace_back(i, dependencies[node.firstDependency + k]);
        }
    }
    const std::vector<uint32_t> cycle =
        FindShortCycle(static_cast<uint32_t>(trace.nodes.size()), std::move(edges));
    if (cycle.empty())
    {
        return;
    }
    std::string text = DescribeNode(trace, trace.nodes[cycle[0]]);
    for (size_t i = 1; i <= std::min(cycle.size(), MAX_STEPS); ++i)
    {
        text += (i > 1 ? ", which waits for " : " waits for ") +
                DescribeNode(trace, trace.nodes[cycle[i % cycle.size()]]);
    }
    if (cycle.size() > MAX_STEPS)
    {
        text +=
            ", ... (" + std::to_string(cycle.size() - MAX_STEPS) + " more) ..., back at the first";
    }
    throw InputError({trace.file, 0, ""},
                     "a cycle of " + std::to_string(cycle.size()) +
                         (cycle.size() == 1 ? " node: " : " nodes: ") + text,
                     "nodes that can run in some order");
}

void RefuseUnknownPeers(const ChakraTrace& trace, uint32_t ranks)
{
    for (const ChakraNode& node : trace.nodes)
    {
        const bool isMessage =
            node.type == ChakraNodeType::SEND || node.type == ChakraNodeType::RECEIVE;
        if (isMessage && node.peer >= ranks)
        {
            throw InputError({trace.file, 0, "node " + std::to_string(node.id)},
                             "a message with rank " + std::to_string(node.peer),
                             "0 to " + std::to_string(ranks - 1));
        }
    }
}

} // namespace echo
} // namespace ns3
