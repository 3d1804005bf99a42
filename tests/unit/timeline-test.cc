// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/echo-collective-backend.h"
#include "ns3/echo-constant-slowdown.h"
#include "ns3/echo-error.h"
#include "ns3/echo-overlap-tracker.h"
#include "ns3/echo-recorded-compute-model.h"
#include "ns3/echo-training-job.h"
#include "ns3/echo-workload-builder.h"
#include "ns3/echo-workload-reader.h"
#include "ns3/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace
{

/** A back end whose communications take the time that a function gives. */
class TimedBackend : public CollectiveBackend
{
  public:
    using Duration = std::function<Time(const CollectiveInstance&, uint32_t member)>;

    explicit TimedBackend(Duration duration) : m_duration(std::move(duration))
    {
    }

    Fidelity GetFidelity() const override
    {
        return Fidelity::ANALYTICAL;
    }

  private:
    void DoPrepare() override
    {
    }

    void DoStart(const InstancePtr& instance) override
    {
        for (uint32_t member = 0; member < instance->members.size(); ++member)
        {
            const Time duration = m_duration(*instance, member);
            if (duration < Time::Max())
            {
                Simulator::Schedule(duration,
                                    [this, instance, member] { CompleteMember(instance, member); });
            }
        }
    }

    Duration m_duration;
};

PlacementPtr PlacementOf(uint32_t ranks)
{
    auto topology = std::make_shared<Topology>();
    std::vector<DeviceId> gpus;
    for (uint32_t i = 0; i < ranks; ++i)
    {
        gpus.push_back(topology->AddDevice(
            DeviceRole::GPU, "host" + std::to_string(i) + "/gpu0", HostId(i), 0));
    }
    topology->Seal();
    return std::make_shared<Placement>(topology, gpus);
}

/** Keeps all records. */
struct Memory : RecordSink
{
    void OnOperator(const OperatorRecord& record) override
    {
        operators.push_back(record);
    }

    void OnRank(const RankRecord& record) override
    {
        ranks.push_back(record);
    }

    const OperatorRecord& Find(uint32_t rank, const std::string& name) const
    {
        for (const auto& record : operators)
        {
            if (record.rank == RankId(rank) && record.name == name)
            {
                return record;
            }
        }
        throw std::runtime_error("no operator " + name);
    }

    /** All that the records say, for comparison of runs. */
    std::string ToText() const
    {
        std::ostringstream text;
        for (const auto& r : operators)
        {
            text << r.rank << ' ' << r.stream << ' ' << r.op << ' ' << r.name << ' '
                 << r.ready.GetTimeStep() << ' ' << r.start.GetTimeStep() << ' '
                 << r.end.GetTimeStep() << ' ' << r.slowdown.GetTimeStep() << ' ' << r.collective
                 << ' ' << r.bytes << '\n';
        }
        return text.str();
    }

    std::vector<OperatorRecord> operators;
    std::vector<RankRecord> ranks;
};

/** One run of a workload over a TimedBackend. */
class Trial
{
  public:
    Trial(WorkloadGraphPtr workload, TimedBackend::Duration duration, double slowdown = 1)
        : Trial(std::move(workload), std::move(duration), MakeSlowdown(slowdown))
    {
    }

    Trial(WorkloadGraphPtr workload,
          TimedBackend::Duration duration,
          const Ptr<SlowdownModel>& model)
        : m_job(CreateObject<TrainingJob>())
    {
        auto backend = Create<TimedBackend>(std::move(duration));
        backend->Prepare(
            PlacementOf(workload->GetRankCount()), CreateObject<FixedSelector>(), nullptr);
        m_job->Prepare(
            std::move(workload), backend, CreateObject<RecordedComputeModel>(), model, &records);
    }

    Trial& Go()
    {
        m_job->Start();
        Simulator::Run();
        events = Simulator::GetEventCount();
        m_job->ReportRanks(records);
        return *this;
    }

    ~Trial()
    {
        Simulator::Destroy();
    }

    TrainingJob& Job()
    {
        return *m_job;
    }

    /** @return ends of an operator of rank 0 in microseconds, "start-end" */
    std::string Span(const std::string& name, uint32_t rank = 0) const
    {
        const OperatorRecord& record = records.Find(rank, name);
        std::ostringstream text;
        text << record.start.GetMicroSeconds() << '-' << record.end.GetMicroSeconds();
        return text.str();
    }

    void ExpectPartition(uint32_t rank,
                         double compute,
                         double exposed,
                         double waiting,
                         double idle) const
    {
        const RankRecord& record = records.ranks.at(rank);
        EXPECT_EQ(record.compute.GetNanoSeconds(), compute * 1000) << "rank " << rank;
        EXPECT_EQ(record.exposedCommunication.GetNanoSeconds(), exposed * 1000) << "rank " << rank;
        EXPECT_EQ(record.waiting.GetNanoSeconds(), waiting * 1000) << "rank " << rank;
        EXPECT_EQ(record.idle.GetNanoSeconds(), idle * 1000) << "rank " << rank;
    }

    Memory records;
    uint64_t events{0};

  private:
    static Ptr<SlowdownModel> MakeSlowdown(double factor)
    {
        Ptr<ConstantSlowdown> model;
        if (factor > 1)
        {
            model = CreateObject<ConstantSlowdown>();
            model->SetAttribute("Factor", DoubleValue(factor));
        }
        return model;
    }

    Ptr<TrainingJob> m_job;
};

TimedBackend::Duration Always(Time time)
{
    return [time](const CollectiveInstance&, uint32_t) { return time; };
}

WorkloadGraphPtr Read(const std::string& text, uint32_t ranks)
{
    return ReadWorkload(YamlNode::LoadText(text, "w.yaml"), ranks);
}

// ------------------------------------------------------------------------------- case 14

const std::string CASE_14 = R"(
programs:
  - ranks: all
    streams:
      "7":
        - {compute: 100us, name: K1}
        - {compute: 400us, name: K2}
        - {compute: 50us, name: K3, after: AR}
      "20":
        - {collective: all-reduce, bytes: 64MiB, name: AR, after: K1}
)";

