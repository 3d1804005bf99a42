// SPDX-License-Identifier: GPL-2.0-only
#include "echo-workload-builder.h"

#include "ns3/echo-name-table.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

namespace
{

/** A running hash over integers (FNV-1a over 64-bit words, folded once more). */
class Hash
{
  public:
    void Add(uint64_t value)
    {
        m_value = (m_value ^ value) * 0x100000001b3ULL;
        m_value ^= m_value >> 29;
    }

    uint64_t Get() const
    {
        return m_value;
    }

  private:
    uint64_t m_value{0xcbf29ce484222325ULL};
};

uint64_t HashOf(const CommunicationDescription& description)
{
    const CollectiveSpec& spec = description.spec;
    Hash hash;
    hash.Add(description.groupSlot);
    hash.Add(static_cast<uint64_t>(spec.kind));
    hash.Add(spec.bytes);
    hash.Add(spec.root);
    for (uint64_t bytes : spec.sendBytes)
    {
        hash.Add(bytes);
    }
    for (const auto& element : description.elements)
    {
        hash.Add(element.peerIndex * 2 + (element.isSend ? 1 : 0));
        hash.Add(element.bytes);
        hash.Add(static_cast<uint64_t>(element.tag));
    }
    return hash.Get();
}

bool Equal(const CollectiveSpec& a, const CollectiveSpec& b)
{
    return a.kind == b.kind && a.bytes == b.bytes && a.dataType == b.dataType && a.root == b.root &&
           a.sendBytes == b.sendBytes && a.receiveBytes == b.receiveBytes &&
           a.algorithm == b.algorithm && a.protocol == b.protocol && a.channels == b.channels;
}

bool Equal(const CommunicationDescription& a, const CommunicationDescription& b)
{
    auto equalElement = [](const auto& x, const auto& y) {
        return x.isSend == y.isSend && x.peerIndex == y.peerIndex && x.bytes == y.bytes &&
               x.tag == y.tag;
    };
    return a.groupSlot == b.groupSlot && Equal(a.spec, b.spec) &&
           std::equal(a.elements.begin(),
                      a.elements.end(),
                      b.elements.begin(),
                      b.elements.end(),
                      equalElement);
}

/** @return whether the sum of @p row is @p bytes; no wrap */
bool SumsTo(const std::vector<uint64_t>& row, uint64_t bytes)
{
    for (uint64_t part : row)
    {
        if (part > bytes)
        {
            return false;
        }
        bytes -= part;
    }
    return bytes == 0;
}

const NameTable<OperatorPart> PARTS{{OperatorPart::NONE, "none"},
                                    {OperatorPart::FORWARD, "forward"},
                                    {OperatorPart::BACKWARD, "backward"},
                                    {OperatorPart::END, "end"}};

} // namespace

const char* ToString(OperatorPart part)
{
    return NameOf(PARTS, part);
}

OperatorPart ParseOperatorPart(const std::string& text)
{
    return ValueOf(PARTS, text);
}

ExecutionGraphBuilder::ExecutionGraphBuilder(std::string source)
{
    m_graph.m_source = std::move(source);
}

InputError ExecutionGraphBuilder::ErrorAt(const Operator& op,
                                          const std::string& name,
                                          const std::string& found,
                                          const std::string& expected) const
{
    return InputError({m_graph.m_source, op.line, "operator '" + name + "'"}, found, expected);
}

std::string ExecutionGraphBuilder::Label(OperatorId id) const
{
    const Operator& op = m_graph.GetOperator(id);
    return "'" + m_graph.GetName(op) + "' (" +
           (op.line > 0 ? "line " + std::to_string(op.line)
                        : "operator " + std::to_string(id.Get())) +
           ")";
}

void ExecutionGraphBuilder::Reserve(size_t operators)
{
    m_graph.m_operators.reserve(operators);
}

StreamId ExecutionGraphBuilder::GetStream(const std::string& name)
{
    const auto next = StreamId(static_cast<uint32_t>(m_graph.m_streams.size()));
    const auto [entry, isNew] = m_streamIndex.emplace(name, next);
    if (isNew)
    {
        m_graph.m_streams.emplace_back();
        m_graph.m_streamNames.push_back(name);
    }
    return entry->second;
}

