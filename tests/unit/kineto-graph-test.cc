// SPDX-License-Identifier: GPL-2.0-only
// Execution graph files, and the real step that ships with Echo.

#include "kineto-replay.h"
#include "kineto-text.h"

#include "ns3/echo-graph-reader.h"
#include "ns3/echo-graph-writer.h"
#include "ns3/echo-kineto-importer.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-runner.h"
#include "ns3/echo-workload-builder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string DLRM = ECHO_SOURCE_DIR "/scenarios/traces/dlrm-8xv100";

std::string ReadText(const std::string& path)
{
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

void Write(const WorkloadGraph& workload, const std::string& path)
{
    OutputFolder folder(path);
    WriteExecutionGraphs(workload, folder);
    folder.Commit();
}

/** Two ranks that differ, with every kind of operator and both kinds of communication. */
WorkloadGraphPtr SmallWorkload()
{
    WorkloadBuilder builder(2);
    const auto group = builder.AddGroup(GroupKind::DATA, "dp \"0\"", {RankId(0), RankId(1)});
    const auto other = builder.AddGroup(GroupKind::DATA, "dp 1", {RankId(0), RankId(1)}, 1);
    for (uint32_t rank = 0; rank < 2; ++rank)
    {
        ExecutionGraphBuilder graph("trace.json");
        const StreamId gpu = graph.GetStream("gpu 7");
        const StreamId comm = graph.GetStream("gpu 20");
        const StreamId cpu = graph.GetStream("cpu 0");
        const uint32_t slot = graph.AddGroupSlot();
        const uint32_t second = graph.AddGroupSlot();
        const OperatorId host = graph.AddHost(cpu, "launch \xc3\xa9", PicoSeconds(1234567));
        const OperatorId kernel = graph.AddCompute(gpu, "gemm", NanoSeconds(rank + 1), 1e12, 0.1);
        graph.SetLine(kernel, 17);
        graph.AddDependency(kernel, host);
        graph.SetPart(kernel, OperatorPart::BACKWARD, 3);
        KernelCounters counters;
        counters.clock = 0.75;
        graph.SetCounters(kernel, counters);
        graph.AddCopy(gpu, "copy", NanoSeconds(3), 4096);
        CollectiveSpec spec;
        spec.kind = CollectiveKind::ALL_TO_ALL_V;
        spec.sendBytes = {1, 2};
        spec.receiveBytes = {1 + rank, 1 + rank};
        spec.bytes = 3;
        graph.AddDependency(graph.AddCollective(comm, "a2a", slot, spec), kernel);
        CollectiveSpec broadcast;
        broadcast.kind = CollectiveKind::BROADCAST;
        broadcast.bytes = 9007199254740993; // above 2^53
        broadcast.root = 1;
        broadcast.dataType = DataType::BF16;
        broadcast.algorithm = CollectiveAlgorithmKind::RING;
        broadcast.protocol = CollectiveProtocol::LL128;
        broadcast.channels = 4;
        graph.AddCollective(comm, "broadcast", second, broadcast);
        graph.AddPointToPoint(comm, "message", slot, {{rank == 0, 1 - rank, 77, -5}});
        graph.AddMarker(cpu, "end");
        builder.SetProgram(RankId(rank), graph.Build(), {group, other});
        builder.SetStartTime(RankId(rank), PicoSeconds(rank));
    }
    return builder.Build();
}

TEST(ExecutionGraphFiles, AreReadBackAsWritten)
{
    TemporaryFolder folder;
    Write(*SmallWorkload(), folder.Path("a"));
    const auto back = ReadExecutionGraphs(folder.Path("a"));
    Write(*back, folder.Path("b"));
    for (const char* file : {"workload.json", "program-0.json", "program-1.json"})
    {
        const std::string text = ReadText(folder.Path(std::string("a/") + file));
        EXPECT_FALSE(text.empty());
        EXPECT_EQ(text, ReadText(folder.Path(std::string("b/") + file))) << file;
    }
    EXPECT_EQ(back->GetGroups().size(), 2u);
    EXPECT_EQ(back->GetStartTime(RankId(1)), PicoSeconds(1));
    const auto& program = *back->GetProgram(RankId(1));
    const Operator& host = program.GetOperator(program.GetStream(StreamId(2))[0]);
    EXPECT_EQ(host.duration, PicoSeconds(1234567));
    const Operator& kernel = program.GetOperator(program.GetStream(StreamId(0))[0]);
    EXPECT_EQ(kernel.flops, 1e12);
    EXPECT_EQ(kernel.memoryBytes, 0.1);
    EXPECT_EQ(kernel.line, 17u);
    EXPECT_EQ(kernel.part, OperatorPart::BACKWARD);
    EXPECT_EQ(kernel.chunk, 3);
    EXPECT_EQ(program.GetCounters(kernel)->clock, 0.75);
    EXPECT_EQ(kernel.dependencyCount, 1u);
    const auto& broadcast =
        program.GetCommunication(program.GetOperator(program.GetStream(StreamId(1))[1])).spec;
    EXPECT_EQ(broadcast.bytes, 9007199254740993u);
    EXPECT_EQ(broadcast.protocol, CollectiveProtocol::LL128);
}

TEST(ExecutionGraphFiles, EqualProgramsAreWrittenOnce)
{
    WorkloadBuilder builder(3);
    ExecutionGraphBuilder graph;
    graph.AddHost(graph.GetStream("cpu"), "x", NanoSeconds(1));
    const auto program = graph.Build();
    for (uint32_t rank = 0; rank < 3; ++rank)
    {
        builder.SetProgram(RankId(rank), program, {});
    }
    TemporaryFolder folder;
    Write(*builder.Build(), folder.Path("a"));
    EXPECT_TRUE(std::filesystem::exists(folder.Path("a/program-0.json")));
    EXPECT_FALSE(std::filesystem::exists(folder.Path("a/program-1.json")));
    const auto back = ReadExecutionGraphs(folder.Path("a"));
    EXPECT_EQ(back->GetProgram(RankId(0)), back->GetProgram(RankId(2)));
}

TEST(ExecutionGraphFiles, WrongOnesAreRefusedWithTheirPlace)
{
    TemporaryFolder folder;
    Write(*SmallWorkload(), folder.Path());
    const std::string workload = ReadText(folder.Path("workload.json"));
    const std::string program = ReadText(folder.Path("program-1.json"));
    auto message = [&](const std::string& file,
                       const std::string& original,
                       const std::string& what,
                       const std::string& with) {
        std::string text = original;
        EXPECT_NE(text.find(what), std::string::npos) << what;
        text.replace(text.find(what), what.size(), with);
        folder.Write(file, text);
        std::string found = "no error";
        try
        {
            ReadExecutionGraphs(folder.Path());
        }
        catch (const InputError& error)
        {
            found = error.what();
        }
        folder.Write(file, original);
        return found;
    };
    const std::string w = "workload.json";
    const std::string p = "program-1.json";
    EXPECT_THAT(message(w, workload, "\"echo_graph\":1", "\"echo_graph\":2"),
                HasSubstr("workload.json: found echo_graph 2, expected 1"));
    EXPECT_THAT(message(w, workload, "\"kind\":\"dp\"", "\"kind\":\"xp\""), HasSubstr("group 0"));
    EXPECT_THAT(message(w, workload, "program-1.json", "../p.json"),
                HasSubstr("rank 1: found program '../p.json'"));
    EXPECT_THAT(message(w, workload, "program-1.json", "program-9.json"),
                HasSubstr("program-9.json"));
    EXPECT_THAT(message(w, workload, "\"start_us\":", "\"start\":"), HasSubstr("unknown key"));
    EXPECT_THAT(message(p, program, "\"kind\":\"copy\"", "\"kind\":\"dance\""),
                HasSubstr("kind 'dance'"));
    EXPECT_THAT(message(p, program, "\"stream\":2", "\"stream\":99"),
                HasSubstr("operator 0: found stream 99"));
    EXPECT_THAT(message(p, program, "\"after\":[0]", "\"after\":[999]"),
                HasSubstr("a dependency on operator 999"));
    EXPECT_THAT(message(p, program, "\"after\":[0]", "\"after\":[-1]"), HasSubstr("'-1'"));
    EXPECT_THAT(message(p, program, "\"us\":1.234567", "\"us\":-1"), HasSubstr("microseconds"));
    EXPECT_THAT(message(p, program, "\"chunk\":3", "\"chunk\":256"),
                HasSubstr("operator 1: found chunk 256, expected 0 to 255"));
    EXPECT_THAT(message(p, program, "\"clock\":0.75", "\"position\":0.75"),
                HasSubstr("'position'"));
    EXPECT_THAT(message(p, program, "\"communication\":0", "\"communication\":7"),
                HasSubstr("no such communication"));
    EXPECT_THAT(message(p, program, "{", "["), HasSubstr("program-1.json"));
    EXPECT_THROW(ReadExecutionGraphs(folder.Path("none")), InputError);
}

/** The step that ships with Echo: 8 ranks, 8 collectives; figures of its README. */
class DlrmStep : public testing::Test
{
  protected:
    static const ImportedWorkload& Imported()
    {
        static const ImportedWorkload imported = ImportKineto({DLRM});
        return imported;
    }
};

TEST_F(DlrmStep, HasItsRanksCommunicationsAndTimes)
{
    const ImportedWorkload& imported = Imported();
    EXPECT_EQ(imported.graph->GetRankCount(), 8u);
    EXPECT_EQ(imported.span, MicroSeconds(20823));
    EXPECT_EQ(imported.graph->GetStartTime(RankId(7)), MicroSeconds(7513));
    ASSERT_EQ(imported.collectives.size(), 8u);
    // 394,241 floats; on the last rank to arrive it took 86 us, on the first 307.
    EXPECT_EQ(imported.collectives[4].kind, CollectiveKind::ALL_REDUCE);
    EXPECT_EQ(imported.collectives[4].bytes, 394241u * 4);
    EXPECT_EQ(imported.collectives[4].transfer, MicroSeconds(86));
    // The splits of the fourth differ: 3,392 ints from rank 0.
    EXPECT_EQ(imported.collectives[3].kind, CollectiveKind::ALL_TO_ALL_V);
    EXPECT_EQ(imported.collectives[3].bytes, 3392u * 4);
    EXPECT_EQ(imported.health.sources.at("by execution traces"), 64u);
    EXPECT_EQ(imported.health.ranks[0].kernels, 237u);
    EXPECT_EQ(imported.health.ranks[0].gpu, "Tesla V100-SXM2-32GB");
}

TEST_F(DlrmStep, ReplaysAsRecordedWithMeasuredTransfers)
{
    const ImportedWorkload& imported = Imported();
    const KinetoReplay replay(*imported.graph, [&](GroupId group, uint32_t sequence) {
        for (const auto& collective : imported.collectives)
        {
            if (collective.group == group && collective.sequence == sequence)
            {
                return collective.transfer;
            }
        }
        return Time::Max();
    });
    for (uint32_t rank = 0; rank < 8; ++rank)
    {
        const double error =
            static_cast<double>((replay.End(rank) - imported.ranks[rank].end).GetNanoSeconds());
        EXPECT_LT(std::abs(error), 5000) << "rank " << rank; // recorded in microseconds
    }
}

TEST_F(DlrmStep, SlowerCommunicationDelaysTheStepAsFarAsItIsWaitedFor)
{
    const ImportedWorkload& imported = Imported();
    auto end = [&](Time more) {
        const KinetoReplay replay(*imported.graph, [&](GroupId, uint32_t sequence) {
            return imported.collectives[sequence].transfer + more;
        });
        Time latest;
        for (uint32_t rank = 0; rank < 8; ++rank)
        {
            latest = std::max(latest, replay.End(rank));
        }
        return latest;
    };
    // 1 ms more each: the rank that arrives last at the first one only needs it 0.65 ms later; the
    // CPUs wait for the second, by a copy to the host, so the step that its CPUs bound grows by
    // 1 ms; the others hide behind CPU time.
    const Time one = end(MilliSeconds(1)) - end(Time());
    EXPECT_GT(one, MicroSeconds(950));
    EXPECT_LT(one, MicroSeconds(1050));
    // 10 ms more each: all eight run one after another on NCCL's stream from when the last rank
    // joins the first one (10.725 ms), and the last kernels wait for the last of them.
    Time chain = imported.collectives[0].lastStart;
    for (const auto& collective : imported.collectives)
    {
        chain += collective.transfer + MilliSeconds(10);
    }
    EXPECT_GE(end(MilliSeconds(10)), chain);
    EXPECT_LE(end(MilliSeconds(10)), end(Time()) + MilliSeconds(80));
}

TEST_F(DlrmStep, RunsAsAScenarioNearTheMeasuredStep)
{
    ScenarioOverrides overrides;
    overrides.fidelity = "analytical";
    for (const char* communication : {"measured-transfer", "simulated"})
    {
        overrides.sets = {std::string("workload.import.communication=") + communication};
        ScenarioRunner runner(
            ReadScenario(ECHO_SOURCE_DIR "/scenarios/dlrm-8xv100.yaml", overrides));
        RecordSink sink;
        const RunRecord run = runner.Run([&sink]() -> RecordSink& { return sink; });
        const double error = run.stepTime.GetSeconds() / 0.020823 - 1;
        EXPECT_LT(std::abs(error), 0.05) << communication;
        if (std::string(communication) == "measured-transfer")
        {
            EXPECT_LT(std::abs(error), 0.001);
            EXPECT_THAT(run.warnings, testing::Contains(HasSubstr("measured-transfer")));
        }
    }
    overrides.fidelity = "flow";
    overrides.sets = {"workload.import.communication=measured-transfer"};
    EXPECT_THROW(ReadScenario(ECHO_SOURCE_DIR "/scenarios/dlrm-8xv100.yaml", overrides),
                 InputError);
}

TEST_F(DlrmStep, ComesBackFromExecutionGraphFiles)
{
    TemporaryFolder folder;
    Write(*Imported().graph, folder.Path("a"));
    Write(*ReadExecutionGraphs(folder.Path("a")), folder.Path("b"));
    for (const char* file : {"workload.json", "program-0.json", "program-7.json"})
    {
        EXPECT_EQ(ReadText(folder.Path(std::string("a/") + file)),
                  ReadText(folder.Path(std::string("b/") + file)));
    }
}

} // namespace
