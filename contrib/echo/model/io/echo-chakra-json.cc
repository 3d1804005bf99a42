// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-chakra-trace.h"
#include "echo-json-stream.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>

namespace ns3
{
namespace echo
{

namespace
{

using Attribute = ChakraTraceBuilder::Attribute;

/** What is known of a node before it goes to the builder: keys stand in any order. */
struct NodeText
{
    uint64_t id{0};
    std::string name;
    int64_t type{0};
    std::vector<uint64_t> controlDependencies;
    std::vector<uint64_t> dataDependencies;
    double microseconds{0};
    std::string inputValues;
    std::vector<Attribute> attributes;
};

int64_t TypeOf(json::value& value, const std::string& file)
{
    static const std::array<const char*, 8> names{"INVALID_NODE",
                                                  "METADATA_NODE",
                                                  "MEM_LOAD_NODE",
                                                  "MEM_STORE_NODE",
                                                  "COMP_NODE",
                                                  "COMM_SEND_NODE",
                                                  "COMM_RECV_NODE",
                                                  "COMM_COLL_NODE"};
    if (const auto number = IntegerOf(value))
    {
        return *number;
    }
    const std::string text = StringOf(value);
    for (size_t i = 0; i < names.size(); ++i)
    {
        if (text == names[i])
        {
            return static_cast<int64_t>(i);
        }
    }
    throw InputError({file, 0, "type"}, "'" + text + "'", "one of COMP_NODE, COMM_COLL_NODE, ...");
}

double NumberOf(json::value& value)
{
    const std::string token(TokenOf(value));
    char* end = nullptr;
    const double number = std::strtod(token.c_str(), &end);
    return token.empty() || *end != '\0' ? -1 : number;
}

bool IsType(json::value& value, json::json_type type)
{
    json::json_type found{};
    return value.type().get(found) == simdjson::SUCCESS && found == type;
}

/** @return an id: of protobuf's uint64, which whole numbers elsewhere need not fill */
std::optional<uint64_t> IdOf(json::value& value)
{
    const std::string token(TokenOf(value));
    const bool isDigits =
        !token.empty() && token.find_first_not_of("0123456789") == std::string::npos;
    if (!isDigits)
    {
        const auto number = IntegerOf(value); // "8.0"
        return number && *number >= 0 ? std::optional<uint64_t>(*number) : std::nullopt;
    }
    uint64_t id = 0;
    const auto end = std::from_chars(token.data(), token.data() + token.size(), id);
    return end.ec == std::errc() ? std::optional<uint64_t>(id) : std::nullopt;
}

/** @throws InputError if the value is no list of ids or ranks */
std::vector<uint64_t> ListOf(json::value& value, const SourceLocation& where)
{
    std::vector<uint64_t> numbers;
    bool isList = IsType(value, json::json_type::array);
    if (isList)
    {
        for (json::value entry : value.get_array())
        {
            const auto number = IdOf(entry);
            isList = isList && number;
            numbers.push_back(number.value_or(0));
        }
    }
    if (!isList)
    {
        throw InputError(where, "something else", "a list of whole numbers below 2^64");
    }
    return numbers;
}

void ReadValue(json::value& value, Attribute& attribute)
{
    if (IsType(value, json::json_type::boolean))
    {
        attribute.integer = bool(value.get_bool()) ? 1 : 0;
        attribute.number = static_cast<double>(*attribute.integer);
        return;
    }
    if (IsType(value, json::json_type::object)) // {"values": [true, ...]}
    {
        for (json::field field : value.get_object())
        {
            json::value list = field.value();
            if (!IsType(list, json::json_type::array))
            {
                continue;
            }
            for (json::value entry : list.get_array())
            {
                if (IsType(entry, json::json_type::boolean))
                {
                    attribute.booleans.push_back(entry.get_bool());
                }
            }
        }
        return;
    }
    attribute.integer = IntegerOf(value);
    const double number = NumberOf(value);
    if (attribute.integer || number != -1)
    {
        attribute.number = number;
    }
    attribute.text = StringOf(value);
}

Attribute ReadAttribute(json::object fields)
{
    Attribute attribute;
    for (json::field field : fields)
    {
        const std::string_view key = field.unescaped_key();
        json::value value = field.value();
        if (key == "name")
        {
            attribute.name = StringOf(value);
        }
        else if (key != "docString" && key != "doc_string")
        {
            ReadValue(value, attribute); // int64Val, boolVal, ...
        }
    }
    return attribute;
}

class ChakraJsonReader : public JsonStream::Visitor
{
  public:
    explicit ChakraJsonReader(const std::string& file) : m_file(file), m_builder(file)
    {
    }

