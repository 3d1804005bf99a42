// SPDX-License-Identifier: GPL-2.0-only
#include "echo-program-parser.h"

#include "echo-workload-keys.h"

#include <limits>
#include <numeric>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

constexpr int64_t MAX_REPEAT = 1000000;

KernelCounters ReadCounters(const YamlNode& node)
{
    KernelCounters counters;
    node.RequireMap();
    for (const auto& field : GetKernelCounterFields())
    {
        if (node.Has(field.name))
        {
            counters.*field.value = node.Get(field.name).AsNumber(0, field.maximum);
        }
    }
    node.RefuseUnknownKeys();
    return counters;
}

void ReadTimed(const YamlNode& node, const std::string& type, ParsedOperator& op)
{
    op.name = type;
    op.duration = node.Get(type).AsTime();
    if (type == "host")
    {
        op.type = OperatorType::HOST;
        return;
    }
    op.type = type == "copy" ? OperatorType::COPY : OperatorType::COMPUTE;
    op.memoryBytes = static_cast<double>(node.GetBytes("memory", 0));
    if (type == "compute")
    {
        op.flops = node.GetNumber("flops", 0, 0, 1e30);
        op.hasCounters = node.Has("counters");
        if (op.hasCounters)
        {
            op.counters = ReadCounters(node.Get("counters"));
        }
    }
}

ParsedMessage ReadMessage(const YamlNode& node)
{
    if (node.Has("send") == node.Has("receive"))
    {
        node.Fail(node.Has("send") ? "both 'send' and 'receive'" : "neither 'send' nor 'receive'",
                  "one of them");
    }
    ParsedMessage message{node};
    message.isSend = node.Has("send");
    message.bytes = node.Get(message.isSend ? "send" : "receive").AsBytes();
    const YamlNode peer = node.Get(message.isSend ? "to" : "from");
    const std::string text = peer.AsString();
    message.isRelative = !text.empty() && (text[0] == '+' || text[0] == '-');
    message.peer = peer.AsInteger(message.isRelative ? -std::numeric_limits<int32_t>::max() : 0,
                                  std::numeric_limits<int32_t>::max());
    message.tag =
        static_cast<int32_t>(node.GetInteger("tag", 0, 0, std::numeric_limits<int32_t>::max()));
    return message;
}

} // namespace

ProgramParser::ProgramParser(std::set<std::string> groups) : m_groups(std::move(groups))
{
}

ParsedProgram ProgramParser::Read(const YamlNode& streams)
{
    m_program = ParsedProgram();
    for (const auto& name : streams.GetKeys())
    {
        for (const auto& node : streams.Get(name).GetEntries())
        {
            ReadOperator(node, name);
        }
    }
    return std::move(m_program);
}

void ProgramParser::ReadOperator(const YamlNode& node, const std::string& stream)
{
    static const std::vector<std::string> TYPES{
        "compute", "copy", "host", "collective", "send", "receive", "batch", "marker"};
    node.RequireMap();
    std::string type;
    std::string expected;
    for (const auto& candidate : TYPES)
    {
        expected += (expected.empty() ? "" : ", ") + candidate;
        if (node.Has(candidate))
        {
            if (!type.empty())
            {
                node.Fail("both '" + type + "' and '" + candidate + "'", "one of them");
            }
            type = candidate;
        }
    }
    if (type.empty())
    {
        node.Fail("an operator of no kind", "a key of " + expected);
    }
    ParsedOperator op{node};
    op.stream = stream;
    op.repeat = static_cast<uint32_t>(node.GetInteger("repeat", 1, 1, MAX_REPEAT));
    if (type == "marker")
    {
        op.name = node.Get(type).AsString();
    }
    else if (type == "collective")
    {
        ReadCollective(node, op);
    }
    else if (type == "compute" || type == "copy" || type == "host")
    {
        ReadTimed(node, type, op);
    }
    else
    {
        ReadMessages(node, type, op);
    }
    op.name = type == "marker" ? op.name : node.GetString("name", op.name);
    if (node.Has("after"))
    {
        const YamlNode after = node.Get("after");
        op.after = after.IsScalar() ? std::vector<YamlNode>{after} : after.GetEntries();
    }
    node.RefuseUnknownKeys();
    m_program.operators.push_back(std::move(op));
}

void ProgramParser::ReadCollective(const YamlNode& node, ParsedOperator& op)
{
    op.type = OperatorType::COLLECTIVE;
    const auto kind = node.Get("collective").Parse<CollectiveKind>(ParseCollectiveKind);
    if (kind == CollectiveKind::SEND_RECV)
    {
        node.Get("collective").Fail("'send-recv'", "the operators send, receive or batch");
    }
    op.name = ToString(kind);
    op.spec = ReadCollectiveSpec(node, kind);
    op.slot = GetSlot(node);
    if (kind == CollectiveKind::ALL_TO_ALL_V)
    {
        op.spec.sendBytes = ReadByteList(node.Get("send_bytes"));
        if (node.Has("receive_bytes"))
        {
            op.spec.receiveBytes = ReadByteList(node.Get("receive_bytes"));
        }
        op.spec.bytes =
            std::accumulate(op.spec.sendBytes.begin(), op.spec.sendBytes.end(), uint64_t(0));
    }
}

void ProgramParser::ReadMessages(const YamlNode& node, const std::string& type, ParsedOperator& op)
{
    op.type = OperatorType::POINT_TO_POINT;
    op.name = type;
    op.slot = GetSlot(node);
    if (type != "batch")
    {
        op.messages.push_back(ReadMessage(node));
        return;
    }
    for (const auto& entry : node.Get("batch").GetEntries())
    {
        op.messages.push_back(ReadMessage(entry));
        entry.RefuseUnknownKeys();
    }
    if (op.messages.empty())
    {
        node.Fail("an empty batch", "sends and receives");
    }
}

uint32_t ProgramParser::GetSlot(const YamlNode& node)
{
    const std::string name = node.GetString("group", "world");
    if (m_groups.count(name) == 0)
    {
        std::string known;
        for (const auto& group : m_groups)
        {
            known += (known.empty() ? "" : ", ") + group;
        }
        node.Get("group").Fail("'" + name + "'", "one of the groups " + known);
    }
    for (uint32_t slot = 0; slot < m_program.groups.size(); ++slot)
    {
        if (m_program.groups[slot] == name)
        {
            return slot;
        }
    }
    m_program.groups.push_back(name);
    return static_cast<uint32_t>(m_program.groups.size() - 1);
}

} // namespace echo
} // namespace ns3
