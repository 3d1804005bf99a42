// SPDX-License-Identifier: GPL-2.0-only
#include "echo-training-job.h"

#include "echo-rank-executor.h"
#include "echo-stall-report.h"
#include "echo-stall-watchdog.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

NS_LOG_COMPONENT_DEFINE("EchoTrainingJob");

NS_OBJECT_ENSURE_REGISTERED(TrainingJob);

/** The executors and what they share. */
struct TrainingJob::Impl
{
    JobContext context;
    std::vector<std::unique_ptr<RankExecutor>> executors; //!< by rank
    StallWatchdog watchdog;

    /** @return earliest start and latest end of any operator */
    std::pair<Time, Time> GetSpan() const
    {
        Time start = Time::Max();
        Time end;
        for (const auto& executor : executors)
        {
            if (executor->HasAnyStarted())
            {
                start = Min(start, executor->GetFirstStart());
                end = Max(end, executor->GetLastEnd());
            }
        }
        return {Min(start, end), end};
    }

    bool IsComputing() const
    {
        for (const auto& executor : executors)
        {
            for (uint32_t i = 0; i < executor->GetProgram().GetStreamCount(); ++i)
            {
                if (executor->GetState(StreamId(i)) == RankExecutor::StreamState::RUNNING)
                {
                    return true;
                }
            }
            if (!executor->HasAnyStarted() && !executor->IsFinished())
            {
                return true; // it starts later
            }
        }
        return false;
    }
};

TypeId TrainingJob::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::TrainingJob")
            .SetParent<Object>()
            .SetGroupName("Echo")
            .AddConstructor<TrainingJob>()
            .AddAttribute("StallTime",
                          "Simulated time in which no operator of the job ends and no kernel "
                          "runs, after which a run that still has events is stopped; zero: "
                          "never.",
                          TimeValue(Seconds(1000)),
                          MakeTimeAccessor(&TrainingJob::m_stallTime),
                          MakeTimeChecker(Time()))
            .AddAttribute("CommunicationSlowdown",
                          "Factor on a communication's time while kernels run beside it on the "
                          "rank; 1: none. The other members are not held up.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&TrainingJob::m_communicationSlowdown),
                          MakeDoubleChecker<double>(1, 1000))
            .AddTraceSource("OperatorDone",
                            "An operator (markers excepted) is done.",
                            MakeTraceSourceAccessor(&TrainingJob::m_operatorDone),
                            "ns3::echo::TrainingJob::OperatorTracedCallback");
    return tid;
}

TrainingJob::TrainingJob() : m_impl(std::make_unique<Impl>())
{
}

TrainingJob::~TrainingJob() = default;

void TrainingJob::Prepare(WorkloadGraphPtr workload,
                          Ptr<CollectiveBackend> backend,
                          Ptr<ComputeModel> compute,
                          Ptr<SlowdownModel> slowdown,
                          RecordSink* sink)
{
    NS_ABORT_MSG_IF(!workload || !backend || !compute, "a job needs all its parts");
    JobContext& context = m_impl->context;
    context.workload = std::move(workload);
    context.backend = backend;
    context.compute = compute;
    context.slowdown = slowdown;
    context.communicationSlowdown = m_communicationSlowdown;
    context.sink = sink;
    context.trace = &m_operatorDone;
    context.done = 0;
    context.total = 0;
    m_impl->executors.clear();
    m_impl->executors.reserve(context.workload->GetRankCount());
    for (uint32_t i = 0; i < context.workload->GetRankCount(); ++i)
    {
        m_impl->executors.push_back(std::make_unique<RankExecutor>(context, RankId(i)));
        context.total += context.workload->GetProgram(RankId(i))->GetOperators().size();
    }
}

void TrainingJob::Start()
{
    for (const auto& executor : m_impl->executors)
    {
        executor->Start();
    }
    if (IsFinished())
    {
        return;
    }
    m_impl->context.onFinished = [this] { m_impl->watchdog.Stop(); };
    StallWatchdog::Subject subject;
    subject.getDone = [this] { return m_impl->context.done; };
    subject.isComputing = [this] { return m_impl->IsComputing(); };
    m_impl->watchdog.Start(m_stallTime, std::move(subject));
}

void TrainingJob::DoDispose()
{
    m_impl->watchdog.Stop();
    m_impl->executors.clear();
    m_impl->context = JobContext();
    Object::DoDispose();
}

bool TrainingJob::IsFinished() const
{
    return m_impl->context.done == m_impl->context.total;
}

std::pair<uint64_t, uint64_t> TrainingJob::GetProgress() const
{
    return {m_impl->context.done, m_impl->context.total};
}

Time TrainingJob::GetStepTime() const
{
    const auto [start, end] = m_impl->GetSpan();
    return end - start;
}

void TrainingJob::ReportRanks(RecordSink& sink) const
{
    const Time step = GetStepTime();
    for (const auto& executor : m_impl->executors)
    {
        const OverlapTracker& overlap = executor->GetOverlap();
        RankRecord record;
        record.rank = executor->GetRank();
        record.compute = overlap.GetCompute();
        record.exposedCommunication = overlap.GetExposed();
        record.waiting = overlap.GetWaiting();
        record.idle = step - record.compute - record.exposedCommunication - record.waiting;
        record.communication = overlap.GetCommunication();
        record.slowdown = executor->GetSlowdown();
        record.firstStart = executor->GetFirstStart();
        record.lastEnd = executor->GetLastEnd();
        sink.OnRank(record);
    }
}

std::string TrainingJob::DescribeStall() const
{
    constexpr size_t MAX_LINES = 20;
    std::string text = StallReport(m_impl->context, m_impl->executors).ToString();
    const std::vector<std::string> lines = m_impl->context.backend->DescribeUnfinished();
    if (!lines.empty())
    {
        text += "unfinished communications:\n";
    }
    for (size_t i = 0; i < lines.size() && i < MAX_LINES; ++i)
    {
        text += "  " + lines[i] + "\n";
    }
    if (lines.size() > MAX_LINES)
    {
        text += "  and " + std::to_string(lines.size() - MAX_LINES) + " more\n";
    }
    return text;
}

} // namespace echo
} // namespace ns3
