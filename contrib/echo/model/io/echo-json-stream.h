// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_JSON_STREAM_H
#define ECHO_JSON_STREAM_H

// Internal to the readers of traces that simdjson compiles; not exported.

#include "echo-input-file.h"
#include "echo-json-scan.h"

#include <string>
#include <string_view>

namespace ns3
{
namespace echo
{

/**
 * Reads JSON of any length in bounded memory: a file that is one object whose lists are long, one
 * long list, or a sequence of objects. Values are found by their brackets and quotes, and simdjson
 * parses them in blocks.
 */
class JsonStream
{
  public:
    /** What is done with a member of the file's object. */
    enum class Treatment
    {
        SKIP,     //!< not read
        WHOLE,    //!< OnField
        ELEMENTS, //!< a list: OnElements for parts of it, in order; anything else: OnField
        STOP,     //!< the file is not read any further
    };

    /** What reads a file; by default it takes nothing. */
    class Visitor
    {
      public:
        virtual ~Visitor() = default;
        /** @return how a member of the file's object is to be treated */
        virtual Treatment Choose(std::string_view key) = 0;
        virtual void OnField(std::string_view key, json::value value) = 0;
        /** @param key of the list; empty if the file is a list */
        virtual void OnElements(std::string_view key, json::array elements) = 0;
        /** A further object of a file that is a sequence of them. */
        virtual void OnObject(json::object object) = 0;
    };

    /** @param file name for messages */
    JsonStream(ByteSource& source, std::string file);

    /**
     * Reads one object or list.
     * @throws InputError if the text is no JSON, is cut off or goes on behind it
     */
    void Read(Visitor& visitor);

    /**
     * Reads a sequence of objects, with or without commas or line ends between them.
     * @throws InputError if the text is no JSON or is cut off
     */
    void ReadSequence(Visitor& visitor);

  private:
    char Begin();
    void ReadObject(Visitor& visitor);
    void ReadElements(Visitor& visitor, const std::string& key);
    void Parse(const std::function<void(json::value)>& body);
    bool Fill();
    /** @return the next byte that is no space, not taken; 0 at the end */
    char Peek();
    void Expect(char wanted);
    bool TakeIf(char wanted);
    std::string TakeKey();
    /** Moves past a value; appends it to the text that Parse() reads unless it is skipped. */
    void TakeValue(bool isSkipped);
    void TakeNested(bool isSkipped);
    void TakeString(bool isSkipped);
    void Append(size_t from);
    [[noreturn]] void Fail(const std::string& what) const;

    ByteSource& m_source;
    std::string m_file;   //!< for messages
    std::string m_buffer; //!< what has been read
    size_t m_at{0};       //!< in the buffer
    uint64_t m_before{0}; //!< bytes before the buffer
    std::string m_text;   //!< for simdjson
    json::parser m_parser;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_JSON_STREAM_H */
