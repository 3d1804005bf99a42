// SPDX-License-Identifier: GPL-2.0-only
// Compiled where simdjson is there; else echo-trace-readers-missing.cc.
#include "echo-program-file.h"

#include "echo-input-file.h"
#include "echo-json-values.h"
#include "echo-workload-keys.h"

#include "ns3/echo-collective-selector.h"
#include "ns3/echo-workload-builder.h"

namespace ns3
{
namespace echo
{

namespace
{

struct FileOperator
{
    std::string kind;
    OperatorPart part{OperatorPart::NONE};
    uint8_t chunk{0};
    uint32_t stream{0};
    std::string name;
    Time duration;
    uint32_t communication{std::numeric_limits<uint32_t>::max()};
    double flops{0};
    double memoryBytes{0};
    bool hasCounters{false};
    KernelCounters counters;
    uint32_t line{0};
    std::vector<uint64_t> after;
};

class ProgramFile
{
  public:
    explicit ProgramFile(const std::string& path) : m_path(path), m_read(path)
    {
    }

    ExecutionGraphPtr Read();

  private:
    void ReadField(std::string_view key, json::value& value);
    CommunicationDescription ReadCommunication(json::value& value) const;
    CommunicationDescription::Element ReadMessage(json::value& value) const;
    FileOperator ReadOperator(json::value& value) const;
    KernelCounters ReadCounters(json::value& value) const;
    OperatorId Add(ExecutionGraphBuilder& builder, const FileOperator& op, StreamId stream) const;

    std::string m_path;
    JsonValues m_read;
    uint64_t m_version{0};
    std::string m_source;
    uint64_t m_slots{0};
    std::vector<std::string> m_streams;
    std::vector<CommunicationDescription> m_communications;
    std::vector<FileOperator> m_operators;
};

CommunicationDescription::Element ProgramFile::ReadMessage(json::value& value) const
{
    CommunicationDescription::Element element;
    m_read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "to" || key == "from")
        {
            element.isSend = key == "to";
            element.peerIndex = m_read.Index(entry);
        }
        else if (key == "bytes")
        {
            element.bytes = m_read.Number(entry);
        }
        else if (key == "tag")
        {
            element.tag = static_cast<int32_t>(IntegerOf(entry).value_or(0));
        }
        else
        {
            m_read.FailKey(key);
        }
    });
    return element;
}

CommunicationDescription ProgramFile::ReadCommunication(json::value& value) const
{
    CommunicationDescription communication;
    CollectiveSpec& spec = communication.spec;
    m_read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "group")
        {
            communication.groupSlot = m_read.Index(entry);
        }
        else if (key == "messages")
        {
            m_read.ForEach(entry, [&](json::value& message) {
                communication.elements.push_back(ReadMessage(message));
            });
        }
        else if (key == "op")
        {
            spec.kind = m_read.Word(entry, ParseCollectiveKind);
        }
        else if (key == "bytes")
        {
            spec.bytes = m_read.Number(entry);
        }
        else if (key == "type")
        {
            spec.dataType = m_read.Word(entry, ParseDataType);
        }
        else if (key == "root")
        {
            spec.root = m_read.Index(entry);
        }
        else if (key == "send" || key == "receive")
        {
            (key == "send" ? spec.sendBytes : spec.receiveBytes) = m_read.Numbers(entry);
        }
        else if (key == "algorithm")
        {
            spec.algorithm = m_read.Word(entry, ParseCollectiveAlgorithm);
        }
        else if (key == "protocol")
        {
            spec.protocol = m_read.Word(entry, ParseCollectiveProtocol);
        }
        else if (key == "channels")
        {
            spec.channels = m_read.Index(entry);
        }
        else
        {
            m_read.FailKey(key);
        }
    });
    if (!CanCarryOut(spec.algorithm, spec.kind))
    {
        m_read.Fail("'" + std::string(ToString(spec.algorithm)) + "' for " + ToString(spec.kind),
                    AlgorithmsOf(spec.kind));
    }
    return communication;
}

KernelCounters ProgramFile::ReadCounters(json::value& value) const
{
    KernelCounters counters;
    m_read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        for (const auto& field : GetKernelCounterFields())
        {
            if (key == field.name)
            {
                const double number = m_read.Real(entry);
                if (number > field.maximum)
                {
                    m_read.Fail(std::string(key) + " of " + std::to_string(number),
                                "at most " + std::to_string(field.maximum));
                }
                counters.*field.value = number;
                return;
            }
        }
        m_read.FailKey(key);
    });
    return counters;
}

FileOperator ProgramFile::ReadOperator(json::value& value) const
{
    FileOperator op;
    m_read.ForEachField(value, [&](std::string_view key, json::value& entry) {
        if (key == "kind")
        {
            op.kind = m_read.Text(entry);
        }
        else if (key == "stream")
        {
            op.stream = m_read.Index(entry);
        }
        else if (key == "name")
        {
            op.name = m_read.Text(entry);
        }
        else if (key == "us")
        {
            op.duration = m_read.Microseconds(entry);
        }
        else if (key == "communication")
        {
            op.communication = m_read.Index(entry);
        }
        else if (key == "flops")
        {
            op.flops = m_read.Real(entry);
        }
        else if (key == "memory_bytes")
        {
            op.memoryBytes = m_read.Real(entry);
        }
        else if (key == "part")
        {
            op.part = m_read.Word(entry, ParseOperatorPart);
        }
        else if (key == "chunk")
        {
            const uint64_t chunk = m_read.Number(entry);
            if (chunk > std::numeric_limits<uint8_t>::max())
            {
                m_read.Fail("chunk " + std::to_string(chunk), "0 to 255");
            }
            op.chunk = static_cast<uint8_t>(chunk);
        }
        else if (key == "counters")
        {
            op.counters = ReadCounters(entry);
            op.hasCounters = true;
        }
        else if (key == "line")
        {
            op.line = m_read.Index(entry);
        }
        else if (key == "after")
        {
            op.after = m_read.Numbers(entry);
        }
        else
        {
            m_read.FailKey(key);
        }
    });
    return op;
}

