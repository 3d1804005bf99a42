// SPDX-License-Identifier: GPL-2.0-only
#include "echo-program-draft.h"

#include "ns3/echo-fingerprint.h"
#include "ns3/echo-workload-builder.h"

#include <tuple>

namespace ns3
{
namespace echo
{

namespace
{

auto Key(const CollectiveSpec& spec)
{
    return std::tie(spec.kind,
                    spec.bytes,
                    spec.dataType,
                    spec.root,
                    spec.sendBytes,
                    spec.receiveBytes,
                    spec.algorithm,
                    spec.protocol,
                    spec.channels);
}

bool AreEqual(const CommunicationDescription& a, const CommunicationDescription& b)
{
    auto isSame = [](const auto& x, const auto& y) {
        return x.isSend == y.isSend && x.peerIndex == y.peerIndex && x.bytes == y.bytes &&
               x.tag == y.tag;
    };
    return a.groupSlot == b.groupSlot && Key(a.spec) == Key(b.spec) &&
           std::equal(
               a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), isSame);
}

auto Key(const ProgramDraft::Entry& entry)
{
    return std::tie(entry.type,
                    entry.stream,
                    entry.name,
                    entry.duration,
                    entry.flops,
                    entry.memoryBytes,
                    entry.communication);
}

} // namespace

uint32_t ProgramDraft::GetStream(const std::string& name)
{
    const auto [entry, isNew] =
        m_streamIndex.emplace(name, static_cast<uint32_t>(m_streams.size()));
    if (isNew)
    {
        m_streams.push_back(name);
    }
    return entry->second;
}

uint32_t ProgramDraft::GetName(const std::string& name)
{
    const auto [entry, isNew] = m_nameIndex.emplace(name, static_cast<uint32_t>(m_names.size()));
    if (isNew)
    {
        m_names.push_back(name);
    }
    return entry->second;
}

uint32_t ProgramDraft::AddCommunication(CommunicationDescription description)
{
    m_communications.push_back(std::move(description));
    return static_cast<uint32_t>(m_communications.size() - 1);
}

uint32_t ProgramDraft::Add(const Entry& entry)
{
    m_entries.push_back(entry);
    return static_cast<uint32_t>(m_entries.size() - 1);
}

void ProgramDraft::AddDependency(uint32_t op, uint32_t dependency)
{
    m_dependencies.emplace_back(op, dependency);
}

uint64_t ProgramDraft::Hash() const
{
    Fingerprint print;
    print.Add(uint64_t(m_slots));
    print.Add(uint64_t(m_streams.size()));
    print.Add(uint64_t(m_communications.size()));
    for (const auto& entry : m_entries)
    {
        print.Add(static_cast<uint64_t>(entry.type));
        print.Add(uint64_t(entry.stream));
        print.Add(uint64_t(entry.name));
        print.Add(entry.duration);
        print.Add(uint64_t(entry.communication));
    }
    for (const auto& [op, dependency] : m_dependencies)
    {
        print.Add((uint64_t(op) << 32) | dependency);
    }
    return print.GetValue();
}

bool ProgramDraft::operator==(const ProgramDraft& other) const
{
    return m_slots == other.m_slots && m_streams == other.m_streams && m_names == other.m_names &&
           m_dependencies == other.m_dependencies &&
           std::equal(m_entries.begin(),
                      m_entries.end(),
                      other.m_entries.begin(),
                      other.m_entries.end(),
                      [](const auto& a, const auto& b) { return Key(a) == Key(b); }) &&
           std::equal(m_communications.begin(),
                      m_communications.end(),
                      other.m_communications.begin(),
                      other.m_communications.end(),
                      AreEqual);
}

ExecutionGraphPtr ProgramDraft::Build(const std::string& source) const
{
    ExecutionGraphBuilder builder(source);
    std::vector<StreamId> streams;
    for (const auto& name : m_streams)
    {
        streams.push_back(builder.GetStream(name));
    }
    for (uint32_t slot = 0; slot < m_slots; ++slot)
    {
        builder.AddGroupSlot();
    }
    std::vector<OperatorId> ids;
    ids.reserve(m_entries.size());
    for (const auto& entry : m_entries)
    {
        const StreamId stream = streams[entry.stream];
        const std::string& name = m_names[entry.name];
        OperatorId id;
        switch (entry.type)
        {
        case OperatorType::COMPUTE:
            id = builder.AddCompute(stream, name, entry.duration, entry.flops, entry.memoryBytes);
            break;
        case OperatorType::COPY:
            id = builder.AddCopy(stream, name, entry.duration, entry.memoryBytes);
            break;
        case OperatorType::HOST:
            id = builder.AddHost(stream, name, entry.duration);
            break;
        case OperatorType::MARKER:
            id = builder.AddMarker(stream, name);
            break;
        case OperatorType::COLLECTIVE:
        {
            const auto& communication = m_communications[entry.communication];
            id = builder.AddCollective(stream, name, communication.groupSlot, communication.spec);
            break;
        }
        case OperatorType::POINT_TO_POINT:
        {
            const auto& communication = m_communications[entry.communication];
            id = builder.AddPointToPoint(
                stream, name, communication.groupSlot, communication.elements);
            break;
        }
        }
        builder.SetLine(id, entry.line);
        ids.push_back(id);
    }
    for (const auto& [op, dependency] : m_dependencies)
    {
        builder.AddDependency(ids[op], ids[dependency]);
    }
    return builder.Build();
}

ExecutionGraphPtr ProgramPool::Seal(ProgramDraft draft, const std::string& source)
{
    std::vector<Known>& alike = m_known[draft.Hash()];
    for (const auto& known : alike)
    {
        if (known.draft == draft)
        {
            return known.program;
        }
    }
    ExecutionGraphPtr program = draft.Build(source);
    alike.push_back({std::move(draft), program});
    return program;
}

} // namespace echo
} // namespace ns3
