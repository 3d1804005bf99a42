// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STALL_REPORT_H
#define ECHO_STALL_REPORT_H

#include "echo-rank-executor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Who waits for whom in a job that stopped with work left, from the executors' cursors alone.
 *
 * The k-th call of each member on a group is one instance, as the back ends match them; a member
 * misses an instance if it has made fewer calls. Messages count by group, source, destination and
 * tag.
 */
class StallReport
{
  public:
    using Executors = std::vector<std::unique_ptr<RankExecutor>>;

    /** @param executors by rank; all as they stand now */
    StallReport(const JobContext& context, const Executors& executors);

    /** @return some lines: what is left, blocked ranks, a cycle if there is one */
    std::string ToString() const;

  private:
    /// A collective: group, ALL, ALL, 0; messages: group, source, destination, tag.
    using Channel = std::tuple<uint32_t, uint32_t, uint32_t, int32_t>;
    static constexpr uint32_t ALL = 0xffffffff;

    /** A communication that some have joined and others have not. */
    struct Instance
    {
        Channel channel;
        uint32_t number{0}; //!< from 1
        std::vector<RankId> missing;
        std::string kind; //!< "all-reduce", "message"
    };

    using Key = std::pair<Channel, uint32_t>;

    /** How often one rank has called, by channel; sends and receives apart. */
    struct Calls
    {
        std::map<std::pair<Channel, bool>, uint32_t> made;
        /// Of each head that waits: its instances.
        std::map<StreamId, std::vector<uint32_t>> waitingIn;
    };

    /** Who waits at a member that misses an instance: the instance it is in itself. */
    struct Edge
    {
        uint32_t from{0}; //!< instance that the rank misses
        uint32_t to{0};   //!< instance that the rank waits in
        RankId rank;
    };

    void CountCalls(RankId rank);
    void FindInstances(RankId rank);
    void AddInstance(const Channel& channel, uint32_t number, RankId rank, OperatorId op);
    uint32_t GetMade(RankId rank, const Channel& channel, bool isSend) const;
    void FindEdges();
    /** @return the stream whose head holds up the next call of @p rank on a channel; invalid if
     * it makes no further call */
    StreamId FindCulprit(RankId rank, const Channel& channel) const;
    std::vector<std::pair<Channel, bool>> GetChannels(RankId rank, OperatorId op) const;

    std::string RankText(RankId rank) const;
    std::string DescribeOperator(RankId rank, OperatorId op) const;
    std::string DescribeInstance(const Instance& instance) const;
    std::string DescribeWait(RankId rank, StreamId stream) const;
    std::string DescribeMissing(const Instance& instance) const;
    std::string DescribeCycle() const;

    const JobContext& m_context;
    const Executors& m_executors;
    std::vector<Calls> m_calls; //!< by rank
    std::vector<Instance> m_instances;
    std::map<Key, uint32_t> m_instanceIndex;
    std::vector<Edge> m_edges;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STALL_REPORT_H */
