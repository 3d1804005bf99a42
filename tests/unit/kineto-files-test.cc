// SPDX-License-Identifier: GPL-2.0-only
// Which files belong to a job, and files that are none.

#include "kineto-text.h"

#include "ns3/echo-input-file.h"
#include "ns3/echo-kineto-importer.h"
#include "ns3/echo-kineto-trace.h"

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

/** One kernel, one all-reduce of 4,000 B over the job; the smallest step that is distributed. */
KinetoText SmallRank(int rank, int world)
{
    KinetoText text(rank, world);
    text.Step(1, 0, 1000);
    text.Kernel("gemm", 7, 100, 110, 200);
    text.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                20,
                120,
                320,
                300,
                NcclArguments("allreduce", 1000, 1000, world));
    return text;
}

std::string Gzip(const std::string& text)
{
    std::ostringstream out;
    {
        boost::iostreams::filtering_ostream filter;
        filter.push(boost::iostreams::gzip_compressor());
        filter.push(out);
        filter << text;
    }
    return out.str();
}

std::string MessageOf(const std::vector<std::string>& paths, const KinetoOptions& options = {})
{
    try
    {
        ImportKineto(paths, options);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "no error";
}

TEST(KinetoFiles, MissingRanksAreNamed)
{
    TemporaryFolder folder;
    for (int rank : {0, 1, 2, 3, 4, 5, 6, 8})
    {
        folder.Write("rank" + std::to_string(rank) + ".json", SmallRank(rank, 9).Text());
    }
    EXPECT_EQ(MessageOf({folder.Path()}),
              "profiler files: found files for ranks 0 to 6 and 8 of 9: missing 7, expected one a "
              "rank");
    // The same by file names alone: nine ranks, as the communication has nine members.
    TemporaryFolder plain;
    for (int rank : {0, 1, 2, 3, 4, 5, 6, 8})
    {
        KinetoText text;
        text.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                    20,
                    120,
                    320,
                    300,
                    NcclArguments("allreduce", 1000, 1000, 9));
        plain.Write("trace_" + std::to_string(rank) + ".json", text.Text());
    }
    EXPECT_THAT(MessageOf({plain.Path()}), HasSubstr("missing 7"));
    KinetoOptions copy;
    copy.missingRanks = "copy";
    EXPECT_EQ(ImportKineto({plain.Path()}, copy).graph->GetRankCount(), 9u);
}

TEST(KinetoFiles, OrderAndCompressionDoNotMatter)
{
    TemporaryFolder folder;
    const std::string plain = folder.Write("b-rank0.json", SmallRank(0, 2).Text());
    const std::string zipped = folder.Write("a-rank1.json.gz", Gzip(SmallRank(1, 2).Text()));
    const auto one = ImportKineto({plain, zipped});
    const auto other = ImportKineto({zipped, plain, plain});
    const auto pattern = ImportKineto({folder.Path("?-rank*")});
    for (const auto* imported : {&one, &other, &pattern})
    {
        ASSERT_EQ(imported->graph->GetRankCount(), 2u);
        EXPECT_EQ(imported->graph->GetProgram(RankId(0))->GetSource(), plain);
        EXPECT_EQ(imported->graph->GetProgram(RankId(1))->GetSource(), zipped);
        EXPECT_EQ(imported->health.ToString(), one.health.ToString());
    }
}

