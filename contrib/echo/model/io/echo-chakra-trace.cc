// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-trace.h"

#include "echo-input-file.h"
#include "echo-kineto-trace.h"

#include "ns3/echo-error.h"

#include <cctype>
#include <cmath>
#include <filesystem>

namespace ns3
{
namespace echo
{

namespace
{

/** Sizes beyond are no sizes of messages; sums of them stay within 64 bits. */
const int64_t LARGEST_SIZE = int64_t(1) << 50;
/** One node takes less than a day. */
const double LONGEST_MICROSECONDS = 86400e6;

/** @return Echo's kind of a CollectiveCommType; none for those it does not have */
std::optional<CollectiveKind> KindOf(int64_t type)
{
    switch (type)
    {
    case 0:
        return CollectiveKind::ALL_REDUCE;
    case 1:
        return CollectiveKind::REDUCE;
    case 2:
        return CollectiveKind::ALL_GATHER;
    case 5:
        return CollectiveKind::BROADCAST;
    case 6:
        return CollectiveKind::ALL_TO_ALL;
    case 7:
    case 8:
        return CollectiveKind::REDUCE_SCATTER;
    case 9:
        return CollectiveKind::BARRIER;
    default:
        return std::nullopt;
    }
}

/** Finds {"pg_name": "0", "ranks": [0, 1], ...} in the text of a metadata node. */
void ReadGroups(const std::string& text, std::map<std::string, std::vector<uint32_t>>& groups)
{
    const std::string nameKey = "pg_name";
    for (size_t at = text.find(nameKey); at != std::string::npos; at = text.find(nameKey, at))
    {
        at += nameKey.size();
        const size_t end = std::min(text.find('}', at), text.size());
        const std::string entry = text.substr(at, end - at);
        const size_t colon = entry.find(':');
        const size_t comma = entry.find(',');
        const size_t ranks = entry.find("ranks");
        if (colon == std::string::npos || comma == std::string::npos || colon > comma ||
            ranks == std::string::npos)
        {
            continue;
        }
        std::string name;
        for (char c : entry.substr(colon + 1, comma - colon - 1))
        {
            name += c == ' ' || c == '"' || c == '\\' || c == '\'' ? "" : std::string(1, c);
        }
        const size_t open = entry.find('[', ranks);
        const size_t close = entry.find(']', ranks);
        if (open < close && close != std::string::npos)
        {
            groups[name] = ToRanks(ParseNumberList(entry.substr(open, close - open)));
        }
    }
}

} // namespace

std::optional<uint32_t> ChakraRankOf(const std::string& path)
{
    std::string name = std::filesystem::path(path).filename().string();
    for (const std::string ending : {".gz", ".et", ".json"})
    {
        if (HasEnding(name, ending))
        {
            name.resize(name.size() - ending.size());
        }
    }
    size_t at = name.size();
    while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])))
    {
        --at;
    }
    if (at == name.size() || name.size() - at > 7)
    {
        return std::nullopt;
    }
    return static_cast<uint32_t>(std::stoul(name.substr(at)));
}

ChakraTraceBuilder::ChakraTraceBuilder(const std::string& file)
{
    m_trace.file = file;
}

void ChakraTraceBuilder::Fail(const std::string& found, const std::string& expected) const
{
    throw InputError({m_trace.file, 0, "node " + std::to_string(m_node.id) + " '" + m_name + "'"},
                     found,
                     expected);
}

uint32_t ChakraTraceBuilder::IndexOf(const std::string& text,
                                     std::unordered_map<std::string, uint32_t>& index,
                                     std::vector<std::string>& texts)
{
    const auto [entry, isNew] = index.emplace(text, static_cast<uint32_t>(texts.size()));
    if (isNew)
    {
        texts.push_back(text);
    }
    return entry->second;
}

void ChakraTraceBuilder::SetVersion(const std::string& version)
{
    m_trace.version = version;
}

void ChakraTraceBuilder::BeginNode(uint64_t id, const std::string& name, int64_t type)
{
    m_node = ChakraNode();
    m_node.id = id;
    m_name = name;
    m_group.clear();
    m_hasPeer = false;
    m_hasKind = false;
    if (type < 0 || type > 7)
    {
        Fail("node type " + std::to_string(type), "one of 1 to 7");
    }
    if (!m_ids.emplace(id, true).second)
    {
        Fail("a second node of this id", "one");
    }
    m_node.type = static_cast<ChakraNodeType>(type);
    m_node.name = IndexOf(name, m_nameIndex, m_trace.names);
    m_node.firstDependency = static_cast<uint32_t>(m_trace.dependencies.size());
}

void ChakraTraceBuilder::AddDependency(uint64_t id, bool isControl)
{
    m_trace.dependencies.push_back(id);
    m_trace.isControl.push_back(isControl);
    ++m_node.dependencyCount;
}

void ChakraTraceBuilder::SetDuration(double microseconds)
{
    if (!(microseconds >= 0) || microseconds > LONGEST_MICROSECONDS)
    {
        Fail("a duration of " + std::to_string(microseconds) + " us", "from 0 to a day");
    }
    m_node.duration = PicoSeconds(static_cast<int64_t>(std::llround(microseconds * 1e6)));
}

void ChakraTraceBuilder::SetInputValues(const std::string& values)
{
    if (m_node.type == ChakraNodeType::METADATA)
    {
        ReadGroups(values, m_trace.groups);
    }
}

