// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COMMUNICATION_PATTERN_H
#define ECHO_COMMUNICATION_PATTERN_H

#include "echo-workload-graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A list of communications of one rank on one group, numbered so that equal lists have equal
 * numbers: members are compared without walking their operators.
 */
struct CommunicationSequence
{
    bool isOrdered{true};  //!< all on one stream; else their order is known at run time only
    uint64_t empty{0};     //!< how many have zero bytes, barriers excepted
    OperatorId firstEmpty; //!< of those; invalid if there is none
    uint32_t orderedId{0}; //!< equal for equal lists
    uint32_t sortedId{0};  //!< equal for lists that hold the same in any order
    std::vector<OperatorId> operators;
};

/** All collectives of one program on one of its slots, in the order of operators. */
struct CollectiveSequence : CommunicationSequence
{
    uint32_t slot{0};
};

/** All messages of one program on one slot to or from one peer with one tag. */
struct MessageSequence : CommunicationSequence
{
    uint32_t slot{0};
    uint32_t peerIndex{0};
    int32_t tag{0};
    bool isSend{true};
    std::vector<uint64_t> bytes; //!< by message
};

/** What one program communicates, for given slots that are bound to the same group. */
struct CommunicationPattern
{
    std::vector<CollectiveSequence> collectives; //!< by slot; slots without calls are left out
    std::vector<MessageSequence> messages;       //!< by slot, peer, tag; sends first
    std::array<uint64_t, 6> operators{};         //!< number by OperatorType

    /** @return the calls on a slot, or null */
    const CollectiveSequence* FindCollectives(uint32_t slot) const;
    const MessageSequence* FindMessages(uint32_t slot,
                                        uint32_t peerIndex,
                                        int32_t tag,
                                        bool isSend) const;
};

/** The patterns of all ranks of a workload; equal ranks share one. */
class CommunicationPatterns
{
  public:
    static constexpr uint32_t NO_SLOT = 0xffffffff;

    explicit CommunicationPatterns(const WorkloadGraph& workload);

    const CommunicationPattern& Get(RankId rank) const
    {
        return *m_patterns[m_patternOf[rank.Get()]];
    }

    /** @return number that ranks of one pattern share */
    uint32_t GetIndex(RankId rank) const
    {
        return m_patternOf[rank.Get()];
    }

    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_patterns.size());
    }

    /** @return the first slot that @p rank binds to @p group, which stands for all of them in its
     * pattern; NO_SLOT if it binds none */
    uint32_t FindSlot(RankId rank, GroupId group) const;

  private:
    /// kind, bytes, root, type of a collective; bytes of a message.
    using Call = std::tuple<uint8_t, uint64_t, uint32_t, uint8_t>;

    static void NoteEmpty(OperatorId op, CommunicationSequence& sequence);
    void Scan(const ExecutionGraph& program,
              const std::vector<uint32_t>& slotAlias,
              CommunicationPattern& pattern);
    void Number(const ExecutionGraph& program,
                std::vector<Call> calls,
                CommunicationSequence& sequence);
    uint32_t Intern(const std::vector<Call>& calls);

    const WorkloadGraph& m_workload;
    std::vector<uint32_t> m_patternOf; //!< by rank
    std::vector<std::unique_ptr<CommunicationPattern>> m_patterns;
    std::map<std::vector<Call>, uint32_t> m_numbers;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_COMMUNICATION_PATTERN_H */
