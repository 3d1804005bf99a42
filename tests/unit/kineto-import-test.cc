// SPDX-License-Identifier: GPL-2.0-only
// Who waits for whom in a recording. Small profiler files are imported and replayed with other
// durations of communication than recorded: what must move, moves, and what must not, stays.

#include "error-message.h"
#include "kineto-replay.h"
#include "kineto-text.h"

#include "ns3/echo-kineto-importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace
{

const char* ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";

/** Imports one file; replays give every collective one duration. */
class OneRank
{
  public:
    explicit OneRank(const KinetoText& text, const KinetoOptions& options = {})
        : imported(ImportKineto({m_folder.Write("rank0.json", text.Text())}, options))
    {
    }

    KinetoReplay Replay(Time transfer) const
    {
        return KinetoReplay(*imported.graph, [transfer](GroupId, uint32_t) { return transfer; });
    }

    /** Names of what an operator, or the gap before it, waits for on other streams. */
    std::vector<std::string> DependenciesOf(const std::string& name) const
    {
        const auto& program = *imported.graph->GetProgram(RankId(0));
        std::vector<std::string> names;
        auto add = [&](const Operator& op) {
            for (uint32_t k = 0; k < op.dependencyCount; ++k)
            {
                names.push_back(
                    program.GetName(program.GetOperator(program.GetDependencies(op)[k])));
            }
        };
        for (uint32_t i = 0; i < program.GetOperators().size(); ++i)
        {
            const Operator& op = program.GetOperator(OperatorId(i));
            if (program.GetName(op) != name)
            {
                continue;
            }
            add(op);
            const uint32_t position = program.GetPosition(OperatorId(i));
            if (position > 0)
            {
                const Operator& before =
                    program.GetOperator(program.GetStream(op.stream)[position - 1]);
                if (program.GetName(before) == "gap")
                {
                    add(before);
                }
            }
        }
        return names;
    }

    /** Sum of the HOST operators of a stream. */
    Time HostTime(const std::string& stream) const
    {
        const auto& program = *imported.graph->GetProgram(RankId(0));
        Time sum;
        for (const auto& op : program.GetOperators())
        {
            if (op.type == OperatorType::HOST && program.GetStreamName(op.stream) == stream)
            {
                sum += op.duration;
            }
        }
        return sum;
    }

  private:
    TemporaryFolder m_folder;

  public:
    ImportedWorkload imported;
};

/**
 * Stream 7: K1 100 us, K2 400 us, K3 50 us; stream 20: an all-reduce between K1 and K3. All are
 * launched early by one thread; recorded with T = 200 us. Nothing but times and calls tells the
 * order: the wait of stream 7 is a cudaStreamWaitEvent without arguments.
 */
KinetoText Overlap(bool withWaitCall)
{
    KinetoText text(0, 1);
    text.Step(1, 0, 700);
    text.Kernel("K1", 7, 1, 10, 100);
    text.Kernel(ALL_REDUCE, 20, 10, 110, 200, NcclArguments("allreduce", 1000, 1000, 1));
    text.Kernel("K2", 7, 20, 110, 400);
    if (withWaitCall)
    {
        text.Call(1, "cudaStreamWaitEvent", 30, 1, 1);
    }
    text.Kernel("K3", 7, 40, 510, 50);
    return text;
}

TEST(KinetoOrder, StreamsAndWaitsOfCase14)
{
    // K1 starts at 10 us (its launch) and ends at 110; with T the all-reduce's time it ends at
    // 110 + T, K2 at 510; K3 starts at max(510, 110 + T).
    const OneRank rank(Overlap(true));
    for (uint32_t transfer : {50, 200, 400, 401, 1000})
    {
        const KinetoReplay replay = rank.Replay(MicroSeconds(transfer));
        EXPECT_EQ(replay.Find("K1").start, MicroSeconds(10));
        EXPECT_EQ(replay.Find("K2").start, MicroSeconds(110));
        EXPECT_EQ(replay.Find(ALL_REDUCE).start, MicroSeconds(110));
        EXPECT_EQ(replay.Find("K3").start, MicroSeconds(std::max(510u, 110 + transfer)));
    }
    // Without a call that makes stream 7 wait, and with a communication too short to have been
    // waited for, nothing says so.
    EXPECT_EQ(OneRank(Overlap(false)).Replay(MicroSeconds(1000)).Find("K3").start,
              MicroSeconds(510));
}

TEST(KinetoOrder, ALateStartAfterACommunicationIsADependency)
{
    // No call, but K3's stream idles from 210 to 512 us and K3 starts 2 us after the all-reduce
    // ends at 510: it waited for it; the 2 us stay as a delay.
    KinetoText text(0, 1);
    text.Step(1, 0, 700);
    text.Kernel("K1", 7, 1, 10, 200);
    text.Kernel(ALL_REDUCE, 20, 10, 210, 300, NcclArguments("allreduce", 1000, 1000, 1));
    text.Kernel("K3", 7, 40, 512, 50);
    const OneRank rank(text);
    EXPECT_EQ(rank.imported.health.inferredByTime, 1u);
    EXPECT_EQ(rank.Replay(MicroSeconds(300)).Find("K3").start, MicroSeconds(512));
    EXPECT_EQ(rank.Replay(MicroSeconds(900)).Find("K3").start, MicroSeconds(1112));
    // Never less than the launch that was recorded.
    EXPECT_GE(rank.Replay(MicroSeconds(0)).Find("K3").start, MicroSeconds(212));
}

TEST(KinetoOrder, AWaitThatRecordedTimesContradictIsDropped)
{
    // The call cannot have been for the all-reduce: K3 started while it ran.
    KinetoText text(0, 1);
    text.Step(1, 0, 2000);
    text.Kernel("K1", 7, 1, 10, 100);
    text.Kernel(ALL_REDUCE, 20, 10, 110, 1500, NcclArguments("allreduce", 1000, 1000, 1));
    text.Call(1, "cudaStreamWaitEvent", 30, 1, 1);
    text.Kernel("K3", 7, 40, 110, 50);
    const OneRank rank(text);
    EXPECT_EQ(rank.imported.health.droppedDependencies, 1u);
    EXPECT_EQ(rank.Replay(MicroSeconds(1500)).Find("K3").start, MicroSeconds(110));
}

TEST(KinetoOrder, SyncRecordsSayExactlyWhoWaits)
{
    // Stream 8 waits for the event recorded on stream 7 after A, not for B that came later; the
    // recorded times alone would allow both, and the last of stream 7 would be B.
    KinetoText text(0, 1);
    text.Step(1, 0, 1000);
    text.Kernel("A", 7, 1, 10, 100);
    text.Call(1, "cudaEventRecord", 8, 1, 50);
    text.Kernel("B", 7, 10, 110, 100);
    text.Call(1, "cudaStreamWaitEvent", 20, 1, 51);
    text.Gpu("cuda_sync",
             "Stream Wait Event",
             8,
             20,
             1,
             51,
             "\"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": 50");
    text.Kernel("C", 8, 30, 300, 100);
    text.Kernel("D", 9, 40, 400, 100);
    const OneRank rank(text);
    const auto& program = *rank.imported.graph->GetProgram(RankId(0));
    // C starts 190 us after A without any other reason: a gap that follows A.
    EXPECT_THAT(rank.DependenciesOf("C"), UnorderedElementsAre("A", "cudaLaunchKernel"));
    EXPECT_EQ(program.GetStreamCount(), 4u); // cpu 0, gpu 7, 8, 9
    // D starts just when C ends, but nothing records a wait, and here waits are recorded.
    EXPECT_THAT(rank.DependenciesOf("D"), ElementsAre("cudaLaunchKernel"));
}

TEST(KinetoHost, ASynchronisingCallWaitsAndItsWaitIsNoCpuTime)
{
    // The thread launches K (1 ms long) at 10 us, calls cudaStreamSynchronize at 20 us, which
    // returns at 1,025 us, 5 us after K's end, and launches L at 1,100 us.
    KinetoText text(0, 1);
    text.Step(1, 0, 1300);
    text.Kernel("K", 7, 10, 20, 1000);
    text.Call(1, "cudaStreamSynchronize", 20, 1005, 1);
    text.Kernel("L", 7, 1100, 1110, 100);
    text.Kernel(ALL_REDUCE, 20, 1120, 1210, 50, NcclArguments("allreduce", 1000, 1000, 1));
    const OneRank rank(text);
    // CPU time: 20 us before, 5 + 275 us after; the 1,000 us are K's.
    EXPECT_EQ(rank.HostTime("cpu 0"), MicroSeconds(300));
    EXPECT_EQ(rank.Replay(MicroSeconds(50)).Find("L").start, MicroSeconds(1110));
    EXPECT_EQ(rank.Replay(MicroSeconds(50)).End(), MicroSeconds(1300));
}

TEST(KinetoHost, CommunicationThatTheCpuWaitsForMovesTheCpu)
{
    // A copy to pageable memory after a communication: the call lasts until the copy is done.
    KinetoText text(0, 1);
    text.Step(1, 0, 1000);
    text.Kernel("K", 7, 10, 20, 80);
    text.Kernel(ALL_REDUCE, 20, 20, 100, 400, NcclArguments("allreduce", 1000, 1000, 1));
    text.Call(1, "cudaStreamWaitEvent", 30, 1, 1);
    text.Call(1, "cudaMemcpyAsync", 40, 480, 2);
    text.Gpu("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, 500, 10, 2, "\"bytes\": 4096");
    text.Kernel("L", 7, 600, 610, 100);
    const OneRank rank(text);
    for (int64_t transfer : {400, 700, 1400})
    {
        // The copy follows the communication at 100 + T; the call returns 10 us after the copy,
        // and L is launched 80 us later with 10 us of latency: T + 210.
        EXPECT_EQ(rank.Replay(MicroSeconds(transfer)).Find("L").start,
                  MicroSeconds(transfer + 210));
    }
    const auto& program = *rank.imported.graph->GetProgram(RankId(0));
    for (const auto& op : program.GetOperators())
    {
        if (program.GetName(op) == "Memcpy DtoH (Device -> Pageable)")
        {
            EXPECT_EQ(op.type, OperatorType::COPY);
            EXPECT_EQ(op.memoryBytes, 4096);
        }
    }
}

TEST(KinetoHost, TheAutogradThreadWorksWhileTheMainThreadWaits)
{
    // Main: launches F at 10 us, pauses from 100 us (end of a range) to 900 us (start of the next),
    // launches O at 910 us. Autograd: B at 200 us, a synchronisation that lasts until 700 us, C at
    // 720 us. If the communication that the autograd thread waits for takes longer, the main thread
    // goes on later.
    KinetoText text(0, 1);
    text.Step(1, 0, 1100);
    text.Range(1, "forward", 5, 95);
    text.Kernel("F", 7, 10, 20, 50);
    text.Range(2, "autograd::engine::evaluate_function: MulBackward0", 190, 640);
    text.Kernel("B", 7, 200, 210, 90, "", 2);
    text.Kernel(ALL_REDUCE, 20, 210, 300, 395, NcclArguments("allreduce", 1000, 1000, 1), 2);
    text.Call(2, "cudaStreamSynchronize", 220, 480, 1);
    text.Kernel("C", 7, 720, 730, 50, "", 2);
    text.Range(1, "optimizer", 900, 150);
    text.Kernel("O", 7, 910, 920, 50);
    const OneRank rank(text);
    EXPECT_EQ(rank.imported.health.ranks[0].threads, 2u);
    const KinetoReplay recorded = rank.Replay(MicroSeconds(395));
    EXPECT_EQ(recorded.Find("B").start, MicroSeconds(210));
    EXPECT_EQ(recorded.Find("C").start, MicroSeconds(730));
    EXPECT_EQ(recorded.Find("O").start, MicroSeconds(920));
    const KinetoReplay slower = rank.Replay(MicroSeconds(1395));
    EXPECT_EQ(slower.Find("B").start, MicroSeconds(210));
    EXPECT_EQ(slower.Find("C").start, MicroSeconds(1730));
    EXPECT_EQ(slower.Find("O").start, MicroSeconds(1920));
    EXPECT_EQ(slower.End(), MicroSeconds(2100));
}

TEST(KinetoHost, AFullLaunchQueueHoldsTheCpuBack)
{
    // 2,400 kernels of 50 us, a launch every 6 us, but with 1,021 launched and not started a launch
    // takes until one more has started. After some 1,160 launches the queue is full, and the
    // other 1,240 launches take 50 us each. CPU time is 6 us a launch: 14.4 ms.
    const int kernels = 2400;
    auto started = [](int i) { return 10 + 50.0 * i; };
    KinetoText text(0, 1);
    double cpu = 0;
    for (int i = 0; i < kernels; ++i)
    {
        const int id = text.NewId();
        const double end = std::max(cpu + 5, i < 1021 ? 0 : started(i - 1021) + 1);
        text.Call(1, "cudaLaunchKernel", cpu, end - cpu, id);
        text.Gpu("kernel", "K" + std::to_string(i), 7, started(i), 50, id);
        cpu = end + 1;
    }
    text.Step(1, 0, cpu);
    const OneRank rank(text);
    const KinetoReplay replay = rank.Replay(Seconds(0));
    EXPECT_EQ(replay.Find("K2399").end, MicroSeconds(static_cast<int64_t>(started(kernels))));
    EXPECT_GT(rank.imported.span, MilliSeconds(65)); // the CPU was held back in the recording
    EXPECT_LT(rank.HostTime("cpu 0"), MicroSeconds(kernels * 7));
}

TEST(KinetoOrder, WorkOfEarlierStepsIsKeptWhereRanksDiffer)
{
    // A kernel launched before the step keeps stream 7 busy until 300 us; one rank: left out.
    KinetoText text(0, 1);
    text.Kernel("before", 7, 900, 1000, 300);
    text.Step(1, 1000, 500);
    text.Kernel("K", 7, 1010, 1300, 100);
    const OneRank rank(text);
    EXPECT_EQ(rank.Replay(Seconds(0)).Find("K").start, MicroSeconds(10)); // its launch
    EXPECT_THAT(rank.imported.health.ToString(), HasSubstr("busy with earlier steps"));
    // Two ranks, only one of which was busy: its stream is busy until 300 us.
    TemporaryFolder folder;
    std::vector<std::string> paths;
    for (int i = 0; i < 2; ++i)
    {
        KinetoText each(i, 2);
        if (i == 1)
        {
            each.Kernel("before", 7, 900, 1000, 300);
        }
        each.Step(1, 1000, 500);
        each.Kernel("K", 7, 1010, i == 0 ? 1020 : 1300, 100);
        each.Kernel(ALL_REDUCE, 20, 1020, 1400, 50, NcclArguments("allreduce", 1000, 1000, 2));
        paths.push_back(folder.Write("rank" + std::to_string(i) + ".json", each.Text()));
    }
    const auto imported = ImportKineto(paths);
    const KinetoReplay replay(*imported.graph, [](GroupId, uint32_t) { return MicroSeconds(50); });
    EXPECT_EQ(replay.Find("K", 0).start, MicroSeconds(20));
    EXPECT_EQ(replay.Find("K", 1).start, MicroSeconds(300));
    EXPECT_EQ(replay.Find(ALL_REDUCE, 0).start, MicroSeconds(400 - 280 + 280));
}

TEST(KinetoOrder, GapsCanBeLeftOut)
{
    KinetoText text(0, 1);
    text.Step(1, 0, 1000);
    text.Kernel("A", 7, 1, 10, 100);
    text.Kernel("B", 7, 10, 113, 100); // 3 us after A without a reason
    EXPECT_EQ(OneRank(text).Replay(Seconds(0)).Find("B").start, MicroSeconds(113));
    KinetoOptions options;
    options.keepGaps = false;
    EXPECT_EQ(OneRank(text, options).Replay(Seconds(0)).Find("B").start, MicroSeconds(110));
}

TEST(KinetoOrder, RecordedTimesOfCommunicationAreNotUsed)
{
    // The same but for the duration of the NCCL kernel: equal programs.
    auto imported = [](double duration) {
        KinetoText text(0, 1);
        text.Step(1, 0, 5000);
        text.Kernel("K", 7, 1, 10, 100);
        text.Kernel(ALL_REDUCE, 20, 10, 110, duration, NcclArguments("allreduce", 9, 9, 1));
        return OneRank(text).imported;
    };
    const auto a = imported(100);
    const auto b = imported(4000);
    const auto& first = a.graph->GetProgram(RankId(0))->GetOperators();
    const auto& second = b.graph->GetProgram(RankId(0))->GetOperators();
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < first.size(); ++i)
    {
        EXPECT_EQ(first[i].duration, second[i].duration);
    }
}

TEST(KinetoOrder, TimesThatCannotBeOfTheStepAreRefused)
{
    for (double late : {1e12, 1e15})
    {
        KinetoText text(0, 1);
        text.Step(1, 0, 1000);
        text.Kernel("K", 7, 10, late, 100);
        try
        {
            OneRank rank(text);
            FAIL() << late;
        }
        catch (const InputError& error)
        {
            EXPECT_THAT(error.what(), HasSubstr("K: found a time more than a day from the step"));
        }
    }
}

TEST(KinetoOrder, RanksOfDifferentDaysAreRefused)
{
    // Collectives bring clocks together; without alignment nothing does, and picoseconds of a
    // year do not fit.
    TemporaryFolder folder;
    for (int rank : {0, 1})
    {
        const double start = rank * 3.2e13; // us: a year later
        KinetoText text(rank, 2);
        text.Step(1, start, 1000);
        text.Kernel(
            ALL_REDUCE, 20, start + 10, start + 20, 50, NcclArguments("allreduce", 8, 8, 2));
        folder.Write("rank" + std::to_string(rank) + ".json", text.Text());
    }
    KinetoOptions options;
    EXPECT_EQ(ImportKineto({folder.Path()}, options).span, MicroSeconds(1000));
    options.alignClocks = false;
    EXPECT_THAT(MessageOf([&] { ImportKineto({folder.Path()}, options); }),
                HasSubstr("rank1.json: step: found a start more than a day after the first"));
}

TEST(KinetoOrder, ManyDevicesInOneFileKeepTheirStreamsApart)
{
    KinetoText text(0, 1);
    text.Step(1, 0, 1000);
    for (int device = 0; device < 2; ++device)
    {
        const int id = text.NewId();
        text.Call(1, "cudaLaunchKernel", 10 + device * 10, 5, id);
        text.Event("kernel",
                   "K" + std::to_string(device),
                   std::to_string(device),
                   "7",
                   30,
                   100,
                   "\"device\": " + std::to_string(device) +
                       ", \"stream\": 7, \"correlation\": " + std::to_string(id));
    }
    const OneRank rank(text);
    const auto& program = *rank.imported.graph->GetProgram(RankId(0));
    EXPECT_EQ(program.GetStreamName(StreamId(1)), "gpu 0.7");
    EXPECT_EQ(program.GetStreamName(StreamId(2)), "gpu 1.7");
    EXPECT_EQ(rank.Replay(Seconds(0)).Find("K1").start, MicroSeconds(30));
}

TEST(KinetoOrder, AnActivityWithoutALaunchFollowsItsStream)
{
    // Streams run what they are given in order: "lost" behind "first" was launched after it, so
    // in the step or behind it; "early" stands before all that the step launched.
    KinetoText text(0, 1);
    text.Step(1, 1000, 1000);
    text.Gpu("kernel", "early", 7, 990, 100, 1);
    text.Kernel("first", 7, 1005, 1090, 10);
    text.Gpu("kernel", "lost", 7, 1100, 300, 2);
    text.Kernel("second", 7, 1010, 1400, 10);
    const OneRank rank(text);
    EXPECT_EQ(rank.imported.health.ranks[0].kernels, 3u);
    EXPECT_THAT(rank.imported.health.ToString(),
                HasSubstr("rank 0: 1 GPU activities without a recorded launch only follow"));
    EXPECT_THAT(rank.imported.health.ToString(),
                HasSubstr("1 GPU activities launched before the step"));
}

TEST(KinetoOrder, AFileOfTheDeviceOnlyGoesByItsTimes)
{
    KinetoText text(0, 1);
    text.Gpu("kernel", "A", 7, 1000, 100, 1);
    text.Gpu("kernel", "B", 7, 1150, 100, 2);
    text.Gpu("Memcpy", "C", 8, 1400, 10, 3);
    const OneRank rank(text);
    EXPECT_EQ(rank.Replay(Seconds(0)).Find("A").start, MicroSeconds(0));
    EXPECT_EQ(rank.Replay(Seconds(0)).Find("B").start, MicroSeconds(150));
    EXPECT_EQ(rank.Replay(Seconds(0)).Find("C").start, MicroSeconds(400));
}

} // namespace