TEST(KinetoFiles, RanksThatContradictAreRefused)
{
    TemporaryFolder folder;
    const std::string first = folder.Write("a.json", SmallRank(0, 2).Text());
    const std::string same = folder.Write("b.json", SmallRank(0, 2).Text());
    EXPECT_THAT(MessageOf({first, same}), HasSubstr("rank 0, which " + first + " has too"));
    const std::string other = folder.Write("c.json", SmallRank(1, 4).Text());
    EXPECT_THAT(MessageOf({first, other}), HasSubstr("world_size 4, expected 2"));
    const std::string beyond = folder.Write("d.json", SmallRank(2, 2).Text());
    EXPECT_THAT(MessageOf({first, beyond}), HasSubstr("rank 2 of 2 ranks"));
    KinetoText unnamed;
    unnamed.Kernel("gemm", 7, 100, 110, 200);
    const std::string nameless = folder.Write("e.json", unnamed.Text());
    EXPECT_THAT(MessageOf({first, nameless}), HasSubstr("no rank in the file"));
    EXPECT_EQ(ImportKineto({nameless}).graph->GetRankCount(), 1u); // alone it may
    const std::string far = folder.Write("rank99999999999.json", unnamed.Text());
    EXPECT_THAT(MessageOf({first, far}),
                HasSubstr("found a rank in its name that is too large, expected a rank from 0 to "
                          "1048575"));
    KinetoText beyondAll(1 << 20, 2);
    beyondAll.Kernel("gemm", 7, 100, 110, 200);
    EXPECT_THAT(MessageOf({folder.Write("f.json", beyondAll.Text())}),
                HasSubstr("distributedInfo: found rank 1048576, expected a rank from 0 to"));
    const std::string dated = folder.Write("trace-1764563833123.json", unnamed.Text());
    EXPECT_THAT(MessageOf({first, dated}), HasSubstr("no rank in the file"));
}

TEST(KinetoFiles, OneFileOfSeveralStandsForAllWithAWarning)
{
    TemporaryFolder folder;
    const std::string path = folder.Write("rank2.json", SmallRank(2, 4).Text());
    const auto imported = ImportKineto({path});
    EXPECT_EQ(imported.graph->GetRankCount(), 4u);
    EXPECT_EQ(imported.graph->GetProgram(RankId(0)), imported.graph->GetProgram(RankId(3)));
    EXPECT_TRUE(imported.collectives.empty()); // nothing is known of the transfer alone
    EXPECT_THAT(imported.health.ToString(), HasSubstr("missing 0 to 1 and 3"));
    KinetoOptions refuse;
    refuse.missingRanks = "refuse";
    EXPECT_THAT(MessageOf({path}, refuse),
                HasSubstr("a file for rank 2 of 4: missing 0 to 1 and 3"));
    refuse.replicate = "dp";
    EXPECT_EQ(MessageOf({path}, refuse),
              "missing_ranks: found refuse beside replicate: dp, expected one of them");
}

TEST(KinetoFiles, WithoutStepMarksAndWithRanksInNamesOnly)
{
    // As newer NCCL names its kernels, nothing but names to tell ranks.
    TemporaryFolder folder;
    for (int rank = 0; rank < 2; ++rank)
    {
        KinetoText text;
        text.Kernel("gemm", 7, 100, 110, 200);
        text.Kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                    20,
                    120,
                    320,
                    300,
                    NcclArguments("_allgather_base", 1000, 2000, 2));
        text.Kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)",
                    20,
                    130,
                    640,
                    300,
                    NcclArguments("_reduce_scatter_base", 2000, 1000, 2));
        folder.Write("run_rank" + std::to_string(rank) + ".json", text.Text());
    }
    const auto imported = ImportKineto({folder.Path()});
    EXPECT_EQ(imported.health.collectives.at("all-gather").count, 2u);
    EXPECT_EQ(imported.health.collectives.at("all-gather").bytes, 2u * 8000);
    EXPECT_EQ(imported.health.collectives.at("reduce-scatter").count, 2u);
    EXPECT_THAT(imported.health.ToString(), HasSubstr("no step marks"));
    EXPECT_THAT(imported.health.ToString(), HasSubstr("all-gather: 2, 15.62 KiB"));
}

TEST(KinetoFiles, ProfilesWithoutGpuOrCommunicationAreRefused)
{
    TemporaryFolder folder;
    KinetoText cpu;
    cpu.Range(1, "aten::mm", 0, 10).Step(1, 0, 100);
    EXPECT_THAT(MessageOf({folder.Write("cpu.json", cpu.Text())}),
                HasSubstr("no GPU kernels found"));
    KinetoText silent(0, 8);
    silent.Kernel("gemm", 7, 100, 110, 200);
    EXPECT_THAT(MessageOf({folder.Write("silent.json", silent.Text())}),
                HasSubstr("no communication in the step of 8 ranks"));
    KinetoText late(0, 1);
    late.Step(1, 0, 50).Kernel("gemm", 7, 100, 110, 200);
    EXPECT_THAT(MessageOf({folder.Write("late.json", late.Text())}),
                HasSubstr("no GPU kernels in the step"));
}

