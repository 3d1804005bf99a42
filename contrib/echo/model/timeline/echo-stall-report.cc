// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stall-report.h"

#include "ns3/echo-short-cycle.h"
#include "ns3/echo-units.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

constexpr size_t MAX_RANKS = 20;  //!< described one by one
constexpr size_t MAX_STREAMS = 6; //!< of a rank
constexpr size_t MAX_MEMBERS = 4; //!< missing ones, of a communication
constexpr size_t MAX_CYCLE = 12;  //!< ranks of a cycle

} // namespace

/** With several jobs: "rank 9 (rank 1 of job b)". */
std::string StallReport::RankText(RankId rank) const
{
    const JobSpan* job = FindJob(m_context.workload->GetJobs(), rank);
    return "rank " + std::to_string(rank.Get()) +
           (job ? " (rank " + std::to_string(job->NumberOf(rank)) + " of job " + job->name + ")"
                : "");
}

StallReport::StallReport(const JobContext& context, const Executors& executors)
    : m_context(context), m_executors(executors), m_calls(executors.size())
{
    for (const auto& executor : executors)
    {
        CountCalls(executor->GetRank());
    }
    for (const auto& executor : executors)
    {
        FindInstances(executor->GetRank());
    }
    FindEdges();
}

std::vector<std::pair<StallReport::Channel, bool>> StallReport::GetChannels(RankId rank,
                                                                            OperatorId id) const
{
    std::vector<std::pair<Channel, bool>> channels;
    const ExecutionGraph& program = m_executors[rank.Get()]->GetProgram();
    const Operator& op = program.GetOperator(id);
    if (op.type != OperatorType::COLLECTIVE && op.type != OperatorType::POINT_TO_POINT)
    {
        return channels;
    }
    const CommunicationDescription& description = program.GetCommunication(op);
    const CommGroup& group = *m_context.workload->GetGroup(rank, description.groupSlot);
    if (op.type == OperatorType::COLLECTIVE)
    {
        channels.emplace_back(Channel(group.GetId().Get(), ALL, ALL, 0), true);
    }
    for (const auto& element : description.elements)
    {
        const uint32_t peer = group.GetRank(element.peerIndex).Get();
        channels.emplace_back(element.isSend
                                  ? Channel(group.GetId().Get(), rank.Get(), peer, element.tag)
                                  : Channel(group.GetId().Get(), peer, rank.Get(), element.tag),
                              element.isSend);
    }
    return channels;
}

void StallReport::CountCalls(RankId rank)
{
    const RankExecutor& executor = *m_executors[rank.Get()];
    const ExecutionGraph& program = executor.GetProgram();
    for (uint32_t i = 0; i < program.GetOperators().size(); ++i)
    {
        if (executor.HasStarted(OperatorId(i)))
        {
            for (const auto& channel : GetChannels(rank, OperatorId(i)))
            {
                ++m_calls[rank.Get()].made[channel];
            }
        }
    }
}

uint32_t StallReport::GetMade(RankId rank, const Channel& channel, bool isSend) const
{
    const auto& made = m_calls[rank.Get()].made;
    const auto it = made.find({channel, isSend});
    return it == made.end() ? 0 : it->second;
}

void StallReport::FindInstances(RankId rank)
{
    // Several heads may be in calls of one channel: the last to join is in the last of its calls.
    const RankExecutor& executor = *m_executors[rank.Get()];
    std::vector<std::pair<Time, StreamId>> heads;
    for (uint32_t i = 0; i < executor.GetProgram().GetStreamCount(); ++i)
    {
        if (executor.GetState(StreamId(i)) == RankExecutor::StreamState::WAITING)
        {
            heads.emplace_back(executor.GetHeadStart(StreamId(i)), StreamId(i));
        }
    }
    std::sort(heads.begin(), heads.end());
    std::map<std::pair<Channel, bool>, uint32_t> later;
    for (auto head = heads.rbegin(); head != heads.rend(); ++head)
    {
        const OperatorId op = executor.GetHead(head->second);
        const auto channels = GetChannels(rank, op);
        for (auto channel = channels.rbegin(); channel != channels.rend(); ++channel)
        {
            const uint32_t number =
                GetMade(rank, channel->first, channel->second) - later[*channel]++;
            const auto next = static_cast<uint32_t>(m_instances.size());
            const auto [entry, isNew] = m_instanceIndex.emplace(Key(channel->first, number), next);
            if (isNew)
            {
                AddInstance(channel->first, number, rank, op);
            }
            m_calls[rank.Get()].waitingIn[head->second].push_back(entry->second);
        }
    }
}

