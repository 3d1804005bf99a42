// SPDX-License-Identifier: GPL-2.0-only

#include "list-scheduler.h"

#include "ns3/echo-cluster-reader.h"
#include "ns3/echo-compute-profile-reader.h"
#include "ns3/echo-roofline-compute-model.h"
#include "ns3/echo-stage-parameters.h"
#include "ns3/echo-training-plan.h"
#include "ns3/echo-transformer-generator.h"
#include "ns3/echo-workload-builder.h"

#include "ns3/double.h"
#include "ns3/object-factory.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string PROFILE = ECHO_SOURCE_DIR "/calibration/compute/gemm-efficiency.yaml";

ComputeProfile ShippedProfile()
{
    return ReadComputeProfile(YamlNode::LoadFile(PROFILE));
}

/** The GPU of a cluster that ships. */
GpuSpec ShippedGpu(const std::string& cluster)
{
    const std::string path = ECHO_SOURCE_DIR "/scenarios/clusters/" + cluster + ".yaml";
    return ReadCluster(YamlNode::LoadFile(path), 0).gpu;
}

/** A GPU of round numbers: 100 TFLOP/s in BF16, 10 in FP32, 1 TB/s. */
GpuSpec RoundGpu()
{
    GpuSpec gpu;
    gpu.name = "R1-80GB";
    gpu.peakFlops = {{DataType::BF16, 100e12}, {DataType::FP32, 10e12}};
    gpu.memoryBandwidthBytesPerSecond = 1e12;
    return gpu;
}

const char* ROUND = R"(
echo_compute_profile: 1
architectures:
  - name: r
    gpus: [R1, R2]
    launch_overhead: 5us
    gemm:
      - {ideal: 10us, efficiency: 0.4}
      - {ideal: 1ms, efficiency: 0.8}
    gemm_fp32: 0.5
    gemm_memory: 0.5
    attention: 0.25
    elementwise: 0.8
    normalization: 0.4
    embedding: 0.1
    other: 0.2
)";

Operator Kernel(KernelKind kind, double flops, double bytes, DataType precision = DataType::BF16)
{
    Operator op;
    op.kernel = kind;
    op.flops = flops;
    op.memoryBytes = bytes;
    op.precision = precision;
    return op;
}

Ptr<RooflineComputeModel> MakeModel(const GpuSpec& gpu, const ComputeProfile& profile)
{
    ObjectFactory factory("ns3::echo::RooflineComputeModel");
    Ptr<RooflineComputeModel> model = factory.Create<RooflineComputeModel>();
    model->Configure(gpu, profile);
    return model;
}

Ptr<RooflineComputeModel> RoundModel()
{
    return MakeModel(RoundGpu(), ReadComputeProfile(YamlNode::LoadText(ROUND, "r.yaml")));
}

double MicrosecondsOf(const ComputeModel& model, const Operator& op)
{
    return model.GetDuration(op, RankId(0)).GetPicoSeconds() / 1e6;
}