TEST(KinetoFiles, WhatIsNoProfileIsRefusedInOneSentence)
{
    TemporaryFolder folder;
    const std::string whole = SmallRank(0, 1).Text();
    const std::string zipped = Gzip(whole);
    std::string deep(100000, '[');
    deep += std::string(100000, ']');
    std::string flipped = zipped;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"empty.json", ""},
             {"garbage.json", "\x01\x02\xff{{{"},
             {"text.json", "step,time\n1,2\n"},
             {"cut.json", whole.substr(0, whole.size() / 2)},
             {"cut-end.json", whole.substr(0, whole.size() - 3)},
             {"cut.json.gz", zipped.substr(0, zipped.size() / 2)},
             {"cut-end.json.gz", zipped.substr(0, zipped.size() - 4)},
             {"flipped.json.gz", flipped},
             {"number.json", "17"},
             {"list.json", "[1, 2, 3]"},
             {"other.json", "{\"a\": {\"traceEvents\": []}}"},
             {"no-list.json", "{\"traceEvents\": 5}"},
             {"deep.json", deep},
             {"deep-inside.json", "{\"traceEvents\": [{\"ph\": \"X\", \"args\": " + deep + "}]}"},
             {"member.json",
              "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"a\": 17, "
              "\"cat\": \"x\"}, {\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 2}]}"},
             {"utf16.json", std::string("\xff\xfe{\0\"\0", 6)},
             {"behind.json", whole + "{}"},
             {"nodes.json", "{\"schema\": \"1.1\", \"nodes\": []}"}})
    {
        const std::string message = MessageOf({folder.Write(name, text)});
        EXPECT_THAT(message, HasSubstr(name));
        EXPECT_THAT(message, HasSubstr("found "));
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        EXPECT_LT(message.size(), 300u);
    }
    EXPECT_THAT(MessageOf({folder.Path("none.json")}), HasSubstr("no such file"));
    EXPECT_THAT(MessageOf({folder.Path("x*.json")}), HasSubstr("no file that fits"));
    TemporaryFolder empty;
    EXPECT_THAT(MessageOf({empty.Path()}), HasSubstr("a folder without files that end in .json"));
    EXPECT_THROW(ReadInputFile(folder.Path()), InputError);
}

TEST(KinetoFiles, OddEventsAreCountedNotTrusted)
{
    TemporaryFolder folder;
    std::string text = SmallRank(0, 1).Text();
    const std::string odd =
        "\"traceEvents\": [17, {\"ph\": \"X\"}, {\"ph\": \"X\", \"cat\": \"kernel\"}, "
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": -5, \"name\": \"x\"}, "
        "{\"ph\": \"X\", \"cat\": \"overhead\", \"ts\": 1, \"dur\": 5}, {\"ph\": \"i\"}, "
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 9e99, \"dur\": 1, \"name\": \"x\"}, ";
    text.replace(text.find("\"traceEvents\": ["), 16, odd);
    const auto imported = ImportKineto({folder.Write("odd.json", text)});
    const auto& ignored = imported.health.ignored;
    EXPECT_EQ(ignored.at("entries that are no events"), 1u);
    EXPECT_EQ(ignored.at("events without a category"), 1u);
    EXPECT_EQ(ignored.at("events without a time or duration"), 3u);
    EXPECT_EQ(ignored.at("overhead"), 1u);
    EXPECT_EQ(imported.health.ranks.at(0).kernels, 1u);
}

TEST(KinetoFiles, ASampledFileIsSaid)
{
    TemporaryFolder folder;
    KinetoText text = SmallRank(0, 1);
    text.Range(1, "aten::mm", 200, 10, "\"Ev Idx\": 10");
    text.Range(1, "aten::mm", 300, 10, "\"Ev Idx\": 999");
    // Two of 1,000 events.
    EXPECT_THAT(ImportKineto({folder.Write("sample.json", text.Text())}).health.ToString(),
                HasSubstr("holds 0.2 % of what the profiler recorded"));
}

