// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-order.h"

#include "ns3/echo-workload-builder.h"

namespace ns3
{
namespace echo
{

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
            const bool isParent = trace.isConverted && trace.isControl[k];
            if (isParent && (known == indexOf.end() || id == node.id))
            {
                ++trace.missingParents;
                continue;
            }
            if (known != indexOf.end())
            {
                resolved.push_back(known->second);
                continue;
            }
            if (id != 0)
            {
                throw InputError(
                    {trace.file,
                     0,
                     "node " + std::to_string(node.id) + " '" + trace.names[node.name] + "'"},
                    "a dependency on node " + std::to_string(id) + ", which is not there",
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
    // The builder finds the cycle and prints it.
    ExecutionGraphBuilder builder(trace.file);
    std::vector<OperatorId> ids;
    for (const ChakraNode& node : trace.nodes)
    {
        const StreamId stream = builder.GetStream(std::to_string(ids.size()));
        ids.push_back(builder.AddMarker(stream, trace.names[node.name]));
        builder.SetLine(ids.back(), static_cast<uint32_t>(node.id));
    }
    for (size_t i = 0; i < ids.size(); ++i)
    {
        const ChakraNode& node = trace.nodes[i];
        for (uint32_t k = 0; k < node.dependencyCount; ++k)
        {
            builder.AddDependency(ids[i], ids[dependencies[node.firstDependency + k]]);
        }
    }
    builder.Build();
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