// The all-reduce starts at 100 us, K2 overlaps it, K3 starts at max(500, 100 + T) us, exposed
// communication is max(0, T - 400) us.
TEST(Case14, StreamOrderAndExposedCommunication)
{
    for (int64_t t : {1, 399, 400, 401, 1000})
    {
        Trial run(Read(CASE_14, 4), Always(MicroSeconds(t)));
        run.Go();
        ASSERT_TRUE(run.Job().IsFinished());
        const int64_t k3 = std::max<int64_t>(500, 100 + t);
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            EXPECT_EQ(run.Span("K1", rank), "0-100");
            EXPECT_EQ(run.Span("AR", rank), "100-" + std::to_string(100 + t));
            EXPECT_EQ(run.Span("K2", rank), "100-500");
            EXPECT_EQ(run.Span("K3", rank), std::to_string(k3) + "-" + std::to_string(k3 + 50));
            const double exposed = std::max<int64_t>(0, t - 400);
            run.ExpectPartition(rank, 550, exposed, 0, 0);
            EXPECT_EQ(run.records.ranks[rank].communication, MicroSeconds(t));
        }
        EXPECT_EQ(run.Job().GetStepTime(), MicroSeconds(k3 + 50));
    }
}

// Kernels of the four ranks end together: an event for each of the three, one for the start of each
// rank; the back end's own are 4.
TEST(Timeline, AnOperatorCostsAtMostOneEvent)
{
    Trial run(Read(CASE_14, 4), Always(MicroSeconds(1)));
    run.Go();
    EXPECT_EQ(run.events, 3u + 4 + 4);
}

// Slowdown 1.5, T = 200 us: the transfer runs from 100 to 300 us. K2 (400 us alone) makes
// 200 / 1.5 us of progress there and ends at 300 + 400 - 133.333... = 566.666... us.
TEST(Slowdown, StretchesTheOverlappedPartOnly)
{
    Trial run(Read(CASE_14, 2), Always(MicroSeconds(200)), 1.5);
    run.Go();
    const OperatorRecord& k2 = run.records.Find(0, "K2");
    EXPECT_EQ(k2.start, MicroSeconds(100));
    EXPECT_EQ(k2.end.GetPicoSeconds(), 566666667);
    EXPECT_EQ(k2.slowdown.GetPicoSeconds(), 66666667);
    EXPECT_EQ(run.records.Find(0, "K1").slowdown, Time());
    EXPECT_EQ(run.records.Find(0, "K3").slowdown, Time());
    EXPECT_EQ(run.records.Find(0, "K3").start, k2.end);
    EXPECT_EQ(run.records.ranks[0].slowdown.GetPicoSeconds(), 66666667);
    EXPECT_EQ(run.records.ranks[0].compute, k2.end + MicroSeconds(50));
    EXPECT_EQ(run.Job().GetStepTime(), run.records.ranks[0].compute);
}

