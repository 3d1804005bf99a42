// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TIMELINE_SAMPLER_H
#define ECHO_TIMELINE_SAMPLER_H

#include "echo-json-writer.h"
#include "echo-rank-selection.h"

#include "ns3/echo-records.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * A timeline small enough for a page: a limited number of blocks however many operators there are.
 *
 * Each rank has a lane for each stream and what runs there. While the blocks are within the limit,
 * a block is an operator. When there are more, the resolution grows by half until they fit:
 * neighbours of a lane that lie within one resolution become one block that knows how many
 * operators it holds, how long they run, and the name of the longest. An operator at least as long
 * as the resolution always keeps a block of its own. Names of operators that overlap slowed say so.
 */
class TimelineSampler : public RecordSink
{
  public:
    explicit TimelineSampler(RankSelection selection, size_t limit = 250000);
    void OnOperator(const OperatorRecord& record) override;
    void OnRank(const RankRecord& record) override;

    /**
     * Writes an object: unit_us, resolution_us, begin_us, names, and lanes. @p begin is what the
     * blocks' times count from: the start of the step, before any operator. A lane's blocks are
     * numbers in a row: gap since the block before (in units), length (in units), name; a name
     * below zero is that of name -1 - n, and two numbers follow: operators, and thousandths of the
     * length in which they run.
     */
    void Write(JsonWriter& json, Time begin, Time stepTime);

    /** @return operators within this time of a lane may be one block; zero: none are */
    Time GetResolution() const
    {
        return PicoSeconds(m_resolution);
    }

    /** @return start of the first block; Time::Max if there is none */
    Time GetFirstTime() const;

    size_t GetBlockCount() const
    {
        return m_blockCount;
    }

  private:
    struct Block
    {
        int64_t start; //!< picoseconds
        int64_t end;
        int64_t busy;    //!< sum of its operators
        int64_t longest; //!< of its operators
        uint32_t name;   //!< of the longest
        uint32_t count;
    };

    struct LaneKey
    {
        RankId rank;
        uint32_t order; //!< LaneOrder
        StreamId stream;
        bool waiting;

        bool operator<(const LaneKey& other) const
        {
            return std::tie(rank, order, stream, waiting) <
                   std::tie(other.rank, other.order, other.stream, other.waiting);
        }
    };

    struct Lane
    {
        std::string kind; //!< LaneName
        std::vector<Block> blocks;
    };

    void Append(Lane& lane, const Block& block);
    void Coarsen(size_t limit);
    uint32_t NameOf(const std::string& name);
    void WriteLane(JsonWriter& json, const LaneKey& key, const Lane& lane, int64_t begin) const;

    RankSelection m_selection;
    size_t m_limit;
    size_t m_blockCount{0};
    int64_t m_resolution{0}; //!< picoseconds
    int64_t m_unit{1};       //!< picoseconds
    std::map<LaneKey, Lane> m_lanes;
    std::map<RankId, uint32_t> m_hosts;
    std::map<std::string, uint32_t> m_nameIndex;
    std::vector<std::string> m_names;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TIMELINE_SAMPLER_H */
