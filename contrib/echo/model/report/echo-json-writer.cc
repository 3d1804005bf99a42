// SPDX-License-Identifier: GPL-2.0-only
#include "echo-json-writer.h"

#include "ns3/assert.h"
#include "ns3/echo-units.h"

#include <charconv>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/**
 * Decodes the UTF-8 sequence at @p at (RFC 3629: no overlong forms, no surrogates, at most
 * U+10FFFF) and moves past it; past one byte and U+FFFD if there is none.
 */
uint32_t DecodeUtf8(std::string_view text, size_t& at)
{
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(at);
    const int length = first < 0x80                    ? 1
                       : first >= 0xc2 && first < 0xe0 ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
    if (length == 1)
    {
        ++at;
        return first;
    }
    uint32_t code = length == 0 ? 0 : first & (0xffu >> (length + 1));
    bool valid = length != 0 && at + length <= text.size();
    for (int i = 1; valid && i < length; ++i)
    {
        valid = (byte(at + i) & 0xc0) == 0x80;
        code = code << 6 | (byte(at + i) & 0x3fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!valid || code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    {
        ++at;
        return 0xfffd;
    }
    at += length;
    return code;
}

void AppendEscape(std::string& out, uint32_t unit)
{
    static const char digits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
    {
        out += digits[(unit >> shift) & 0xf];
    }
}

} // namespace

void AppendJsonString(std::string& out, std::string_view text)
{
    out += '"';
    for (size_t at = 0; at < text.size();)
    {
        const uint32_t code = DecodeUtf8(text, at);
        if (code == '"' || code == '\\')
        {
            out += '\\';
            out += static_cast<char>(code);
        }
        else if (code == '\n')
        {
            out += "\\n";
        }
        else if (code >= 0x20 && code < 0x7f && code != '<' && code != '>' && code != '&')
        {
            out += static_cast<char>(code);
        }
        else if (code < 0x10000)
        {
            AppendEscape(out, code);
        }
        else
        {
            AppendEscape(out, 0xd800 + ((code - 0x10000) >> 10));
            AppendEscape(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
        }
    }
    out += '"';
}

std::string FormatNumber(double number)
{
    char text[40];
    const auto result = std::to_chars(text, text + sizeof(text), number);
    return std::string(text, result.ptr);
}

JsonWriter::JsonWriter(OutputFile& file, Layout layout) : m_file(file), m_layout(layout)
{
}

void JsonWriter::NewLine()
{
    if (m_layout == INDENTED)
    {
        m_buffer += '\n';
        m_buffer.append(2 * m_filled.size(), ' ');
    }
}

void JsonWriter::Separate()
{
    if (m_afterKey)
    {
        m_afterKey = false;
        return;
    }
    if (!m_filled.empty())
    {
        if (m_filled.back())
        {
            m_buffer += ',';
        }
        m_filled.back() = true;
        NewLine();
    }
    if (m_buffer.size() > 1 << 15)
    {
        Flush();
    }
}

JsonWriter& JsonWriter::Raw(std::string_view text)
{
    Separate();
    m_buffer += text;
    return *this;
}

JsonWriter& JsonWriter::BeginObject()
{
    Raw("{");
    m_filled.push_back(false);
    return *this;
}

JsonWriter& JsonWriter::BeginArray()
{
    Raw("[");
    m_filled.push_back(false);
    return *this;
}

void JsonWriter::Close(char bracket)
{
    NS_ASSERT_MSG(!m_filled.empty() && !m_afterKey, "a bracket without its partner");
    const bool filled = m_filled.back();
    m_filled.pop_back();
    if (filled)
    {
        NewLine();
    }
    m_buffer += bracket;
    if (m_filled.empty() && m_layout == INDENTED)
    {
        m_buffer += '\n';
    }
}

JsonWriter& JsonWriter::EndObject()
{
    Close('}');
    return *this;
}

JsonWriter& JsonWriter::EndArray()
{
    Close(']');
    return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key)
{
    NS_ASSERT_MSG(!m_afterKey, "a key after a key");
    Separate();
    AppendJsonString(m_buffer, key);
    m_buffer += m_layout == INDENTED ? ": " : ":";
    m_afterKey = true;
    return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text)
{
    Separate();
    AppendJsonString(m_buffer, text);
    return *this;
}

JsonWriter& JsonWriter::Value(double number)
{
    return Raw(std::isfinite(number) ? FormatNumber(number) : "null");
}

JsonWriter& JsonWriter::Value(Time time)
{
    return Raw(Microseconds(time));
}

JsonWriter& JsonWriter::Null()
{
    return Raw("null");
}

void JsonWriter::Flush()
{
    m_file.Write(m_buffer);
    m_buffer.clear();
}

} // namespace echo
} // namespace ns3
