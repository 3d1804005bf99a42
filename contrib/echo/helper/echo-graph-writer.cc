// SPDX-License-Identifier: GPL-2.0-only
#include "echo-graph-writer.h"

#include "ns3/echo-json-writer.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

namespace
{

const char* NameOf(OperatorType type)
{
    switch (type)
    {
    case OperatorType::COMPUTE:
        return "compute";
    case OperatorType::COPY:
        return "copy";
    case OperatorType::HOST:
        return "host";
    case OperatorType::COLLECTIVE:
        return "collective";
    case OperatorType::POINT_TO_POINT:
        return "point-to-point";
    case OperatorType::MARKER:
        return "marker";
    }
    return "";
}

template <typename List, typename Write>
void WriteList(JsonWriter& json, const char* key, const List& list, Write write)
{
    json.Key(key).BeginArray();
    for (const auto& entry : list)
    {
        write(entry);
    }
    json.EndArray();
}

void WriteNumbers(JsonWriter& json, const char* key, const std::vector<uint64_t>& numbers)
{
    if (!numbers.empty())
    {
        WriteList(json, key, numbers, [&json](uint64_t number) { json.Value(number); });
    }
}

/** Values that are as they are by default are left out. */
void WriteCommunication(JsonWriter& json, const CommunicationDescription& communication)
{
    json.BeginObject().Member("group", communication.groupSlot);
    if (!communication.elements.empty())
    {
        WriteList(json, "messages", communication.elements, [&json](const auto& element) {
            json.BeginObject();
            json.Member(element.isSend ? "to" : "from", element.peerIndex);
            json.Member("bytes", element.bytes);
            if (element.tag != 0)
            {
                json.Member("tag", element.tag);
            }
            json.EndObject();
        });
        json.EndObject();
        return;
    }
    const CollectiveSpec& spec = communication.spec;
    json.Member("op", ToString(spec.kind)).Member("bytes", spec.bytes);
    json.Member("type", ToString(spec.dataType));
    if (spec.root != 0)
    {
        json.Member("root", spec.root);
    }
    WriteNumbers(json, "send", spec.sendBytes);
    WriteNumbers(json, "receive", spec.receiveBytes);
    if (spec.algorithm != CollectiveAlgorithmKind::AUTO)
    {
        json.Member("algorithm", ToString(spec.algorithm));
    }
    if (spec.protocol != CollectiveProtocol::AUTO)
    {
        json.Member("protocol", ToString(spec.protocol));
    }
    if (spec.channels != 0)
    {
        json.Member("channels", spec.channels);
    }
    json.EndObject();
}

void WriteOperator(JsonWriter& json, const ExecutionGraph& program, const Operator& op)
{
    json.BeginObject().Member("kind", NameOf(op.type)).Member("stream", op.stream.Get());
    json.Member("name", program.GetName(op));
    switch (op.type)
    {
    case OperatorType::COLLECTIVE:
    case OperatorType::POINT_TO_POINT:
        json.Member("communication", op.communication);
        break;
    case OperatorType::MARKER:
        break;
    default:
        json.Member("us", op.duration);
        break;
    }
    if (op.flops > 0)
    {
        json.Member("flops", op.flops);
    }
    if (op.memoryBytes > 0)
    {
        json.Member("memory_bytes", op.memoryBytes);
    }
    if (const KernelCounters* counters = program.GetCounters(op))
    {
        json.Key("counters").BeginObject();
        for (const auto& field : GetKernelCounterFields())
        {
            if (!std::isnan(counters->*field.value))
            {
                json.Member(field.name, counters->*field.value);
            }
        }
        json.EndObject();
    }
    if (op.part != OperatorPart::NONE)
    {
        json.Member("part", ToString(op.part));
    }
    if (op.chunk > 0)
    {
        json.Member("chunk", uint32_t(op.chunk));
    }
    if (op.line > 0)
    {
        json.Member("line", op.line);
    }
    if (op.dependencyCount > 0)
    {
        json.Key("after").BeginArray();
        for (uint32_t i = 0; i < op.dependencyCount; ++i)
        {
            json.Value(program.GetDependencies(op)[i].Get());
        }
        json.EndArray();
    }
    json.EndObject();
}

void WriteProgram(const ExecutionGraph& program, OutputFile& file)
{
    JsonWriter json(file);
    json.BeginObject().Member("echo_program", 1).Member("source", program.GetSource());
    json.Member("group_slots", program.GetGroupSlotCount());
    json.Key("streams").BeginArray();
    for (uint32_t i = 0; i < program.GetStreamCount(); ++i)
    {
        json.Value(program.GetStreamName(StreamId(i)));
    }
    json.EndArray();
    WriteList(json, "communications", program.GetCommunications(), [&json](const auto& entry) {
        WriteCommunication(json, entry);
    });
    WriteList(json, "operators", program.GetOperators(), [&json, &program](const Operator& op) {
        WriteOperator(json, program, op);
    });
    json.EndObject();
    json.Flush();
}

} // namespace

void WriteExecutionGraphs(const WorkloadGraph& workload, OutputFolder& folder)
{
    std::vector<ExecutionGraphPtr> programs;           // in order of the first rank that has them
    std::map<const ExecutionGraph*, uint32_t> indexOf; // looked up only
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        const ExecutionGraphPtr& program = workload.GetProgram(RankId(rank));
        if (indexOf.emplace(program.get(), programs.size()).second)
        {
            programs.push_back(program);
        }
    }
    auto fileOf = [](uint32_t index) { return "program-" + std::to_string(index) + ".json"; };
    for (uint32_t i = 0; i < programs.size(); ++i)
    {
        WriteProgram(*programs[i], folder.Create(fileOf(i)));
    }
    JsonWriter json(folder.Create("workload.json"));
    json.BeginObject().Member("echo_graph", 1);
    WriteList(json, "groups", workload.GetGroups(), [&json](const CommGroupPtr& group) {
        json.BeginObject().Member("kind", ToString(group->GetKind()));
        json.Member("name", group->GetName());
        WriteList(
            json, "ranks", group->GetRanks(), [&json](RankId rank) { json.Value(rank.Get()); });
        json.EndObject();
    });
    json.Key("ranks").BeginArray();
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        const ExecutionGraphPtr& program = workload.GetProgram(RankId(rank));
        json.BeginObject().Member("program", fileOf(indexOf.at(program.get())));
        json.Member("start_us", workload.GetStartTime(RankId(rank)));
        json.Key("groups").BeginArray();
        for (uint32_t slot = 0; slot < program->GetGroupSlotCount(); ++slot)
        {
            json.Value(workload.GetGroup(RankId(rank), slot)->GetId().Get());
        }
        json.EndArray().EndObject();
    }
    json.EndArray().EndObject();
    json.Flush();
}

} // namespace echo
} // namespace ns3
