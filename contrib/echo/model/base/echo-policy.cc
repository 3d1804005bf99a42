// SPDX-License-Identifier: GPL-2.0-only
#include "echo-policy.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

const std::string SPACE = "ns3::echo::";

/** "leaf-spine" -> "LeafSpine" */
std::string JoinWords(const std::string& words)
{
    std::string text;
    bool startsWord = true;
    for (const char c : words)
    {
        if (c == '-')
        {
            startsWord = true;
            continue;
        }
        text += startsWord ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        startsWord = false;
    }
    return text;
}

/** @return the name that users write for a policy: without name space and suffix, if it has them */
std::string ShortName(const std::string& type, const std::string& suffix)
{
    const bool isOurs = type.rfind(SPACE, 0) == 0 && type.size() > SPACE.size() + suffix.size() &&
                        type.substr(type.size() - suffix.size()) == suffix;
    return isOurs ? SeparateWords(
                        type.substr(SPACE.size(), type.size() - SPACE.size() - suffix.size()), '-')
                  : type;
}

} // namespace

std::string SeparateWords(const std::string& camel, char separator)
{
    std::string text;
    for (const char c : camel)
    {
        if (std::isupper(static_cast<unsigned char>(c)) != 0 && !text.empty())
        {
            text += separator;
        }
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

std::optional<TypeId> LookupPolicy(const std::string& name,
                                   TypeId parent,
                                   const std::string& suffix)
{
    TypeId found;
    const bool isKnown = TypeId::LookupByNameFailSafe(SPACE + JoinWords(name) + suffix, &found) ||
                         TypeId::LookupByNameFailSafe(name, &found);
    if (isKnown && found.IsChildOf(parent) && found.HasConstructor())
    {
        return found;
    }
    return std::nullopt;
}

std::string ListPolicies(TypeId parent, const std::string& suffix)
{
    std::vector<std::string> known;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type != parent && type.IsChildOf(parent) && type.HasConstructor())
        {
            known.push_back(ShortName(type.GetName(), suffix));
        }
    }
    std::sort(known.begin(), known.end());
    std::string list;
    for (const auto& one : known)
    {
        list += (list.empty() ? "one of " : ", ") + one;
    }
    return list;
}

} // namespace echo
} // namespace ns3
