// SPDX-License-Identifier: GPL-2.0-only
#include "echo-yaml-check.h"

#include "ns3/echo-error.h"

#include <set>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t DEEPEST = 100;
/** Nodes that aliases may add to those that a file writes out. */
constexpr size_t MOST_ALIASED = 200000;

class NodeCheck
{
  public:
    NodeCheck(std::string file, size_t written)
        : m_file(std::move(file)), m_left(written + MOST_ALIASED)
    {
    }

    void Visit(const YAML::Node& node, uint32_t depth = 0);

  private:
    std::string m_file;
    size_t m_left; //!< nodes
};

void NodeCheck::Visit(const YAML::Node& node, uint32_t depth)
{
    if (depth > DEEPEST)
    {
        throw InputError({m_file, LineOf(node), ""},
                         "nodes deeper than " + std::to_string(DEEPEST) + " levels",
                         "fewer, and no alias inside what it stands for");
    }
    if (m_left-- == 0)
    {
        throw InputError({m_file, LineOf(node), ""},
                         "aliases of aliases that stand for more than " +
                             std::to_string(MOST_ALIASED) + " nodes",
                         "fewer");
    }
    if (node.IsMap())
    {
        std::set<std::string> seen;
        for (const auto& entry : node)
        {
            if (!entry.first.IsScalar())
            {
                throw InputError({m_file, LineOf(entry.first), ""}, KindOf(entry.first), "a key");
            }
            if (!seen.insert(entry.first.Scalar()).second)
            {
                throw InputError({m_file, LineOf(entry.first), ""},
                                 "key '" + entry.first.Scalar() + "' twice",
                                 "each key once");
            }
            Visit(entry.second, depth + 1);
        }
    }
    else if (node.IsSequence())
    {
        for (const auto& entry : node)
        {
            Visit(entry, depth + 1);
        }
    }
}

} // namespace

std::string KindOf(const YAML::Node& node)
{
    switch (node.Type())
    {
    case YAML::NodeType::Map:
        return "a map";
    case YAML::NodeType::Sequence:
        return "a list";
    case YAML::NodeType::Scalar:
        return "'" + node.Scalar() + "'";
    default:
        return "nothing";
    }
}

uint32_t LineOf(const YAML::Node& node)
{
    return node.Mark().is_null() ? 0 : static_cast<uint32_t>(node.Mark().line + 1);
}

void CheckYamlNodes(const YAML::Node& root, const std::string& file, size_t written)
{
    NodeCheck(file, written).Visit(root);
}

} // namespace echo
} // namespace ns3
