// SPDX-License-Identifier: GPL-2.0-only
#include "echo-rank-executor.h"

#include "ns3/assert.h"
#include "ns3/echo-time-limit.h"
#include "ns3/event-impl.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoRankExecutor");

/** The end of a stream's running operator; one object serves operator after operator. */
class RankExecutor::StreamEvent : public EventImpl
{
  public:
    StreamEvent(RankExecutor& executor, uint32_t stream) : m_executor(executor), m_stream(stream)
    {
    }

  private:
    void Notify() override
    {
        m_executor.OnTimedEnd(m_stream);
    }

    RankExecutor& m_executor;
    uint32_t m_stream;
};

RankExecutor::RankExecutor(JobContext& context, RankId rank, const FoldedRank* folded)
    : m_context(context),
      m_rank(rank),
      m_folded(folded),
      m_program(context.workload->GetProgram(rank).get()),
      m_streams(m_program->GetStreamCount())
{
    const auto durations = m_context.durations.find(m_program);
    m_durations = durations == m_context.durations.end() ? nullptr : &durations->second;
    for (uint32_t stream = 0; stream < m_streams.size(); ++stream)
    {
        if (m_program->GetStream(StreamId(stream)).empty())
        {
            m_streams[stream].state = StreamState::FINISHED;
        }
        else
        {
            ++m_unfinishedStreams;
        }
    }
}

RankExecutor::~RankExecutor() = default;

void RankExecutor::Start()
{
    if (m_unfinishedStreams > 0)
    {
        Simulator::Schedule(m_context.workload->GetStartTime(m_rank), &RankExecutor::Begin, this);
    }
}

OperatorId RankExecutor::GetHead(StreamId stream) const
{
    const auto& operators = m_program->GetStream(stream);
    const uint32_t cursor = m_streams[stream.Get()].cursor;
    return cursor < operators.size() ? operators[cursor] : OperatorId();
}

bool RankExecutor::HasStarted(OperatorId op) const
{
    const Stream& stream = m_streams[m_program->GetOperator(op).stream.Get()];
    const uint32_t position = m_program->GetPosition(op);
    return position < stream.cursor ||
           (position == stream.cursor && stream.state != StreamState::BLOCKED);
}

void RankExecutor::Begin()
{
    for (uint32_t stream = 0; stream < m_streams.size(); ++stream)
    {
        if (m_streams[stream].state == StreamState::BLOCKED)
        {
            Push(stream);
        }
    }
    RunPushed();
}

void RankExecutor::Push(uint32_t stream)
{
    m_context.streams.push_back(stream);
}

/** Nothing that runs inside looks at streams of another rank, so all ranks share the list. */
void RankExecutor::RunPushed()
{
    for (size_t i = 0; i < m_context.streams.size(); ++i)
    {
        TryHead(m_context.streams[i]);
    }
    m_context.streams.clear();
}

void RankExecutor::TryHead(uint32_t index)
{
    const auto& operators = m_program->GetStream(StreamId(index));
    Stream& stream = m_streams[index];
    while (stream.cursor < operators.size())
    {
        const OperatorId id = operators[stream.cursor];
        const Operator& op = m_program->GetOperator(id);
        if (!AreDependenciesDone(index, op))
        {
            return;
        }
        stream.start = Simulator::Now();
        if (!m_hasStarted)
        {
            m_hasStarted = true;
            m_firstStart = stream.start;
        }
        if (!Issue(index, id, op))
        {
            return;
        }
        Complete(index, stream.start);
    }
}

/** Lists the stream where its head's first open dependency runs, if there is one. */
bool RankExecutor::AreDependenciesDone(uint32_t index, const Operator& op)
{
    const OperatorId* dependencies = m_program->GetDependencies(op);
    for (uint32_t i = 0; i < op.dependencyCount; ++i)
    {
        if (!IsDone(dependencies[i]))
        {
            Stream& other = m_streams[m_program->GetOperator(dependencies[i]).stream.Get()];
            m_streams[index].awaited = m_program->GetPosition(dependencies[i]);
            m_streams[index].nextWaiter = other.firstWaiter;
            other.firstWaiter = index;
            return false;
        }
    }
    return true;
}

bool RankExecutor::Issue(uint32_t index, OperatorId id, const Operator& op)
{
    switch (op.type)
    {
    case OperatorType::MARKER:
        return true;
    case OperatorType::COLLECTIVE:
    case OperatorType::POINT_TO_POINT:
        IssueCommunication(index, id, op);
        return false;
    default:
        return IssueTimed(index, id, op);
    }
}

