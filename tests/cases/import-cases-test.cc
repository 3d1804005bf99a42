// SPDX-License-Identifier: GPL-2.0-only
// Cases on imported files, from the file to the step.

#include "../unit/chakra-text.h"
#include "../unit/kineto-text.h"
#include "case-harness.h"

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevComm*)";
const std::string REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";

std::string Head(const std::string& fidelity)
{
    return "echo: 1\nname: case\nfidelity: " + fidelity + "\ncollective: {algorithm: ring}\n";
}

std::string Import(const std::string& from, const std::string& path, const std::string& more = "")
{
    return "workload: {import: {from: " + from + ", path: \"" + path + "\"" + more + "}}\n";
}

/** Files of 16 ranks, each with one all-gather. */
CapturedRun RunGather(long in, long out)
{
    TemporaryFolder folder;
    for (int rank = 0; rank < 16; ++rank)
    {
        KinetoText text;
        text.Kernel("gemm", 7, 0, 10, 5);
        text.Kernel(
            GATHER, 20, 8, 20, 10, NcclArguments("_allgather_base", in, out, 16, "BFloat16"));
        folder.Write("trace rank" + std::to_string(rank) + ".json", text.Text());
    }
    return RunText(Head("flow") + CaseCluster(16) + Import("kineto", folder.Path()));
}

TEST(ImportKeys, MessagesNameTheKey)
{
    TemporaryFolder folder;
    KinetoText text(0, 2);
    text.Kernel("gemm", 7, 0, 10, 5);
    text.Kernel(REDUCE, 20, 8, 20, 10, NcclArguments("allreduce", 64, 64, 2, "Float"));
    const std::string path = folder.Write("rank0.json", text.Text());
    const auto error = [&](const std::string& more) {
        return RunText(Head("flow") + CaseCluster(4) + Import("kineto", path, more)).error;
    };
    EXPECT_EQ(error(""), "");
    EXPECT_THAT(error(", ranks: 4"),
                HasSubstr("workload.import.ranks: found 4 for a job recorded on 2"));
    EXPECT_THAT(error(", missing_ranks: refuse, replicate: dp"),
                HasSubstr("import.missing_ranks: found refuse beside replicate: dp"));
    EXPECT_THAT(error(", replicate: dp, ranks: 8"),
                HasSubstr("workload: found 8 ranks for 4 GPUs"));
    EXPECT_THAT(
        RunText(Head("flow") + CaseCluster(4) + "workload: {import: {from: kineto, path: []}}\n")
            .error,
        HasSubstr("import.path: found an empty list"));
    EXPECT_THAT(RunText(Head("flow") + CaseCluster(4) +
                        "ranks: 8\nworkload: {collectives: [{op: barrier}]}\n")
                    .error,
                HasSubstr("ranks: found 8 ranks for 4 GPUs"));
}

// A record of 4,194,304 elements in and 67,108,864 out: 15/16 of 128 MiB from each rank.
TEST(Case3, SizeOfARecordedAllGather)
{
    const CapturedRun run = RunGather(4194304, 67108864);
    ASSERT_EQ(run.error, "");
    uint64_t sent = 0;
    for (const auto& link : run.links)
    {
        sent += link.from == "host3/nic0" ? link.payloadBytes : 0;
    }
    EXPECT_EQ(sent, 125829120u);
    EXPECT_GE(Milliseconds(run.run.stepTime), 10.07);
    // One size follows the documented rule: the input times the ranks.
    const CapturedRun one = RunGather(4194304, -1);
    ASSERT_EQ(one.error, "");
    EXPECT_EQ(one.run.stepTime, run.run.stepTime);
    const CapturedRun wrong = RunGather(4194304, 67108863);
    EXPECT_EQ(wrong.exitCode, 2);
    EXPECT_THAT(wrong.error, HasSubstr("67108863"));
}

