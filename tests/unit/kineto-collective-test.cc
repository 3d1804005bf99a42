// SPDX-License-Identifier: GPL-2.0-only
// Communications of imported jobs: groups, sizes, agreement of ranks, clocks.

#include "kineto-replay.h"
#include "kineto-text.h"

#include "ns3/echo-kineto-importer.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace
{

const char* ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
const char* SEND_RECV = "ncclDevKernel_SendRecv(x)";

/** Ranks made by one function; execution traces beside them if @p et gives any. */
ImportedWorkload Import(int world,
                        const std::function<KinetoText(int)>& make,
                        const KinetoOptions& options = {},
                        const std::function<std::string(int)>& et = nullptr)
{
    TemporaryFolder folder;
    for (int rank = 0; rank < world; ++rank)
    {
        folder.Write("rank" + std::to_string(rank) + ".json", make(rank).Text());
        if (et)
        {
            folder.Write("et_rank" + std::to_string(rank) + ".json", et(rank));
        }
    }
    return ImportKineto({folder.Path()}, options);
}

std::string MessageOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const std::runtime_error& error)
    {
        return error.what();
    }
    return "no error";
}

/** Specs of a rank's collectives, in the order of its program. */
std::vector<CollectiveSpec> SpecsOf(const ImportedWorkload& imported, uint32_t rank)
{
    std::vector<CollectiveSpec> specs;
    const auto& program = *imported.graph->GetProgram(RankId(rank));
    for (const auto& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE)
        {
            specs.push_back(program.GetCommunication(op).spec);
        }
    }
    return specs;
}

std::vector<uint32_t> RanksOf(const CommGroupPtr& group)
{
    std::vector<uint32_t> ranks;
    for (RankId rank : group->GetRanks())
    {
        ranks.push_back(rank.Get());
    }
    return ranks;
}

TEST(KinetoGroups, MembersByListByNameAndBySpacing)
{
    // Tensor groups of two neighbours by list, data groups by start and stride, the world by size.
    const auto imported = Import(4, [](int rank) {
        KinetoText text(rank, 4);
        text.Step(1, 0, 1000);
        const std::string pair = rank < 2 ? "[0, 1]" : "[2, 3]";
        text.Kernel(ALL_REDUCE,
                    20,
                    10,
                    20,
                    10,
                    NcclArguments("allreduce",
                                  8,
                                  8,
                                  2,
                                  "Float",
                                  "\"Process Group Name\": \"1\", \"Process Group Ranks\": \"" +
                                      pair + "\""));
        text.Kernel(ALL_REDUCE,
                    21,
                    20,
                    30,
                    10,
                    NcclArguments("allreduce",
                                  8,
                                  8,
                                  2,
                                  "Float",
                                  "\"Process Group Name\": \"2\", \"Global rank start\": " +
                                      std::to_string(rank % 2) + ", \"Global rank stride\": 2"));
        text.Kernel(ALL_REDUCE, 22, 30, 40, 10, NcclArguments("allreduce", 8, 8, 4));
        return text;
    });
    EXPECT_EQ(imported.graph->GetGroups().size(), 5u);
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(3), 0)), ElementsAre(2, 3));
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(3), 1)), ElementsAre(1, 3));
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(3), 2)), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(imported.graph->GetGroup(RankId(3), 2)->GetKind(), GroupKind::WORLD);
    EXPECT_EQ(imported.collectives.size(), 5u);
}

