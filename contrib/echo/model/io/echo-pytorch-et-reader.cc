// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-pytorch-et-reader.h"

#include "echo-json-scan.h"
#include "echo-json-stream.h"
#include "echo-kineto-trace.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** One node while it is read; layouts differ in where its parts stand. */
struct Node
{
    int64_t id{-1};
    std::string name;
    int64_t functionId{-1};
    CommunicationRecord record;
    bool hasElements{false}; //!< attrs gave the elements
    int64_t shapeElements{-1};
    int64_t outputElements{-1};
    std::string shapeType;
    std::string text; //!< first input if it is text (process_group:init)
};

bool IsType(json::value& value, json::json_type type)
{
    json::json_type found{};
    return value.type().get(found) == simdjson::SUCCESS && found == type;
}

/** Reads the values of the inputs of record_param_comms: position counts from the name. */
void ReadInputValues(json::array values, CommunicationRecord& record, std::string& firstText)
{
    std::vector<int64_t> before; // whole numbers before the name
    size_t after = 0;            // entries after the name
    size_t position = 0;
    std::vector<int64_t> tail;
    std::string group;
    for (json::value value : values)
    {
        const bool isText = IsType(value, json::json_type::string);
        if (isText && position == 0)
        {
            firstText = StringOf(value);
        }
        else if (record.name.empty() && isText)
        {
            record.name = StringOf(value);
        }
        else if (record.name.empty() && IsType(value, json::json_type::array))
        {
            // Tensors, or ["group", "description"].
            for (json::value part : value.get_array())
            {
                if (IsType(part, json::json_type::string) && group.empty() && position > 0)
                {
                    group = StringOf(part);
                }
            }
        }
        else if (record.name.empty())
        {
            before.push_back(IntegerOf(value).value_or(-1));
        }
        else
        {
            ++after;
            if (after <= 2)
            {
                (after == 1 ? record.inSplits : record.outSplits) = NumbersOf(value);
            }
            else
            {
                tail.push_back(IntegerOf(value).value_or(-1));
            }
        }
        ++position;
    }
    if (!before.empty())
    {
        record.sequence = before.front();
        record.root = before.back();
        record.peer = before.back();
        record.isPeerGlobal = false;
    }
    // Before names: sequence, group id, rank; with names the group is a pair of texts.
    record.groupName = group.empty() && before.size() >= 3 ? std::to_string(before[1]) : group;
    if (!tail.empty())
    {
        record.groupSize = tail.back();
    }
    if (tail.size() >= 3)
    {
        record.rankStart = tail[0];
        record.rankStride = tail[1];
    }
}

/** @return elements of the first entry of a list of shapes */
int64_t FirstElements(json::value& shapes)
{
    int64_t elements = -1;
    bool isFirst = true;
    if (IsType(shapes, json::json_type::array))
    {
        for (json::value shape : shapes.get_array())
        {
            elements = isFirst ? ElementsOf(shape) : elements;
            isFirst = false;
        }
    }
    return elements;
}

std::string FirstText(json::value& list)
{
    std::string text;
    bool isFirst = true;
    if (IsType(list, json::json_type::array))
    {
        for (json::value entry : list.get_array())
        {
            text = isFirst ? StringOf(entry) : text;
            isFirst = false;
        }
    }
    return text;
}

/** "inputs" is a list (schema 1.0.1) or holds values, shapes, types (Chakra schemas). */
void ReadInputs(json::value& value, Node& node)
{
    if (IsType(value, json::json_type::array))
    {
        ReadInputValues(value.get_array(), node.record, node.text);
        return;
    }
    for (json::field field : value.get_object())
    {
        const std::string_view key = field.unescaped_key();
        json::value part = field.value();
        if (key == "values" && IsType(part, json::json_type::array))
        {
            ReadInputValues(part.get_array(), node.record, node.text);
        }
        else if (key == "shapes")
        {
            node.shapeElements = FirstElements(part);
        }
        else if (key == "types")
        {
            node.shapeType = FirstText(part);
        }
    }
}

void ReadAttribute(const std::string& name, json::value& value, Node& node)
{
    CommunicationRecord& record = node.record;
    auto integer = [&value] { return IntegerOf(value).value_or(-1); };
    if (name == "rf_id")
    {
        node.functionId = integer();
    }
    else if (name == "collective_name")
    {
        record.name = StringOf(value);
    }
    else if (name == "dtype")
    {
        record.dataType = StringOf(value);
    }
    else if (name == "in_msg_nelems")
    {
        record.inElements = integer();
        node.hasElements = true;
    }
    else if (name == "out_msg_nelems")
    {
        record.outElements = integer();
    }
    else if (name == "in_split_size")
    {
        record.inSplits = NumbersOf(value);
    }
    else if (name == "out_split_size")
    {
        record.outSplits = NumbersOf(value);
    }
    else if (name == "global_rank_start")
    {
        record.rankStart = integer();
    }
    else if (name == "global_rank_stride")
    {
        record.rankStride = integer();
    }
    else if (name == "pg_name")
    {
        record.groupName = TokenOf(value);
    }
    else if (name == "pg_size")
    {
        record.groupSize = integer();
    }
}

void ReadAttributes(json::array attributes, Node& node)
{
    for (json::value attribute : attributes)
    {
        json::object fields = attribute.get_object();
        json::value value;
        if (!FindMember(fields, "name", value))
        {
            continue;
        }
        const std::string name = StringOf(value);
        if (FindMember(fields, "value", value))
        {
            ReadAttribute(name, value, node);
        }
    }
}

