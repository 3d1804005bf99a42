// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROGRAM_DRAFT_H
#define ECHO_PROGRAM_DRAFT_H

#include "ns3/echo-workload-graph.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** A rank's program while an importer writes it; can be compared, unlike a sealed one. */
class ProgramDraft
{
  public:
    struct Entry
    {
        OperatorType type{OperatorType::COMPUTE};
        uint32_t stream{0};
        uint32_t name{0};
        Time duration;
        double flops{0};
        double memoryBytes{0};
        uint32_t communication{0}; //!< COLLECTIVE, POINT_TO_POINT: see AddCommunication()
        uint32_t line{0};          //!< for messages; equal programs may differ in it
    };

    /** @return the stream of that name, made at first use */
    uint32_t GetStream(const std::string& name);
    /** @return the name's index */
    uint32_t GetName(const std::string& name);
    /** @return the description's index */
    uint32_t AddCommunication(CommunicationDescription description);
    /** @return the operator's index; operators of a stream run in the order of adding */
    uint32_t Add(const Entry& entry);
    void AddDependency(uint32_t op, uint32_t dependency);

    void SetSlots(uint32_t slots)
    {
        m_slots = slots;
    }

    const Entry& GetEntry(uint32_t op) const
    {
        return m_entries[op];
    }

    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(m_entries.size());
    }

    /** @return of all that two equal programs have in common */
    uint64_t Hash() const;
    bool operator==(const ProgramDraft& other) const;
    /** @throws InputError as ExecutionGraphBuilder::Build() */
    ExecutionGraphPtr Build(const std::string& source) const;

  private:
    std::vector<std::string> m_streams;
    std::vector<std::string> m_names;
    std::vector<CommunicationDescription> m_communications;
    std::vector<Entry> m_entries;
    std::vector<std::pair<uint32_t, uint32_t>> m_dependencies; //!< operator, what it waits for
    uint32_t m_slots{0};
    std::unordered_map<std::string, uint32_t> m_streamIndex; //!< looked up only
    std::unordered_map<std::string, uint32_t> m_nameIndex;   //!< looked up only
};

/** Seals programs; equal ones become one. */
class ProgramPool
{
  public:
    /** @throws InputError as ProgramDraft::Build() */
    ExecutionGraphPtr Seal(ProgramDraft draft, const std::string& source);

  private:
    struct Known
    {
        ProgramDraft draft;
        ExecutionGraphPtr program;
    };

    std::unordered_map<uint64_t, std::vector<Known>> m_known; //!< by hash; looked up only
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROGRAM_DRAFT_H */
