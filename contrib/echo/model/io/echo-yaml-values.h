// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_YAML_VALUES_H
#define ECHO_YAML_VALUES_H

#include "echo-yaml.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

constexpr int64_t MAX_COUNT = std::numeric_limits<int32_t>::max();
constexpr int64_t MAX_SIZE = 1 << 20; //!< of a matrix; keeps products within 64 bits

/** @return a number of at least 1 */
inline uint32_t GetCount(const YamlNode& node,
                         const std::string& key,
                         uint32_t fallback,
                         int64_t maximum = MAX_COUNT)
{
    return static_cast<uint32_t>(node.GetInteger(key, fallback, 1, maximum));
}

/** @return a size that may be 0, which stands for "none" */
inline uint32_t GetSize(const YamlNode& node, const std::string& key, uint32_t fallback)
{
    return static_cast<uint32_t>(node.GetInteger(key, fallback, 0, MAX_SIZE));
}

/** @return the choice whose word @p value is */
template <typename Choice>
Choice ReadWord(const YamlNode& value, const std::vector<std::pair<const char*, Choice>>& choices)
{
    std::string expected;
    for (const auto& [word, choice] : choices)
    {
        if (value.AsString() == word)
        {
            return choice;
        }
        expected += (expected.empty() ? "" : ", ") + std::string(word);
    }
    value.Fail("'" + value.AsString() + "'", "one of " + expected);
}

/** @return the choice whose word stands at @p key */
template <typename Choice>
Choice GetChoice(const YamlNode& node,
                 const std::string& key,
                 Choice fallback,
                 const std::vector<std::pair<const char*, Choice>>& choices)
{
    return node.Has(key) ? ReadWord(node.Get(key), choices) : fallback;
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_YAML_VALUES_H */
