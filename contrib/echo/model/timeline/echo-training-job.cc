// SPDX-License-Identifier: GPL-2.0-only
#include "echo-training-job.h"

#include "echo-rank-executor.h"
#include "echo-rank-folding.h"
#include "echo-stall-report.h"
#include "echo-stall-watchdog.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
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

namespace
{

/** The mean of times, rounded down, whose sum may be more than a Time holds. */
class MeanTime
{
  public:
    explicit MeanTime(uint32_t count) : m_count(count)
    {
    }

    void Add(Time time)
    {
        m_whole += time.GetTimeStep() / m_count;
        m_rest += time.GetTimeStep() % m_count;
    }

    Time Get() const
    {
        return TimeStep(static_cast<uint64_t>(m_whole + m_rest / m_count));
    }

  private:
    int64_t m_count;
    int64_t m_whole{0}; //!< sum of what divides evenly
    int64_t m_rest{0};  //!< sum of remainders
};

} // namespace

/** The executors and what they share. */
struct TrainingJob::Impl
{
    JobContext context{[](const TimedEnd& end) { end.executor->OnTimedEnd(end.stream); }};
    std::unique_ptr<RankFolding> folding;                 //!< null: every rank runs
    std::string refusal;                                  //!< why not
    std::vector<std::unique_ptr<RankExecutor>> executors; //!< by rank, or by class
    StallWatchdog watchdog;

    /** @return who runs for a rank */
    const RankExecutor& GetExecutor(RankId rank) const
    {
        return *executors[folding ? folding->GetClass(rank) : rank.Get()];
    }