uint32_t ExecutionGraphBuilder::AddGroupSlot()
{
    return m_graph.m_groupSlots++;
}

OperatorId ExecutionGraphBuilder::Add(Operator op, StreamId stream, const std::string& name)
{
    if (stream.Get() >= m_graph.m_streams.size())
    {
        throw ErrorAt(op, name, "a stream that the builder did not give", "one from GetStream");
    }
    if (op.duration.IsStrictlyNegative())
    {
        throw ErrorAt(op, name, "a negative duration", "zero or more");
    }
    if (!(op.flops >= 0 && std::isfinite(op.flops)) ||
        !(op.memoryBytes >= 0 && std::isfinite(op.memoryBytes)))
    {
        throw ErrorAt(op, name, "operations or bytes that are no number", "zero or more");
    }
    const auto next = static_cast<uint32_t>(m_graph.m_names.size());
    const auto [entry, isNew] = m_nameIndex.emplace(name, next);
    if (isNew)
    {
        m_graph.m_names.push_back(name);
    }
    const OperatorId id(static_cast<uint32_t>(m_graph.m_operators.size()));
    op.name = entry->second;
    op.stream = stream;
    m_graph.m_operators.push_back(op);
    m_graph.m_streams[stream.Get()].push_back(id);
    return id;
}

OperatorId ExecutionGraphBuilder::AddCompute(StreamId stream,
                                             const std::string& name,
                                             Time duration,
                                             double flops,
                                             double memoryBytes)
{
    Operator op;
    op.type = OperatorType::COMPUTE;
    op.duration = duration;
    op.flops = flops;
    op.memoryBytes = memoryBytes;
    return Add(op, stream, name);
}

OperatorId ExecutionGraphBuilder::AddCopy(StreamId stream,
                                          const std::string& name,
                                          Time duration,
                                          double memoryBytes)
{
    Operator op;
    op.type = OperatorType::COPY;
    op.duration = duration;
    op.memoryBytes = memoryBytes;
    return Add(op, stream, name);
}

OperatorId ExecutionGraphBuilder::AddHost(StreamId stream, const std::string& name, Time duration)
{
    Operator op;
    op.type = OperatorType::HOST;
    op.duration = duration;
    return Add(op, stream, name);
}

OperatorId ExecutionGraphBuilder::AddMarker(StreamId stream, const std::string& name)
{
    Operator op;
    op.type = OperatorType::MARKER;
    return Add(op, stream, name);
}

OperatorId ExecutionGraphBuilder::AddCollective(StreamId stream,
                                                const std::string& name,
                                                uint32_t groupSlot,
                                                const CollectiveSpec& spec)
{
    Operator op;
    op.type = OperatorType::COLLECTIVE;
    if (spec.kind == CollectiveKind::SEND_RECV)
    {
        throw ErrorAt(op, name, "a collective of kind send-recv", "a point-to-point operator");
    }
    if (spec.kind == CollectiveKind::BARRIER && spec.bytes != 0)
    {
        throw ErrorAt(op, name, "a barrier of " + std::to_string(spec.bytes) + " B", "0 B");
    }
    if (spec.kind == CollectiveKind::ALL_TO_ALL_V)
    {
        if (spec.sendBytes.empty())
        {
            throw ErrorAt(op, name, "an all-to-all-v without bytes for each member", "them");
        }
        if (!SumsTo(spec.sendBytes, spec.bytes))
        {
            throw ErrorAt(op,
                          name,
                          "an all-to-all-v of " + std::to_string(spec.bytes) + " B",
                          "the sum of its bytes for each member");
        }
    }
    else if (!spec.sendBytes.empty() || !spec.receiveBytes.empty())
    {
        throw ErrorAt(op,
                      name,
                      std::string("bytes for each member on a collective of kind ") +
                          ToString(spec.kind),
                      "them on all-to-all-v only");
    }
    CommunicationDescription description;
    description.groupSlot = groupSlot;
    description.spec = spec;
    op.communication = AddCommunication(std::move(description));
    return Add(op, stream, name);
}

