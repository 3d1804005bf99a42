// SPDX-License-Identifier: GPL-2.0-only
#include "echo-timeline-sampler.h"

#include "echo-chrome-trace-sink.h"
#include "echo-text-table.h"

#include <algorithm>
#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t NAME_LIMIT = 20000; //!< distinct names; more share one
constexpr size_t NAME_WIDTH = 80;    //!< characters

} // namespace

TimelineSampler::TimelineSampler(RankSelection selection, size_t limit)
    : m_selection(std::move(selection)), m_limit(limit)
{
}

uint32_t TimelineSampler::NameOf(const std::string& name)
{
    const auto found = m_nameIndex.find(name);
    if (found != m_nameIndex.end())
    {
        return found->second;
    }
    if (m_names.size() >= NAME_LIMIT)
    {
        const char* const others = "(one of many names: see timeline.json)";
        if (m_names.size() == NAME_LIMIT)
        {
            m_names.push_back(others);
        }
        return NAME_LIMIT;
    }
    const auto index = static_cast<uint32_t>(m_names.size());
    m_nameIndex.emplace(name, index);
    m_names.push_back(FormatLabel(name, NAME_WIDTH));
    return index;
}

void TimelineSampler::Append(Lane& lane, const Block& block)
{
    if (!lane.blocks.empty())
    {
        Block& last = lane.blocks.back();
        if (block.end - last.start < m_resolution)
        {
            last.end = std::max(last.end, block.end);
            last.busy += block.busy;
            last.count += block.count;
            if (block.longest > last.longest)
            {
                last.longest = block.longest;
                last.name = block.name;
            }
            return;
        }
    }
    lane.blocks.push_back(block);
    ++m_blockCount;
}

void TimelineSampler::Coarsen(size_t limit)
{
    // A lane of one block is as coarse as can be: then the limit cannot be kept.
    while (m_blockCount > limit && m_blockCount > m_lanes.size() &&
           m_resolution < std::numeric_limits<int64_t>::max() / 4)
    {
        m_resolution = m_resolution == 0 ? 1000 : m_resolution + m_resolution / 2;
        m_blockCount = 0;
        for (auto& [key, lane] : m_lanes)
        {
            std::vector<Block> blocks;
            blocks.swap(lane.blocks);
            for (const Block& block : blocks)
            {
                Append(lane, block);
            }
        }
    }
}

void TimelineSampler::OnOperator(const OperatorRecord& record)
{
    if (!m_selection.Contains(record.rank))
    {
        return;
    }
    const bool communication = record.activity == ActivityKind::COMMUNICATION;
    LaneKey key{record.rank, LaneOrder(record.activity, record.group), record.stream, false};
    const auto add = [&](Time start, Time end) {
        Lane& lane = m_lanes[key];
        if (lane.kind.empty())
        {
            lane.kind = LaneName(record.activity, record.group);
        }
        const int64_t length = (end - start).GetPicoSeconds();
        const std::string& name = record.name.empty() ? lane.kind : record.name;
        Append(lane,
               {start.GetPicoSeconds(),
                end.GetPicoSeconds(),
                length,
                length,
                record.slowdown.IsZero() ? NameOf(name) : NameOf(name + " (slowed by overlap)"),
                1});
    };
    if (record.start < record.end)
    {
        add(record.start, record.end);
    }
    if (communication && record.ready < record.start)
    {
        key.waiting = true;
        add(record.ready, record.start);
    }
    if (m_blockCount > 2 * m_limit)
    {
        Coarsen(m_limit);
    }
}

void TimelineSampler::OnRank(const RankRecord& record)
{
    if (m_selection.Contains(record.rank))
    {
        m_hosts[record.rank] = record.host;
    }
}

Time TimelineSampler::GetFirstTime() const
{
    int64_t first = Time::Max().GetPicoSeconds();
    for (const auto& [key, lane] : m_lanes)
    {
        first = std::min(first, lane.blocks.front().start);
    }
    return PicoSeconds(first);
}

void TimelineSampler::WriteLane(JsonWriter& json,
                                const LaneKey& key,
                                const Lane& lane,
                                int64_t begin) const
{
    json.BeginObject().Member("rank", key.rank.Get());
    const auto host = m_hosts.find(key.rank);
    if (host != m_hosts.end())
    {
        json.Member("host", host->second);
    }
    json.Member("kind", lane.kind).Member("stream", key.stream.Get());
    if (key.waiting)
    {
        json.Member("waiting", true);
    }
    json.Key("blocks").BeginArray();
    int64_t at = 0;
    for (const Block& block : lane.blocks)
    {
        const int64_t start = std::max(at, (block.start - begin) / m_unit);
        const int64_t end = std::max(start, (block.end - begin) / m_unit);
        json.Value(start - at).Value(end - start);
        if (block.count == 1)
        {
            json.Value(block.name);
        }
        else
        {
            json.Value(-1 - static_cast<int64_t>(block.name)).Value(block.count);
            const double length =
                static_cast<double>(std::max<int64_t>(1, block.end - block.start));
            json.Value(static_cast<int64_t>(100 * (static_cast<double>(block.busy) / length)));
        }
        at = end;
    }
    json.EndArray().EndObject();
}

void TimelineSampler::Write(JsonWriter& json, Time begin, Time stepTime)
{
    Coarsen(m_limit);
    // A millionth of the step: below what a zoom of a thousand times shows.
    m_unit = 1;
    while (m_unit * 10 <= stepTime.GetPicoSeconds() / 1000000)
    {
        m_unit *= 10;
    }
    json.BeginObject();
    json.Member("unit_us", PicoSeconds(m_unit)).Member("resolution_us", GetResolution());
    json.Member("begin_us", begin);
    json.Key("names").BeginArray();
    for (const auto& name : m_names)
    {
        json.Value(name);
    }
    json.EndArray().Key("lanes").BeginArray();
    for (const auto& [key, lane] : m_lanes)
    {
        WriteLane(json, key, lane, begin.GetPicoSeconds());
    }
    json.EndArray().EndObject();
}

} // namespace echo
} // namespace ns3
