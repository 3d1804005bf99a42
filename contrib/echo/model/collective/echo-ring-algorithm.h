// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RING_ALGORITHM_H
#define ECHO_RING_ALGORITHM_H

#include "echo-collective-algorithm.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Ring collectives as NCCL builds them (src/device/all_reduce.h and its neighbours).
 *
 * Every channel has a ring of its own (see LayoutCursor) and an even part of the bytes; of n ranks,
 * rank at position p starts with chunk p of n:
 * - all-reduce: n - 1 steps that receive, reduce and pass on, then n - 1 that pass on: 2 (n - 1)
 *   messages sent and received by each rank, 2 (n - 1) / n of the bytes;
 * - all-gather, reduce-scatter: n - 1 messages, (n - 1) / n of the bytes;
 * - broadcast, reduce: a chain from or to the root, all bytes over each of its n - 1 connections;
 * - barrier: no bytes to carry round, so rounds of dissemination (Hensgen, Finkel, Manber 1988):
 *   in round i a rank sends to the one 2^i places on; after log2 n rounds it has heard of all.
 *
 * A step's message is cut into pieces of at most chunkBytes; a rank passes on each piece as soon as
 * it has it.
 */
class RingAlgorithm : public CollectiveAlgorithm
{
  public:
    static TypeId GetTypeId();
    bool Supports(CollectiveKind kind) const override;
    std::vector<Lane> MakeLanes(const CollectivePlan& plan, uint32_t member) const override;
    std::vector<Connection> GetConnections(const CollectivePlan& plan) const override;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RING_ALGORITHM_H */