// A kernel wholly beside a transfer takes factor times as long, whatever starts first; waiting
// for members does not slow it.
TEST(Slowdown, ActsOnlyWhileATransferRuns)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams:
      c: [{compute: 100us, name: K}, {copy: 10us, name: copy}]
      n: [{collective: all-reduce, bytes: 1MiB, name: A},
          {collective: all-reduce, bytes: 1MiB, name: B}]
  - ranks: 1
    streams:
      n: [{compute: 30us, name: late}, {collective: all-reduce, bytes: 1MiB, name: A},
          {compute: 20us, name: later}, {collective: all-reduce, bytes: 1MiB, name: B}]
)";
    // Rank 1 joins A at 30 us and, after its end at 50 us, B at 70 us. On rank 0, transfers run
    // from 30 to 50 us and from 70 us on for 1000 us. K at factor 2: 30 us alone, 20 us beside A
    // (10 us of progress), 20 us alone, then 40 us left at half speed: ends at 70 + 80 = 150 us.
    // The copy is not slowed.
    auto duration = [](const CollectiveInstance& instance, uint32_t) {
        return MicroSeconds(instance.sequence == 0 ? 20 : 1000);
    };
    Trial run(Read(text, 2), duration, 2);
    run.Go();
    EXPECT_EQ(run.Span("K"), "0-150");
    EXPECT_EQ(run.records.Find(0, "K").slowdown, MicroSeconds(50));
    EXPECT_EQ(run.Span("copy"), "150-160");
    EXPECT_EQ(run.Span("A"), "30-50");
    EXPECT_EQ(run.records.Find(0, "A").ready, Time());
    EXPECT_EQ(run.Span("B"), "70-1070");
    // Rank 0: 160 us of compute and copies, the rest of B exposed.
    run.ExpectPartition(0, 160, 910, 0, 0);
    // Rank 1: never waits; A and B exposed.
    run.ExpectPartition(1, 50, 1020, 0, 0);
    EXPECT_EQ(run.records.ranks[0].communication, MicroSeconds(1020));
}

TEST(Slowdown, OfOneChangesNothing)
{
    Trial plain(Read(CASE_14, 4), Always(MicroSeconds(250)));
    const std::string text = plain.Go().records.ToText();
    const uint64_t events = plain.events;
    Simulator::Destroy();
    Trial same(Read(CASE_14, 4), Always(MicroSeconds(250)), 1);
    EXPECT_EQ(same.Go().records.ToText(), text);
    EXPECT_EQ(same.events, events);
}

// Two transfers one after the other without a gap, and two side by side.
TEST(Slowdown, SeveralTransfersCountOnce)
{
    const std::string text = R"(
groups: {a: all, b: all}
programs:
  - ranks: all
    streams:
      c: [{compute: 100us, name: K}]
      n1: [{collective: all-reduce, bytes: 1MiB, group: a, name: A, repeat: 2}]
      n2: [{collective: all-reduce, bytes: 1MiB, group: b, name: B}]
)";
    // A runs 0-30 and 30-60, B 0-30: K makes 30 us of progress until 60 us, ends at 130 us.
    Trial run(Read(text, 2), Always(MicroSeconds(30)), 2);
    run.Go();
    EXPECT_EQ(run.Span("K"), "0-130");
    EXPECT_EQ(run.records.ranks[0].communication, MicroSeconds(60));
}

/** A model whose factor depends on the communication: 1 + its bytes in MiB. */
class BytesSlowdown : public SlowdownModel
{
  public:
    double GetFactor(const ExecutionGraph& graph,
                     const Operator&,
                     Time,
                     const Operator& communication) const override
    {
        return 1 + graph.GetCommunication(communication).spec.bytes / 1048576.0;
    }
};

// K (100 us) runs beside A (1 MiB, 0-20 us, factor 2), B (3 MiB, 10-40 us, factor 4) and, from 60
// us on, C (1 MiB, 20 us). The larger factor counts: 0-10 us makes 5, 10-40 us 7.5, 40-60 us 20,
// 60-80 us 10; 57.5 us are left at 80 us.
TEST(Slowdown, FollowsTheCommunicationThatRuns)
{
    const std::string text = R"(
groups: {a: all, b: all}
programs:
  - ranks: all
    streams:
      c: [{compute: 100us, name: K}]
      n1: [{collective: all-reduce, bytes: 1MiB, group: a, name: A}, {host: 40us},
           {collective: all-reduce, bytes: 1MiB, group: a, name: C}]
      n2: [{host: 10us}, {collective: all-reduce, bytes: 3MiB, group: b, name: B}]
)";
    auto duration = [](const CollectiveInstance& instance, uint32_t) {
        return MicroSeconds(instance.plan.spec.bytes == 3145728 ? 30 : 20);
    };
    Trial run(Read(text, 2), duration, CreateObject<BytesSlowdown>());
    run.Go();
    EXPECT_EQ(run.Span("A"), "0-20");
    EXPECT_EQ(run.Span("B"), "10-40");
    EXPECT_EQ(run.Span("C"), "60-80");
    EXPECT_EQ(run.records.Find(0, "K").end, NanoSeconds(137500));
    EXPECT_EQ(run.records.Find(0, "K").slowdown, NanoSeconds(37500));
    EXPECT_EQ(run.records.ranks[1].slowdown, NanoSeconds(37500));
}

