// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_POINT_TO_POINT_MATCHER_H
#define ECHO_POINT_TO_POINT_MATCHER_H

#include "echo-collective-backend.h"

#include "ns3/echo-pool.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace echo
{

/** A rank's batch of sends and receives, done when all of its pairs are. */
struct PointToPointBatch
{
    uint32_t unmatched{0};   //!< elements without a partner yet
    uint32_t unfinished{0};  //!< elements whose pair is not done
    Time start;              //!< latest start of its pairs so far
    CollectiveId collective; //!< of its only pair; invalid for several
    CollectiveBackend::DoneCallback done;
    CollectiveBackend::StartedCallback started;

    /** One of its pairs starts now. */
    void Begin()
    {
        start = Simulator::Now();
        if (--unmatched == 0 && started)
        {
            started();
        }
    }

    /** One of its pairs is done now. */
    void End()
    {
        if (--unfinished == 0)
        {
            done({start, Simulator::Now(), collective});
        }
    }
};

/** One element that waits for its partner, or has just met it. */
struct PointToPointCall
{
    uint64_t bytes{0};
    Time joinTime;
    std::string origin; //!< operator's name
    std::shared_ptr<PointToPointBatch> batch;
};

/** A send and the receive that it met. */
struct MatchedPair
{
    PointToPointCall send;
    PointToPointCall receive;
    uint32_t sequence{0}; //!< the how-manieth of its (group, source, destination, tag)
};

/**
 * Matches sends with receives first-in first-out by (group, source, destination, tag). Knows
 * nothing of instances and time.
 */
class PointToPointMatcher
{
  public:
    /**
     * Adds one element of @p rank.
     * @return the pair if the partner was waiting
     * @throws StallError if the sizes differ; names ranks, operators, tag, sizes and what else the
     *         two ranks wait for
     */
    std::optional<MatchedPair> Add(const CommGroup& group,
                                   RankId rank,
                                   const PointToPointElement& element,
                                   PointToPointCall call);

    /** @return one line for each element without a partner */
    std::vector<std::string> DescribeUnmatched() const;

  private:
    struct Key
    {
        GroupId group;
        RankId source;
        RankId destination;
        int32_t tag{0};
        bool operator==(const Key& other) const;
    };

    struct KeyHash
    {
        size_t operator()(const Key& key) const;
    };

    /** The calls of a key without a partner, first in first out; all sends or all receives. */
    struct Queue
    {
        PoolQueue calls;
        uint32_t matched{0};
        bool areSends{false};
    };

    struct Waiting
    {
        PointToPointCall call;
        std::string group; //!< its name
    };

    [[noreturn]] void RefuseSizes(const Key& key,
                                  const CommGroup& group,
                                  const MatchedPair& pair) const;

    std::unordered_map<Key, Queue, KeyHash> m_queues; //!< iterated only where it is sorted
    Pool<Waiting> m_calls;                            //!< of all queues
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_POINT_TO_POINT_MATCHER_H */