/** "GenericList[Tensor(float)]" -> "float" */
std::string ElementType(const std::string& type)
{
    const std::string tensor = "Tensor(";
    const size_t from = type.find(tensor);
    if (from == std::string::npos)
    {
        return "";
    }
    const size_t begin = from + tensor.size();
    return type.substr(begin, type.find(')', begin) - begin);
}

Node ReadNode(json::object fields)
{
    Node node;
    for (json::field field : fields)
    {
        const std::string_view key = field.unescaped_key();
        json::value value = field.value();
        if (key == "id")
        {
            node.id = IntegerOf(value).value_or(-1);
        }
        else if (key == "name")
        {
            node.name = StringOf(value);
        }
        else if (key == "rf_id")
        {
            node.functionId = IntegerOf(value).value_or(-1);
        }
        else if (key == "inputs")
        {
            ReadInputs(value, node);
        }
        else if (key == "input_shapes")
        {
            node.shapeElements = FirstElements(value);
        }
        else if (key == "input_types")
        {
            node.shapeType = FirstText(value);
        }
        else if (key == "output_shapes")
        {
            node.outputElements = FirstElements(value);
        }
        else if (key == "outputs" && IsType(value, json::json_type::object))
        {
            for (json::field part : value.get_object())
            {
                const std::string_view partKey = part.unescaped_key();
                json::value shapes = part.value();
                node.outputElements =
                    partKey == "shapes" ? FirstElements(shapes) : node.outputElements;
            }
        }
        else if (key == "attrs" && IsType(value, json::json_type::array))
        {
            ReadAttributes(value.get_array(), node);
        }
    }
    return node;
}

/** The text of process_group:init is JSON of its own: [{"pg_name": "0", "ranks": [], ...}]. */
void ReadGroups(const std::string& text, ExecutionTrace& trace)
{
    ScanJson(text, trace.file, [&trace](json::document& document) {
        for (json::value entry : document.get_array())
        {
            std::string name;
            std::string id;
            std::vector<uint32_t> ranks;
            int64_t size = -1;
            for (json::field field : entry.get_object())
            {
                const std::string_view key = field.unescaped_key();
                json::value value = field.value();
                if (key == "pg_name")
                {
                    name = TokenOf(value);
                }
                else if (key == "backend_id")
                {
                    id = TokenOf(value);
                }
                else if (key == "ranks")
                {
                    ranks = ToRanks(NumbersOf(value));
                }
                else if (key == "group_size")
                {
                    size = IntegerOf(value).value_or(-1);
                }
            }
            // Records name the group by name, or by id before schema 1.1.
            for (const auto& key : {name, id})
            {
                if (!key.empty())
                {
                    trace.groups[key] = ranks;
                    trace.groupSizes[key] = size;
                }
            }
        }
    });
}

void AddNode(Node node, ExecutionTrace& trace)
{
    if (node.name == "## process_group:init ##" && !node.text.empty())
    {
        ReadGroups(node.text, trace);
        return;
    }
    if (node.name != "record_param_comms")
    {
        return;
    }
    CommunicationRecord& record = node.record;
    record.source = RecordSource::EXECUTION_TRACE;
    record.functionId = node.functionId;
    record.line = static_cast<uint32_t>(std::max<int64_t>(node.id, 0));
    if (!node.hasElements && !record.IsWait())
    {
        record.inElements = node.shapeElements;
        record.outElements = node.outputElements;
        record.dataType = ElementType(node.shapeType);
    }
    trace.communications.push_back(std::move(record));
}

class ExecutionTraceReader : public JsonStream::Visitor
{
  public:
    explicit ExecutionTraceReader(const std::string& file)
    {
        trace.file = file;
    }

    JsonStream::Treatment Choose(std::string_view key) override
    {
        hasNodes = hasNodes || key == "nodes";
        return key == "nodes"                    ? JsonStream::Treatment::ELEMENTS
               : key == "schema" || key == "pid" ? JsonStream::Treatment::WHOLE
                                                 : JsonStream::Treatment::SKIP;
    }

    void OnField(std::string_view key, json::value value) override
    {
        if (key == "schema")
        {
            trace.schema = StringOf(value);
        }
        else if (key == "pid")
        {
            trace.pid = IntegerOf(value).value_or(-1);
        }
    }

    void OnElements(std::string_view /*key*/, json::array nodes) override
    {
        for (json::value node : nodes)
        {
            AddNode(ReadNode(node.get_object()), trace);
        }
    }

    void OnObject(json::object /*object*/) override
    {
    }

    ExecutionTrace trace;
    bool hasNodes{false}; //!< "nodes" was there
};

} // namespace

ExecutionTrace ReadExecutionTrace(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    ExecutionTraceReader reader(file);
    JsonStream(*source, file).Read(reader);
    if (!reader.hasNodes)
    {
        throw InputError({file, 0, ""}, "JSON without 'nodes'", "a PyTorch execution trace");
    }
    ExecutionTrace& trace = reader.trace;
    std::stable_sort(trace.communications.begin(),
                     trace.communications.end(),
                     [](const auto& a, const auto& b) { return a.functionId < b.functionId; });
    return std::move(trace);
}

} // namespace echo
} // namespace ns3