// Factors of the largest step on both sides of each edge of a transfer, to the picosecond: work
// done before the transfer, in it (at 1/4) and after it add up to the time alone.
TEST(Slowdown, PartialOverlapIsExactToThePicosecond)
{
    for (const int64_t begin : {1, 33333333, 99999999})
    {
        for (const int64_t length : {1, 7, 40000004, 1000000000})
        {
            const std::string text = R"(
programs:
  - ranks: all
    streams:
      c: [{compute: 100us, name: K}]
      n: [{host: )" + std::to_string(begin) +
                                     R"(ps}, {collective: all-reduce, bytes: 1MiB, name: A}]
)";
            Trial run(Read(text, 2), Always(PicoSeconds(length)), 4);
            run.Go();
            const int64_t left = 100000000 - begin; // at the transfer's begin
            const int64_t end =
                4 * left <= length ? begin + 4 * left : begin + length + left - length / 4;
            // What a quarter of the length cuts off is less than a picosecond.
            EXPECT_NEAR(run.records.Find(0, "K").end.GetPicoSeconds(), end, 1);
        }
    }
}

// A (40 us on the network) beside K at factor 2 makes 20 us until 40 us. K lasts: the rest takes 40
// us more, to 80 us. K ends at 50 us: 5 us are made to then and 15 us alone follow, to 65 us.
TEST(CommunicationSlowdown, MakesTransfersLongerBesideKernels)
{
    for (const auto& [kernel, end] : {std::pair{"100us", "80"}, {"50us", "65"}, {"20us", "50"}})
    {
        const std::string text = std::string(R"(
programs:
  - ranks: 0
    streams:
      c: [{compute: )") + kernel +
                                 R"(, name: K}]
      n: [{collective: all-reduce, bytes: 1MiB, name: A}, {compute: 1us, name: after}]
  - ranks: 1
    streams:
      n: [{collective: all-reduce, bytes: 1MiB, name: A}]
)";
        Config::SetDefault("ns3::echo::TrainingJob::CommunicationSlowdown", DoubleValue(2));
        Trial run(Read(text, 2), Always(MicroSeconds(40)));
        Config::SetDefault("ns3::echo::TrainingJob::CommunicationSlowdown", DoubleValue(1));
        run.Go();
        EXPECT_EQ(run.Span("A", 0), std::string("0-") + end) << kernel;
        EXPECT_EQ(run.Span("A", 1), "0-40");
        EXPECT_EQ(run.records.Find(0, "A").slowdown,
                  run.records.Find(0, "A").end - MicroSeconds(40));
        EXPECT_EQ(run.records.Find(0, "after").start, run.records.Find(0, "A").end);
        EXPECT_EQ(run.records.ranks[0].slowdown, Time());
    }
}

TEST(StretchedWork, IsExactAlone)
{
    StretchedWork work(MicroSeconds(1), PicoSeconds(1234567890123), 1);
    EXPECT_EQ(work.GetEnd(), MicroSeconds(1) + PicoSeconds(1234567890123));
    work.Change(MicroSeconds(2), 1);
    work.Change(MicroSeconds(3), 1);
    EXPECT_EQ(work.GetEnd(), MicroSeconds(1) + PicoSeconds(1234567890123));
    work.Change(MicroSeconds(3), 3); // 1234565890123 left
    EXPECT_EQ(work.GetEnd(), MicroSeconds(3) + PicoSeconds(3 * 1234565890123));
}

// ------------------------------------------------------------------------------ partition

// Rank 0 joins at 10 us, rank 1 at 40 us; the transfer takes 100 us; rank 1 has a host operator,
// which counts as idle. Rank 0 idles for 3 us of the host and 2 us before rank 1's end at 147 us.
TEST(Partition, WaitingEndsWhenTheLastMemberJoins)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams:
      s: [{compute: 10us, name: K}, {collective: all-gather, bytes: 1MiB, name: G},
          {host: 3us}, {copy: 2us}]
  - ranks: 1
    streams:
      s: [{host: 40us, name: launch}, {collective: all-gather, bytes: 1MiB, name: G},
          {compute: 7us, name: K}]
)";
    Trial run(Read(text, 2), Always(MicroSeconds(100)));
    run.Go();
    const OperatorRecord& gather = run.records.Find(0, "G");
    EXPECT_EQ(gather.activity, ActivityKind::COMMUNICATION);
    EXPECT_EQ(gather.ready, MicroSeconds(10));
    EXPECT_EQ(gather.start, MicroSeconds(40));
    EXPECT_EQ(gather.end, MicroSeconds(140));
    EXPECT_EQ(gather.bytes, 1048576u);
    EXPECT_EQ(gather.group, GroupKind::WORLD);
    EXPECT_TRUE(gather.collective.IsValid());
    EXPECT_EQ(run.records.Find(1, "launch").activity, ActivityKind::HOST);
    EXPECT_EQ(run.Job().GetStepTime(), MicroSeconds(147));
    run.ExpectPartition(0, 12, 100, 30, 5);
    run.ExpectPartition(1, 7, 100, 0, 40);
}

