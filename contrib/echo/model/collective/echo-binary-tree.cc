// SPDX-License-Identifier: GPL-2.0-only
#include "echo-binary-tree.h"

namespace ns3
{
namespace echo
{

namespace
{

/** @return the number in [first, last] that the highest power of two divides; 1 <= first <= last */
uint32_t MiddleOf(uint32_t first, uint32_t last)
{
    uint32_t shift = 31;
    while (((last >> shift) << shift) < first)
    {
        --shift;
    }
    return (last >> shift) << shift;
}

void AddChild(TreeNode& node, uint32_t first, uint32_t last)
{
    if (first <= last)
    {
        node.children[node.childCount++] = MiddleOf(first, last);
    }
}

/** Neighbours in tree 0. */
TreeNode FindPlace(uint32_t size, uint32_t place)
{
    TreeNode node;
    uint32_t first = 1;
    uint32_t last = size - 1;
    if (place == 0)
    {
        node.isRoot = true;
        AddChild(node, first, last);
        return node;
    }
    for (uint32_t at = MiddleOf(first, last); at != place; at = MiddleOf(first, last))
    {
        node.parent = at;
        if (place < at)
        {
            last = at - 1;
        }
        else
        {
            first = at + 1;
        }
    }
    AddChild(node, first, place - 1);
    AddChild(node, place + 1, last);
    return node;
}

} // namespace

TreeNode FindTreeNode(uint32_t size, uint32_t tree, uint32_t node)
{
    TreeNode found = FindPlace(size, (node + tree) % size);
    found.parent = (found.parent + size - tree) % size;
    for (uint32_t i = 0; i < found.childCount; ++i)
    {
        found.children[i] = (found.children[i] + size - tree) % size;
    }
    return found;
}

} // namespace echo
} // namespace ns3