TEST(KinetoFiles, TheStepIsChosen)
{
    TemporaryFolder folder;
    KinetoText text(0, 1);
    text.Step(4, 0, 1000).Step(5, 1000, 1500);
    text.Kernel("first", 7, 100, 110, 200);
    text.Kernel("second", 7, 1100, 1110, 300);
    const std::string path = folder.Write("steps.json", text.Text());
    auto import = [&path](const std::string& step) {
        KinetoOptions options;
        options.step = step;
        return ImportKineto({path}, options);
    };
    EXPECT_EQ(import("last").span, MicroSeconds(1500));
    EXPECT_EQ(import("4").span, MicroSeconds(1000));
    EXPECT_EQ(import("all").span, MicroSeconds(2500));
    EXPECT_EQ(import("all").health.ranks[0].kernels, 2u);
    EXPECT_EQ(import("5").health.ranks[0].kernels, 1u);
    for (const char* bad : {"6", "first", "", "4x"})
    {
        EXPECT_THROW(import(bad), InputError) << bad;
    }
    // A profiler that is stopped behind a step leaves the mark of one without work.
    text.Step(6, 2500, 40);
    folder.Write("steps.json", text.Text());
    EXPECT_EQ(import("last").span, MicroSeconds(1500));
    EXPECT_THAT(import("last").health.ToString(), HasSubstr("steps after 5 are not used"));
    KinetoOptions stub;
    stub.step = "6";
    EXPECT_THAT(MessageOf({path}, stub), HasSubstr("step 6: found no GPU kernels"));
}

TEST(KinetoFiles, StepsOfOneNumberAreNotOneStep)
{
    // Two profiles in one file count from 5 again; the second one's mark stands on two threads.
    TemporaryFolder folder;
    KinetoText text(0, 1);
    text.Step(5, 0, 1000).Step(5, 7000, 1500).Step(5, 7000, 1500);
    text.Kernel("first", 7, 100, 110, 200);
    text.Kernel("second", 7, 7100, 7110, 300);
    const std::string path = folder.Write("steps.json", text.Text());
    for (const char* step : {"last", "5"})
    {
        KinetoOptions options;
        options.step = step;
        const ImportedWorkload job = ImportKineto({path}, options);
        EXPECT_EQ(job.span, MicroSeconds(1500)) << step;
        EXPECT_EQ(job.health.ranks[0].kernels, 1u) << step;
        EXPECT_THAT(job.health.ToString(),
                    HasSubstr("rank 0: ProfilerStep#5 stands 2 times: the last is taken"));
    }
}

TEST(KinetoFiles, WhatIsTakenForGrantedIsSaid)
{
    TemporaryFolder folder;
    KinetoText text(0, 4);
    text.Step(1, 0, 1000);
    text.Kernel("void multimem_all_reduce_kernel<c10::Half, 16>(c10::Half*)", 7, 100, 110, 200);
    text.Kernel("void multimem_all_reduce_kernel<float, 4>(float*)", 7, 120, 320, 100);
    text.Range(
        1, "nccl:all_reduce", 150, 30, "\"Input Dims\": [[250]], \"Input type\": [\"float\"]");
    text.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, 160, 430, 100);
    const ImportedWorkload job = ImportKineto({folder.Write("rank0.json", text.Text())});
    EXPECT_EQ(job.graph->GetGroup(RankId(0), 0)->GetSize(), 4u);
    const std::string report = job.health.ToString();
    EXPECT_THAT(report, HasSubstr("1 communications name no process group: taken to be of all 4"));
    EXPECT_THAT(report, HasSubstr("outside NCCL and RCCL are replayed as compute"));
    // All the time of its kernels: 200 and 100 us.
    EXPECT_THAT(report,
                HasSubstr("2 multimem_all_reduce_kernel (300.000 us, 100.0 % of kernel time)\n"));
    // Neither is said of what is recorded.
    const ImportedWorkload known =
        ImportKineto({folder.Write("rank0.json", SmallRank(0, 4).Text())});
    EXPECT_THAT(known.health.ToString(), testing::Not(HasSubstr("name no process group")));
}