TEST(Case11, ImportedRanksAndGpus)
{
    TemporaryFolder folder;
    for (int rank = 0; rank < 16; ++rank)
    {
        folder.Write("w." + std::to_string(rank) + ".et",
                     ChakraText().Collective(1, "reduce", 0, 1 << 20).Text());
    }
    const CapturedRun few =
        RunText(Head("analytical") + CaseCluster(8) + Import("chakra", folder.Path()));
    EXPECT_EQ(few.exitCode, 2);
    EXPECT_THAT(few.error, HasSubstr("16"));
    EXPECT_THAT(few.error, HasSubstr("8"));
    EXPECT_EQ(RunText(Head("analytical") + CaseCluster(17) + Import("chakra", folder.Path())).error,
              "");
    std::filesystem::remove(folder.Path("w.7.et"));
    EXPECT_THAT(
        RunText(Head("analytical") + CaseCluster(16) + Import("chakra", folder.Path())).error,
        HasSubstr("files for ranks 0 to 6 and 8 to 15 of 16: missing 7"));
}

TEST(Case13, BadImportedGraphs)
{
    TemporaryFolder folder;
    auto run = [&](ChakraText text) {
        return RunText(Head("analytical") + CaseCluster(1) +
                       Import("chakra", folder.Write("a graph.0.et", text.Text())));
    };
    const CapturedRun cycle = run(ChakraText()
                                      .Node(11, "A", ChakraText::COMPUTE, {13}, 1)
                                      .Node(12, "B", ChakraText::COMPUTE, {11}, 1)
                                      .Node(13, "C", ChakraText::COMPUTE, {12}, 1));
    EXPECT_EQ(cycle.exitCode, 2);
    EXPECT_THAT(cycle.error, testing::AllOf(HasSubstr("11"), HasSubstr("12"), HasSubstr("13")));
    const CapturedRun dangling = run(ChakraText().Node(3, "A", ChakraText::COMPUTE, {999}, 1));
    EXPECT_EQ(dangling.exitCode, 2);
    EXPECT_THAT(dangling.error, testing::AllOf(HasSubstr("node 3 'A'"), HasSubstr("999")));
    const CapturedRun root = run(ChakraText().Node(3, "A", ChakraText::COMPUTE, {0}, 40));
    EXPECT_EQ(root.error, "");
    EXPECT_EQ(root.run.stepTime, MicroSeconds(40));
}

// Order from streams, times and sync records only: K1, the all-reduce between K1 and K3, K2 beside.
TEST(Case14, StreamOrderOfRecordedFiles)
{
    TemporaryFolder folder;
    for (int rank = 0; rank < 4; ++rank)
    {
        KinetoText text(rank, 4);
        text.Step(1, 0, 2000);
        text.Kernel("K1", 7, 0, 5, 100);
        text.Kernel(REDUCE, 20, 5, 105, 900, NcclArguments("allreduce", 262144, 262144, 4));
        text.Kernel("K2", 7, 10, 105, 400);
        text.Call(1, "cudaStreamWaitEvent", 15, 1, 1);
        text.Kernel("K3", 7, 20, 1005, 50);
        folder.Write("rank" + std::to_string(rank) + ".json", text.Text());
    }
    for (const std::string fidelity : {"analytical", "flow", "packet"})
    {
        const std::string head = Head(fidelity) + CaseCluster(4);
        const Time alone =
            RunText(head + "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n")
                .run.stepTime;
        const CapturedRun run = RunText(head + Import("kineto", folder.Path()));
        ASSERT_EQ(run.error, "") << fidelity;
        const Time first = run.FindOperator(0, "K1").end;
        EXPECT_EQ(run.FindOperator(0, REDUCE).start, first);
        EXPECT_EQ(run.FindOperator(0, REDUCE).end, first + alone); // not the recorded 900 us
        EXPECT_EQ(run.FindOperator(0, "K2").start, first);
        EXPECT_EQ(run.FindOperator(0, "K3").start, Max(first + MicroSeconds(400), first + alone));
        EXPECT_EQ(run.ranks[0].exposedCommunication, Max(Time(), alone - MicroSeconds(400)));
    }
}