void ProgramFile::ReadField(std::string_view key, json::value& value)
{
    if (key == "echo_program")
    {
        m_version = m_read.Number(value);
    }
    else if (key == "source")
    {
        m_source = m_read.Text(value);
    }
    else if (key == "group_slots")
    {
        m_slots = m_read.Number(value, 1u << 20);
    }
    else if (key == "streams")
    {
        m_read.ForEach(value, [&](json::value& entry) { m_streams.push_back(m_read.Text(entry)); });
    }
    else if (key == "communications")
    {
        m_read.ForEach(value, [&](json::value& entry) {
            m_read.SetItem("communication " + std::to_string(m_communications.size()));
            m_communications.push_back(ReadCommunication(entry));
        });
    }
    else if (key == "operators")
    {
        m_read.ForEach(value, [&](json::value& entry) {
            m_read.SetItem("operator " + std::to_string(m_operators.size()));
            m_operators.push_back(ReadOperator(entry));
        });
    }
    else
    {
        m_read.FailKey(key);
    }
    m_read.SetItem("");
}

OperatorId ProgramFile::Add(ExecutionGraphBuilder& builder,
                            const FileOperator& op,
                            StreamId stream) const
{
    if (op.kind == "compute")
    {
        const OperatorId id =
            builder.AddCompute(stream, op.name, op.duration, op.flops, op.memoryBytes);
        builder.SetKernel(id, ClassifyKernel(op.name), DataType::FP32);
        if (op.hasCounters)
        {
            builder.SetCounters(id, op.counters);
        }
        return id;
    }
    if (op.kind == "copy")
    {
        return builder.AddCopy(stream, op.name, op.duration, op.memoryBytes);
    }
    if (op.kind == "host")
    {
        return builder.AddHost(stream, op.name, op.duration);
    }
    if (op.kind == "marker")
    {
        return builder.AddMarker(stream, op.name);
    }
    if (op.kind != "collective" && op.kind != "point-to-point")
    {
        m_read.Fail("kind '" + op.kind + "'",
                    "compute, copy, host, marker, collective or point-to-point");
    }
    if (op.communication >= m_communications.size())
    {
        m_read.Fail("no such communication", "one of " + std::to_string(m_communications.size()));
    }
    const CommunicationDescription& communication = m_communications[op.communication];
    if ((op.kind == "collective") == communication.elements.empty())
    {
        return op.kind == "collective"
                   ? builder.AddCollective(
                         stream, op.name, communication.groupSlot, communication.spec)
                   : builder.AddPointToPoint(
                         stream, op.name, communication.groupSlot, communication.elements);
    }
    m_read.Fail("a " + op.kind + " whose communication is of the other kind", "one of its kind");
}

ExecutionGraphPtr ProgramFile::Read()
{
    ScanJson(ReadInputFile(m_path), m_path, [this](json::document& document) {
        json::value root = document.get_value();
        m_read.ForEachField(
            root, [this](std::string_view key, json::value& value) { ReadField(key, value); });
    });
    if (m_version != 1)
    {
        m_read.Fail("echo_program " + std::to_string(m_version), "1");
    }
    ExecutionGraphBuilder builder(m_source);
    std::vector<StreamId> streams;
    for (const auto& name : m_streams)
    {
        streams.push_back(builder.GetStream(name));
    }
    for (uint64_t i = 0; i < m_slots; ++i)
    {
        builder.AddGroupSlot();
    }
    std::vector<OperatorId> ids;
    for (const FileOperator& op : m_operators)
    {
        m_read.SetItem("operator " + std::to_string(ids.size()));
        if (op.stream >= streams.size())
        {
            m_read.Fail("stream " + std::to_string(op.stream),
                        "one of " + std::to_string(streams.size()));
        }
        ids.push_back(Add(builder, op, streams[op.stream]));
        builder.SetLine(ids.back(), op.line);
        builder.SetPart(ids.back(), op.part, op.chunk);
    }
    for (size_t i = 0; i < ids.size(); ++i)
    {
        for (uint64_t after : m_operators[i].after)
        {
            if (after >= ids.size())
            {
                m_read.SetItem("operator " + std::to_string(i));
                m_read.Fail("a dependency on operator " + std::to_string(after),
                            "one of " + std::to_string(ids.size()));
            }
            builder.AddDependency(ids[i], ids[after]);
        }
    }
    return builder.Build();
}

} // namespace

ExecutionGraphPtr ReadProgramFile(const std::string& path)
{
    return ProgramFile(path).Read();
}

} // namespace echo
} // namespace ns3
