// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_DOUBLE_BINARY_TREE_ALGORITHM_H
#define ECHO_DOUBLE_BINARY_TREE_ALGORITHM_H

#include "echo-collective-algorithm.h"

#include <vector>

namespace ns3
{
namespace echo
{

/**
 * All-reduce over two complementary binary trees of hosts (FindTreeNode), as NCCL does since 2.4,
 * for any number of ranks.
 *
 * Inside a host the members form a chain that begins at the host's head, the channel's
 * entry (MemberInHost); heads form the tree. Pieces are reduced up the tree and, from the root on,
 * sent down again, both at once. Each rank but the root sends and receives all bytes once upwards
 * and once downwards; of the two trees together each host sends and receives about twice the bytes,
 * spread over its NICs by channel.
 *
 * Channels whose heads are the same (c, c + k, ..., with k members a host) take turns with the two
 * trees; where they cannot be shared out evenly, each channel halves its bytes between the trees,
 * so that no NIC serves inner nodes only. One host has one tree: a chain.
 *
 * `Lane::plane` is the tree. A barrier is an all-reduce of BARRIER_BYTES over the first tree.
 */
class DoubleBinaryTreeAlgorithm : public CollectiveAlgorithm
{
  public:
    static TypeId GetTypeId();
    bool Supports(CollectiveKind kind) const override;
    std::vector<Lane> MakeLanes(const CollectivePlan& plan, uint32_t member) const override;
    std::vector<Connection> GetConnections(const CollectivePlan& plan) const override;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_DOUBLE_BINARY_TREE_ALGORITHM_H */
