// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chakra-program.h"

#include "echo-communication-record.h"

#include "ns3/echo-error.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

class ProgramWriter
{
  public:
    ProgramWriter(const ChakraJob& job,
                  uint32_t rank,
                  const std::vector<uint32_t>& dependencies,
                  std::map<std::string, uint64_t>& ignored)
        : m_job(job),
          m_trace(job.traces[rank]),
          m_rank(rank),
          m_dependencies(dependencies),
          m_ignored(ignored),
          m_done(m_trace.nodes.size())
    {
    }

    void AddReceive(uint32_t index);
    void AddNode(uint32_t index);
    ChakraProgram Finish();

  private:
    using Operators = std::vector<uint32_t>;

    uint32_t SlotOf(const std::vector<uint32_t>& members, uint32_t group);
    Operators Waited(const ChakraNode& node) const;
    void Reduce(Operators& operators) const;
    uint32_t AddOperator(const ChakraNode& node);
    uint32_t AddCollective(const ChakraNode& node, ProgramDraft::Entry entry);
    uint32_t AddMessage(const ChakraNode& node, ProgramDraft::Entry entry);
    bool IsNothing(const ChakraNode& node);

    const ChakraJob& m_job;
    const ChakraTrace& m_trace;
    uint32_t m_rank;
    const std::vector<uint32_t>& m_dependencies;
    std::map<std::string, uint64_t>& m_ignored;
    ChakraProgram m_program;
    std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> m_slotOf;
    /// By node: what must be done for it to be done, at most one operator a stream.
    std::vector<Operators> m_done;
};

uint32_t ProgramWriter::SlotOf(const std::vector<uint32_t>& members, uint32_t group)
{
    const auto [entry, isNew] =
        m_slotOf.emplace(std::make_pair(group, members), m_program.slots.size());
    if (isNew)
    {
        m_program.slots.emplace_back(members, group);
    }
    return entry->second;
}

/** Leaves the last operator of each stream. */
void ProgramWriter::Reduce(Operators& operators) const
{
    auto streamOf = [this](uint32_t op) { return m_program.draft.GetEntry(op).stream; };
    std::sort(operators.begin(), operators.end(), [&](uint32_t a, uint32_t b) {
        return std::make_pair(streamOf(a), b) < std::make_pair(streamOf(b), a);
    });
    operators.erase(std::unique(operators.begin(),
                                operators.end(),
                                [&](uint32_t a, uint32_t b) { return streamOf(a) == streamOf(b); }),
                    operators.end());
}

ProgramWriter::Operators ProgramWriter::Waited(const ChakraNode& node) const
{
    Operators operators;
    for (uint32_t i = 0; i < node.dependencyCount; ++i)
    {
        const Operators& done = m_done[m_dependencies[node.firstDependency + i]];
        operators.insert(operators.end(), done.begin(), done.end());
    }
    Reduce(operators);
    return operators;
}

uint32_t ProgramWriter::AddCollective(const ChakraNode& node, ProgramDraft::Entry entry)
{
    const uint32_t group = m_job.groupOf[m_rank][node.group];
    const std::vector<uint32_t>& members = m_job.groups[group];
    CommunicationDescription communication;
    communication.groupSlot = SlotOf(members, group);
    communication.spec.kind = node.kind;
    communication.spec.bytes = node.kind == CollectiveKind::BARRIER ? 0 : node.communicationBytes;
    if (node.kind == CollectiveKind::ALL_GATHER)
    {
        // The file counts what one rank gives.
        communication.spec.bytes =
            GatheredBytes(node.communicationBytes,
                          members.size(),
                          {m_trace.file, 0, "node " + std::to_string(node.id)});
    }
    entry.type = OperatorType::COLLECTIVE;
    entry.stream = m_program.draft.GetStream("group " + std::to_string(communication.groupSlot));
    entry.communication = m_program.draft.AddCommunication(std::move(communication));
    return m_program.draft.Add(entry);
}

uint32_t ProgramWriter::AddMessage(const ChakraNode& node, ProgramDraft::Entry entry)
{
    const bool isSend = node.type == ChakraNodeType::SEND;
    CommunicationDescription communication;
    communication.groupSlot = SlotOf({std::min(m_rank, node.peer), std::max(m_rank, node.peer)},
                                     static_cast<uint32_t>(m_job.groups.size()));
    CommunicationDescription::Element element;
    element.isSend = isSend;
    element.peerIndex = node.peer > m_rank ? 1 : 0;
    element.bytes = node.communicationBytes;
    element.tag = node.tag;
    communication.elements.push_back(element);
    entry.type = OperatorType::POINT_TO_POINT;
    entry.stream = m_program.draft.GetStream((isSend ? "send " : "receive ") +
                                             std::to_string(communication.groupSlot));
    entry.communication = m_program.draft.AddCommunication(std::move(communication));
    return m_program.draft.Add(entry);
}