TEST(Roofline, TakesTheLongerOfArithmeticAndMemory)
{
    const auto model = RoundModel();
    const auto us = [&](const Operator& op) { return MicrosecondsOf(*model, op); };
    // 1e10 / 100e12 = 100 us ideal, in the middle (by logarithm) of 0.4 and 0.8: 100 / 0.6 + 5.
    EXPECT_NEAR(us(Kernel(KernelKind::GEMM, 1e10, 0)), 100 / 0.6 + 5, 1e-5);
    // Outside of the curve: its ends. 1 us / 0.4; 10 ms / 0.8.
    EXPECT_NEAR(us(Kernel(KernelKind::GEMM, 1e8, 0)), 1 / 0.4 + 5, 1e-5);
    EXPECT_NEAR(us(Kernel(KernelKind::GEMM, 1e12, 0)), 10000 / 0.8 + 5, 1e-5);
    // 2e8 B at 1 TB/s x 0.5 = 400 us > 166.7 us.
    EXPECT_NEAR(us(Kernel(KernelKind::GEMM, 1e10, 2e8)), 400 + 5, 1e-5);
    // FP32 on CUDA cores: 1e10 / 10e12 = 1000 us / 0.5.
    EXPECT_NEAR(us(Kernel(KernelKind::GEMM, 1e10, 0, DataType::FP32)), 2000 + 5, 1e-5);
    EXPECT_NEAR(us(Kernel(KernelKind::ATTENTION, 1e10, 0)), 100 / 0.25 + 5, 1e-5);
    // Memory: 1e8 B = 100 us.
    EXPECT_NEAR(us(Kernel(KernelKind::ELEMENTWISE, 0, 1e8)), 100 / 0.8 + 5, 1e-5);
    EXPECT_NEAR(us(Kernel(KernelKind::NORMALIZATION, 0, 1e8)), 100 / 0.4 + 5, 1e-5);
    EXPECT_NEAR(us(Kernel(KernelKind::EMBEDDING, 0, 1e8)), 100 / 0.1 + 5, 1e-5);
    EXPECT_NEAR(us(Kernel(KernelKind::OTHER, 0, 1e8)), 100 / 0.2 + 5, 1e-5);
    Operator copy = Kernel(KernelKind::OTHER, 0, 1e8);
    copy.type = OperatorType::COPY;
    EXPECT_NEAR(us(copy), 100 / 0.2 + 5, 1e-5);
    // Nothing to do takes no time.
    EXPECT_EQ(us(Kernel(KernelKind::OTHER, 0, 0)), 0);
}

TEST(Roofline, RecordedDurationsAndTheHostKeepTheirs)
{
    const auto model = RoundModel();
    Operator op = Kernel(KernelKind::GEMM, 1e10, 0);
    op.duration = MicroSeconds(7);
    EXPECT_EQ(MicrosecondsOf(*model, op), 7);
    model->SetAttribute("Scale", DoubleValue(2));
    EXPECT_EQ(MicrosecondsOf(*model, op), 14);
    op.type = OperatorType::HOST;
    EXPECT_EQ(MicrosecondsOf(*model, op), 7);
    EXPECT_NEAR(MicrosecondsOf(*model, Kernel(KernelKind::GEMM, 1e12, 0)), 2 * (12500 + 5), 1e-5);
}

TEST(Roofline, MoreWorkNeverTakesLessTime)
{
    const ComputeProfile profile = ShippedProfile();
    for (const char* cluster : {"dgx-a100", "dgx-h100"})
    {
        const auto model = MakeModel(ShippedGpu(cluster), profile);
        double before = 0;
        for (double flops = 1e6; flops < 1e17; flops *= 1.07)
        {
            const double now = MicrosecondsOf(*model, Kernel(KernelKind::GEMM, flops, 0));
            EXPECT_GE(now, before) << cluster << " " << flops;
            before = now;
        }
    }
}