bool RankExecutor::IssueTimed(uint32_t index, OperatorId id, const Operator& op)
{
    Stream& stream = m_streams[index];
    const Time now = stream.start;
    stream.alone =
        m_durations ? (*m_durations)[id.Get()] : m_context.compute->GetDuration(op, m_rank);
    WithinClock(Max(stream.alone, now + stream.alone));
    NS_ASSERT_MSG(!stream.alone.IsStrictlyNegative(), "a compute model gave a negative time");
    if (stream.alone.IsZero())
    {
        RecordTimed(index, id, op, now);
        return true;
    }
    stream.state = StreamState::RUNNING;
    stream.isStretchable = false;
    Time duration = stream.alone;
    if (op.type != OperatorType::HOST)
    {
        m_overlap.BeginKernel(now);
        StretchHeld();
        if (m_context.slowdown && op.type == OperatorType::COMPUTE)
        {
            stream.isStretchable = true;
            ++m_stretchable;
            stream.work = StretchedWork(now, stream.alone, GetFactor(op, stream.alone));
            duration = stream.work.GetEnd() - now;
        }
    }
    if (!stream.isStretchable)
    {
        m_context.ends.Schedule(duration, {this, index});
        return false;
    }
    if (!stream.event)
    {
        stream.event = Create<StreamEvent>(*this, index);
    }
    stream.pending = Simulator::Schedule(duration, stream.event);
    return false;
}

void RankExecutor::IssueCommunication(uint32_t index, OperatorId, const Operator& op)
{
    const CommunicationDescription& description = m_program->GetCommunication(op);
    const uint32_t slot = description.groupSlot;
    const CommGroupPtr& group =
        m_folded ? m_folded->seats[slot].group : m_context.workload->GetGroup(m_rank, slot);
    const RankId rank = m_folded ? m_folded->seats[slot].rank : m_rank;
    m_streams[index].state = StreamState::WAITING;
    m_overlap.BeginWait(m_streams[index].start);
    // Both capture 16 bytes, which std::function keeps without allocating.
    auto done = [this, index](const CommunicationTimes& times) {
        OnCommunicationDone(index, times);
    };
    auto started = [this, index] { OnTransferBegin(index); };
    if (op.type == OperatorType::COLLECTIVE)
    {
        m_context.backend->Join(
            description.spec, group, rank, m_program->GetName(op), done, started);
        return;
    }
    auto& elements = m_context.elements;
    elements.clear();
    for (const auto& element : description.elements)
    {
        elements.push_back(
            {element.isSend, group->GetRanks()[element.peerIndex], element.bytes, element.tag});
    }
    m_context.backend->JoinPointToPoint(
        elements, group, rank, m_program->GetName(op), done, started);
}

void RankExecutor::OnTimedEnd(uint32_t index)
{
    Stream& stream = m_streams[index];
    const OperatorId id = m_program->GetStream(StreamId(index))[stream.cursor];
    const Operator& op = m_program->GetOperator(id);
    const Time now = Simulator::Now();
    if (stream.isHeld)
    {
        FinishCommunication(index, stream.times);
        return;
    }
    if (op.type != OperatorType::HOST)
    {
        m_overlap.EndKernel(now);
        StretchHeld();
        m_stretchable -= stream.isStretchable ? 1 : 0;
    }
    RecordTimed(index, id, op, now);
    Complete(index, now);
    Push(index);
    RunPushed();
}

void RankExecutor::OnTransferBegin(uint32_t index)
{
    Stream& stream = m_streams[index];
    NS_ASSERT(stream.state == StreamState::WAITING);
    stream.state = StreamState::TRANSFERRING;
    stream.started = Simulator::Now();
    m_overlap.BeginTransfer(stream.started);
    stream.computed = m_overlap.GetCompute();
    Stretch();
}

void RankExecutor::OnCommunicationDone(uint32_t index, const CommunicationTimes& times)
{
    if (!Hold(index, times))
    {
        FinishCommunication(index, times);
    }
}

/**
 * Beside kernels a transfer made 1/communicationSlowdown of the progress that the network gave it;
 * the rest follows now. The other members are not held up.
 */
