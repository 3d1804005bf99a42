// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NAME_TABLE_H
#define ECHO_NAME_TABLE_H

#include "echo-error.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/** The values of a closed vocabulary and what users call them, in the order that messages list. */
template <typename Value>
using NameTable = std::vector<std::pair<Value, const char*>>;

/** @return the name of @p value, or "?" if the table lacks it */
template <typename Value>
const char* NameOf(const NameTable<Value>& names, Value value)
{
    for (const auto& [candidate, name] : names)
    {
        if (candidate == value)
        {
            return name;
        }
    }
    return "?";
}

/** @return the value that is called @p text. @throws InputError that lists the names */
template <typename Value>
Value ValueOf(const NameTable<Value>& names, const std::string& text)
{
    std::string expected;
    for (const auto& [value, name] : names)
    {
        if (text == name)
        {
            return value;
        }
        expected += (expected.empty() ? "" : ", ") + std::string(name);
    }
    throw InputError(SourceLocation{}, "'" + text + "'", "one of " + expected);
}

} // namespace echo
} // namespace ns3

#endif /* ECHO_NAME_TABLE_H */