    /** @return earliest start and latest end of any operator of a job, or of all ranks */
    std::pair<Time, Time> GetSpan(const JobSpan& job) const
    {
        Time start = Time::Max();
        Time end;
        for (uint32_t i = 0; i < job.ranks; ++i)
        {
            const RankExecutor& executor = GetExecutor(RankId(job.firstRank.Get() + i));
            if (executor.HasAnyStarted())
            {
                start = Min(start, executor.GetFirstStart());
                end = Max(end, executor.GetLastEnd());
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
            .AddAttribute("Folding",
                          "Whether one rank runs for all that do the same at the same times, where "
                          "that is exact: times that depend on program and group only.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TrainingJob::m_folding),
                          MakeBooleanChecker())
            .AddAttribute("CommunicationSlowdown",
                          "Factor on a communication's time while kernels run beside it on the "
                          "rank; 1: none. The other members are not held up.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&TrainingJob::m_communicationSlowdown),
                          MakeDoubleChecker<double>(1, 1000))
            .AddTraceSource(
                "OperatorDone",
                "An operator (markers excepted) is done; of folded ranks, once for all.",
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
    Fold();
    MakeExecutors();
}

void TrainingJob::Fold()
{
    JobContext& context = m_impl->context;
    m_impl->folding = nullptr;
    m_impl->refusal = !m_folding                    ? "it is switched off"
                      : !context.backend->CanFold() ? "communication takes times of its own"
                      : !context.compute->IsSameForAllRanks() ? "kernels take other times on other "
                                                                "ranks"
                                                              : "";
    if (!m_impl->refusal.empty())
    {
        return;
    }
    auto folding = std::make_unique<RankFolding>(*context.workload, *context.backend);
    if (folding->GetClasses().size() < context.workload->GetRankCount())
    {
        folding->Apply(*context.backend);
        m_impl->folding = std::move(folding);
        return;
    }
    m_impl->refusal = "no two ranks do the same";
}

void TrainingJob::MakeExecutors()
{
    JobContext& context = m_impl->context;
    m_impl->executors.clear();
    context.durations.clear();
    std::vector<SimulatedRank> simulated;
    const auto add = [&](RankId rank, const FoldedRank* folded) {
        const ExecutionGraph& program = *context.workload->GetProgram(rank);
        const auto& operators = program.GetOperators();
        if (context.compute->IsSameForAllRanks() && context.durations.count(&program) == 0)
        {
            std::vector<Time>& durations = context.durations[&program];
            durations.resize(operators.size());
            for (size_t i = 0; i < operators.size(); ++i)
            {
                const OperatorType type = operators[i].type;
                if (type == OperatorType::COMPUTE || type == OperatorType::COPY ||
                    type == OperatorType::HOST)
                {
                    durations[i] = context.compute->GetDuration(operators[i], rank);
                }
            }
        }
        m_impl->executors.push_back(std::make_unique<RankExecutor>(context, rank, folded));
        context.total += operators.size();
        simulated.push_back({rank, folded ? folded->replicas : 1, operators.size()});
    };
    if (m_impl->folding)
    {
        for (const FoldedRank& folded : m_impl->folding->GetClasses())
        {
            add(folded.rank, &folded);
        }
    }
    else
    {
        for (uint32_t i = 0; i < context.workload->GetRankCount(); ++i)
        {
            add(RankId(i), nullptr);
        }
    }
    if (context.sink)
    {
        context.sink->OnBegin(simulated);
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
    m_impl = std::make_unique<Impl>();
    Object::DoDispose();
}

bool TrainingJob::IsFinished() const
{
    return m_impl->context.done == m_impl->context.total;
}

uint32_t TrainingJob::GetSimulatedRankCount() const
{
    return static_cast<uint32_t>(m_impl->executors.size());
}

const std::string& TrainingJob::GetFoldingRefusal() const
{
    return m_impl->refusal;
}

std::pair<uint64_t, uint64_t> TrainingJob::GetProgress() const
{
    return {m_impl->context.done, m_impl->context.total};
}

Time TrainingJob::GetStepTime() const
{
    if (m_impl->executors.empty())
    {
        return Time();
    }
    const auto [start, end] =
        m_impl->GetSpan({"", RankId(0), m_impl->context.workload->GetRankCount()});
    return end - start;
}

std::vector<JobRecord> TrainingJob::GetJobs() const
{
    std::vector<JobRecord> records;
    if (m_impl->executors.empty())
    {
        return records;
    }
    for (const JobSpan& job : m_impl->context.workload->GetJobs())
    {
        JobRecord record;
        static_cast<JobSpan&>(record) = job;
        const auto [start, end] = m_impl->GetSpan(job);
        record.start = start;
        record.stepTime = end - start;
        MeanTime compute(job.ranks);
        MeanTime exposed(job.ranks);
        MeanTime waiting(job.ranks);
        for (uint32_t i = 0; i < job.ranks; ++i)
        {
            const OverlapTracker& overlap =
                m_impl->GetExecutor(RankId(job.firstRank.Get() + i)).GetOverlap();
            compute.Add(overlap.GetCompute());
            exposed.Add(overlap.GetExposed());
            waiting.Add(overlap.GetWaiting());
        }
        record.compute = compute.Get();
        record.exposedCommunication = exposed.Get();
        record.waiting = waiting.Get();
        record.idle =
            record.stepTime - record.compute - record.exposedCommunication - record.waiting;
        records.push_back(std::move(record));
    }
    return records;
}

void TrainingJob::ReportRanks(RecordSink& sink) const
{
    const Time step = GetStepTime();
    const auto ranks = m_impl->executors.empty() ? 0 : m_impl->context.workload->GetRankCount();
    for (uint32_t i = 0; i < ranks; ++i)
    {
        const RankId rank(i);
        const RankExecutor& executor = m_impl->GetExecutor(rank);
        const OverlapTracker& overlap = executor.GetOverlap();
        RankRecord record;
        record.rank = rank;
        record.compute = overlap.GetCompute();
        record.exposedCommunication = overlap.GetExposed();
        record.waiting = overlap.GetWaiting();
        record.idle = step - record.compute - record.exposedCommunication - record.waiting;
        record.communication = overlap.GetCommunication();
        record.slowdown = executor.GetSlowdown();
        record.firstStart = executor.GetFirstStart();
        record.lastEnd = executor.GetLastEnd();
        sink.OnRank(record);
    }
}

std::string TrainingJob::DescribeStall() const
{
    constexpr size_t MAX_LINES = 20;
    if (m_impl->folding)
    {
        return "the job stalled while equal ranks were folded; without folding (attribute Folding "
               "of TrainingJob) the message says who waits for whom";
    }
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