// A ring all-reduce written out as sends and receives takes what Echo's own takes: a message does
// not wait for the receiver to get to its receive.
TEST(ImportedMessages, ARingWrittenOutIsAsFastAsTheCollective)
{
    const int ranks = 4;
    const uint64_t chunk = 1 << 18;
    TemporaryFolder folder;
    for (int rank = 0; rank < ranks; ++rank)
    {
        ChakraText text;
        for (uint64_t step = 0; step < 2 * (ranks - 1); ++step)
        {
            const std::vector<uint64_t> after =
                step > 0 ? std::vector<uint64_t>{2 * step - 1} : std::vector<uint64_t>{};
            text.Node(2 * step, "send", ChakraText::SEND, after)
                .With("comm_size", chunk)
                .With("comm_dst", (rank + 1) % ranks, 7);
            text.Node(2 * step + 1, "receive", ChakraText::RECEIVE, {2 * step})
                .With("comm_size", chunk)
                .With("comm_src", (rank + ranks - 1) % ranks, 7);
        }
        folder.Write("ring." + std::to_string(rank) + ".et", text.Text());
    }
    const std::string head = Head("flow") + CaseCluster(ranks);
    const CapturedRun written = RunText(head + Import("chakra", folder.Path()));
    ASSERT_EQ(written.error, "");
    const CapturedRun own =
        RunText(head + "workload: {collectives: [{op: all-reduce, bytes: 1MiB}]}\n");
    EXPECT_EQ(written.run.stepTime, own.run.stepTime);
}

TEST(ImportedScenarios, TheShippedOnesRun)
{
    const std::string folder = ECHO_SOURCE_DIR "/scenarios/";
    auto run = [&folder](const std::string& name, const std::string& fidelity) {
        ScenarioOverrides overrides;
        overrides.fidelity = fidelity;
        ScenarioRunner runner(ReadScenario(folder + name + ".yaml", overrides));
        CapturedRun captured;
        captured.run = runner.Run([&]() -> RecordSink& { return captured; });
        return captured;
    };
    const CapturedRun simai = run("simai-8xh100", "analytical");
    EXPECT_EQ(simai.ranks.size(), 8u);
    uint64_t collectives = 0;
    for (const auto& record : simai.collectives)
    {
        collectives += record.replicas;
    }
    EXPECT_EQ(collectives, 32u + 2u + 4u);
    // GPipe of 4 stages and 3 micro-batches: 6 turns of 0.9 ms forward and 1.8 ms backward, each
    // turn but the first after a message of 16 MiB over a ring's 50 GB/s, 0.336 ms.
    const CapturedRun chakra = run("chakra-pipeline-4", "flow");
    EXPECT_GE(Milliseconds(chakra.run.stepTime), 16.2 + 6 * 0.3355);
    EXPECT_LE(Milliseconds(chakra.run.stepTime), 16.2 + 6 * 0.3355 + 0.1);
}

TEST(ImportedLayers, ATextWorkloadAndATopologyFileMakeAScenario)
{
    TemporaryFolder folder;
    const std::string workload =
        folder.Write("w.txt",
                     "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 all_gpus: 4\n1\n"
                     "mlp -1 1000 ALLREDUCE 4096 2000 NONE 0 3000 REDUCESCATTER 65536 0\n");
    const std::string topology = folder.Write("network.yml",
                                              "topology: [Switch, Switch]\nnpus_count: [2, 2]\n"
                                              "bandwidth: [400, 50]\nlatency: [100, 500]\n");
    for (const std::string fidelity : {"analytical", "flow"})
    {
        const CapturedRun run =
            RunText(Head(fidelity) + "cluster: \"" + topology + "\"\n" + Import("simai", workload));
        ASSERT_EQ(run.error, "") << fidelity;
        ASSERT_EQ(run.collectives.size(), 4u);
        EXPECT_EQ(run.ranks[0].compute, MicroSeconds(6));
    }
    // Ranks of a file that does not say: the scenario's, by default every GPU.
    const std::string plain =
        folder.Write("d.txt", "DATA\n1\na -1 1000 NONE 0 1 NONE 0 1 ALLREDUCE 4096 0\n");
    const CapturedRun all = RunText(Head("flow") + CaseCluster(3) + Import("astra-sim", plain));
    ASSERT_EQ(all.error, "");
    EXPECT_EQ(all.ranks.size(), 3u);
    const CapturedRun wrong = RunText(Head("flow") + "cluster: \"" + topology + "\"\n" +
                                      Import("simai", workload, ", rank: 4"));
    EXPECT_EQ(wrong.exitCode, 2);
    EXPECT_THAT(wrong.error, HasSubstr("rank"));
}

} // namespace