TEST(KinetoGroups, EqualMembersMayBeSeveralCommunicators)
{
    // Two communicators of all ranks, whose kernels run in another order on rank 1.
    const auto imported = Import(2, [](int rank) {
        KinetoText text(rank, 2);
        text.Step(1, 0, 1000);
        auto add = [&text](const char* name, int stream, double start, int elements) {
            text.Kernel(ALL_REDUCE,
                        stream,
                        start - 10,
                        start,
                        10,
                        NcclArguments("allreduce",
                                      elements,
                                      elements,
                                      2,
                                      "Float",
                                      std::string("\"Process Group Name\": \"") + name +
                                          "\", \"Process Group Ranks\": \"[0, 1]\""));
        };
        // The first use of each names them in the same order on both ranks.
        add("0", 20, 20, 1);
        add("7", 21, 40, 2);
        add("0", 20, rank == 0 ? 60 : 90, 3);
        add("7", 21, rank == 0 ? 80 : 70, 4);
        return text;
    });
    EXPECT_EQ(imported.graph->GetGroups().size(), 2u);
    ASSERT_EQ(imported.collectives.size(), 4u);
    EXPECT_EQ(imported.collectives[0].bytes, 4u);
    EXPECT_EQ(imported.collectives[1].bytes, 12u);
    EXPECT_EQ(imported.collectives[2].bytes, 8u);
    EXPECT_EQ(imported.collectives[3].bytes, 16u);
}

TEST(KinetoGroups, WrongMembersAreRefused)
{
    auto one = [](const std::string& more, int size) {
        return MessageOf([&] {
            Import(4, [&](int rank) {
                KinetoText text(rank, 4);
                text.Kernel(ALL_REDUCE,
                            20,
                            10,
                            20,
                            10,
                            NcclArguments("allreduce", 8, 8, size, "Float", more));
                return text;
            });
        });
    };
    EXPECT_THAT(one("\"Process Group Ranks\": \"[1, 2]\"", 2), HasSubstr("rank 0 among them"));
    EXPECT_THAT(one("\"Process Group Ranks\": \"[0, 9]\"", 2), HasSubstr("0 to 3"));
    EXPECT_THAT(one("\"Process Group Ranks\": \"[0, 0]\"", 2), HasSubstr("different ones"));
    EXPECT_THAT(one("", 2), HasSubstr("a group of 2 of 4 ranks without its members"));
}

TEST(KinetoGroups, SizeAndMembersMustAgree)
{
    const auto message = [](int size) {
        return MessageOf([&] {
            Import(2, [&](int rank) {
                KinetoText text(rank, 2);
                text.Kernel(
                    ALL_REDUCE,
                    20,
                    1,
                    2,
                    3,
                    NcclArguments(
                        "allreduce", 8, 8, size, "Float", "\"Process Group Ranks\": \"[0, 1]\""));
                return text;
            });
        });
    };
    EXPECT_THAT(message(4),
                HasSubstr("found Group size 4 beside 2 Process Group Ranks, expected the same "
                          "number"));
    EXPECT_THAT(message(2), testing::Not(HasSubstr("Group size")));
}

TEST(KinetoGroups, CopiedRanksGetTheirOwnGroups)
{
    TemporaryFolder folder;
    KinetoText text(5, 8);
    text.Kernel(
        ALL_REDUCE,
        20,
        10,
        20,
        10,
        NcclArguments("allreduce", 8, 8, 2, "Float", "\"Process Group Ranks\": \"[4, 5]\""));
    text.Kernel(
        ALL_REDUCE,
        21,
        10,
        40,
        10,
        NcclArguments("allreduce", 8, 8, 4, "Float", "\"Process Group Ranks\": \"[1, 3, 5, 7]\""));
    const auto imported = ImportKineto({folder.Write("rank5.json", text.Text())});
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(2), 0)), ElementsAre(2, 3));
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(2), 1)), ElementsAre(0, 2, 4, 6));
    EXPECT_EQ(imported.graph->GetGroups().size(), 6u);
    KinetoText odd(5, 8);
    odd.Kernel(
        ALL_REDUCE,
        20,
        10,
        20,
        10,
        NcclArguments("allreduce", 8, 8, 3, "Float", "\"Process Group Ranks\": \"[0, 5, 6]\""));
    TemporaryFolder other;
    EXPECT_THAT(MessageOf([&] { ImportKineto({other.Write("rank5.json", odd.Text())}); }),
                HasSubstr("cannot be told"));
}

