// SPDX-License-Identifier: GPL-2.0-only
// What profilers write of a communication, and of times and names.

#include "ns3/echo-communication-record.h"
#include "ns3/echo-kineto-adoption.h"
#include "ns3/echo-kineto-files.h"
#include "ns3/echo-kineto-health.h"
#include "ns3/echo-kineto-trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace
{

CommunicationRecord Record(const std::string& name,
                           int64_t in,
                           int64_t out,
                           const std::string& type = "Float")
{
    CommunicationRecord record;
    record.source = RecordSource::KERNEL;
    record.name = name;
    record.inElements = in;
    record.outElements = out;
    record.dataType = type;
    return record;
}

CollectiveSpec Convert(const CommunicationRecord& record, uint32_t groupSize)
{
    return ToCollectiveSpec(
        record, *ParseRecordedKind(record.name).kind, groupSize, {"rank0.json", 0, "op"});
}

TEST(CommunicationRecord, AllGatherIsTheGatheredOutput)
{
    // 16 ranks, 4,194,304 elements in and 67,108,864 out, 2 B each: 134,217,728 B gathered, of
    // which a rank sends 15/16 in a ring: 125,829,120 B.
    const auto spec = Convert(Record("_allgather_base", 4194304, 67108864, "BFloat16"), 16);
    EXPECT_EQ(spec.kind, CollectiveKind::ALL_GATHER);
    EXPECT_EQ(spec.bytes, 134217728u);
    EXPECT_EQ(spec.bytes / 16 * 15, 125829120u);
    EXPECT_EQ(spec.dataType, DataType::BF16);
    // One size: the input is a rank's part, the output is everything.
    EXPECT_EQ(Convert(Record("all_gather", 4194304, -1, "BFloat16"), 16).bytes, 134217728u);
    EXPECT_EQ(Convert(Record("all_gather", -1, 67108864, "BFloat16"), 16).bytes, 134217728u);
    EXPECT_THROW(Convert(Record("all_gather", 4194304, 4194304), 16), InputError);
    EXPECT_THROW(Convert(Record("all_gather", 4194304, 67108864), 8), InputError);
}

TEST(CommunicationRecord, OtherKindsAreTheirBuffer)
{
    EXPECT_EQ(Convert(Record("allreduce", 100, 100), 4).bytes, 400u);
    EXPECT_EQ(Convert(Record("allreduce", 100, -1, "Half"), 4).bytes, 200u);
    EXPECT_EQ(Convert(Record("_reduce_scatter_base", 64, 16, "Double"), 4).bytes, 512u);
    EXPECT_EQ(Convert(Record("reduce_scatter", -1, 16, "Double"), 4).bytes, 512u);
    EXPECT_EQ(Convert(Record("barrier", -1, -1, ""), 4).bytes, 0u);
    CommunicationRecord broadcast = Record("broadcast", 7, 7, "Byte");
    broadcast.root = 3;
    EXPECT_EQ(Convert(broadcast, 4).root, 3u);
    EXPECT_EQ(Convert(broadcast, 4).bytes, 7u);
    EXPECT_THROW(Convert(Record("allreduce", 100, 99), 4), InputError);
    EXPECT_THROW(Convert(Record("reduce_scatter", 64, 17), 4), InputError);
    EXPECT_THROW(Convert(Record("allreduce", -1, -1), 4), InputError);
    EXPECT_THROW(Convert(Record("allreduce", 1, 1, "Tensor"), 4), InputError);
    EXPECT_THROW(Convert(Record("allreduce", 1, 1, ""), 4), InputError);
    EXPECT_THROW(Convert(Record("all_gather", INT64_MAX, -1), 4), InputError);
    EXPECT_THROW(Convert(Record("allreduce", (1ll << 50) + 1, -1, "Byte"), 4), InputError);
    EXPECT_EQ(GatheredBytes(1 << 20, 1 << 20, {}), 1ull << 40);
    EXPECT_THROW(GatheredBytes(1ull << 50, 1 << 14, {}), InputError); // 2^64
}

TEST(CommunicationRecord, SplitsCountRows)
{
    // 40 elements in rows of 4: splits 1, 2, 3, 4 of 10 rows; 4 B an element.
    CommunicationRecord record = Record("all_to_allv", 40, 16);
    record.inSplits = {1, 2, 3, 4};
    record.outSplits = {1, 1, 1, 1};
    const auto spec = Convert(record, 4);
    EXPECT_EQ(spec.kind, CollectiveKind::ALL_TO_ALL_V);
    EXPECT_THAT(spec.sendBytes, ElementsAre(16, 32, 48, 64));
    EXPECT_THAT(spec.receiveBytes, ElementsAre(16, 16, 16, 16));
    EXPECT_EQ(spec.bytes, 160u);
    record.inElements = 41;
    EXPECT_THROW(Convert(record, 4), InputError);
    record.inElements = 40;
    EXPECT_THROW(Convert(record, 5), InputError); // four splits for five members
    // No splits on one side: equal parts.
    record.inSplits.clear();
    EXPECT_THAT(Convert(record, 4).sendBytes, ElementsAre(40, 40, 40, 40));
    // No splits at all: equal parts on both, so equal sizes.
    EXPECT_EQ(Convert(Record("all_to_all", 40, 40), 4).kind, CollectiveKind::ALL_TO_ALL);
    EXPECT_EQ(Convert(Record("all_to_all", 40, -1), 4).bytes, 160u);
    EXPECT_THROW(Convert(Record("all_to_all", 40, 44), 4), InputError);
    // Sums that wrap to the elements.
    CommunicationRecord wrapped = Record("all_to_allv", 40, -1);
    wrapped.inSplits = {UINT64_MAX, 41};
    EXPECT_THROW(Convert(wrapped, 2), InputError);
    // A rank that sends nothing.
    CommunicationRecord none = Record("all_to_allv", 0, 0);
    none.inSplits = {0, 0};
    EXPECT_EQ(Convert(none, 2).bytes, 0u);
}

TEST(CommunicationRecord, NamesOfAllVersions)
{
    for (const auto& [name, kind] : std::vector<std::pair<std::string, CollectiveKind>>{
             {"allreduce", CollectiveKind::ALL_REDUCE},
             {"allreduce_coalesced", CollectiveKind::ALL_REDUCE},
             {"nccl:all_reduce", CollectiveKind::ALL_REDUCE},
             {"nccl:_all_gather_base", CollectiveKind::ALL_GATHER},
             {"_reduce_scatter_base", CollectiveKind::REDUCE_SCATTER},
             {"nccl:reduce", CollectiveKind::REDUCE},
             {"all_to_allv", CollectiveKind::ALL_TO_ALL},
             {"nccl:all_reduce_barrier", CollectiveKind::BARRIER},
             {"_broadcast_oop", CollectiveKind::BROADCAST},
             {"nccl:send 0->1", CollectiveKind::SEND_RECV},
             {"recv", CollectiveKind::SEND_RECV}})
    {
        EXPECT_EQ(ParseRecordedKind(name).kind, kind) << name;
    }
    EXPECT_TRUE(ParseRecordedKind("nccl:send 0->1").isSend);
    EXPECT_TRUE(ParseRecordedKind("nccl:recv 0<-1").isReceive);
    EXPECT_FALSE(ParseRecordedKind("gather").kind);
    EXPECT_FALSE(ParseRecordedKind("wait").kind);
}

TEST(CommunicationRecord, KernelsOfNcclAndRccl)
{
    auto old = ParseKernelName(
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)");
    EXPECT_TRUE(old.isCommunication);
    EXPECT_EQ(old.kind, CollectiveKind::ALL_REDUCE);
    EXPECT_EQ(old.algorithm, CollectiveAlgorithmKind::RING);
    EXPECT_EQ(old.protocol, CollectiveProtocol::LL);
    auto newer = ParseKernelName(
        "ncclDevKernel_ReduceScatter_Sum_bf16_TREE_LL128(ncclDevKernelArgsStorage<4096ul>)");
    EXPECT_EQ(newer.kind, CollectiveKind::REDUCE_SCATTER);
    EXPECT_EQ(newer.algorithm, CollectiveAlgorithmKind::TREE);
    EXPECT_EQ(newer.protocol, CollectiveProtocol::LL128);
    EXPECT_EQ(ParseKernelName("ncclDevKernel_AllGather_RING_LL(x)").kind,
              CollectiveKind::ALL_GATHER);
    EXPECT_EQ(ParseKernelName("ncclDevKernel_Broadcast_RING_LL(x)").kind,
              CollectiveKind::BROADCAST);
    EXPECT_EQ(ParseKernelName("ncclDevKernel_SendRecv(x)").kind, CollectiveKind::SEND_RECV);
    EXPECT_EQ(ParseKernelName("ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(x)").kind,
              CollectiveKind::ALL_REDUCE); // symmetric memory
    auto rccl = ParseKernelName("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)");
    EXPECT_TRUE(rccl.isCommunication);
    EXPECT_FALSE(rccl.kind);
    EXPECT_FALSE(ParseKernelName("void at::native::reduce_kernel<512, 1>(nccl)").isCommunication);
    for (const char* name :
         {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::Half, 16>()",
          "void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)",
          "nvshmemi_signal_op_kernel",
          "void deep_ep::internode::dispatch<false, 5>()"})
    {
        EXPECT_TRUE(LooksLikeCommunication(name)) << name;
    }
    for (const char* name : {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", // is known
                             "void at::native::reduce_kernel<512, 1>(x)",
                             "triton_poi_fused_all_gather_into_tensor_wait_tensor_0",
                             "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n"})
    {
        EXPECT_FALSE(LooksLikeCommunication(name)) << name;
    }
}

TEST(CommunicationRecord, OperatorsOfLibrariesWithKernelsOfTheirOwn)
{
    EXPECT_EQ(OperatorKind("symm_mem::multimem_all_reduce_"), "all_reduce");
    EXPECT_EQ(OperatorKind("_C_custom_ar::all_reduce"), "all_reduce");
    EXPECT_EQ(OperatorKind("vllm::reduce_scatter"), "reduce_scatter");
    for (const char* name : {"c10d::all_reduce_", // PyTorch's own, which records more
                             "_c10d_functional::all_gather_into_tensor",
                             "fsdp::all_gather_copy_in",
                             "aten::mm",
                             "all_reduce"})
    {
        EXPECT_EQ(OperatorKind(name), "") << name;
    }
}

TEST(CommunicationRecord, ElementTypes)
{
    for (const auto& [name, type] :
         std::vector<std::pair<std::string, DataType>>{{"Float", DataType::FP32},
                                                       {"float", DataType::FP32},
                                                       {"c10::Half", DataType::FP16},
                                                       {"c10::BFloat16", DataType::BF16},
                                                       {"long int", DataType::INT64},
                                                       {"Long", DataType::INT64},
                                                       {"unsigned char", DataType::INT8},
                                                       {"Bool", DataType::INT8},
                                                       {"Float8_e4m3fn", DataType::FP8}})
    {
        EXPECT_EQ(ParseRecordedDataType(name), type) << name;
    }
    EXPECT_FALSE(ParseRecordedDataType("Scalar"));
    EXPECT_FALSE(ParseRecordedDataType(""));
}

TEST(KinetoNumbers, TimesAreExactToTheNanosecond)
{
    // A double holds 1712195495520871.875 to 0.25 us only.
    EXPECT_EQ(ParseMicroseconds("1712195495520871.873"), 1712195495520871873);
    EXPECT_EQ(ParseMicroseconds("4458677009853.42"), 4458677009853420);
    EXPECT_EQ(ParseMicroseconds("5"), 5000);
    EXPECT_EQ(ParseMicroseconds("0.0019"), 1);
    EXPECT_EQ(ParseMicroseconds("-1.5"), -1500);
    EXPECT_EQ(ParseMicroseconds("1.5e3"), 1500000);
    EXPECT_EQ(ParseFixedPoint("12.345678", 6), 12345678);
    for (const char* bad : {"", "-", ".5", "abc", "1x", "99999999999999999999", "1e300", "nan"})
    {
        EXPECT_FALSE(ParseMicroseconds(bad)) << bad;
    }
    EXPECT_THAT(ParseNumberList("[0, 1, 12]"), ElementsAre(0, 1, 12));
    EXPECT_THAT(ParseNumberList("[]"), IsEmpty());
    EXPECT_THAT(ParseNumberList("[0, 1, ..., 127]"), IsEmpty()); // cut short by PyTorch
    EXPECT_THAT(ParseNumberList("[0, -1]"), IsEmpty());
    EXPECT_EQ(ParseFixedPoint("4.0e5", 0), 400000);
    EXPECT_EQ(ParseFixedPoint("8.0", 0), 8);
    EXPECT_EQ(ParseFixedPoint("0x10", 0), std::nullopt);
    EXPECT_THAT(ToRanks({3, 4294967296}), ElementsAre(3, KINETO_NONE)); // not 0
}

TEST(KinetoNumbers, RanksInFileNames)
{
    EXPECT_EQ(RankFromFileName("a/rank-3.json", false), 3u);
    EXPECT_EQ(RankFromFileName("trace_RANK_12.json.gz", false), 12u);
    EXPECT_EQ(RankFromFileName("worker4_step_12.1694128201547.pt.trace.json", false), 4u);
    EXPECT_EQ(RankFromFileName("et_rank0.json.gz", false), 0u);
    EXPECT_EQ(RankFromFileName("dlrm_eg_7.json", true), 7u);
    EXPECT_EQ(RankFromFileName("dlrm_eg_7.json", false), std::nullopt);
    EXPECT_EQ(RankFromFileName("host_12.1694128201547.pt.trace.json", true), std::nullopt);
    EXPECT_EQ(RankFromFileName("rank99999999999999999999.json", false), 1U << 20); // too large
    EXPECT_EQ(RankFromFileName("dlrm_1694128201547.json", true), std::nullopt);    // a date
    EXPECT_EQ(RankFromFileName("trace.json", true), std::nullopt);
}

TEST(KinetoNumbers, RankListsReadAsSentences)
{
    EXPECT_EQ(FormatRankList({0, 1, 2, 3, 4, 5, 6, 8}), "0 to 6 and 8");
    EXPECT_EQ(FormatRankList({7}), "7");
    EXPECT_EQ(FormatRankList({1, 3, 5}), "1, 3 and 5");
    std::vector<uint32_t> odd;
    for (uint32_t i = 1; i < 200; i += 2)
    {
        odd.push_back(i);
    }
    EXPECT_THAT(FormatRankList(odd), HasSubstr("39 and more"));
}

} // namespace