// As ROCm records it: HIP's names, a generic kernel, sizes at the CPU's record_param_comms.
TEST(KinetoFiles, HipCallsAndKernelsOfRccl)
{
    TemporaryFolder folder;
    for (int rank : {0, 1})
    {
        KinetoText text(rank, 2);
        text.Step(1, 0, 1000);
        text.Call(1, "hipExtModuleLaunchKernel", 100, 5, 1);
        text.Gpu("kernel", "Cijk_Alik_Bljk_SB_MT64x16x32", 0, 120, 200, 1);
        text.Range(1,
                   "record_param_comms",
                   140,
                   30,
                   NcclArguments("allreduce", 1000, 1000, 2, "BFloat16"));
        text.Call(1, "hipExtLaunchKernel", 150, 5, 2);
        text.Gpu(
            "kernel", "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", 3, 330, 50, 2);
        text.Call(1, "hipMemcpyWithStream", 200, 300, 3);
        text.Gpu("gpu_memcpy", "Memcpy DtoH (Device -> Host)", 0, 400, 90, 3, "\"bytes\": 4096");
        text.Call(1, "hipDeviceSynchronize", 600, 50, 4);
        folder.Write("rank" + std::to_string(rank) + ".json", text.Text());
    }
    const ImportedWorkload job = ImportKineto({folder.Path()});
    const ExecutionGraph& program = *job.graph->GetProgram(RankId(1));
    uint64_t copied = 0;
    uint32_t collectives = 0;
    bool waits = false; // the copy outlived its call: the thread went on after it
    for (const Operator& op : program.GetOperators())
    {
        copied += op.type == OperatorType::COPY ? static_cast<uint64_t>(op.memoryBytes) : 0;
        if (op.type == OperatorType::COLLECTIVE)
        {
            ++collectives;
            EXPECT_EQ(program.GetCommunication(op).spec.kind, CollectiveKind::ALL_REDUCE);
            EXPECT_EQ(program.GetCommunication(op).spec.bytes, 2000u);
        }
        waits = waits || (op.type == OperatorType::HOST && op.dependencyCount > 0);
    }
    EXPECT_EQ(copied, 4096u);
    EXPECT_EQ(collectives, 1u);
    EXPECT_TRUE(waits);
    EXPECT_THAT(job.health.ToString(), HasSubstr("2 by record_param_comms"));
}

TEST(KinetoFiles, WhatBecomesNoOperatorIsNotKept)
{
    KinetoText text(0, 1);
    for (int i = 0; i < 50000; ++i)
    {
        text.Range(1, "aten::view", i * 4, 3);
    }
    for (int i = 0; i < 1000; ++i)
    {
        text.Call(1, "cudaGetDevice", i * 4, 1, 2000 + i);
    }
    text.Kernel("gemm", 7, 100, 110, 200).Call(1, "cudaStreamSynchronize", 300, 20, 5);
    TemporaryFolder folder;
    const KinetoTrace trace = ReadKinetoTrace(folder.Write("rank0.json", text.Text()));
    EXPECT_EQ(trace.events, 51003u);
    ASSERT_EQ(trace.calls.size(), 2u); // that launched, that waits
    EXPECT_EQ(trace.names[trace.calls[0].name], "cudaLaunchKernel");
    EXPECT_EQ(trace.callsStart, 0);
    EXPECT_EQ(trace.callsEnd, 3997000);
    EXPECT_LT(trace.threads.at(0).boundaries.size(), 60000u); // of 102,004
}

TEST(KinetoFiles, WhatIsKeptOfAThreadFindsTheSamePauses)
{
    // Consecutive times that are SHORTEST_PAUSE apart, of all and of those that are kept.
    auto pauses = [](std::vector<int64_t> times) {
        std::sort(times.begin(), times.end());
        std::vector<std::pair<int64_t, int64_t>> found;
        for (size_t i = 1; i < times.size(); ++i)
        {
            if (times[i] - times[i - 1] >= SHORTEST_PAUSE)
            {
                found.emplace_back(times[i - 1], times[i]);
            }
        }
        return found;
    };
    std::vector<int64_t> times;
    int64_t time = -3000000;
    for (uint32_t i = 0; i < 20000; ++i)
    {
        const uint32_t hash = i * 2654435761u >> 8;
        time += hash % 50 == 0 ? 49990 + hash / 50 % 20 : hash % 7000;
        times.push_back(time);
    }
    std::vector<int64_t> kept = times;
    ThinOutBoundaries(kept);
    EXPECT_EQ(pauses(kept), pauses(times));
    EXPECT_GT(pauses(times).size(), 50u);
    EXPECT_LT(kept.size(), times.size() / 2);
    std::vector<int64_t> again = kept;
    ThinOutBoundaries(again);
    EXPECT_EQ(again, kept);
}

} // namespace