bool RankExecutor::Hold(uint32_t index, const CommunicationTimes& times)
{
    Stream& stream = m_streams[index];
    const double factor = m_context.communicationSlowdown;
    if (factor == 1 || stream.state != StreamState::TRANSFERRING)
    {
        return false;
    }
    const Time now = Simulator::Now();
    m_overlap.Advance(now);
    const auto beside =
        static_cast<double>((m_overlap.GetCompute() - stream.computed).GetTimeStep());
    const Time rest = TimeStep(static_cast<uint64_t>(std::llround(beside * (1 - 1 / factor))));
    if (rest.IsZero())
    {
        return false;
    }
    stream.isHeld = true;
    stream.held = now;
    stream.times = times;
    stream.work = StretchedWork(now, rest, m_overlap.IsComputing() ? factor : 1);
    stream.event = Create<StreamEvent>(*this, index);
    stream.pending = Simulator::Schedule(stream.work.GetEnd() - now, stream.event);
    ++m_held;
    return true;
}

/** The first kernel has begun or the last has ended: held communications change their speed. */
void RankExecutor::StretchHeld()
{
    for (uint32_t index = 0; m_held > 0 && index < m_streams.size(); ++index)
    {
        if (m_streams[index].isHeld)
        {
            Reschedule(index, m_overlap.IsComputing() ? m_context.communicationSlowdown : 1);
        }
    }
}

void RankExecutor::FinishCommunication(uint32_t index, const CommunicationTimes& times)
{
    Stream& stream = m_streams[index];
    const Time now = Simulator::Now();
    const bool wasTransferring = stream.state == StreamState::TRANSFERRING;
    m_overlap.EndCommunication(now, wasTransferring);
    if (wasTransferring)
    {
        stream.state = StreamState::BLOCKED; // it slows nothing any more
        Stretch();
    }
    RecordCommunication(index, times, now);
    m_held -= stream.isHeld ? 1 : 0;
    stream.isHeld = false;
    Complete(index, now);
    Push(index);
    RunPushed();
}

double RankExecutor::GetFactor(const Operator& op, Time alone) const
{
    double factor = 1;
    if (!m_overlap.IsTransferring())
    {
        return factor;
    }
    for (uint32_t index = 0; index < m_streams.size(); ++index)
    {
        const Stream& stream = m_streams[index];
        if (stream.state == StreamState::TRANSFERRING)
        {
            const Operator& communication =
                m_program->GetOperator(m_program->GetStream(StreamId(index))[stream.cursor]);
            const double one = m_context.slowdown->GetFactor(*m_program, op, alone, communication);
            NS_ASSERT_MSG(one >= 1, "a slowdown model gave a factor below 1");
            factor = std::max(factor, one);
        }
    }
    return factor;
}

/** A transfer of the rank has begun or ended: kernels change their speed. */
void RankExecutor::Stretch()
{
    if (m_stretchable == 0)
    {
        return;
    }
    for (uint32_t index = 0; index < m_streams.size(); ++index)
    {
        const Stream& stream = m_streams[index];
        if (stream.state != StreamState::RUNNING || !stream.isStretchable)
        {
            continue;
        }
        const Operator& op =
            m_program->GetOperator(m_program->GetStream(StreamId(index))[stream.cursor]);
        Reschedule(index, GetFactor(op, stream.alone));
    }
}

void RankExecutor::Reschedule(uint32_t index, double factor)
{
    Stream& stream = m_streams[index];
    if (factor == stream.work.GetFactor())
    {
        return;
    }
    const Time now = Simulator::Now();
    stream.work.Change(now, factor);
    // A removed event cannot be scheduled again.
    Simulator::Remove(stream.pending);
    stream.event = Create<StreamEvent>(*this, index);
    stream.pending = Simulator::Schedule(stream.work.GetEnd() - now, stream.event);
}

void RankExecutor::Complete(uint32_t index, Time now)
{
    Stream& stream = m_streams[index];
    const bool isLast = ++stream.cursor == m_program->GetStream(StreamId(index)).size();
    stream.state = isLast ? StreamState::FINISHED : StreamState::BLOCKED;
    m_unfinishedStreams -= isLast ? 1 : 0;
    m_lastEnd = Max(m_lastEnd, now);
    if (++m_context.done == m_context.total && m_context.onFinished)
    {
        m_context.onFinished();
    }
    uint32_t* link = &stream.firstWaiter;
    while (*link != NONE)
    {
        Stream& waiter = m_streams[*link];
        if (waiter.awaited < stream.cursor)
        {
            Push(*link);
            *link = waiter.nextWaiter;
        }
        else
        {
            link = &waiter.nextWaiter;
        }
    }
}

} // namespace echo
} // namespace ns3
