// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-json-stream.h"
#include "echo-json-values.h"
#include "echo-tracer-graph.h"

#include <cmath>
#include <cstdlib>

namespace ns3
{
namespace echo
{

namespace
{

bool IsNull(json::value& value)
{
    json::json_type type{};
    return value.type().get(type) == simdjson::SUCCESS && type == json::json_type::null;
}

class TracerReader : public JsonStream::Visitor
{
  public:
    explicit TracerReader(const std::string& path) : m_path(path), m_read(path)
    {
    }

    JsonStream::Treatment Choose(std::string_view key) override
    {
        file.isGraph = key.empty();
        return key.empty() ? JsonStream::Treatment::ELEMENTS : JsonStream::Treatment::WHOLE;
    }

    void OnField(std::string_view key, json::value value) override;
    void OnElements(std::string_view key, json::array elements) override;

    void OnObject(json::object /*object*/) override
    {
    }

    TracerFile file;

  private:
    std::vector<TracerTensor> ReadTensors(const std::vector<std::vector<uint64_t>>& shapes,
                                          const std::vector<std::string>& types) const;
    void ReadNode(json::value& value);

    std::string m_path;
    JsonValues m_read;
};

void TracerReader::OnField(std::string_view key, json::value value)
{
    m_read.SetItem("operator '" + std::string(key) + "'");
    const std::string token(TokenOf(value));
    char* end = nullptr;
    const double milliseconds = std::strtod(token.c_str(), &end);
    if (token.empty() || *end != '\0' || !(milliseconds >= 0 && milliseconds < 86400e3))
    {
        m_read.Fail("'" + token.substr(0, 40) + "'",
                    "milliseconds; or a list of operators as the tracer writes graphs");
    }
    file.times[std::string(key)] =
        PicoSeconds(static_cast<int64_t>(std::llround(milliseconds * 1e9)));
}

std::vector<TracerTensor> TracerReader::ReadTensors(
    const std::vector<std::vector<uint64_t>>& shapes,
    const std::vector<std::string>& types) const
{
    if (shapes.size() != types.size())
    {
        m_read.Fail(std::to_string(shapes.size()) + " shapes and " + std::to_string(types.size()) +
                        " types",
                    "as many");
    }
    std::vector<TracerTensor> tensors;
    for (size_t i = 0; i < shapes.size(); ++i)
    {
        tensors.push_back({shapes[i], types[i]});
    }
    return tensors;
}

void TracerReader::ReadNode(json::value& value)
{
    TracerNode node;
    std::vector<std::vector<uint64_t>> inputShapes;
    std::vector<std::vector<uint64_t>> outputShapes;
    std::vector<std::string> inputTypes;
    std::vector<std::string> outputTypes;
    auto texts = [this](json::value& list) {
        std::vector<std::string> result;
        m_read.ForEach(list, [&](json::value& entry) {
            result.push_back(IsNull(entry) ? ""
                                           : m_read.Text(entry)); // gradients that are not asked
        });
        return result;
    };
    auto shapes = [this](json::value& list) {
        std::vector<std::vector<uint64_t>> result;
        m_read.ForEach(list, [&](json::value& entry) {
            result.push_back(IsNull(entry) ? std::vector<uint64_t>() : m_read.Numbers(entry));
        });
        return result;
    };
    m_read.SetItem("operator " + std::to_string(file.nodes.size()));
    m_read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "name")
        {
            node.name = m_read.Text(entry);
            m_read.SetItem("operator " + std::to_string(file.nodes.size()) + " '" + node.name +
                           "'");
        }
        else if (key == "op")
        {
            node.op = m_read.Text(entry);
        }
        else if (key == "input_nodes")
        {
            node.after = texts(entry);
        }
        else if (key == "input_types" || key == "output_types")
        {
            (key == "input_types" ? inputTypes : outputTypes) = texts(entry);
        }
        else if (key == "input_shapes" || key == "output_shapes")
        {
            (key == "input_shapes" ? inputShapes : outputShapes) = shapes(entry);
        }
        else if (key == "weight_shape")
        {
            node.weight.shape = m_read.Numbers(entry);
        }
        else if (key == "weight_type")
        {
            node.weight.type = m_read.Text(entry);
        }
        else if (key == "attrs")
        {
            m_read.ForEachField(entry, [&](std::string_view attribute, json::value& number) {
                if (attribute == "bucket_size")
                {
                    node.bucketElements = m_read.Number(number, uint64_t(1) << 50);
                }
            });
        }
    });
    if (node.name.empty() || node.op.empty())
    {
        m_read.Fail("no name or op", "both");
    }
    node.inputs = ReadTensors(inputShapes, inputTypes);
    node.outputs = ReadTensors(outputShapes, outputTypes);
    file.nodes.push_back(std::move(node));
}

void TracerReader::OnElements(std::string_view /*key*/, json::array elements)
{
    for (json::value element : elements)
    {
        ReadNode(element);
    }
}

} // namespace

TracerFile ReadTracerFile(const std::string& file)
{
    const std::unique_ptr<ByteSource> source = OpenInputFile(file);
    TracerReader reader(file);
    JsonStream(*source, file).Read(reader);
    if (reader.file.nodes.empty() && reader.file.times.empty())
    {
        throw InputError({file, 0, ""}, "no operators", "a graph or a profile of the tracer");
    }
    return std::move(reader.file);
}

} // namespace echo
} // namespace ns3
