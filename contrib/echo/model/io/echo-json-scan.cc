// SPDX-License-Identifier: GPL-2.0-only
#include "echo-json-scan.h"

#include "echo-kineto-trace.h"

#include <cstdlib>

namespace ns3
{
namespace echo
{

namespace
{

bool IsType(json::value& value, json::json_type type)
{
    json::json_type found{};
    return value.type().get(found) == simdjson::SUCCESS && found == type;
}

/** Adds a shape's product, or the products of the shapes in it; at most three levels deep. */
int64_t SumShapes(json::array shape, int depth)
{
    int64_t product = 1;
    int64_t sum = 0;
    bool isNested = false;
    for (json::value entry : shape)
    {
        if (IsType(entry, json::json_type::array))
        {
            isNested = true;
            sum += depth < 3 ? SumShapes(entry.get_array(), depth + 1) : 0;
        }
        else
        {
            const int64_t extent = IntegerOf(entry).value_or(0);
            if (extent < 0 || (extent > 0 && product > INT64_MAX / extent))
            {
                return -1;
            }
            product *= extent;
        }
    }
    return isNested ? sum : product;
}

} // namespace

void ScanJson(const std::string& text,
              const std::string& file,
              const std::function<void(json::document&)>& body)
{
    try
    {
        json::parser parser;
        const simdjson::padded_string padded(text);
        json::document document = parser.iterate(padded);
        body(document);
    }
    catch (const simdjson::simdjson_error& error)
    {
        throw InputError({file, 0, ""},
                         std::string("text that is no JSON or is cut off (") + error.what() + ")",
                         "JSON");
    }
}

bool FindMember(json::object& object, std::string_view key, json::value& value)
{
    const simdjson::error_code error = object.find_field_unordered(key).get(value);
    if (error != simdjson::SUCCESS && error != simdjson::NO_SUCH_FIELD)
    {
        throw simdjson::simdjson_error(error);
    }
    return error == simdjson::SUCCESS;
}

std::string_view TokenOf(json::value& value)
{
    std::string_view token = value.raw_json_token();
    while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                              token.back() == '\t'))
    {
        token.remove_suffix(1);
    }
    if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    {
        token = token.substr(1, token.size() - 2);
    }
    return token;
}

std::optional<int64_t> IntegerOf(json::value& value)
{
    // As a decimal number, as some writers have no others: "8.0" and "1.5e3" are whole.
    return ParseFixedPoint(std::string(TokenOf(value)), 0);
}

std::string StringOf(json::value& value)
{
    std::string_view text;
    if (!IsType(value, json::json_type::string) ||
        value.get_string().get(text) != simdjson::SUCCESS)
    {
        return "";
    }
    return std::string(text);
}

std::vector<uint64_t> NumbersOf(json::value& value)
{
    if (IsType(value, json::json_type::string))
    {
        return ParseNumberList(StringOf(value));
    }
    std::vector<uint64_t> numbers;
    if (IsType(value, json::json_type::array))
    {
        for (json::value entry : value.get_array())
        {
            const auto number = IntegerOf(entry);
            if (!number || *number < 0)
            {
                return {};
            }
            numbers.push_back(static_cast<uint64_t>(*number));
        }
    }
    return numbers;
}

int64_t ElementsOf(json::value& value)
{
    return IsType(value, json::json_type::array) ? SumShapes(value.get_array(), 0) : -1;
}

} // namespace echo
} // namespace ns3