TEST(KinetoGroups, OneRankStandsForAllOfALargerJob)
{
    TemporaryFolder folder;
    KinetoText text(1, 4);
    text.Kernel(
        ALL_REDUCE,
        20,
        10,
        20,
        10,
        NcclArguments("allreduce", 8, 8, 2, "Float", "\"Process Group Ranks\": \"[0, 1]\""));
    text.Kernel(
        ALL_REDUCE,
        21,
        10,
        40,
        10,
        NcclArguments("allreduce", 8, 8, 2, "Float", "\"Process Group Ranks\": \"[1, 3]\""));
    const std::string path = folder.Write("rank1.json", text.Text());
    KinetoOptions options;
    options.ranks = 16;
    EXPECT_THAT(MessageOf([&] { ImportKineto({path}, options); }), HasSubstr("replicate: dp"));
    options.replicate = "dp";
    const auto imported = ImportKineto({path}, options);
    ASSERT_EQ(imported.graph->GetRankCount(), 16u);
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(1), 0)), ElementsAre(0, 1));
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(1), 1)),
                ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
    EXPECT_THAT(RanksOf(imported.graph->GetGroup(RankId(14), 0)), ElementsAre(14, 15));
    EXPECT_THAT(imported.health.ToString(),
                HasSubstr("replicate: dp: the trace of rank 1 of 4 stands for all 16 ranks"));
    options.replicate = "tp";
    EXPECT_THAT(MessageOf([&] { ImportKineto({path}, options); }), HasSubstr("'tp'"));
}

TEST(KinetoCollectives, RanksMustAgree)
{
    auto import = [](const std::function<void(KinetoText&, int)>& add) {
        return MessageOf([&] {
            Import(2, [&](int rank) {
                KinetoText text(rank, 2);
                text.Step(1, 0, 1000);
                add(text, rank);
                return text;
            });
        });
    };
    EXPECT_THAT(
        import([](KinetoText& text, int rank) {
            text.Kernel(
                ALL_REDUCE, 20, 10, 20, 10, NcclArguments("allreduce", 8 + rank, 8 + rank, 2));
        }),
        HasSubstr("all-reduce of 36 B (fp32, root 0) on rank 1, expected the same as "
                  "all-reduce of 32 B (fp32, root 0) on rank 0"));
    EXPECT_THAT(import([](KinetoText& text, int rank) {
                    for (int i = 0; i <= rank; ++i)
                    {
                        text.Kernel(ALL_REDUCE,
                                    20,
                                    10 + 20 * i,
                                    20 + 20 * i,
                                    10,
                                    NcclArguments("allreduce", 8, 8, 2));
                    }
                }),
                HasSubstr("2 collectives of rank 1 in the group of ranks 0 to 1, expected 1"));
    EXPECT_THAT(import([](KinetoText& text, int rank) {
                    text.Kernel(SEND_RECV,
                                20,
                                10,
                                20,
                                10,
                                NcclArguments("all_to_allv",
                                              10,
                                              10,
                                              2,
                                              "Float",
                                              rank == 0 ? "\"In split size\": \"[4, 6]\", "
                                                          "\"Out split size\": \"[4, 6]\""
                                                        : "\"In split size\": \"[5, 5]\", "
                                                          "\"Out split size\": \"[6, 4]\""));
                }),
                HasSubstr("rank 0 to receive 24 B from rank 1, expected the 20 B that it sends"));
}