    JsonStream::Treatment Choose(std::string_view key) override
    {
        return key == "workload_graph" ? JsonStream::Treatment::ELEMENTS
                                       : JsonStream::Treatment::SKIP;
    }

    void OnField(std::string_view /*key*/, json::value /*value*/) override
    {
    }

    void OnElements(std::string_view /*key*/, json::array elements) override
    {
        for (json::value element : elements)
        {
            AddNode(element.get_object());
        }
    }

    void OnObject(json::object object) override
    {
        if (m_isFirst)
        {
            m_isFirst = false;
            ReadMetadata(object);
            return;
        }
        AddNode(object);
    }

    ChakraTrace Build()
    {
        return m_builder.Build();
    }

  private:
    void ReadMetadata(json::object fields)
    {
        for (json::field field : fields)
        {
            const std::string_view key = field.unescaped_key();
            json::value value = field.value();
            if (key == "version")
            {
                m_builder.SetVersion(StringOf(value));
            }
        }
    }

    void AddNode(json::object fields);
    void ReadField(std::string_view key, json::value& value, NodeText& node) const;

    std::string m_file;
    ChakraTraceBuilder m_builder;
    bool m_isFirst{true};
};

void ChakraJsonReader::ReadField(std::string_view key, json::value& value, NodeText& node) const
{
    if (key == "id" || key == "Id")
    {
        const auto id = IdOf(value);
        if (!id)
        {
            throw InputError({m_file, 0, "id"},
                             std::string(TokenOf(value).substr(0, 40)),
                             "a whole number below 2^64");
        }
        node.id = *id;
    }
    else if (key == "name" || key == "Name")
    {
        node.name = StringOf(value);
    }
    else if (key == "type" || key == "NodeType" || key == "Type")
    {
        node.type = TypeOf(value, m_file);
    }
    else if (key == "ctrlDeps" || key == "ctrl_deps" || key == "dataDeps" || key == "data_deps")
    {
        const std::vector<uint64_t> ids =
            ListOf(value, {m_file, 0, std::string(key) + " of node " + std::to_string(node.id)});
        auto& known = key[0] == 'c' ? node.controlDependencies : node.dataDependencies;
        known.insert(known.end(), ids.begin(), ids.end());
    }
    else if (key == "durationMicros" || key == "duration_micros")
    {
        node.microseconds = NumberOf(value);
    }
    else if (key == "inputs" && IsType(value, json::json_type::object))
    {
        for (json::field field : value.get_object())
        {
            const std::string_view part = field.unescaped_key();
            json::value text = field.value();
            node.inputValues = part == "values" ? StringOf(text) : node.inputValues;
        }
    }
    else if (key == "attr" && IsType(value, json::json_type::array))
    {
        for (json::value entry : value.get_array())
        {
            node.attributes.push_back(ReadAttribute(entry.get_object()));
        }
    }
    else // the feeder's layout has attributes as keys of the node
    {
        Attribute attribute;
        attribute.name = key;
        ReadValue(value, attribute);
        node.attributes.push_back(std::move(attribute));
    }
}

void ChakraJsonReader::AddNode(json::object fields)
{
    NodeText node;
    for (json::field field : fields)
    {
        const std::string_view key = field.unescaped_key();
        json::value value = field.value();
        ReadField(key, value, node);
    }
    m_builder.BeginNode(node.id, node.name, node.type);
    for (uint64_t id : node.controlDependencies)
    {
        m_builder.AddDependency(id, true);
    }
    for (uint64_t id : node.dataDependencies)
    {
        m_builder.AddDependency(id, false);
    }
    m_builder.SetDuration(node.microseconds);
    m_builder.SetInputValues(node.inputValues);
    for (const auto& attribute : node.attributes)
    {
        m_builder.AddAttribute(attribute);
    }
    m_builder.EndNode();
}

/** Reads {"1": [0, 1], "2": [2, 3]}. */
class GroupReader : public JsonStream::Visitor
{
  public:
    explicit GroupReader(const std::string& file) : m_file(file)
    {
    }

