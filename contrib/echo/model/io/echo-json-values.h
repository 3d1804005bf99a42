// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JSON_VALUES_H
#define ECHO_JSON_VALUES_H

// Internal to the readers that simdjson compiles; not exported.

#include "echo-json-scan.h"
#include "echo-kineto-trace.h"

#include "ns3/nstime.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ns3
{
namespace echo
{

/** Reads values of one file; what is no such value is an error that names the place. */
class JsonValues
{
  public:
    explicit JsonValues(std::string file) : m_file(std::move(file))
    {
    }

    /** The part of the file that messages name, such as "operator 17". */
    void SetItem(const std::string& item)
    {
        m_item = item;
    }

    SourceLocation GetLocation() const
    {
        return {m_file, 0, m_item};
    }

    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const
    {
        throw InputError(GetLocation(), found, expected);
    }

    [[noreturn]] void FailKey(std::string_view key) const
    {
        Fail("unknown key '" + std::string(key) + "'", "those of the format");
    }

    uint64_t Number(json::value& value, uint64_t limit = std::numeric_limits<uint64_t>::max()) const
    {
        uint64_t number = 0;
        if (value.get_uint64().get(number) != simdjson::SUCCESS || number > limit)
        {
            Fail("'" + std::string(TokenOf(value)) + "'", "a whole number");
        }
        return number;
    }

    uint32_t Index(json::value& value) const
    {
        return static_cast<uint32_t>(Number(value, std::numeric_limits<uint32_t>::max() - 1));
    }

    double Real(json::value& value) const
    {
        double number = 0;
        if (value.get_double().get(number) != simdjson::SUCCESS || !(number >= 0))
        {
            Fail("'" + std::string(TokenOf(value)) + "'", "a number of zero or more");
        }
        return number;
    }

    Time Microseconds(json::value& value) const
    {
        const auto picoseconds = ParseFixedPoint(std::string(TokenOf(value)), 6);
        if (!picoseconds || *picoseconds < 0)
        {
            Fail("'" + std::string(TokenOf(value)) + "'", "microseconds of zero or more");
        }
        return PicoSeconds(*picoseconds);
    }

    std::string Text(json::value& value) const
    {
        std::string_view text;
        if (value.get_string().get(text) != simdjson::SUCCESS)
        {
            Fail("'" + std::string(TokenOf(value)) + "'", "text");
        }
        return std::string(text);
    }

    template <typename Value>
    Value Word(json::value& value, Value (*parse)(const std::string&)) const
    {
        const std::string text = Text(value);
        try
        {
            return parse(text);
        }
        catch (const InputError& error)
        {
            throw error.At(GetLocation());
        }
    }

    std::vector<uint64_t> Numbers(json::value& value) const
    {
        std::vector<uint64_t> numbers;
        ForEach(value, [&](json::value& entry) { numbers.push_back(Number(entry)); });
        return numbers;
    }

    template <typename Visit>
    void ForEach(json::value& value, Visit visit) const
    {
        json::array array;
        if (value.get_array().get(array) != simdjson::SUCCESS)
        {
            Fail("'" + std::string(TokenOf(value)).substr(0, 20) + "'", "a list");
        }
        for (json::value entry : array)
        {
            visit(entry);
        }
    }

    template <typename Visit>
    void ForEachField(json::value& value, Visit visit) const
    {
        json::object object;
        if (value.get_object().get(object) != simdjson::SUCCESS)
        {
            Fail("'" + std::string(TokenOf(value)).substr(0, 20) + "'", "an object");
        }
        for (json::field field : object)
        {
            const std::string_view key = field.unescaped_key();
            json::value entry = field.value();
            visit(key, entry);
        }
    }

  private:
    std::string m_file; //!< for messages
    std::string m_item; //!< for messages
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_JSON_VALUES_H */