TEST(KinetoCollectives, UnknownSizesAreRefusedAfterTheReport)
{
    std::string report;
    KinetoOptions options;
    options.onHealth = [&report](const KinetoHealth& health) { report = health.ToString(); };
    const std::string message = MessageOf([&] {
        Import(
            2,
            [](int rank) {
                KinetoText text(rank, 2);
                text.Step(1, 0, 1000);
                text.Kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", 20, 10, 20, 10);
                text.Kernel(ALL_REDUCE, 20, 30, 40, 10, NcclArguments("allreduce", 8, 8, 2));
                return text;
            },
            options);
    });
    EXPECT_THAT(message, HasSubstr("1 of 2 communications without sizes"));
    EXPECT_THAT(report, HasSubstr("all-reduce: 4"));
    EXPECT_THAT(report, HasSubstr("2 without sizes"));
    EXPECT_THAT(MessageOf([] {
                    Import(1, [](int) {
                        KinetoText text(0, 1);
                        text.Kernel(ALL_REDUCE, 20, 1, 2, 3, NcclArguments("gather", 8, 8, 1));
                        return text;
                    });
                }),
                HasSubstr("found communication 'gather'"));
    EXPECT_THAT(MessageOf([] {
                    Import(1, [](int) {
                        KinetoText text(0, 1);
                        text.Kernel(
                            "ncclDevKernel_Generic(x)", 20, 1, 2, 3, NcclArguments("", 8, 8, 1));
                        return text;
                    });
                }),
                HasSubstr("neither its name nor a record tells"));
}

TEST(KinetoCollectives, SizesThatAreNoneAreShown)
{
    const auto message = [](const std::string& in) {
        return MessageOf([&] {
            Import(1, [&](int) {
                KinetoText text(0, 1);
                text.Kernel(ALL_REDUCE,
                            20,
                            1,
                            2,
                            3,
                            "\"Collective name\": \"allreduce\", \"In msg nelems\": " + in +
                                ", \"Group size\": 1, \"dtype\": \"Float\"");
                return text;
            });
        });
    };
    for (const char* in : {"1180591620717411303424", "-5", "\"NaN\""})
    {
        const std::string bare = in[0] == '"' ? "NaN" : in;
        EXPECT_THAT(
            message(in),
            HasSubstr("found In msg nelems " + bare + ", expected a whole number from 0 to 2^50"));
    }
    EXPECT_THAT(message("-1"), HasSubstr("1 of 1 communications without sizes"));
}

TEST(KinetoCollectives, KernelsOutsideNcclAloneAreNamed)
{
    const std::string message = MessageOf([] {
        Import(2, [](int rank) {
            KinetoText text(rank, 2);
            text.Kernel("void vllm::cross_device_reduce_1stage<float>(x)", 7, 1, 2, 3);
            return text;
        });
    });
    EXPECT_THAT(message,
                HasSubstr("found no communication in the step of 2 ranks but 2 kernels outside "
                          "NCCL and RCCL of unknown size or group ("));
    EXPECT_THAT(message, HasSubstr("cross_device_reduce_1stage"));
    EXPECT_THAT(message, HasSubstr("record_shapes"));
    EXPECT_THAT(message, HasSubstr("pg_config"));
}

TEST(KinetoCollectives, SizesFromAnnotations)
{
    // Older PyTorch: record_param_comms without sizes around an annotation with the input's shape.
    // All-to-alls of unlike sizes become ones with rows, evenly split.
    const auto imported = Import(2, [](int rank) {
        KinetoText text(rank, 2);
        text.Step(1, 0, 1000);
        text.Range(1, "record_param_comms", 5, 30);
        text.Range(1,
                   "nccl:all_reduce",
                   6,
                   20,
                   "\"Input Dims\": [[3, 5]], \"Input type\": [\"float\"]",
                   "user_annotation");
        text.Kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", 20, 10, 50, 10);
        text.Range(1, "record_param_comms", 105, 30);
        text.Range(1,
                   "nccl:all_to_all",
                   106,
                   20,
                   "\"Input Dims\": [[" + std::to_string(10 + 2 * rank) +
                       "]], \"Input type\": [\"long int\"]",
                   "user_annotation");
        text.Kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 20, 110, 150, 10);
        return text;
    });
    const auto specs = SpecsOf(imported, 1);
    ASSERT_EQ(specs.size(), 2u);
    EXPECT_EQ(specs[0].bytes, 60u);
    EXPECT_EQ(specs[1].kind, CollectiveKind::ALL_TO_ALL_V);
    EXPECT_THAT(specs[1].sendBytes, ElementsAre(48, 48));
    EXPECT_THAT(SpecsOf(imported, 0)[1].sendBytes, ElementsAre(40, 40));
    EXPECT_EQ(imported.health.sources.at("by annotations (input shape only)"), 4u);
}

