// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RANK_EXECUTOR_H
#define ECHO_RANK_EXECUTOR_H

#include "echo-job-context.h"
#include "echo-overlap-tracker.h"
#include "echo-rank-folding.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Runs one rank's program: the first operator of a stream that is not done starts when its
 * dependencies are done; one operator of a stream runs at a time.
 *
 * Holds a cursor a stream and nothing an operator: an operator is done if its stream's cursor is
 * past it. A stream whose head waits for another stream is listed there and looked at again when
 * that stream's cursor has passed the awaited operator. Operators that take no time cost no event,
 * all others that are not communication cost one, plus one for each change of speed.
 */
class RankExecutor
{
  public:
    /** Where a stream stands. */
    enum class StreamState : uint8_t
    {
        BLOCKED,      //!< its head waits for another stream (or the rank has not started)
        RUNNING,      //!< its head is a kernel, copy or host operator that runs
        WAITING,      //!< its head has joined a communication that others have not
        TRANSFERRING, //!< its head is a communication that all have joined
        FINISHED,     //!< no operator left
    };

    /** @param folded what the rank stands for; null: for itself; outlives this object */
    RankExecutor(JobContext& context, RankId rank, const FoldedRank* folded = nullptr);
    ~RankExecutor();
    RankExecutor(const RankExecutor&) = delete;
    RankExecutor& operator=(const RankExecutor&) = delete;

    /** Schedules the first operators at the rank's start time. */
    void Start();
    /** The context's batch of ends has come to one of this rank's. */
    void OnTimedEnd(uint32_t stream);

    bool IsFinished() const
    {
        return m_unfinishedStreams == 0;
    }

    RankId GetRank() const
    {
        return m_rank;
    }

    const ExecutionGraph& GetProgram() const
    {
        return *m_program;
    }

    StreamState GetState(StreamId stream) const
    {
        return m_streams[stream.Get()].state;
    }

    /** @return number of operators of a stream that are done */
    uint32_t GetCursor(StreamId stream) const
    {
        return m_streams[stream.Get()].cursor;
    }

    /** @return the operator that a stream stands at; invalid if it is finished */
    OperatorId GetHead(StreamId stream) const;
    /** @return when the operator at the head started, or joined its communication */
    Time GetHeadStart(StreamId stream) const
    {
        return m_streams[stream.Get()].start;
    }

    bool IsDone(OperatorId op) const
    {
        const StreamId stream = m_program->GetOperator(op).stream;
        return m_program->GetPosition(op) < m_streams[stream.Get()].cursor;
    }

    /** @return whether the operator has started or, a communication, joined; or is done */
    bool HasStarted(OperatorId op) const;

    /** @return whether any operator has started */
    bool HasAnyStarted() const
    {
        return m_hasStarted;
    }

    Time GetFirstStart() const
    {
        return m_firstStart;
    }

    Time GetLastEnd() const
    {
        return m_lastEnd;
    }

    Time GetSlowdown() const
    {
        return m_slowdown;
    }

    const OverlapTracker& GetOverlap() const
    {
        return m_overlap;
    }

  private:
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    class StreamEvent;

    struct Stream
    {
        uint32_t cursor{0};         //!< position of the head
        uint32_t firstWaiter{NONE}; //!< stream whose head waits for an operator of this one
        uint32_t nextWaiter{NONE};  //!< of the list that this one is in
        uint32_t awaited{0}; //!< position that the head waits for in the stream that lists it
        StreamState state{StreamState::BLOCKED};
        bool isStretchable{false}; //!< a kernel that a slowdown model may slow
        Time start;                //!< of the head
        Time started;              //!< communication: begin of the transfer
        Time alone;                //!< kernel: its time without slowdown
        StretchedWork work;        //!< of a stretchable kernel or a held communication
        Ptr<EventImpl> event;      //!< reused from operator to operator
        EventId pending;           //!< of a stretchable kernel or a held communication
        Time computed;             //!< communication: the rank's compute time at its begin
        bool isHeld{false};        //!< communication: over on the network, not for this rank
        Time held;                 //!< since when
        CommunicationTimes times;  //!< of a held communication
    };

    void Begin();
    void Push(uint32_t stream);
    void RunPushed();
    void TryHead(uint32_t stream);
    bool AreDependenciesDone(uint32_t stream, const Operator& op);
    /** @return whether the operator is done at once */
    bool Issue(uint32_t stream, OperatorId id, const Operator& op);
    bool IssueTimed(uint32_t stream, OperatorId id, const Operator& op);
    void IssueCommunication(uint32_t stream, OperatorId id, const Operator& op);
    void OnTransferBegin(uint32_t stream);
    void OnCommunicationDone(uint32_t stream, const CommunicationTimes& times);
    /** @return the largest factor that a running transfer puts on a kernel; 1 if none runs */
    double GetFactor(const Operator& op, Time alone) const;
    void Stretch();
    void Reschedule(uint32_t stream, double factor);
    /** @return whether kernels beside a communication make it last longer than on the network */
    bool Hold(uint32_t stream, const CommunicationTimes& times);
    void StretchHeld();
    void FinishCommunication(uint32_t stream, const CommunicationTimes& times);
    void Complete(uint32_t stream, Time now);
    void RecordTimed(uint32_t stream, OperatorId id, const Operator& op, Time end);
    void RecordCommunication(uint32_t stream, const CommunicationTimes& times, Time end);

    JobContext& m_context;
    RankId m_rank;
    const FoldedRank* m_folded;
    const ExecutionGraph* m_program;               //!< kept alive by the context's workload
    const std::vector<Time>* m_durations{nullptr}; //!< by operator; null: the model is asked
    std::vector<Stream> m_streams;
    uint32_t m_unfinishedStreams{0};
    uint32_t m_held{0};        //!< communications that kernels make last longer
    uint32_t m_stretchable{0}; //!< running kernels that a slowdown model may slow
    bool m_hasStarted{false};
    Time m_firstStart;
    Time m_lastEnd;
    Time m_slowdown;
    OverlapTracker m_overlap;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RANK_EXECUTOR_H */