// Members may end apart; a rank that starts late idles before; computing hides waiting.
TEST(Partition, AddsUpForEveryRank)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams:
      s: [{collective: all-reduce, bytes: 1MiB, name: A}, {compute: 3us, name: K}]
      t: [{compute: 5us, name: hide}]
  - ranks: 1
    start: 8us
    streams:
      s: [{compute: 4us, name: K}, {collective: all-reduce, bytes: 1MiB, name: A}]
)";
    auto duration = [](const CollectiveInstance&, uint32_t member) {
        return MicroSeconds(member == 0 ? 10 : 20);
    };
    Trial run(Read(text, 2), duration);
    run.Go();
    // Rank 1 joins at 12 us; rank 0 is done at 22 us, rank 1 at 32 us.
    EXPECT_EQ(run.Job().GetStepTime(), MicroSeconds(32));
    run.ExpectPartition(0, 8, 10, 7, 7);
    run.ExpectPartition(1, 4, 20, 0, 8);
    EXPECT_EQ(run.records.ranks[1].firstStart, MicroSeconds(8));
    EXPECT_EQ(run.records.ranks[1].lastEnd, MicroSeconds(32));
    for (const auto& record : run.records.ranks)
    {
        EXPECT_EQ(record.compute + record.exposedCommunication + record.waiting + record.idle,
                  run.Job().GetStepTime());
    }
}

TEST(Timeline, MarkersAndEmptyKernelsCostNoEventAndNoTime)
{
    ExecutionGraphBuilder builder;
    OperatorId last;
    for (uint32_t i = 0; i < 1000; ++i)
    {
        const StreamId stream = builder.GetStream(std::to_string(i % 7));
        const OperatorId op =
            i % 3 == 0 ? builder.AddCompute(stream, "K", Time()) : builder.AddMarker(stream, "M");
        if (last.IsValid())
        {
            builder.AddDependency(op, last);
        }
        last = op;
    }
    WorkloadBuilder workload(1);
    workload.SetProgram(RankId(0), builder.Build(), {});
    Trial run(workload.Build(), Always(Time()));
    run.Go();
    EXPECT_TRUE(run.Job().IsFinished());
    EXPECT_EQ(run.Job().GetProgress(), std::make_pair(uint64_t(1000), uint64_t(1000)));
    EXPECT_EQ(run.events, 1u);
    EXPECT_EQ(run.records.operators.size(), 334u); // markers leave no record
    EXPECT_EQ(run.Job().GetStepTime(), Time());
}

TEST(Timeline, ScalesComputeButNotTheHost)
{
    ExecutionGraphBuilder builder;
    builder.AddCompute(builder.GetStream("s"), "K", MicroSeconds(10));
    builder.AddHost(builder.GetStream("s"), "H", MicroSeconds(10));
    ExecutionGraphPtr graph = builder.Build();
    Ptr<RecordedComputeModel> model = CreateObject<RecordedComputeModel>();
    model->SetAttribute("Scale", DoubleValue(0.25));
    EXPECT_EQ(model->GetDuration(graph->GetOperator(OperatorId(0)), RankId(0)), NanoSeconds(2500));
    EXPECT_EQ(model->GetDuration(graph->GetOperator(OperatorId(1)), RankId(0)), MicroSeconds(10));
    EXPECT_FALSE(model->SetAttributeFailSafe("Scale", DoubleValue(-1)));
    Ptr<ConstantSlowdown> slowdown = CreateObject<ConstantSlowdown>();
    const Operator& kernel = graph->GetOperator(OperatorId(0));
    EXPECT_EQ(slowdown->GetFactor(*graph, kernel, MicroSeconds(10), kernel), 1);
    EXPECT_FALSE(slowdown->SetAttributeFailSafe("Factor", DoubleValue(0.5)));
}