/** An execution trace of schema 1.0.1 with an all-to-all of given rows and a wait for it. */
std::string ExecutionTraceText(const std::string& in, const std::string& out, int elements)
{
    const std::string size = std::to_string(elements);
    return "{\"schema\": \"1.0.1\", \"pid\": 100, \"nodes\": ["
           "{\"name\": \"record_param_comms\", \"id\": 9, \"rf_id\": 7, \"inputs\": [42, 0, 0, "
           "\"wait\", [], []], \"input_shapes\": [[], [], [], [], [], []], \"input_types\": "
           "[\"Int\", \"Int\", \"Int\", \"String\", \"GenericList[]\", \"GenericList[]\"], "
           "\"output_shapes\": []}, "
           "{\"name\": \"record_param_comms\", \"id\": 5, \"rf_id\": 3, \"inputs\": [[1, 2, 0, " +
           size + ", 4, \"cuda:0\"], 42, 94594108284448, 0, \"all_to_allv\", " + in + ", " + out +
           "], \"input_shapes\": [[" + size +
           "], [], [], [], [], [[], []], [[], []]], \"input_types\": [\"Tensor(int)\", \"Int\", "
           "\"Int\", \"Int\", \"String\", \"GenericList[Int,Int]\", \"GenericList[Int,Int]\"], "
           "\"output_shapes\": [[10]]}]}";
}

/** The profiler's side: an issue at 10 us, a wait at 100 us, both on the main thread. */
KinetoText IssueAndWait(int rank, int elements)
{
    KinetoText text(rank, 2);
    text.Step(1, 0, 2000);
    text.Kernel("K", 7, 1, 8, 10);
    text.Range(1,
               "record_param_comms",
               9,
               30,
               "\"Input Dims\": [[" + std::to_string(elements) +
                   "], []], \"Input type\": [\"int\", "
                   "\"Scalar\"]");
    text.Range(1, "nccl:all_to_all", 10, 20, "", "user_annotation");
    text.Kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", 20, 12, 40, 300);
    text.Kernel("other NCCL user", 21, 50, 60, 20);
    text.Range(1, "record_param_comms", 100, 5);
    text.Call(1, "cudaStreamWaitEvent", 101, 1, 1);
    text.Kernel("L", 7, 120, 400, 50);
    return text;
}

TEST(KinetoCollectives, SizesSplitsAndWaitsFromExecutionTraces)
{
    const auto imported = Import(
        2,
        [](int rank) { return IssueAndWait(rank, 10); },
        {},
        [](int rank) {
            return rank == 0 ? ExecutionTraceText("[4, 6]", "[4, 6]", 10)
                             : ExecutionTraceText("[6, 4]", "[6, 4]", 10);
        });
    const auto specs = SpecsOf(imported, 0);
    ASSERT_EQ(specs.size(), 1u);
    EXPECT_THAT(specs[0].sendBytes, ElementsAre(16, 24));
    EXPECT_THAT(specs[0].receiveBytes, ElementsAre(16, 24));
    EXPECT_EQ(specs[0].dataType, DataType::INT32);
    EXPECT_EQ(imported.health.sources.at("by execution traces"), 2u);
    // L waits for the communication by the wait's number: 60 us after its end, as recorded.
    const KinetoReplay replay(*imported.graph,
                              [](GroupId, uint32_t) { return MicroSeconds(1000); });
    EXPECT_EQ(replay.Find("L").start, MicroSeconds(40 + 1000 + 60));
}

