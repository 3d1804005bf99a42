// SPDX-License-Identifier: GPL-2.0-only
#include "echo-yaml.h"

#include "echo-yaml-check.h"

#include "ns3/echo-units.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace ns3
{
namespace echo
{

/** Which keys of a map were read, and which are known. */
struct YamlNode::Usage
{
    std::set<std::string> known;
};

/** Where the nodes of a file come from. */
struct YamlNode::Source
{
    std::string file;              //!< name for messages
    std::vector<std::string> sets; //!< paths that Set has written

    bool IsSet(const std::string& path) const
    {
        return std::any_of(sets.begin(), sets.end(), [&path](const std::string& set) {
            return path.compare(0, set.size(), set) == 0 &&
                   (path.size() == set.size() || path[set.size()] == '.' ||
                    path[set.size()] == '[');
        });
    }
};

namespace
{

/** @return in how many places of a tree a node stands: several, where aliases name it */
size_t CountPlaces(const YAML::Node& tree, const YAML::Node& wanted)
{
    size_t places = tree.is(wanted) ? 1 : 0;
    for (const auto& entry : tree)
    {
        places += CountPlaces(tree.IsMap() ? entry.second : YAML::Node(entry), wanted);
    }
    return places;
}

} // namespace

YamlNode::YamlNode(YAML::Node node, std::shared_ptr<Source> source, std::string path)
    : m_node(std::move(node)),
      m_source(std::move(source)),
      m_path(std::move(path)),
      m_usage(std::make_shared<Usage>())
{
}

YamlNode YamlNode::LoadFile(const std::string& path)
{
    std::error_code ignored;
    std::ifstream in(path);
    if (!in || std::filesystem::is_directory(path, ignored))
    {
        throw InputError({path, 0, ""}, "no readable file", "a YAML file");
    }
    std::ostringstream text;
    text << in.rdbuf();
    return LoadText(text.str(), path);
}

YamlNode YamlNode::LoadText(const std::string& text, const std::string& name)
{
    YAML::Node root;
    try
    {
        const std::vector<YAML::Node> documents = YAML::LoadAll(text);
        if (documents.size() > 1)
        {
            throw InputError({name, LineOf(documents[1]), ""}, "a second YAML document", "one");
        }
        if (!documents.empty())
        {
            root.reset(documents.front());
        }
    }
    catch (const YAML::Exception& error)
    {
        throw InputError({name, static_cast<uint32_t>(error.mark.line + 1), ""},
                         "text that is no YAML (" + error.msg + ")",
                         "YAML");
    }
    if (!root.IsDefined() || root.IsNull())
    {
        throw InputError({name, 0, ""}, "an empty file", "YAML");
    }
    CheckYamlNodes(root, name, text.size() + 1);
    return YamlNode(root, std::make_shared<Source>(Source{name, {}}), "");
}

bool YamlNode::IsMap() const
{
    return m_node.IsMap();
}

bool YamlNode::IsSequence() const
{
    return m_node.IsSequence();
}

bool YamlNode::IsScalar() const
{
    return m_node.IsScalar();
}

SourceLocation YamlNode::GetLocation() const
{
    if (m_source->IsSet(m_path))
    {
        return {"--set", 0, m_path};
    }
    return {m_source->file, LineOf(m_node), m_path};
}

void YamlNode::Fail(const std::string& found, const std::string& expected) const
{
    throw InputError(GetLocation(), found, expected);
}

void YamlNode::RequireMap() const
{
    if (!IsMap())
    {
        Fail(KindOf(m_node), "a map");
    }
}

void YamlNode::RequireSequence() const
{
    if (!IsSequence())
    {
        Fail(KindOf(m_node), "a list");
    }
}

bool YamlNode::Has(const std::string& key) const
{
    RequireMap();
    m_usage->known.insert(key);
    const YAML::Node& constant = m_node;
    return constant[key].IsDefined();
}

YamlNode YamlNode::Get(const std::string& key) const
{
    if (!Has(key))
    {
        Fail("no key '" + key + "'", "one");
    }
    const YAML::Node& constant = m_node;
    return YamlNode(constant[key], m_source, m_path.empty() ? key : m_path + "." + key);
}

std::vector<YamlNode> YamlNode::GetEntries() const
{
    RequireSequence();
    std::vector<YamlNode> entries;
    for (size_t i = 0; i < m_node.size(); ++i)
    {
        const YAML::Node& constant = m_node;
        entries.push_back(YamlNode(constant[i], m_source, m_path + "[" + std::to_string(i) + "]"));
    }
    return entries;
}

std::vector<std::string> YamlNode::GetKeys() const
{
    RequireMap();
    std::vector<std::string> keys;
    for (const auto& entry : m_node)
    {
        keys.push_back(entry.first.Scalar());
    }
    return keys;
}

void YamlNode::RefuseUnknownKeys() const
{
    RequireMap();
    for (const auto& entry : m_node)
    {
        if (m_usage->known.count(entry.first.Scalar()) == 0)
        {
            std::string known;
            for (const auto& key : m_usage->known)
            {
                known += (known.empty() ? "" : ", ") + key;
            }
            const std::string name = entry.first.Scalar();
            const std::string path = m_path.empty() ? name : m_path + "." + name;
            throw InputError(m_source->IsSet(path)
                                 ? SourceLocation{"--set", 0, path}
                                 : SourceLocation{m_source->file, LineOf(entry.first), m_path},
                             "unknown key '" + name + "'",
                             "one of " + known);
        }
    }
}

std::string YamlNode::AsString() const
{
    if (!IsScalar())
    {
        Fail(KindOf(m_node), "a value");
    }
    return m_node.Scalar();
}

bool YamlNode::AsBool() const
{
    const std::string text = AsString();
    if (text == "true" || text == "on" || text == "yes")
    {
        return true;
    }
    if (text != "false" && text != "off" && text != "no")
    {
        Fail("'" + text + "'", "true or false");
    }
    return false;
}

int64_t YamlNode::AsInteger(int64_t minimum, int64_t maximum) const
{
    const std::string text = AsString();
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || value < minimum || value > maximum)
    {
        Fail("'" + text + "'",
             "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum));
    }
    return value;
}

double YamlNode::AsNumber(double minimum, double maximum) const
{
    const std::string text = AsString();
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(value >= minimum && value <= maximum))
    {
        std::ostringstream expected;
        expected << "a number from " << minimum << " to " << maximum;
        Fail("'" + text + "'", expected.str());
    }
    return value;
}

uint64_t YamlNode::AsBytes() const
{
    return Parse<uint64_t>(ParseBytes);
}

DataRate YamlNode::AsRate() const
{
    return Parse<DataRate>(ParseRate);
}

Time YamlNode::AsTime() const
{
    return Parse<Time>(ParseTime);
}

std::string YamlNode::GetString(const std::string& key, const std::string& fallback) const
{
    return Has(key) ? Get(key).AsString() : fallback;
}

bool YamlNode::GetBool(const std::string& key, bool fallback) const
{
    return Has(key) ? Get(key).AsBool() : fallback;
}

int64_t YamlNode::GetInteger(const std::string& key,
                             int64_t fallback,
                             int64_t minimum,
                             int64_t maximum) const
{
    return Has(key) ? Get(key).AsInteger(minimum, maximum) : fallback;
}

double YamlNode::GetNumber(const std::string& key,
                           double fallback,
                           double minimum,
                           double maximum) const
{
    return Has(key) ? Get(key).AsNumber(minimum, maximum) : fallback;
}

uint64_t YamlNode::GetBytes(const std::string& key, uint64_t fallback) const
{
    return Has(key) ? Get(key).AsBytes() : fallback;
}

DataRate YamlNode::GetRate(const std::string& key, DataRate fallback) const
{
    return Has(key) ? Get(key).AsRate() : fallback;
}

Time YamlNode::GetTime(const std::string& key, Time fallback) const
{
    return Has(key) ? Get(key).AsTime() : fallback;
}

void YamlNode::Set(const std::string& path, const std::string& value)
{
    RequireMap();
    YAML::Node parsed;
    try
    {
        parsed = YAML::Load(value);
    }
    catch (const YAML::Exception&)
    {
        throw InputError({"--set", 0, path}, "'" + value + "'", "a YAML value");
    }
    // yaml-cpp's assignment writes through: reset() rebinds instead.
    YAML::Node at = m_node;
    std::istringstream keys(path);
    std::vector<std::string> parts;
    for (std::string key; std::getline(keys, key, '.');)
    {
        parts.push_back(key);
    }
    if (parts.empty() || std::count(parts.begin(), parts.end(), "") > 0)
    {
        throw InputError({"--set", 0, ""}, "'" + path + "'", "path.to.key=value");
    }
    const auto unaliased = [&](const YAML::Node& node) {
        if (node.IsDefined() && CountPlaces(m_node, node) > 1)
        {
            YamlNode(node, m_source, path).Fail("what an alias names too", "a value of its own");
        }
        return node;
    };
    const auto child = [&](const std::string& part) {
        if (!at.IsSequence())
        {
            return unaliased(at[part]);
        }
        const bool isNumber = part.find_first_not_of("0123456789") == std::string::npos;
        const size_t number = isNumber && part.size() < 9 ? std::stoul(part) : at.size();
        if (number >= at.size())
        {
            throw InputError({"--set", 0, path},
                             "no entry '" + part + "' in a list of " + std::to_string(at.size()),
                             "a number from 0 on");
        }
        return unaliased(at[number]);
    };
    for (size_t i = 0; i + 1 < parts.size(); ++i)
    {
        YAML::Node next = child(parts[i]);
        if (next.IsDefined() && !next.IsNull() && !next.IsMap() && !next.IsSequence())
        {
            throw InputError({"--set", 0, path}, "no map at '" + parts[i] + "'", "one");
        }
        at.reset(next);
    }
    child(parts.back()) = parsed;
    m_source->sets.push_back(path);
}

std::string YamlNode::ResolvePath(const std::string& path) const
{
    const std::filesystem::path given(path);
    const auto folder = std::filesystem::path(m_source->file).parent_path();
    return given.is_absolute() ? path : (folder / given).lexically_normal().string();
}

} // namespace echo
} // namespace ns3