// ----------------------------------------------------------------- case 9: point-to-point

std::string Pipeline(uint32_t stages, uint32_t batches)
{
    std::ostringstream text;
    text << "programs:\n";
    for (uint32_t stage = 0; stage < stages; ++stage)
    {
        text << "  - ranks: " << stage << "\n    streams:\n      s:\n";
        for (uint32_t batch = 0; batch < batches; ++batch)
        {
            if (stage > 0)
            {
                text << "        - {receive: 1MiB, from: " << stage - 1 << ", name: r" << batch
                     << "}\n";
            }
            text << "        - {compute: 100us, name: f" << batch << "}\n";
            if (stage + 1 < stages)
            {
                text << "        - {send: 1MiB, to: " << stage + 1 << ", name: s" << batch << "}\n";
            }
        }
    }
    return text.str();
}

// A message takes 10 us and holds up both ends. Stage s starts its first batch at 110 s us; the
// second reaches stage s + 1 when both ends are free: a step of 110 us (stage 0) or 120 us (others
// receive and send).
TEST(Case9, CorrectPairsFinish)
{
    for (uint32_t stages : {1, 2, 4, 8})
    {
        Trial run(Read(Pipeline(stages, 2), stages), Always(MicroSeconds(10)));
        run.Go();
        ASSERT_TRUE(run.Job().IsFinished()) << stages;
        const uint32_t last = stages - 1;
        EXPECT_EQ(run.Span("f0", last),
                  std::to_string(110 * last) + "-" + std::to_string(110 * last + 100));
        const uint32_t step = stages == 1 ? 100 : stages == 2 ? 110 : 120;
        EXPECT_EQ(run.records.Find(last, "f1").end - run.records.Find(last, "f0").end,
                  MicroSeconds(step))
            << stages;
    }
}

// A batch is done when its slowest message is; it transfers from when its last pair has met.
TEST(Case9, ABatchCompletesAsOne)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams:
      s: [{batch: [{send: 1MiB, to: 1}, {receive: 2MiB, from: 2}], name: B}]
  - ranks: 1
    streams:
      s: [{receive: 1MiB, from: 0, name: R}]
  - ranks: 2
    streams:
      s: [{compute: 50us}, {send: 2MiB, to: 0, name: S}]
)";
    auto duration = [](const CollectiveInstance& instance, uint32_t) {
        return MicroSeconds(instance.plan.spec.bytes == 1048576 ? 10 : 20);
    };
    Trial run(Read(text, 3), duration);
    run.Go();
    EXPECT_EQ(run.Span("B"), "50-70");
    EXPECT_EQ(run.records.Find(0, "B").bytes, 3u * 1048576);
    EXPECT_EQ(run.Span("R", 1), "0-10");
    run.ExpectPartition(0, 0, 20, 50, 0);
}

// ------------------------------------------------------------------------------- stalls

// Two ranks that call two collectives in opposite order: found when the queue drains.
TEST(Stall, PrintsWhoWaitsForWhomAndTheCycle)
{
    const std::string text = R"(
groups: {a: all, b: all}
programs:
  - ranks: 0
    streams:
      s:
        - {collective: all-reduce, bytes: 1MiB, group: a, name: A0}
        - {collective: all-gather, bytes: 2MiB, group: b, name: B0}
        - {compute: 1us, name: K0}
      t:
        - {compute: 5us, name: L0, after: B0}
  - ranks: 1
    streams:
      s:
        - {collective: all-gather, bytes: 2MiB, group: b, name: B1}
        - {collective: all-reduce, bytes: 1MiB, group: a, name: A1}
)";
    Trial run(Read(text, 2), Always(MicroSeconds(10)));
    run.Go();
    EXPECT_FALSE(run.Job().IsFinished());
    const std::string report = run.Job().DescribeStall();
    EXPECT_THAT(
        report,
        HasSubstr("6 of 6 operators are left, on 2 of 2 ranks\n"
                  "rank 0, stream s: 'A0' (w.yaml:7), joined at 0.000 ps: all-reduce (call "
                  "1 on group a) waits for rank 1, which is at 'B1' (w.yaml:15)\n"
                  "rank 0, stream t: 'L0' (w.yaml:11) waits for 'B0' (w.yaml:8) on stream "
                  "s\n"
                  "rank 1, stream s: 'B1' (w.yaml:15), joined at 0.000 ps: all-gather (call "
                  "1 on group b) waits for rank 0, which is at 'A0' (w.yaml:7)\n"
                  "a cycle of 2 communications:\n"
                  "  rank 1 has not joined all-reduce (call 1 on group a), as it waits in "
                  "all-gather (call 1 on group b)\n"
                  "  rank 0 has not joined all-gather (call 1 on group b), as it waits in "
                  "all-reduce (call 1 on group a)\n"))
        << report;
}