TEST(KinetoCollectives, AForeignExecutionTraceIsRefusedOrNotUsed)
{
    auto import = [](const std::string& et) {
        return Import(
            2, [](int rank) { return IssueAndWait(rank, 10); }, {}, [&et](int) { return et; });
    };
    EXPECT_THAT(MessageOf([&] { import(ExecutionTraceText("[5, 6]", "[5, 6]", 11)); }),
                HasSubstr("all_to_allv of 11 elements, expected 10"));
    // Another number of communications: not used, so sizes are missing.
    EXPECT_THAT(MessageOf([&] { import("{\"schema\": \"1.0.1\", \"nodes\": []}"); }),
                HasSubstr("without sizes"));
}

/** Two launches by vLLM's operator, of which the second is a barrier's; one by a CUDA graph. */
KinetoText OtherLibraries(const std::string& groups)
{
    const char* kernel = "void vllm::cross_device_reduce_1stage<nv_bfloat16, 4>(x)";
    KinetoText text(1, 4, groups);
    text.Range(1, "vllm::all_reduce", 90, 60); // without shapes
    text.Range(1,
               "_C_custom_ar::all_reduce",
               100,
               40,
               "\"Input Dims\": [[], [8, 1024], []], \"Input type\": [\"Scalar\", "
               "\"c10::BFloat16\", \"\"]");
    text.Kernel(kernel, 7, 110, 120, 50);
    text.Kernel(kernel, 7, 120, 170, 50);
    text.Kernel(kernel, 7, 300, 310, 50);
    text.Kernel("gemm", 7, 310, 360, 50);
    return text;
}

TEST(KinetoCollectives, OperatorsOutsideNcclGiveSizesWhereTheGroupIsKnown)
{
    TemporaryFolder folder;
    auto import = [&folder](const std::string& groups) {
        return ImportKineto({folder.Write("rank1.json", OtherLibraries(groups).Text())});
    };
    // Two groups of the same two ranks, and one of one rank: there is one group to reduce in.
    const ImportedWorkload job = import("{\"pg_name\": \"0\", \"ranks\": [0, 1]}, "
                                        "{\"pg_name\": \"1\", \"ranks\": [0, 1]}, "
                                        "{\"pg_name\": \"2\", \"ranks\": [1]}");
    const std::string report = job.health.ToString();
    EXPECT_THAT(report, HasSubstr("1 by operators outside NCCL (input shape only)"));
    // The second kernel of one operator and the one without an operator stay kernels: 100 of 150
    // us.
    EXPECT_THAT(
        report,
        HasSubstr("2 vllm::cross_device_reduce_1stage (100.000 us, 66.7 % of kernel time)"));
    const ExecutionGraph& program = *job.graph->GetProgram(RankId(1));
    uint32_t collectives = 0;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE)
        {
            ++collectives;
            const auto& description = program.GetCommunication(op);
            EXPECT_EQ(description.spec.kind, CollectiveKind::ALL_REDUCE);
            EXPECT_EQ(description.spec.bytes, 16384u); // 8 x 1024 elements of two bytes
        }
    }
    EXPECT_EQ(collectives, 1u);
    EXPECT_THAT(RanksOf(job.graph->GetGroup(RankId(1), 0)), ElementsAre(0, 1));
    EXPECT_THAT(RanksOf(job.graph->GetGroup(RankId(3), 0)), ElementsAre(2, 3));
    // With several groups nobody knows which: kernels only, and the job does not communicate.
    EXPECT_THAT(MessageOf([&] {
                    import("{\"pg_name\": \"0\", \"ranks\": [0, 1, 2, 3]}, "
                           "{\"pg_name\": \"1\", \"ranks\": [0, 1]}");
                }),
                HasSubstr("no communication in the step of 4 ranks"));
}

