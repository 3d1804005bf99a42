// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHAKRA_ORDER_H
#define ECHO_CHAKRA_ORDER_H

#include "echo-chakra-trace.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/** The traces of all ranks, or of one that stands for all, and who communicates with whom. */
struct ChakraJob
{
    std::vector<ChakraTrace> traces; //!< by rank; or one
    uint32_t ranks{0};               //!< of the job
    /// Process groups, by number; the first is that of all ranks.
    std::vector<std::vector<uint32_t>> groups;
    std::vector<std::vector<uint32_t>> groupOf; //!< by rank and ChakraNode::group: its number
};

/** How long nodes take, roughly: only an order of nodes comes of it. */
struct ChakraSpeeds
{
    double operationsPerSecond{300e12};
    double memoryBytesPerSecond{1.5e12};
    double networkBytesPerSecond{25e9};
    double messageSeconds{10e-6};
};

/** In which order each rank issues its nodes. */
struct ChakraOrder
{
    std::vector<std::vector<uint32_t>> nodes; //!< by rank: every node, after those it waits for
    /// By rank: receives, so that those from one peer are in the order in which it sends.
    std::vector<std::vector<uint32_t>> receives;
};

/**
 * Turns the ids that a trace's nodes wait for into indices; the ids are dropped. Node 0 is a root
 * placeholder of the format where it is not there. In traces that Chakra's converter made of
 * PyTorch's, control dependencies name the enclosing operator, which waits for those inside, not
 * they for it; what order there is stands in the data dependencies, which alone Chakra's feeder
 * follows (et_feeder.cpp). Control dependencies of such traces are counted (ChakraTrace::parents).
 * @param placeholders counts dependencies on it
 * @return indices, by ChakraNode::firstDependency
 * @throws InputError for a dependency on any other node that is not there
 */
std::vector<uint32_t> ResolveChakraDependencies(ChakraTrace& trace, uint64_t& placeholders);

/** @throws InputError for a message with a rank that is not there */
void RefuseUnknownPeers(const ChakraTrace& trace, uint32_t ranks);

/** @throws InputError that prints the smallest cycle found, if there is one */
void RefuseChakraCycle(const ChakraTrace& trace, const std::vector<uint32_t>& dependencies);

/**
 * Chakra orders nodes only by what they wait for; ASTRA-sim issues those that are ready when the
 * GPU is free, lowest id first. Echo's streams have an order, so it is fixed beforehand: by running
 * all ranks with rough durations under that rule (list scheduling). Computations of a rank run one
 * at a time (of a recorded GPU stream, if the trace has any), so do those of its CPU and its memory
 * transfers; communications run side by side, collectives of a process group in the order in which
 * a rank gets to them; a send does not wait for its receive.
 *
 * @param dependencies by rank and node: indices of the nodes that it waits for; no cycles
 */
ChakraOrder OrderChakra(const ChakraJob& job,
                        const std::vector<std::vector<uint32_t>>& dependencies,
                        const ChakraSpeeds& speeds);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHAKRA_ORDER_H */