// Three ranks that all send first to the next (blocking): a cycle of three messages.
TEST(Stall, FindsACycleOfMessages)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams: {s: [{send: 1MiB, to: 1, tag: 4, name: S0}, {receive: 1MiB, from: 2, tag: 4}]}
  - ranks: 1
    streams: {s: [{send: 1MiB, to: 2, tag: 4, name: S1}, {receive: 1MiB, from: 0, tag: 4}]}
  - ranks: 2
    streams: {s: [{send: 1MiB, to: 0, tag: 4, name: S2}, {receive: 1MiB, from: 1, tag: 4}]}
)";
    Trial run(Read(text, 3), Always(MicroSeconds(10)));
    run.Go();
    const std::string report = run.Job().DescribeStall();
    EXPECT_THAT(report, HasSubstr("a cycle of 3 communications"));
    EXPECT_THAT(report,
                HasSubstr("rank 0, stream s: 'S0' (w.yaml:4), joined at 0.000 ps: message 1 from "
                          "rank 0 to rank 1 (group world, tag 4) waits for rank 1, which is at "
                          "'S1' (w.yaml:6)"))
        << report;
}

// A member that makes no further call, and one held up by a dependency on another stream.
TEST(Stall, SaysWhatTheMissingMemberDoes)
{
    const std::string text = R"(
programs:
  - ranks: 0
    streams: {s: [{collective: all-reduce, bytes: 1MiB, name: A, repeat: 2}]}
  - ranks: 1
    streams: {s: [{collective: all-reduce, bytes: 1MiB, name: A}]}
)";
    Trial run(Read(text, 2), Always(MicroSeconds(10)));
    run.Go();
    EXPECT_THAT(run.Job().DescribeStall(),
                AllOf(HasSubstr("no operator has ended since 10.000 us: 1 of 3 operators"),
                      HasSubstr("call 2 on group world) waits for rank 1, which makes no such call "
                                "any more"),
                      Not(HasSubstr("cycle"))));
    Simulator::Destroy();

    const std::string held = R"(
programs:
  - ranks: 0
    streams: {s: [{collective: all-reduce, bytes: 1MiB, name: A}]}
  - ranks: 1
    streams:
      p: [{receive: 1MiB, from: 0, name: never}]
      q: [{compute: 1us, name: K, after: never}]
      s: [{collective: all-reduce, bytes: 1MiB, name: A, after: K}]
)";
    Trial second(Read(held, 2), Always(MicroSeconds(10)));
    second.Go();
    EXPECT_THAT(second.Job().DescribeStall(),
                HasSubstr("call 1 on group world) waits for rank 1, which is at 'never'"));
}

// A transfer that never ends.
TEST(Stall, NamesATransferThatDoesNotEnd)
{
    Trial run(Read("collectives: [{op: all-reduce, bytes: 1MiB}]", 2), Always(Time::Max()));
    run.Go();
    EXPECT_FALSE(run.Job().IsFinished());
    EXPECT_THAT(run.Job().DescribeStall(), HasSubstr("has all its members but did not end"));
}