TEST(Roofline, RefusesWhatItCannotTime)
{
    const auto check =
        [](double flops, DataType precision, const std::string& file = "") -> std::string {
        ExecutionGraphBuilder program(file);
        const OperatorId op =
            program.AddCompute(program.GetStream("compute"), "product", Time(), flops, 0);
        program.SetKernel(op, KernelKind::GEMM, precision);
        program.SetLine(op, file.empty() ? 0 : 7);
        WorkloadBuilder workload(1);
        workload.SetProgram(RankId(0), program.Build(), {});
        try
        {
            RoundModel()->Check(*workload.Build());
        }
        catch (const UnsupportedError& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(check(1e12, DataType::BF16), "");
    EXPECT_EQ(check(1e12, DataType::TF32),
              "operator 'product' multiplies in tf32, but gpu R1-80GB has no peak_tflops.tf32");
    EXPECT_EQ(check(1e30, DataType::BF16),
              "operator 'product' would take longer than 1000000 s on gpu R1-80GB");
    EXPECT_EQ(check(1e30, DataType::BF16, "w.yaml"),
              "w.yaml:7: operator 'product' would take longer than 1000000 s on gpu R1-80GB");
    GpuSpec gpu = RoundGpu();
    gpu.memoryBandwidthBytesPerSecond = 0;
    EXPECT_THROW(MakeModel(gpu, ShippedProfile()), InputError);
}

TEST(Roofline, ProductsOfKnownSizesWriteBehindTheirArithmetic)
{
    const std::string text = std::string(ROUND) +
                             "    gemm_epilogue: 0.5\n    sustained: 0.5\n    processors: 64\n"
                             "    grouped_gemm: 0.5\n";
    const auto model =
        MakeModel(RoundGpu(), ReadComputeProfile(YamlNode::LoadText(text, "r.yaml")));
    Operator op = Kernel(KernelKind::GEMM, 2.0 * 4096 * 4096 * 4096, 3 * 2.0 * 4096 * 4096);
    op.shape = {4096, 4096, 4096, 1};
    // 1374.4 us at the peak, 0.8 of it reached, half of that sustained; 1024 tiles are 16 waves on
    // 64 processors, whose average is 16.5; 33.6 MB written at 500 GB/s; 5 us.
    const double ideal = 2.0 * 4096 * 4096 * 4096 / 100e6;
    const double written = 2.0 * 4096 * 4096 / 0.5e6;
    EXPECT_NEAR(MicrosecondsOf(*model, op), ideal / 0.4 * 16 / 16.5 + written + 5, 0.01);
    // Half a tile more in both directions: padded to 33 x 33 tiles, 17.02 waves.
    op.shape = {4160, 4160, 4096, 1};
    op.flops = 2.0 * 4160 * 4160 * 4096;
    op.memoryBytes = 2.0 * (2 * 4160.0 * 4096 + 4160.0 * 4160);
    const double padding = 33.0 * 33 * 128 * 128 / (4160.0 * 4160);
    EXPECT_NEAR(MicrosecondsOf(*model, op),
                op.flops / 100e6 / 0.4 * padding * 18 / (1089 / 64.0 + 0.5) +
                    2.0 * 4160 * 4160 / 0.5e6 + 5,
                0.01);
}

TEST(Roofline, ProductsWithRowsOffSixteenBytesAreSlower)
{
    const std::string text =
        std::string(ROUND) + "    gemm_epilogue: 0.5\n    gemm_unaligned: 0.25\n";
    const auto model =
        MakeModel(RoundGpu(), ReadComputeProfile(YamlNode::LoadText(text, "r.yaml")));
    // Far above 1 ms: 0.8 of 100 TFLOP/s; tiles of 128 x 128; results written at 500 GB/s; 5 us.
    const auto expect = [&](double rows, double columns, double inner, double share) {
        Operator op = Kernel(KernelKind::GEMM,
                             2 * rows * columns * inner,
                             2 * (rows * columns + (rows + columns) * inner));
        op.shape = {uint32_t(rows), uint32_t(columns), uint32_t(inner), 1};
        const double padding = std::ceil(rows / 128) * std::ceil(columns / 128) * 128 * 128;
        EXPECT_NEAR(MicrosecondsOf(*model, op),
                    2 * padding * inner / 100e6 / (0.8 * share) + 2 * rows * columns / 0.5e6 + 5,
                    0.01);
    };
    expect(4096, 50304, 4096, 1);
    expect(4096, 50264, 4096, 1);    // 8 elements of 2 bytes
    expect(4096, 50257, 4096, 0.25); // an odd vocabulary
    expect(4096, 50260, 4096, 0.25);
    expect(4096, 4096, 50257, 0.25); // its gradient of inputs
    expect(4095, 4096, 4096, 1);     // tokens part no rows
}

TEST(GemmPoints, NearbyProductsCorrectTheModel)
{
    // The model says 1 s for all; measured: 2 s at (256, 512, 1024), 1 s at four times the rows.
    const std::vector<GemmPoint> measured{{DataType::FP16, 256, 512, 1024, Seconds(2)},
                                          {DataType::FP16, 1024, 512, 1024, Seconds(1)}};
    const GemmPoints points(measured, [](const GemmPoint&) { return 1.0; });
    const auto factor = [&](const KernelShape& shape, DataType type = DataType::BF16) {
        return points.Find(type, shape).factor;
    };
    EXPECT_NEAR(factor({256, 512, 1024, 1}), 2, 1e-9);
    EXPECT_NEAR(factor({1024, 512, 1024, 1}), 1, 1e-9);
    // Half-way by logarithm both weigh the same: sqrt(2), shrunk by exp(-(ln 2 / 0.7)^2).
    const double trust = std::exp(-std::pow(std::log(2) / 0.7, 2));
    EXPECT_NEAR(factor({512, 512, 1024, 1}), std::pow(2, 0.5 * trust), 1e-9);
    // Three times the inner size of the first: distances ln 3 and sqrt(ln^2 3 + ln^2 4).
    const double near = std::pow(std::log(3), 2);
    const double share = (1 / near) / (1 / near + 1 / (near + std::pow(std::log(4), 2)));
    EXPECT_NEAR(factor({256, 512, 3072, 1}), std::pow(2, share * std::exp(-near / 0.49)), 1e-9);
    // Far away, in another format, or in batches: the model alone.
    EXPECT_NEAR(factor({256, 512, 65536, 1}), 1, 1e-9);
    EXPECT_EQ(factor({256, 512, 1024, 1}, DataType::FP8), 1);
    EXPECT_EQ(factor({256, 512, 1024, 8}), 1);
    EXPECT_GT(points.Find(DataType::FP8, {256, 512, 1024, 1}).distance, 1e9);
}

TEST(GemmPoints, MeasuredProductsKeepTheirTimes)
{
    // Under lasting load arithmetic is slower than in the bursts that were measured: by 0.95.
    const ComputeProfile profile = ShippedProfile();
    const auto model = MakeModel(ShippedGpu("dgx-a100"), profile);
    for (const GemmPoint& point : profile.architectures[0].gemmPoints)
    {
        const double seconds = model->GetSeconds(RooflineComputeModel::MakeProduct(point));
        EXPECT_GE(seconds, 0.9999 * point.time.GetSeconds());
        EXPECT_LE(seconds, 1.0001 / 0.95 * point.time.GetSeconds());
    }
    EXPECT_GT(profile.architectures[0].gemmPoints.size(), 800u);
}

TEST(Roofline, AttentionByHeadMaskAndSequence)
{
    std::string text = ROUND;
    const std::string from = "attention: 0.25";
    text.replace(text.find(from),
                 from.size(),
                 "attention:\n"
                 "      - {kernel: flash, head: 64, causal: true, sequence: 1024, forward: 0.2, "
                 "backward: 0.1}\n"
                 "      - {kernel: flash, head: 64, causal: true, sequence: 4096, forward: 0.4, "
                 "backward: 0.3}\n"
                 "      - {kernel: cudnn, head: 128, causal: true, sequence: 1024, forward: 0.8, "
                 "backward: 0.6}");
    const auto model =
        MakeModel(RoundGpu(), ReadComputeProfile(YamlNode::LoadText(text, "r.yaml")));
    const auto us = [&](KernelKind kind, uint32_t sequence, uint32_t head) {
        Operator op = Kernel(kind, 1e10, 0);
        op.shape = {sequence, sequence, head, 1u << 20}; // far from all pairs: masked
        return MicrosecondsOf(*model, op);
    };
    EXPECT_NEAR(us(KernelKind::ATTENTION, 1024, 64), 100 / 0.2 + 5, 1e-5);
    EXPECT_NEAR(
        us(KernelKind::ATTENTION, 2048, 64), 100 / 0.3 + 5, 1e-5); // half way, in logarithms
    EXPECT_NEAR(us(KernelKind::ATTENTION, 65536, 80), 100 / 0.4 + 5, 1e-5); // nearest
    EXPECT_NEAR(us(KernelKind::ATTENTION_BACKWARD, 4096, 64), 100 / 0.3 + 5, 1e-5);
    EXPECT_NEAR(us(KernelKind::CUDNN_ATTENTION, 4096, 64), 100 / 0.8 + 5, 1e-5);
    EXPECT_NEAR(us(KernelKind::FLASH1_ATTENTION, 4096, 64), 100 / 0.2 + 5, 1e-5); // half
    EXPECT_NEAR(us(KernelKind::ATTENTION, 1024, 0), 100 / 0.2 + 5, 1e-5);
}

TEST(Roofline, SaysWhenAGpuWasNotMeasured)
{
    const ComputeProfile profile = ShippedProfile();
    EXPECT_EQ(MakeModel(ShippedGpu("dgx-a100"), profile)->GetWarning(), "");
    EXPECT_EQ(MakeModel(ShippedGpu("h800"), profile)->GetWarning(), "");
    EXPECT_THAT(MakeModel(ShippedGpu("b200"), profile)->GetWarning(),
                HasSubstr("efficiencies of h100 are used for B200"));
    EXPECT_EQ(MakeModel(ShippedGpu("dgx-h200"), profile)->GetWarning(), "");
    EXPECT_THAT(MakeModel(ShippedGpu("dgx1-v100"), profile)->GetWarning(),
                HasSubstr("efficiencies of h100 are used for V100"));
}

TEST(Roofline, StaysBelowTheBestMeasured)
{
    // The best product of any shape (maximum achievable matmul FLOPS, stas00/ml-engineering
    // @744d01e): A100 271.2 of 312, H100 794.5 of 989 TFLOP/s in BF16.
    for (const auto& architecture : ShippedProfile().architectures)
    {
        const double best = architecture.name == "a100" ? 271.2 / 312 : 794.5 / 989;
        for (const auto& point : architecture.gemm)
        {
            EXPECT_LE(point.efficiency, best) << architecture.name;
        }
    }
}

TEST(ComputeProfile, RefusesBadFiles)
{
    const auto message = [](const std::string& from, const std::string& to) -> std::string {
        std::string text = ROUND;
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        try
        {
            ReadComputeProfile(YamlNode::LoadText(text, "r.yaml"));
        }
        catch (const InputError& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message("echo_compute_profile: 1", "echo_compute_profile: 1"), "");
    EXPECT_THAT(message("echo_compute_profile: 1", "echo_compute_profile: 2"), HasSubstr("r.yaml"));
    EXPECT_THAT(
        message("attention: 0.25", "attention: 1.25"),
        HasSubstr("r.yaml:12: architectures[0].attention: found '1.25', expected a number"));
    EXPECT_THAT(message("attention: 0.25", ""), HasSubstr("no key 'attention'"));
    EXPECT_THAT(message("other: 0.2", "another: 0.2"), HasSubstr("no key 'other'"));
    EXPECT_THAT(message("other: 0.2", "other: 0.2\n    more: 1"), HasSubstr("unknown key 'more'"));
    EXPECT_THAT(message("ideal: 1ms", "ideal: 10us"), HasSubstr("above the one before"));
    EXPECT_THAT(message("ideal: 10us", "ideal: 0us"), HasSubstr("a time above zero"));
    // From 0.01 to 0.8 within a factor of 100: 0.79 / ln 100 = 0.17 > 0.01.
    EXPECT_THAT(message("efficiency: 0.4", "efficiency: 0.01"),
                HasSubstr("more work would take less time"));
    EXPECT_THAT(message("architectures:", "fallback: x\narchitectures:"),
                HasSubstr("fallback: found 'x', expected one of r"));
}

/** Times of collectives for the comparison below. */
double CollectiveSeconds(const CommGroup& group, const CollectiveSpec& spec)
{
    const double n = group.GetSize();
    const double bytes = double(spec.bytes);
    if (group.GetKind() == GroupKind::TENSOR)
    {
        // Inside a DGX A100: 8 GPUs all-reduce 64 MiB in 566 us and 1 GiB at 231 GB/s of bus
        // bandwidth (nccl-tests logs of NetX-lab/Echo @15f0d12).
        return 30e-6 + 2 * (n - 1) / n * bytes / 230e9;
    }
    if (spec.kind == CollectiveKind::SEND_RECV)
    {
        return 20e-6 + bytes / 22e9;
    }
    // Between hosts: one 200 Gb/s NIC a GPU.
    return 100e-6 + 2 * (n - 1) / n * bytes / 22e9;
}

/** @return FLOP/s of a GPU over one step */
double GetThroughput(const TrainingPlan& plan, const ComputeModel& model)
{
    // Data ranks are alike: one replica, with the reduction of gradients over all added at its end.
    TrainingPlan replica = plan;
    replica.parallel.data = 1;
    const uint32_t ranks = plan.parallel.tensor * plan.parallel.pipeline;
    ListScheduler run(
        GenerateTransformer(replica, ranks),
        [&](const ExecutionGraph&, const Operator& op) {
            return model.GetDuration(op, RankId(0)).GetSeconds();
        },
        CollectiveSeconds);
    EXPECT_TRUE(run.Run());
    const double gradients =
        double(GetStageParameters(plan, 0).GetTotal()) * BytesOf(plan.gradients);
    const double n = plan.parallel.data;
    const double seconds = run.GetStepTime() + 2 * (n - 1) / n * gradients / 22e9;
    return replica.GetStepFlops() / ranks / seconds;
}

TEST(Roofline, MegatronOnA100)
{
    // arXiv 2104.04473, Table 1: achieved TFLOP/s a GPU (of its formula, recomputation counted) on
    // DGX A100 80GB with 8 x 200 Gb/s, mixed precision, full recomputation.
    struct Row
    {
        uint32_t heads;
        uint32_t hidden;
        uint32_t layers;
        uint32_t tensor;
        uint32_t pipeline;
        uint32_t data;
        uint32_t batch;
        double teraflops;
    };
    const Row rows[] = {{24, 2304, 24, 1, 1, 32, 512, 137},
                        {32, 4096, 36, 4, 1, 32, 512, 142},
                        {48, 6144, 40, 8, 1, 32, 1024, 135},
                        {64, 8192, 48, 8, 2, 32, 1536, 138},
                        {80, 10240, 60, 8, 4, 32, 1792, 140}};
    const auto model = MakeModel(ShippedGpu("dgx-a100"), ShippedProfile());
    for (const Row& row : rows)
    {
        TrainingPlan plan;
        plan.model = GetModelPreset("gpt-175b");
        plan.model.heads = plan.model.kvHeads = row.heads;
        plan.model.hidden = row.hidden;
        plan.model.ffnHidden = 4 * row.hidden;
        plan.model.layers = row.layers;
        plan.parallel = {row.tensor, 1, 1, row.data, row.pipeline};
        plan.recompute = RecomputeMode::FULL;
        plan.parameters = DataType::BF16;
        plan.gradients = DataType::BF16;
        plan.matmul = DataType::BF16;
        plan.microBatch = 2; // the table does not say; 1 and 4 give the same within 5 %
        plan.microBatches = row.batch / row.data / plan.microBatch;
        // Nothing here was fitted to the table: kernels from single-kernel measurements,
        // collectives from nccl-tests. It comes out within 7 %; 15 % is what is claimed.
        EXPECT_NEAR(GetThroughput(plan, *model) / 1e12 / row.teraflops, 1, 0.15) << row.hidden;
    }
}

} // namespace