TEST(KinetoCollectives, SendsAndReceivesOfABatch)
{
    // Rank 0 sends 8 elements to rank 1 and receives 4 from it, in one kernel: records without a
    // kernel of their own come before it.
    const auto imported = Import(2, [](int rank) {
        KinetoText text(rank, 2);
        text.Step(1, 0, 1000);
        auto message = [&text](const char* name, double at, int elements, int peer) {
            text.Range(1,
                       "record_param_comms",
                       at,
                       5,
                       NcclArguments(name,
                                     elements,
                                     elements,
                                     2,
                                     "Float",
                                     std::string(std::string(name) == "send" ? "\"Dst Rank\": "
                                                                             : "\"Src Rank\": ") +
                                         std::to_string(peer)));
        };
        message("send", 10, rank == 0 ? 8 : 4, 1 - rank);
        message("recv", 20, rank == 0 ? 4 : 8, 1 - rank);
        text.Range(1, "nccl:coalesced", 30, 30, "", "user_annotation");
        text.Kernel(SEND_RECV, 20, 40, 50, 100);
        return text;
    });
    const auto& program = *imported.graph->GetProgram(RankId(0));
    uint32_t batches = 0;
    for (const auto& op : program.GetOperators())
    {
        if (op.type == OperatorType::POINT_TO_POINT)
        {
            ++batches;
            const auto& elements = program.GetCommunication(op).elements;
            ASSERT_EQ(elements.size(), 2u);
            EXPECT_TRUE(elements[0].isSend);
            EXPECT_EQ(elements[0].bytes, 32u);
            EXPECT_EQ(elements[0].peerIndex, 1u);
            EXPECT_FALSE(elements[1].isSend);
            EXPECT_EQ(elements[1].bytes, 16u);
        }
    }
    EXPECT_EQ(batches, 1u);
}

TEST(KinetoCollectives, CoalescedCollectivesAreOne)
{
    // Two reduce-scatters recorded before, one kernel for both: 8 + 24 elements in, 4 + 12 out.
    const auto imported = Import(2, [](int rank) {
        KinetoText text(rank, 2);
        text.Step(1, 0, 1000);
        for (int i = 0; i < 2; ++i)
        {
            text.Range(1,
                       "record_param_comms",
                       10 + 10 * i,
                       5,
                       NcclArguments("reduce_scatter_tensor_coalesced", 8 + 16 * i, 4 + 8 * i, 2));
        }
        text.Range(1, "nccl:coalesced", 30, 30, "", "user_annotation");
        text.Kernel("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(x)", 20, 40, 50, 100);
        return text;
    });
    const auto specs = SpecsOf(imported, 1);
    ASSERT_EQ(specs.size(), 1u);
    EXPECT_EQ(specs[0].kind, CollectiveKind::REDUCE_SCATTER);
    EXPECT_EQ(specs[0].bytes, 128u);
}

TEST(KinetoClocks, AreAlignedByTheEndsOfCollectives)
{
    // Rank 1's clock is 5 ms ahead: steps look 5.05 ms apart, collectives end 5 ms apart.
    auto make = [](int rank) {
        const double clock = rank * 5000.0;
        KinetoText text(rank, 2);
        text.Step(1, clock + rank * 50, 1000 - rank * 50);
        for (int i = 0; i < 3; ++i)
        {
            const double at = clock + 100 + 200 * i;
            text.Kernel(ALL_REDUCE, 20, at, at + 10, 100, NcclArguments("allreduce", 8, 8, 2));
        }
        return text;
    };
    const auto imported = Import(2, make);
    EXPECT_EQ(imported.graph->GetStartTime(RankId(1)), MicroSeconds(50));
    EXPECT_EQ(imported.span, MicroSeconds(1000));
    EXPECT_EQ(imported.collectives[0].transfer, MicroSeconds(100));
    EXPECT_THAT(imported.health.ToString(), HasSubstr("rank 1: clock shifted by -5000 us"));
    KinetoOptions asRecorded;
    asRecorded.alignClocks = false;
    EXPECT_EQ(Import(2, make, asRecorded).span, MicroSeconds(6000));
}

} // namespace
