// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BINARY_TREE_H
#define ECHO_BINARY_TREE_H

#include <array>
#include <cstdint>

namespace ns3
{
namespace echo
{

/** A node's neighbours in a binary tree over nodes 0 .. size - 1. */
struct TreeNode
{
    uint32_t parent{0};
    bool isRoot{false};
    std::array<uint32_t, 2> children{};
    uint32_t childCount{0};
};

/**
 * One of two binary trees over the same nodes, such that (an even number of) nodes that have
 * children in one are leaves in the other, and the roots differ: together they load every node
 * alike (Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan", 2009).
 *
 * Tree 0: node 0 is the root with one child; 1 .. size - 1 form a search tree in which even
 * numbers are inner nodes and odd ones leaves. Tree 1 is the same with every node taking the place
 * of the next one. Depth is at most 1 + log2(size), rounded up.
 *
 * @param tree 0 or 1
 */
TreeNode FindTreeNode(uint32_t size, uint32_t tree, uint32_t node);

} // namespace echo
} // namespace ns3

#endif /* ECHO_BINARY_TREE_H */
