// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JSON_WRITER_H
#define ECHO_JSON_WRITER_H

#include "echo-output-folder.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Writes JSON as it comes, holding nothing but open brackets: a timeline of millions of operators
 * never stands in memory. Output is ASCII; what is no UTF-8 in a text becomes U+FFFD, and '<', '>',
 * '&' are escaped, so that the text may stand inside an HTML script element.
 *
 * Keys and values must alternate as JSON wants them; the caller's mistakes are asserted.
 */
class JsonWriter
{
  public:
    enum Layout
    {
        COMPACT,  //!< no white space
        INDENTED, //!< two spaces a level
    };

    explicit JsonWriter(OutputFile& file, Layout layout = COMPACT);
    JsonWriter(const JsonWriter&) = delete;
    JsonWriter& operator=(const JsonWriter&) = delete;

    JsonWriter& BeginObject();
    JsonWriter& EndObject();
    JsonWriter& BeginArray();
    JsonWriter& EndArray();
    JsonWriter& Key(std::string_view key);

    JsonWriter& Value(std::string_view text);
    JsonWriter& Value(double number); //!< shortest text that reads back equal; not finite: null
    JsonWriter& Value(Time time);     //!< microseconds, exact to the picosecond
    JsonWriter& Null();

    JsonWriter& Value(const char* text)
    {
        return Value(std::string_view(text));
    }

    JsonWriter& Value(const std::string& text)
    {
        return Value(std::string_view(text));
    }

    JsonWriter& Value(bool value)
    {
        return Raw(value ? "true" : "false");
    }

    template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
    JsonWriter& Value(Integer number)
    {
        return Raw(std::to_string(number));
    }

    /** A key with its value. */
    template <typename T>
    JsonWriter& Member(std::string_view key, const T& value)
    {
        return Key(key).Value(value);
    }

    /** Writes what is still held to the file; to be called at the end of the document. */
    void Flush();

  private:
    JsonWriter& Raw(std::string_view text);
    void Separate();
    void Close(char bracket);
    void NewLine();

    OutputFile& m_file;
    Layout m_layout;
    std::string m_buffer;
    std::vector<bool> m_filled; //!< one an open bracket: has it an element
    bool m_afterKey{false};
};

/** Appends @p text as a JSON string, quotes included, to @p out. */
void AppendJsonString(std::string& out, std::string_view text);
/** @return the shortest decimal text that reads back as @p number */
std::string FormatNumber(double number);

} // namespace echo
} // namespace ns3

#endif /* ECHO_JSON_WRITER_H */
