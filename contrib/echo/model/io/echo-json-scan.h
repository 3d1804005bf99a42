// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JSON_SCAN_H
#define ECHO_JSON_SCAN_H

// Internal to the readers of traces that simdjson compiles; not exported.

#include "ns3/echo-error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace echo
{

namespace json = simdjson::ondemand;

/**
 * Runs @p body on a parsed document and turns simdjson's errors into InputErrors.
 * @throws InputError if the text is no JSON, is cut off, or what @p body throws
 */
void ScanJson(const std::string& text,
              const std::string& file,
              const std::function<void(json::document&)>& body);

/**
 * Looks for a member of an object, in any order.
 * @return whether it is there; damaged text throws, as nothing can be read behind it
 */
bool FindMember(json::object& object, std::string_view key, json::value& value);

/** @return the token's text without quotes: numbers, words, strings without escapes; not consumed
 */
std::string_view TokenOf(json::value& value);

/** @return a whole number, written as one, as a decimal or as text; none if it is none */
std::optional<int64_t> IntegerOf(json::value& value);

/** @return a string; empty if it is none */
std::string StringOf(json::value& value);

/** @return the numbers of a list, or of text such as "[0, 1]" */
std::vector<uint64_t> NumbersOf(json::value& value);

/**
 * @return the product of a shape such as [8, 1024]; of a list of shapes, the sum of their products;
 *         -1 if it is neither
 */
int64_t ElementsOf(json::value& value);

} // namespace echo
} // namespace ns3

#endif /* ECHO_JSON_SCAN_H */
