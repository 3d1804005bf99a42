// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_YAML_H
#define ECHO_YAML_H

#include "ns3/data-rate.h"
#include "ns3/echo-error.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace ns3
{
namespace echo
{

/**
 * A YAML node that knows its file, line and key path, and which of its keys were read: every
 * reader of YAML goes through it, so messages are alike and unknown keys are errors.
 *
 * All getters throw InputError naming file, line, key, what was found and what was expected.
 */
class YamlNode
{
  public:
    /** Reads a file. @throws InputError if it cannot be read, is no YAML, is empty, or a map has a
     * key twice */
    static YamlNode LoadFile(const std::string& path);
    /** Parses text; @p name stands for the file in messages. */
    static YamlNode LoadText(const std::string& text, const std::string& name);

    bool IsMap() const;
    bool IsSequence() const;
    bool IsScalar() const;
    SourceLocation GetLocation() const;

    bool Has(const std::string& key) const;
    /** @return the value of a key that must be there */
    YamlNode Get(const std::string& key) const;
    /** @return entries of a sequence */
    std::vector<YamlNode> GetEntries() const;
    /** @return keys of a map in file order */
    std::vector<std::string> GetKeys() const;
    /** @throws InputError for the first key of this map that nothing has read, listing known keys
     */
    void RefuseUnknownKeys() const;
    void RequireMap() const;
    void RequireSequence() const;

    // A scalar as a value.
    std::string AsString() const;
    bool AsBool() const;
    int64_t AsInteger(int64_t minimum, int64_t maximum) const;
    double AsNumber(double minimum, double maximum) const;
    uint64_t AsBytes() const;
    DataRate AsRate() const;
    Time AsTime() const;

    // A key with a default.
    std::string GetString(const std::string& key, const std::string& fallback) const;
    bool GetBool(const std::string& key, bool fallback) const;
    int64_t GetInteger(const std::string& key,
                       int64_t fallback,
                       int64_t minimum,
                       int64_t maximum) const;
    double GetNumber(const std::string& key, double fallback, double minimum, double maximum) const;
    uint64_t GetBytes(const std::string& key, uint64_t fallback) const;
    DataRate GetRate(const std::string& key, DataRate fallback) const;
    Time GetTime(const std::string& key, Time fallback) const;

    /** Runs @p parse on the scalar's text; an InputError gets this node's place. */
    template <typename Value>
    Value Parse(const std::function<Value(const std::string&)>& parse) const
    {
        const std::string text = AsString();
        try
        {
            return parse(text);
        }
        catch (const InputError& error)
        {
            throw error.At(GetLocation());
        }
    }

    /** Throws an InputError at this node. */
    [[noreturn]] void Fail(const std::string& found, const std::string& expected) const;
    /** Sets "a.b.c" (making maps on the way; "a.0.c": in a list's first entry) to a YAML value; for
     * --set. */
    void Set(const std::string& path, const std::string& value);
    /** @return @p path as seen from this node's file (relative paths start there) */
    std::string ResolvePath(const std::string& path) const;

  private:
    struct Usage;
    struct Source;
    YamlNode(YAML::Node node, std::shared_ptr<Source> source, std::string path);

    YAML::Node m_node;
    std::shared_ptr<Source> m_source; //!< of messages
    std::string m_path;               //!< key path
    std::shared_ptr<Usage> m_usage;   //!< keys read so far
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_YAML_H */
