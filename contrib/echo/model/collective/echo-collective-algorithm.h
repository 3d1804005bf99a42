// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_COLLECTIVE_ALGORITHM_H
#define ECHO_COLLECTIVE_ALGORITHM_H

#include "ns3/echo-collective-spec.h"
#include "ns3/echo-placement.h"
#include "ns3/object.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/** How one collective is carried out. */
struct CollectiveChoice
{
    CollectiveAlgorithmKind algorithm{CollectiveAlgorithmKind::RING};
    CollectiveProtocol protocol{CollectiveProtocol::SIMPLE};
    uint32_t channels{1};
    uint64_t chunkBytes{0}; //!< largest message of a step; 0: a step's data is one message
};

/** Everything an algorithm needs to know of one instance. */
struct CollectivePlan
{
    CollectiveSpec spec; //!< of member 0; sendBytes is not used, see splits
    CollectiveChoice choice;
    GroupLayoutPtr layout;
    std::vector<std::vector<uint64_t>> splits; //!< all-to-all-v: [source][destination] bytes
};

/**
 * One step of one lane of a rank: receive one message from each of `receiveFrom`, reduce if told,
 * then send one message to each of `sendTo`, all of `bytes`. Members are group indices. The next
 * step of the lane starts when this one's receives and reduction are done; sends do not block.
 */
struct ProgramStep
{
    static constexpr uint32_t MAX_PEERS = 3; //!< a tree node has at most two children and a chain

    std::array<uint32_t, MAX_PEERS> receiveFrom{};
    std::array<uint32_t, MAX_PEERS> sendTo{};
    uint8_t receives{0};
    uint8_t sends{0};
    bool reduce{false};
    uint64_t bytes{0};
};

/** The steps of one lane of one member, made as they are asked for. */
class RankProgram
{
  public:
    virtual ~RankProgram() = default;
    /** @return false after the last step */
    virtual bool Next(ProgramStep& step) = 0;
};

/**
 * A lane: an in-order sequence of steps; lanes of a member run side by side. Messages match
 * first-in first-out by (channel, plane, source, destination).
 */
struct Lane
{
    uint32_t channel{0};
    uint32_t plane{0}; //!< tells apart what shares a channel: which of two trees; else 0
    std::unique_ptr<RankProgram> program;
};

/** One direction between two members of one channel, with all it carries. */
struct Connection
{
    uint32_t source{0};      //!< member
    uint32_t destination{0}; //!< member
    uint32_t channel{0};
    uint32_t plane{0};
    uint64_t bytes{0}; //!< over the whole collective
};

/**
 * Generates what each member does. Stateless: one object serves all instances.
 *
 * Identities (tested for every algorithm): over all steps, messages sent from i to j on a channel
 * equal those received by j from i, in number and bytes; remainder bytes are distributed, never
 * dropped; Connections() sums to what the programs send.
 */
class CollectiveAlgorithm : public Object
{
  public:
    static TypeId GetTypeId();
    virtual bool Supports(CollectiveKind kind) const = 0;
    /** @return all lanes of @p member, those without a step left out; @p plan outlives them */
    virtual std::vector<Lane> MakeLanes(const CollectivePlan& plan, uint32_t member) const = 0;
    /** @return every connection with bytes above zero, in a fixed order */
    virtual std::vector<Connection> GetConnections(const CollectivePlan& plan) const = 0;
};

/**
 * @return the algorithm whose messages stand for those of @p kind where a network carries them out
 *         and where links are counted: NVLS and PAT: RING; NVLS_TREE: TREE; others: themselves
 *
 * No network model here reduces in switches, and PAT's rounds are not written as rank programs.
 */
CollectiveAlgorithmKind MovesLike(CollectiveAlgorithmKind kind);

/**
 * @return a new algorithm object of that kind (never AUTO), made by its TypeId; of MovesLike()
 * @throws UnsupportedError if no such TypeId is registered
 */
Ptr<CollectiveAlgorithm> CreateCollectiveAlgorithm(CollectiveAlgorithmKind kind);

/** Payload of one message of a barrier, bytes. */
constexpr uint64_t BARRIER_BYTES = 8;

/**
 * @return bytes of part @p index when @p bytes are cut into @p parts as evenly as whole bytes
 *         allow: the first `bytes % parts` parts get one byte more
 */
uint64_t PartBytes(uint64_t bytes, uint32_t parts, uint32_t index);

/**
 * @return bytes that member @p source has for member @p destination of an all-to-all(-v)
 */
uint64_t PairBytes(const CollectivePlan& plan, uint32_t source, uint32_t destination);

/**
 * @return the payload that all members together send to others, in closed form: it is the sum over
 *         GetConnections() of the plan's algorithm
 */
uint64_t PayloadBytes(const CollectivePlan& plan);

} // namespace echo
} // namespace ns3

#endif /* ECHO_COLLECTIVE_ALGORITHM_H */