uint32_t ProgramWriter::AddOperator(const ChakraNode& node)
{
    ProgramDraft& draft = m_program.draft;
    ProgramDraft::Entry entry;
    entry.name = draft.GetName(m_trace.names[node.name]);
    entry.duration = node.duration;
    entry.line = static_cast<uint32_t>(std::min<uint64_t>(node.id, UINT32_MAX));
    switch (node.type)
    {
    case ChakraNodeType::COLLECTIVE:
        return AddCollective(node, entry);
    case ChakraNodeType::SEND:
    case ChakraNodeType::RECEIVE:
        return AddMessage(node, entry);
    case ChakraNodeType::MEMORY_LOAD:
    case ChakraNodeType::MEMORY_STORE:
        entry.type = OperatorType::COPY;
        entry.stream = draft.GetStream("memory");
        entry.memoryBytes = static_cast<double>(node.tensorBytes);
        return draft.Add(entry);
    default:
        entry.type = node.isOnCpu ? OperatorType::HOST : OperatorType::COMPUTE;
        entry.stream = draft.GetStream(node.isOnCpu       ? "cpu"
                                       : node.stream >= 0 ? "gpu " + std::to_string(node.stream)
                                                          : "gpu");
        entry.flops = node.operations;
        entry.memoryBytes = static_cast<double>(node.tensorBytes);
        return draft.Add(entry);
    }
}

/** @return whether a node takes no time and moves nothing */
bool ProgramWriter::IsNothing(const ChakraNode& node)
{
    const bool isMessage =
        node.type == ChakraNodeType::SEND || node.type == ChakraNodeType::RECEIVE;
    const char* reason = nullptr;
    if (node.type == ChakraNodeType::METADATA || node.type == ChakraNodeType::INVALID)
    {
        reason = "metadata and invalid nodes";
    }
    else if (node.type == ChakraNodeType::COLLECTIVE &&
             m_job.groups[m_job.groupOf[m_rank][node.group]].size() == 1)
    {
        reason = "collectives of one rank";
    }
    else if ((node.type == ChakraNodeType::COLLECTIVE || isMessage) &&
             node.communicationBytes == 0 && node.kind != CollectiveKind::BARRIER)
    {
        reason = "communications of 0 bytes";
    }
    else if (isMessage && node.peer == m_rank)
    {
        reason = "messages of a rank to itself";
    }
    if (reason)
    {
        ++m_ignored[reason];
    }
    return reason != nullptr;
}

void ProgramWriter::AddReceive(uint32_t index)
{
    const ChakraNode& node = m_trace.nodes[index];
    if (!IsNothing(node))
    {
        m_done[index].push_back(AddOperator(node));
    }
}

void ProgramWriter::AddNode(uint32_t index)
{
    const ChakraNode& node = m_trace.nodes[index];
    Operators waited = Waited(node);
    if (node.type == ChakraNodeType::RECEIVE)
    {
        waited.insert(waited.end(), m_done[index].begin(), m_done[index].end());
        Reduce(waited);
        m_done[index] = std::move(waited);
        return;
    }
    if (IsNothing(node))
    {
        m_done[index] = std::move(waited);
        return;
    }
    const uint32_t op = AddOperator(node);
    for (uint32_t dependency : waited)
    {
        m_program.draft.AddDependency(op, dependency);
    }
    m_done[index] = {op};
}

ChakraProgram ProgramWriter::Finish()
{
    m_program.draft.SetSlots(static_cast<uint32_t>(m_program.slots.size()));
    return std::move(m_program);
}

} // namespace

ChakraProgram BuildChakraProgram(const ChakraJob& job,
                                 uint32_t rank,
                                 const std::vector<uint32_t>& dependencies,
                                 const ChakraOrder& order,
                                 std::map<std::string, uint64_t>& ignored)
{
    ProgramWriter writer(job, rank, dependencies, ignored);
    for (uint32_t node : order.receives[rank])
    {
        writer.AddReceive(node);
    }
    for (uint32_t node : order.nodes[rank])
    {
        writer.AddNode(node);
    }
    return writer.Finish();
}

} // namespace echo
} // namespace ns3