    JsonStream::Treatment Choose(std::string_view key) override
    {
        if (key.empty())
        {
            throw InputError({m_file, 0, ""}, "a list", "process groups {\"name\": [ranks]}");
        }
        return JsonStream::Treatment::WHOLE;
    }

    void OnField(std::string_view key, json::value value) override
    {
        const std::string name(key);
        const std::vector<uint64_t> ranks = ListOf(value, {m_file, 0, "group '" + name + "'"});
        if (ranks.empty())
        {
            throw InputError({m_file, 0, "group '" + name + "'"}, "no ranks", "a list of ranks");
        }
        if (!groups.emplace(name, std::vector<uint32_t>()).second)
        {
            throw InputError({m_file, 0, "group '" + name + "'"}, "a second one", "one");
        }
        std::set<uint64_t> members;
        for (uint64_t rank : ranks)
        {
            if (rank >= (1u << 20) || !members.insert(rank).second)
            {
                throw InputError({m_file, 0, "group '" + name + "'"},
                                 "rank " + std::to_string(rank) +
                                     (rank >= (1u << 20) ? "" : " twice"),
                                 "each rank once, below 2^20");
            }
            groups[name].push_back(static_cast<uint32_t>(rank));
        }
    }

    void OnElements(std::string_view /*key*/, json::array /*elements*/) override
    {
    }

    void OnObject(json::object /*object*/) override
    {
    }

    std::map<std::string, std::vector<uint32_t>> groups;

  private:
    std::string m_file;
};

/** @return the first key of the file; empty if its first object is empty or it holds none */
std::string FirstKey(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    std::string head(1 << 12, '\0');
    head.resize(source->Read(head.data(), head.size()));
    size_t at = head.find('{');
    at = at == std::string::npos ? head.size() : at + 1;
    while (at < head.size() && std::isspace(static_cast<unsigned char>(head[at])))
    {
        ++at;
    }
    if (at >= head.size() || head[at] != '"')
    {
        return "";
    }
    return head.substr(at + 1, head.find('"', at + 1) - at - 1);
}

} // namespace

ChakraJson ReadChakraJson(const std::string& file)
{
    const std::string first = FirstKey(file);
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    JsonStream stream(*source, file);
    ChakraJson result;
    static const std::set<std::string> messageKeys{
        "", "version", "attr", "id", "name", "type", "ctrlDeps", "dataDeps"};
    if (first == "traceEvents" || first == "schema" || first == "schemaVersion" || first == "nodes")
    {
        throw InputError({file, 0, ""},
                         "a file of PyTorch (" + first + ")",
                         "a Chakra execution trace; --from=kineto reads files of PyTorch");
    }
    if (first == "workload_graph" || messageKeys.count(first) > 0)
    {
        ChakraJsonReader reader(file);
        if (first == "workload_graph")
        {
            stream.Read(reader);
        }
        else
        {
            stream.ReadSequence(reader);
        }
        result.trace = reader.Build();
        return result;
    }
    GroupReader reader(file);
    stream.Read(reader);
    result.groups = std::move(reader.groups);
    result.isGroups = true;
    return result;
}

} // namespace echo
} // namespace ns3
