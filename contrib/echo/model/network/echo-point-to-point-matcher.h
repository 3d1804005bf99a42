// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_POINT_TO_POINT_MATCHER_H
#define ECHO_POINT_TO_POINT_MATCHER_H

#include "echo-collective-backend.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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
    using Key = std::tuple<GroupId, RankId, RankId, int32_t>; //!< group, source, destination, tag

    struct Queue
    {
        std::string group; //!< its name
        std::deque<PointToPointCall> sends;
        std::deque<PointToPointCall> receives;
        uint32_t matched{0};
    };

    [[noreturn]] void RefuseSizes(const Key& key,
                                  const Queue& queue,
                                  const MatchedPair& pair) const;

    std::map<Key, Queue> m_queues; //!< at most one side of a queue is not empty
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_POINT_TO_POINT_MATCHER_H */