void StallReport::AddInstance(const Channel& channel, uint32_t number, RankId rank, OperatorId op)
{
    const ExecutionGraph& program = m_executors[rank.Get()]->GetProgram();
    Instance instance;
    instance.channel = channel;
    instance.number = number;
    instance.kind = echo::ToString(program.GetCommunication(program.GetOperator(op)).spec.kind);
    const auto [groupId, source, destination, tag] = channel;
    if (source == ALL)
    {
        for (RankId member : m_context.workload->GetGroups()[groupId]->GetRanks())
        {
            if (GetMade(member, channel, true) < number)
            {
                instance.missing.push_back(member);
            }
        }
    }
    else
    {
        if (GetMade(RankId(source), channel, true) < number)
        {
            instance.missing.emplace_back(source);
        }
        if (GetMade(RankId(destination), channel, false) < number)
        {
            instance.missing.emplace_back(destination);
        }
    }
    m_instances.push_back(std::move(instance));
}

StreamId StallReport::FindCulprit(RankId rank, const Channel& channel) const
{
    const RankExecutor& executor = *m_executors[rank.Get()];
    const ExecutionGraph& program = executor.GetProgram();
    const bool isSend = std::get<1>(channel) == ALL || std::get<1>(channel) == rank.Get();
    OperatorId op;
    for (uint32_t i = 0; i < program.GetOperators().size() && !op.IsValid(); ++i)
    {
        if (!executor.HasStarted(OperatorId(i)))
        {
            const auto channels = GetChannels(rank, OperatorId(i));
            if (std::find(channels.begin(), channels.end(), std::make_pair(channel, isSend)) !=
                channels.end())
            {
                op = OperatorId(i);
            }
        }
    }
    if (!op.IsValid())
    {
        return StreamId();
    }
    // From head to the head that it depends on; a sealed graph has no cycle.
    StreamId stream = program.GetOperator(op).stream;
    while (executor.GetState(stream) == RankExecutor::StreamState::BLOCKED)
    {
        const Operator& head = program.GetOperator(executor.GetHead(stream));
        const OperatorId* first = program.GetDependencies(head);
        const OperatorId* last = first + head.dependencyCount;
        const OperatorId* open =
            std::find_if(first, last, [&](OperatorId d) { return !executor.IsDone(d); });
        if (open == last)
        {
            break; // the rank has not begun
        }
        stream = program.GetOperator(*open).stream;
    }
    return stream;
}

void StallReport::FindEdges()
{
    for (uint32_t i = 0; i < m_instances.size(); ++i)
    {
        for (RankId rank : m_instances[i].missing)
        {
            const StreamId culprit = FindCulprit(rank, m_instances[i].channel);
            const auto& waitingIn = m_calls[rank.Get()].waitingIn;
            const auto it = culprit.IsValid() ? waitingIn.find(culprit) : waitingIn.end();
            if (it != waitingIn.end())
            {
                for (uint32_t to : it->second)
                {
                    m_edges.push_back({i, to, rank});
                }
            }
        }
    }
}

std::string StallReport::DescribeOperator(RankId rank, OperatorId id) const
{
    const ExecutionGraph& program = m_executors[rank.Get()]->GetProgram();
    const Operator& op = program.GetOperator(id);
    std::string text = "'" + program.GetName(op) + "'";
    if (op.line > 0)
    {
        text += " (" + SourceLocation{program.GetSource(), op.line, ""}.ToString() + ")";
    }
    return text;
}

std::string StallReport::DescribeInstance(const Instance& instance) const
{
    const auto [groupId, source, destination, tag] = instance.channel;
    const std::string& group = m_context.workload->GetGroups()[groupId]->GetName();
    const std::string number = std::to_string(instance.number);
    if (source == ALL)
    {
        return instance.kind + " (call " + number + " on group " + group + ")";
    }
    return "message " + number + " from rank " + std::to_string(source) + " to rank " +
           std::to_string(destination) + " (group " + group + ", tag " + std::to_string(tag) + ")";
}

std::string StallReport::DescribeMissing(const Instance& instance) const
{
    std::string text;
    for (size_t i = 0; i < instance.missing.size() && i < MAX_MEMBERS; ++i)
    {
        const RankId rank = instance.missing[i];
        text += (i > 0 ? ", and for " : " waits for ") + RankText(rank);
        const StreamId culprit = FindCulprit(rank, instance.channel);
        if (!culprit.IsValid())
        {
            text += ", which makes no such call any more";
        }
        else
        {
            text += ", which is at " +
                    DescribeOperator(rank, m_executors[rank.Get()]->GetHead(culprit));
        }
    }
    if (instance.missing.size() > MAX_MEMBERS)
    {
        text +=
            ", and for " + std::to_string(instance.missing.size() - MAX_MEMBERS) + " more ranks";
    }
    return text.empty() ? " has all its members but did not end" : text;
}

