// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SCHEDULED_EXECUTION_H
#define ECHO_SCHEDULED_EXECUTION_H

#include "echo-collective-backend.h"
#include "echo-footprint.h"
#include "echo-network-model.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** What an execution needs of its surroundings. */
struct ExecutionContext
{
    NetworkModel* intraHost{nullptr};
    NetworkModel* interHost{nullptr};
    Time stepOverhead;       //!< each step, before it sends
    DataRate reductionRate;  //!< of received data that is reduced; 0 bit/s: takes no time
    uint8_t trafficClass{0}; //!< of its messages
    std::function<void(uint32_t member)> onMemberDone;
    std::function<void()> onFinished; //!< last call; may destroy the execution
};

/**
 * One instance on its way: the lanes of all members, and the messages between them.
 *
 * A wire is one (channel, plane, source, destination); its messages arrive in the order in which
 * they were sent, so a count of them is all that a receiver needs.
 */
class ScheduledExecution
{
  public:
    ScheduledExecution(std::shared_ptr<CollectiveInstance> instance,
                       const CollectiveAlgorithm& algorithm,
                       ExecutionContext context);
    ~ScheduledExecution();

    /** Begins all lanes of all members. */
    void Start();

    /** @return messages sent so far */
    uint64_t GetMessageCount() const
    {
        return m_messages;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    struct Wire
    {
        DeviceId source;
        DeviceId destination;
        uint64_t label{0};
        bool interHost{false};
        uint32_t sender{0};     //!< member
        uint32_t arrived{0};    //!< messages that no step has taken yet
        uint32_t waiting{NONE}; //!< lane that waits for the next one
    };

    /** The wire that a lane used last towards or from a peer: most lanes have the same always. */
    struct KnownWire
    {
        uint32_t peer{NONE};
        uint32_t wire{0};
    };

    struct LaneState
    {
        uint32_t member{0};
        uint32_t channel{0};
        uint32_t plane{0};
        std::unique_ptr<RankProgram> program;
        ProgramStep step;
        uint8_t received{0}; //!< messages of the step that have been taken
        bool hasStep{false};
        std::array<KnownWire, ProgramStep::MAX_PEERS> from;
        std::array<KnownWire, ProgramStep::MAX_PEERS> to;
    };

    struct MemberState
    {
        uint32_t lanes{0};    //!< not ended
        uint32_t inFlight{0}; //!< messages sent, not delivered
        bool done{false};
    };

    struct WireKeyHash
    {
        size_t operator()(uint64_t key) const;
    };

    void Advance(uint32_t lane);
    bool TakeReceives(uint32_t lane);
    Time StepDelay(const ProgramStep& step) const;
    void SendAll(uint32_t lane);
    void FinishStep(uint32_t lane);
    void Arrive(uint32_t wire);
    void CheckMember(uint32_t member);
    /** The last thing that an event does: this object may be gone afterwards. */
    void CheckFinished();
    uint32_t FindWire(KnownWire& known,
                      const LaneState& lane,
                      uint32_t source,
                      uint32_t destination);

    std::shared_ptr<CollectiveInstance> m_instance;
    ExecutionContext m_context;
    std::vector<LaneState> m_lanes;
    std::vector<MemberState> m_members;
    std::vector<Wire> m_wires;
    std::unordered_map<uint64_t, uint32_t, WireKeyHash> m_wireIndex; //!< looked up only
    uint32_t m_membersLeft{0};
    uint64_t m_messages{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SCHEDULED_EXECUTION_H */