OperatorId ExecutionGraphBuilder::AddPointToPoint(
    StreamId stream,
    const std::string& name,
    uint32_t groupSlot,
    std::vector<CommunicationDescription::Element> elements)
{
    Operator op;
    op.type = OperatorType::POINT_TO_POINT;
    if (elements.empty())
    {
        throw ErrorAt(op, name, "no send and no receive", "at least one");
    }
    CommunicationDescription description;
    description.groupSlot = groupSlot;
    description.spec.kind = CollectiveKind::SEND_RECV;
    description.elements = std::move(elements);
    op.communication = AddCommunication(std::move(description));
    return Add(op, stream, name);
}

uint32_t ExecutionGraphBuilder::AddCommunication(CommunicationDescription description)
{
    const uint64_t hash = HashOf(description);
    const auto [begin, end] = m_communicationIndex.equal_range(hash);
    for (auto it = begin; it != end; ++it)
    {
        if (Equal(m_graph.m_communications[it->second], description))
        {
            return it->second;
        }
    }
    const auto index = static_cast<uint32_t>(m_graph.m_communications.size());
    m_graph.m_communications.push_back(std::move(description));
    m_communicationIndex.emplace(hash, index);
    return index;
}

void ExecutionGraphBuilder::AddDependency(OperatorId op, OperatorId dependency)
{
    m_edges.emplace_back(op, dependency);
}

void ExecutionGraphBuilder::SetLine(OperatorId op, uint32_t line)
{
    m_graph.m_operators.at(op.Get()).line = line;
}

void ExecutionGraphBuilder::SetKernel(OperatorId op,
                                      KernelKind kernel,
                                      DataType precision,
                                      const KernelShape& shape)
{
    Operator& changed = m_graph.m_operators.at(op.Get());
    changed.kernel = kernel;
    changed.precision = precision;
    changed.shape = shape;
}

void ExecutionGraphBuilder::SetPart(OperatorId op, OperatorPart part, uint8_t chunk)
{
    m_graph.m_operators.at(op.Get()).part = part;
    m_graph.m_operators.at(op.Get()).chunk = chunk;
}

void ExecutionGraphBuilder::SetCounters(OperatorId op, const KernelCounters& counters)
{
    m_graph.m_counters.push_back(counters);
    m_graph.m_operators.at(op.Get()).counters = static_cast<uint32_t>(m_graph.m_counters.size());
}

ExecutionGraphPtr ExecutionGraphBuilder::Build()
{
    CheckReferences();
    SetPositions();
    Edges edges = ReduceDependencies();
    Order(edges);
    SetDependencies(edges);
    SetSlotNeeds();
    m_graph.m_operators.shrink_to_fit();
    m_graph.m_names.shrink_to_fit();
    m_graph.m_communications.shrink_to_fit();
    auto sealed = std::make_shared<const ExecutionGraph>(std::move(m_graph));
    *this = ExecutionGraphBuilder(sealed->GetSource());
    return sealed;
}

void ExecutionGraphBuilder::CheckReferences() const
{
    const auto count = static_cast<uint32_t>(m_graph.m_operators.size());
    for (const auto& [op, dependency] : m_edges)
    {
        if (op.Get() >= count)
        {
            throw InputError({m_graph.m_source, 0, "operator " + std::to_string(op.Get())},
                             "a dependency of an operator that is not there",
                             "one of " + std::to_string(count) + " operators");
        }
        if (dependency.Get() >= count)
        {
            throw InputError(m_graph.GetLocation(op),
                             "a dependency on operator " + std::to_string(dependency.Get()) +
                                 ", which is not there",
                             "one of " + std::to_string(count) + " operators");
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        const Operator& op = m_graph.m_operators[i];
        if (op.type == OperatorType::COLLECTIVE || op.type == OperatorType::POINT_TO_POINT)
        {
            const uint32_t slot = m_graph.GetCommunication(op).groupSlot;
            if (slot >= m_graph.m_groupSlots)
            {
                throw InputError(m_graph.GetLocation(OperatorId(i)),
                                 "group slot " + std::to_string(slot),
                                 "one of " + std::to_string(m_graph.m_groupSlots));
            }
        }
    }
}

void ExecutionGraphBuilder::SetPositions()
{
    m_graph.m_positions.resize(m_graph.m_operators.size());
    for (const auto& stream : m_graph.m_streams)
    {
        for (uint32_t position = 0; position < stream.size(); ++position)
        {
            m_graph.m_positions[stream[position].Get()] = position;
        }
    }
}

} // namespace echo
} // namespace ns3
