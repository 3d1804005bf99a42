// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-json-stream.h"

namespace ns3
{
namespace echo
{

namespace
{

const size_t BLOCK = 1 << 20;            // bytes read, and bytes of elements parsed, at a time
const size_t LARGEST_VALUE = 256u << 20; // of a value that is kept whole

/** The file needs no further reading. */
struct Stopped
{
};

bool IsSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

} // namespace

JsonStream::JsonStream(ByteSource& source, std::string file)
    : m_source(source), m_file(std::move(file))
{
    Fill();
    m_at = SkipByteOrderMark(m_buffer);
}

void JsonStream::Fail(const std::string& what) const
{
    throw InputError({m_file, 0, "byte " + std::to_string(m_before + m_at)}, what, "JSON");
}

/** Replaces what has been taken by the next block; @return false at the end */
bool JsonStream::Fill()
{
    m_before += m_buffer.size();
    m_buffer.resize(BLOCK);
    m_buffer.resize(m_source.Read(m_buffer.data(), BLOCK));
    m_at = 0;
    return !m_buffer.empty();
}

char JsonStream::Peek()
{
    while (true)
    {
        while (m_at < m_buffer.size() && IsSpace(m_buffer[m_at]))
        {
            ++m_at;
        }
        if (m_at < m_buffer.size())
        {
            return m_buffer[m_at];
        }
        if (!Fill())
        {
            return '\0';
        }
    }
}

bool JsonStream::TakeIf(char wanted)
{
    const bool isThere = Peek() == wanted;
    m_at += isThere ? 1 : 0;
    return isThere;
}

void JsonStream::Expect(char wanted)
{
    if (!TakeIf(wanted))
    {
        Fail(Peek() == '\0' && m_buffer.empty() ? "text that is cut off" : "text that is no JSON");
    }
}

void JsonStream::Append(size_t from)
{
    m_text.append(m_buffer, from, m_at - from);
    if (m_text.size() > LARGEST_VALUE)
    {
        Fail("a value of more than 256 MiB");
    }
}

void JsonStream::TakeString(bool isSkipped)
{
    size_t from = m_at++; // behind the quote
    bool isEscaped = false;
    while (true)
    {
        for (; m_at < m_buffer.size(); ++m_at)
        {
            const char c = m_buffer[m_at];
            if (c == '"' && !isEscaped)
            {
                ++m_at;
                if (!isSkipped)
                {
                    Append(from);
                }
                return;
            }
            isEscaped = c == '\\' && !isEscaped;
        }
        if (!isSkipped)
        {
            Append(from);
        }
        from = 0;
        if (!Fill())
        {
            Fail("text that is cut off");
        }
    }
}

/** Takes an object or a list, by its brackets. */
void JsonStream::TakeNested(bool isSkipped)
{
    uint64_t depth = 0;
    size_t from = m_at;
    while (true)
    {
        while (m_at < m_buffer.size())
        {
            const char c = m_buffer[m_at];
            if (c == '"')
            {
                if (!isSkipped)
                {
                    Append(from);
                }
                TakeString(isSkipped);
                from = m_at;
                continue;
            }
            ++m_at;
            depth += c == '{' || c == '[' ? 1 : 0;
            if ((c == '}' || c == ']') && --depth == 0)
            {
                if (!isSkipped)
                {
                    Append(from);
                }
                return;
            }
        }
        if (!isSkipped)
        {
            Append(from);
        }
        from = 0;
        if (!Fill())
        {
            Fail("text that is cut off");
        }
    }
}

void JsonStream::TakeValue(bool isSkipped)
{
    const char first = Peek();
    if (first == '{' || first == '[')
    {
        TakeNested(isSkipped);
        return;
    }
    if (first == '"')
    {
        TakeString(isSkipped);
        return;
    }
    bool isEmpty = true;
    while (true) // a number or a word
    {
        const size_t from = m_at;
        while (m_at < m_buffer.size() && !IsSpace(m_buffer[m_at]) && m_buffer[m_at] != ',' &&
               m_buffer[m_at] != '}' && m_buffer[m_at] != ']')
        {
            ++m_at;
        }
        isEmpty = isEmpty && m_at == from;
        if (!isSkipped)
        {
            Append(from);
        }
        if (m_at < m_buffer.size() || !Fill())
        {
            break;
        }
    }
    if (isEmpty)
    {
        Fail(m_buffer.empty() ? "text that is cut off" : "text that is no JSON");
    }
}

void JsonStream::Parse(const std::function<void(json::value)>& body)
{
    m_text.reserve(m_text.size() + simdjson::SIMDJSON_PADDING);
    const simdjson::padded_string_view view(m_text.data(), m_text.size(), m_text.capacity());
    try
    {
        json::document document = m_parser.iterate(view);
        body(document.get_value());
    }
    catch (const simdjson::simdjson_error& error)
    {
        Fail(std::string("text that is no JSON before it (") + error.what() + ")");
    }
    m_text.clear();
}

std::string JsonStream::TakeKey()
{
    if (Peek() != '"')
    {
        Fail(m_buffer.empty() ? "text that is cut off" : "text that is no JSON");
    }
    m_text.clear();
    TakeString(false);
    const std::string key = m_text.substr(1, m_text.size() - 2);
    m_text.clear();
    Expect(':');
    return key;
}

void JsonStream::ReadElements(Visitor& visitor, const std::string& key)
{
    Expect('[');
    m_text.assign(1, '[');
    bool isFirst = true;
    while (!TakeIf(']'))
    {
        if (!isFirst)
        {
            Expect(',');
            m_text += m_text.size() > 1 ? "," : "";
        }
        isFirst = false;
        TakeValue(false);
        if (m_text.size() >= BLOCK)
        {
            m_text += ']';
            Parse([&](json::value list) { visitor.OnElements(key, list.get_array()); });
            m_text.assign(1, '[');
        }
    }
    m_text += ']';
    Parse([&](json::value list) { visitor.OnElements(key, list.get_array()); });
}

void JsonStream::ReadObject(Visitor& visitor)
{
    Expect('{');
    bool isFirst = true;
    while (!TakeIf('}'))
    {
        if (!isFirst)
        {
            Expect(',');
        }
        isFirst = false;
        const std::string key = TakeKey();
        const Treatment treatment = visitor.Choose(key);
        if (treatment == Treatment::STOP)
        {
            throw Stopped();
        }
        if (treatment == Treatment::ELEMENTS && Peek() == '[')
        {
            ReadElements(visitor, key);
            continue;
        }
        TakeValue(treatment == Treatment::SKIP);
        if (treatment != Treatment::SKIP)
        {
            // simdjson reads a bare number or word only as a document of its own.
            m_text = "[" + m_text + "]";
            Parse([&](json::value list) {
                for (json::value value : list.get_array())
                {
                    visitor.OnField(key, value);
                }
            });
        }
    }
}

/** @return the first byte of the file that is no space */
char JsonStream::Begin()
{
    const char first = Peek();
    if (first == '\0' && m_buffer.empty())
    {
        throw InputError({m_file, 0, ""}, "an empty file", "JSON");
    }
    return first;
}

void JsonStream::Read(Visitor& visitor)
{
    const char first = Begin();
    try
    {
        if (first != '[')
        {
            ReadObject(visitor);
        }
        else if (visitor.Choose("") == Treatment::STOP)
        {
            return;
        }
        else
        {
            ReadElements(visitor, "");
        }
    }
    catch (const Stopped&)
    {
        return;
    }
    if (Peek() != '\0' || !m_buffer.empty())
    {
        Fail("further text behind the end");
    }
}

void JsonStream::ReadSequence(Visitor& visitor)
{
    Begin();
    while (Peek() != '\0' || !m_buffer.empty())
    {
        if (TakeIf(','))
        {
            continue;
        }
        if (Peek() != '{')
        {
            Fail("text that is no JSON object");
        }
        m_text.clear();
        TakeNested(false);
        Parse([&](json::value value) { visitor.OnObject(value.get_object()); });
    }
}

} // namespace echo
} // namespace ns3
