// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRACER_GRAPH_H
#define ECHO_TRACER_GRAPH_H

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A tensor as the tracer writes it. */
struct TracerTensor
{
    std::vector<uint64_t> shape;
    std::string type; //!< "torch.float32"

    /** @return product of the shape, clipped at 2^50 */
    uint64_t GetElements() const;
    /** @return bytes of an element; 4 if the type is not known */
    uint32_t GetElementBytes() const;
    /** @return bytes of the tensor */
    double GetBytes() const;
};

/** One operator of a graph. */
struct TracerNode
{
    std::string name;
    std::string op; //!< "torch.addmm", "AddmmBackward0", "ddp_Allreduce"
    std::vector<std::string> after;
    std::vector<TracerTensor> inputs;
    std::vector<TracerTensor> outputs;
    TracerTensor weight;
    uint64_t bucketElements{0}; //!< of a gradient bucket
};

/** What a file of the paper's tracer holds: a graph, or times by operator name. */
struct TracerFile
{
    bool isGraph{false};
    std::vector<TracerNode> nodes;
    std::map<std::string, Time> times;
};

/**
 * Reads a graph (a JSON list of operators) or a profile (a JSON object of milliseconds).
 * @throws InputError if the file is neither
 * @throws UnsupportedError if Echo was built without simdjson
 */
TracerFile ReadTracerFile(const std::string& file);

/** @return whether an operator only looks at a tensor in another way: no kernel runs */
bool IsTracerView(const TracerNode& node);

/** @return floating-point operations of an operator by its shapes; 0 if it multiplies no matrices
 */
double CountTracerOperations(const TracerNode& node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRACER_GRAPH_H */