uint64_t ChakraTraceBuilder::Count(const Attribute& attribute) const
{
    if (!attribute.integer || *attribute.integer < 0 || *attribute.integer > LARGEST_SIZE)
    {
        const std::string found = attribute.integer  ? std::to_string(*attribute.integer)
                                  : attribute.number ? std::to_string(*attribute.number)
                                                     : "'" + attribute.text + "'";
        Fail(attribute.name + " " + found, "a whole number from 0 to 2^50");
    }
    return static_cast<uint64_t>(*attribute.integer);
}

void ChakraTraceBuilder::SetCollective(const Attribute& attribute)
{
    if (m_node.type != ChakraNodeType::COLLECTIVE)
    {
        return; // messages of collectives that are written out repeat their node type here
    }
    const uint64_t type = Count(attribute);
    const auto kind = KindOf(static_cast<int64_t>(type));
    if (!kind)
    {
        Fail("comm_type " + std::to_string(type) +
                 (type == 3   ? " (gather)"
                  : type == 4 ? " (scatter)"
                              : ""),
             "a collective that Echo has: 0 (all-reduce), 1 (reduce), 2 (all-gather), 5 "
             "(broadcast), 6 (all-to-all), 7 or 8 (reduce-scatter), 9 (barrier)");
    }
    m_node.kind = *kind;
    m_hasKind = true;
}

void ChakraTraceBuilder::AddAttribute(const Attribute& attribute)
{
    const std::string& name = attribute.name;
    if (name == "is_cpu_op")
    {
        m_node.isOnCpu = attribute.integer.value_or(0) != 0;
    }
    else if (name == "num_ops")
    {
        if (!attribute.number || !(*attribute.number >= 0) || *attribute.number > 1e24)
        {
            Fail("num_ops that is no number of operations", "from 0 to 1e24");
        }
        m_node.operations = *attribute.number;
    }
    else if (name == "tensor_size")
    {
        m_node.tensorBytes = Count(attribute);
    }
    else if (name == "runtime")
    {
        SetDuration(attribute.number.value_or(-1));
    }
    else if (name == "comm_size")
    {
        m_node.communicationBytes = Count(attribute);
        m_node.hasCommunicationSize = true;
    }
    else if (name == "comm_type")
    {
        SetCollective(attribute);
    }
    else if (name == "pg_name")
    {
        m_group = attribute.integer ? std::to_string(*attribute.integer) : attribute.text;
    }
    else if ((name == "comm_dst" && m_node.type == ChakraNodeType::SEND) ||
             (name == "comm_src" && m_node.type == ChakraNodeType::RECEIVE))
    {
        m_node.peer = static_cast<uint32_t>(std::min<uint64_t>(Count(attribute), UINT32_MAX));
        m_hasPeer = true;
    }
    else if (name == "comm_tag")
    {
        m_node.tag = static_cast<int32_t>(attribute.integer.value_or(0) & 0x7fffffff);
    }
    else if (name == "rf_id" || name == "fw_parent")
    {
        m_trace.isConverted = true; // names of PyTorch's execution traces
    }
    else if (name == "stream")
    {
        m_node.stream = attribute.integer.value_or(-1);
    }
    else if (name == "involved_dim")
    {
        for (bool isInvolved : attribute.booleans)
        {
            if (!isInvolved)
            {
                Fail("a collective over some dimensions of the network (involved_dim)",
                     "a process group (pg_name) or all dimensions");
            }
        }
    }
}

void ChakraTraceBuilder::EndNode()
{
    auto isCommunication = [this] {
        return m_node.type == ChakraNodeType::COLLECTIVE || m_node.type == ChakraNodeType::SEND ||
               m_node.type == ChakraNodeType::RECEIVE;
    };
    if (isCommunication() && m_node.isOnCpu && !m_hasKind && !m_node.hasCommunicationSize)
    {
        // The converter from PyTorch gives the CPU operator that issues a communication its type.
        m_node.type = ChakraNodeType::COMPUTE;
        ++m_trace.issuers;
    }
    const ChakraNodeType type = m_node.type;
    const bool isMessage = type == ChakraNodeType::SEND || type == ChakraNodeType::RECEIVE;
    if (type == ChakraNodeType::COLLECTIVE && !m_hasKind)
    {
        Fail("a collective without comm_type", "one of 0 to 9");
    }
    const bool isBarrier =
        type == ChakraNodeType::COLLECTIVE && m_node.kind == CollectiveKind::BARRIER;
    if (isCommunication() && !m_node.hasCommunicationSize && !isBarrier)
    {
        Fail("a communication without comm_size", "its bytes");
    }
    if (isMessage && !m_hasPeer)
    {
        Fail(type == ChakraNodeType::SEND ? "a send without comm_dst"
                                          : "a receive without comm_src",
             "a rank");
    }
    if (type == ChakraNodeType::COLLECTIVE)
    {
        m_node.group = IndexOf(m_group, m_groupIndex, m_trace.groupNames);
    }
    m_trace.nodes.push_back(m_node);
}

ChakraTrace ChakraTraceBuilder::Build()
{
    if (m_trace.nodes.empty())
    {
        throw InputError({m_trace.file, 0, ""}, "no nodes", "a Chakra execution trace");
    }
    return std::move(m_trace);
}

} // namespace echo
} // namespace ns3