// A run that goes on without getting anywhere is stopped; one that computes for long is not.
TEST(Stall, TheWatchdogEndsARunThatGoesOnForEver)
{
    std::function<void()> tick = [&tick] { Simulator::Schedule(MilliSeconds(1), tick); };
    Trial run(Read("collectives: [{op: all-reduce, bytes: 1MiB}]", 2), Always(Time::Max()));
    run.Job().SetAttribute("StallTime", TimeValue(Seconds(1)));
    tick();
    run.Go();
    EXPECT_FALSE(run.Job().IsFinished());
    EXPECT_THAT(run.Job().DescribeStall(), HasSubstr("has all its members but did not end"));
    EXPECT_LE(Simulator::Now(), Seconds(2));
    Simulator::Destroy();

    Trial longer(Read("programs: [{ranks: 0, streams: {s: [{compute: 10s}]}}]", 1), Always(Time()));
    longer.Job().SetAttribute("StallTime", TimeValue(Seconds(1)));
    longer.Go();
    EXPECT_TRUE(longer.Job().IsFinished());
    EXPECT_EQ(Simulator::Now(), Seconds(10)); // the watchdog leaves no event behind
    // The default is set before ns-3 counts in picoseconds and must follow.
    TimeValue byDefault;
    CreateObject<TrainingJob>()->GetAttribute("StallTime", byDefault);
    EXPECT_EQ(byDefault.Get(), Seconds(1000));
}

TEST(Stall, ListsTwentyRanksAtMost)
{
    std::ostringstream text;
    text
        << "programs:\n  - ranks: 0-62\n    streams: {s: [{collective: all-reduce, bytes: 1MiB, "
           "repeat: 2}]}\n  - ranks: 63\n    streams: {s: [{collective: all-reduce, bytes: 1MiB}]}";
    Trial run(Read(text.str(), 64), Always(MicroSeconds(10)));
    run.Go();
    const std::string report = run.Job().DescribeStall();
    EXPECT_THAT(report, HasSubstr("and 43 more ranks"));
    EXPECT_LT(report.size(), 6000u);
}

// ---------------------------------------------------------------------------- determinism

/** A workload with many streams and groups; rank programs are added in the order given. */
WorkloadGraphPtr Mixed(bool backwards)
{
    constexpr uint32_t RANKS = 16;
    WorkloadBuilder builder(RANKS);
    std::vector<CommGroupPtr> rows;
    for (uint32_t i = 0; i < RANKS / 4; ++i)
    {
        std::vector<RankId> ranks;
        for (uint32_t k = 0; k < 4; ++k)
        {
            ranks.emplace_back(4 * i + k);
        }
        rows.push_back(builder.AddGroup(GroupKind::TENSOR, "tp" + std::to_string(i), ranks));
    }
    for (uint32_t i = 0; i < RANKS; ++i)
    {
        const uint32_t rank = backwards ? RANKS - 1 - i : i;
        ExecutionGraphBuilder program;
        const uint32_t slot = program.AddGroupSlot();
        for (uint32_t k = 0; k < 50; ++k)
        {
            const OperatorId kernel =
                program.AddCompute(program.GetStream("c"),
                                   "K" + std::to_string(k),
                                   NanoSeconds(100 + (rank * 7 + k * 13) % 50));
            CollectiveSpec spec;
            spec.bytes = 1024 * (k + 1);
            program.AddDependency(
                program.AddCollective(program.GetStream("n"), "C" + std::to_string(k), slot, spec),
                kernel);
        }
        builder.SetProgram(RankId(rank), program.Build(), {rows[rank / 4]});
    }
    return builder.Build();
}

// Case 24: identical across runs and across the order of input.
TEST(Case24, RunsAreIdentical)
{
    auto duration = [](const CollectiveInstance& instance, uint32_t member) {
        return NanoSeconds(40 + instance.sequence % 5 + member);
    };
    std::string texts[3];
    for (uint32_t i = 0; i < 3; ++i)
    {
        Trial run(Mixed(i == 2), duration, 1.3);
        texts[i] = run.Go().records.ToText();
        EXPECT_TRUE(run.Job().IsFinished());
        Simulator::Destroy();
    }
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(texts[0], texts[2]);
    EXPECT_GT(texts[0].size(), 10000u);
}

// More time for a kernel or a communication never ends the step earlier here (no reordering).
TEST(Timeline, IsMonotoneInCommunication)
{
    Time last;
    for (int64_t t : {0, 10, 100, 300, 1000})
    {
        Trial run(Read(CASE_14, 4), Always(MicroSeconds(t)), 1.2);
        run.Go();
        EXPECT_GE(run.Job().GetStepTime(), last);
        last = run.Job().GetStepTime();
        Simulator::Destroy();
    }
}

TEST(Timeline, TracesOperators)
{
    Trial run(Read(CASE_14, 2), Always(MicroSeconds(5)));
    static uint32_t traced;
    traced = 0;
    run.Job().TraceConnectWithoutContext(
        "OperatorDone",
        Callback<void, const OperatorRecord&>([](const OperatorRecord&) { ++traced; }));
    run.Go();
    EXPECT_EQ(traced, 8u);
}

} // namespace
