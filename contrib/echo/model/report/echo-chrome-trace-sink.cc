// SPDX-License-Identifier: GPL-2.0-only
#include "echo-chrome-trace-sink.h"

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint32_t LANES = 32; //!< more than there are lane orders: thread = stream * LANES + order

} // namespace

std::string LaneName(ActivityKind activity, GroupKind group)
{
    switch (activity)
    {
    case ActivityKind::COMPUTE:
        return "compute";
    case ActivityKind::COPY:
        return "copy";
    case ActivityKind::HOST:
        return "host";
    default:
        return ToString(group);
    }
}

uint32_t LaneOrder(ActivityKind activity, GroupKind group)
{
    switch (activity)
    {
    case ActivityKind::COMPUTE:
        return 0;
    case ActivityKind::COPY:
        return 1;
    case ActivityKind::HOST:
        return LANES - 1;
    default:
        return 2 + static_cast<uint32_t>(group);
    }
}

ChromeTraceSink::ChromeTraceSink(OutputFile& file, RankSelection selection, uint64_t limit)
    : m_json(file), m_selection(std::move(selection)), m_limit(limit)
{
    m_json.BeginObject().Member("displayTimeUnit", "ns").Key("traceEvents").BeginArray();
}

void ChromeTraceSink::Select(RankSelection selection)
{
    m_selection = std::move(selection);
}

void ChromeTraceSink::OnBegin(const std::vector<SimulatedRank>& ranks)
{
    for (const SimulatedRank& rank : ranks)
    {
        if (rank.replicas > 1)
        {
            m_replicas[rank.rank] = rank.replicas;
        }
    }
}

void ChromeTraceSink::BeginEvent(const OperatorRecord& record,
                                 uint32_t thread,
                                 const std::string& name)
{
    m_json.BeginObject();
    m_json.Member("name", name).Member("cat", LaneName(record.activity, record.group));
    m_json.Member("ph", "X").Member("pid", record.rank.Get()).Member("tid", thread);
}

void ChromeTraceSink::OnOperator(const OperatorRecord& record)
{
    if (!m_selection.Contains(record.rank))
    {
        return;
    }
    if (m_written == m_limit)
    {
        ++m_leftOut;
        return;
    }
    ++m_written;
    const std::string lane = LaneName(record.activity, record.group);
    const uint32_t thread = record.stream.Get() * LANES + LaneOrder(record.activity, record.group);
    std::string& threadName = m_threads[record.rank][thread];
    if (threadName.empty())
    {
        threadName = lane +
                     (record.activity == ActivityKind::COMMUNICATION ? " communication" : "") +
                     " (stream " + std::to_string(record.stream.Get()) + ")";
    }
    const bool communication = record.activity == ActivityKind::COMMUNICATION;
    if (communication && record.ready < record.start)
    {
        BeginEvent(record, thread, "waiting");
        m_json.Member("ts", record.ready).Member("dur", record.start - record.ready);
        m_json.Key("args").BeginObject().Member("for", record.name).EndObject().EndObject();
    }
    BeginEvent(record, thread, record.name.empty() ? lane : record.name);
    m_json.Member("ts", record.start).Member("dur", record.end - record.start);
    m_json.Key("args").BeginObject().Member("operator", record.op.Get());
    if (communication)
    {
        m_json.Member("bytes", record.bytes);
        if (record.collective.IsValid())
        {
            m_json.Member("collective", record.collective.Get());
        }
    }
    else if (!record.slowdown.IsZero())
    {
        m_json.Member("slowdown_us", record.slowdown);
    }
    m_json.EndObject().EndObject();
}

void ChromeTraceSink::OnRank(const RankRecord& record)
{
    if (m_selection.Contains(record.rank))
    {
        m_hosts[record.rank] = record.host;
    }
}

void ChromeTraceSink::WriteMetadata(RankId rank,
                                    uint32_t thread,
                                    const char* what,
                                    const std::string& name)
{
    m_json.BeginObject().Member("name", what).Member("ph", "M");
    m_json.Member("pid", rank.Get()).Member("tid", thread);
    m_json.Key("args").BeginObject().Member("name", name).EndObject().EndObject();
}

void ChromeTraceSink::WriteOrder(RankId rank, uint32_t thread, const char* what, uint32_t order)
{
    m_json.BeginObject().Member("name", what).Member("ph", "M");
    m_json.Member("pid", rank.Get()).Member("tid", thread);
    m_json.Key("args").BeginObject().Member("sort_index", order).EndObject().EndObject();
}

void ChromeTraceSink::OnRun(const RunRecord& record)
{
    for (const auto& [rank, threads] : m_threads)
    {
        const JobRecord* job = FindJob(record.jobs, rank);
        const auto host = m_hosts.find(rank);
        const auto replicas = m_replicas.find(rank);
        WriteMetadata(
            rank,
            0,
            "process_name",
            (job ? job->name + ": " : "") + "rank " + std::to_string(rank.Get()) +
                (host == m_hosts.end() ? "" : " (host " + std::to_string(host->second) + ")") +
                (replicas == m_replicas.end()
                     ? ""
                     : " and " + std::to_string(replicas->second - 1) + " equal"));
        WriteOrder(rank, 0, "process_sort_index", rank.Get());
        for (const auto& [thread, name] : threads)
        {
            WriteMetadata(rank, thread, "thread_name", name);
            WriteOrder(
                rank, thread, "thread_sort_index", thread % LANES * 65536 + thread / LANES % 65536);
        }
    }
    m_json.EndArray().EndObject();
    m_json.Flush();
}

} // namespace echo
} // namespace ns3