std::string StallReport::DescribeWait(RankId rank, StreamId stream) const
{
    const RankExecutor& executor = *m_executors[rank.Get()];
    const ExecutionGraph& program = executor.GetProgram();
    const Operator& head = program.GetOperator(executor.GetHead(stream));
    switch (executor.GetState(stream))
    {
    case RankExecutor::StreamState::BLOCKED:
    {
        for (uint32_t i = 0; i < head.dependencyCount; ++i)
        {
            const OperatorId dependency = program.GetDependencies(head)[i];
            if (!executor.IsDone(dependency))
            {
                return " waits for " + DescribeOperator(rank, dependency) + " on stream " +
                       program.GetStreamName(program.GetOperator(dependency).stream);
            }
        }
        return " has not begun";
    }
    case RankExecutor::StreamState::RUNNING:
        return " runs since " + FormatTime(executor.GetHeadStart(stream));
    case RankExecutor::StreamState::TRANSFERRING:
        return " has all its members but did not end";
    default:
    {
        std::string text = ", joined at " + FormatTime(executor.GetHeadStart(stream)) + ":";
        const auto& waitingIn = m_calls[rank.Get()].waitingIn.at(stream);
        for (auto it = waitingIn.rbegin(); it != waitingIn.rend(); ++it)
        {
            text += (it == waitingIn.rbegin() ? " " : "; ") + DescribeInstance(m_instances[*it]) +
                    DescribeMissing(m_instances[*it]);
        }
        return text;
    }
    }
}

std::string StallReport::DescribeCycle() const
{
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (const Edge& edge : m_edges)
    {
        edges.emplace_back(edge.from, edge.to);
    }
    const std::vector<uint32_t> cycle =
        FindShortCycle(static_cast<uint32_t>(m_instances.size()), std::move(edges));
    if (cycle.empty())
    {
        return "";
    }
    std::string text = "a cycle of " + std::to_string(cycle.size()) + " communications:\n";
    for (size_t i = 0; i < cycle.size() && i < MAX_CYCLE; ++i)
    {
        const uint32_t from = cycle[i];
        const uint32_t to = cycle[(i + 1) % cycle.size()];
        const auto edge = std::find_if(m_edges.begin(), m_edges.end(), [&](const Edge& e) {
            return e.from == from && e.to == to;
        });
        text += "  " + RankText(edge->rank) + " has not joined " +
                DescribeInstance(m_instances[from]) + ", as it waits in " +
                DescribeInstance(m_instances[to]) + "\n";
    }
    if (cycle.size() > MAX_CYCLE)
    {
        text += "  and " + std::to_string(cycle.size() - MAX_CYCLE) + " more\n";
    }
    return text;
}

std::string StallReport::ToString() const
{
    std::vector<RankId> blocked;
    Time lastEnd;
    for (const auto& executor : m_executors)
    {
        lastEnd = Max(lastEnd, executor->GetLastEnd());
        if (!executor->IsFinished())
        {
            blocked.push_back(executor->GetRank());
        }
    }
    std::string text = "no operator has ended since " + FormatTime(lastEnd) + ": " +
                       std::to_string(m_context.total - m_context.done) + " of " +
                       std::to_string(m_context.total) + " operators are left, on " +
                       std::to_string(blocked.size()) + " of " +
                       std::to_string(m_executors.size()) + " ranks\n";
    for (size_t i = 0; i < blocked.size() && i < MAX_RANKS; ++i)
    {
        const RankExecutor& executor = *m_executors[blocked[i].Get()];
        size_t streams = 0;
        for (uint32_t s = 0; s < executor.GetProgram().GetStreamCount(); ++s)
        {
            const StreamId stream(s);
            if (executor.GetState(stream) == RankExecutor::StreamState::FINISHED ||
                ++streams > MAX_STREAMS)
            {
                continue;
            }
            text += RankText(blocked[i]) + ", stream " +
                    executor.GetProgram().GetStreamName(stream) + ": " +
                    DescribeOperator(blocked[i], executor.GetHead(stream)) +
                    DescribeWait(blocked[i], stream) + "\n";
        }
        if (streams > MAX_STREAMS)
        {
            text += RankText(blocked[i]) + ": " + std::to_string(streams - MAX_STREAMS) +
                    " more streams\n";
        }
    }
    if (blocked.size() > MAX_RANKS)
    {
        text += "and " + std::to_string(blocked.size() - MAX_RANKS) + " more ranks\n";
    }
    return text + DescribeCycle();
}

} // namespace echo
} // namespace ns3
