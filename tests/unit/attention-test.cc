// SPDX-License-Identifier: GPL-2.0-only
// Fused attention: windows, FP8, and how context ranks share it; biases behind experts.

#include "error-message.h"
#include "small-plan.h"

#include "ns3/echo-compute-profile-reader.h"
#include "ns3/echo-generator-reader.h"
#include "ns3/echo-workload-health.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const KernelEfficiency& Find(const ComputeProfile& profile, const std::string& gpu)
{
    bool isMeasured = false;
    return profile.Find(gpu, isMeasured);
}

/** A profile of one architecture with these attention kernels. */
ComputeProfile Profile(const std::string& kernels)
{
    return ReadComputeProfile(
        YamlNode::LoadText("echo_compute_profile: 1\narchitectures:\n"
                           "  - name: r\n    gpus: [R]\n    launch_overhead: 5us\n"
                           "    gemm: [{ideal: 10us, efficiency: 0.4}]\n    gemm_fp32: 0.5\n"
                           "    gemm_memory: 0.5\n    elementwise: 0.8\n    normalization: 0.4\n"
                           "    embedding: 0.1\n    other: 0.2\n    attention:\n" +
                               kernels,
                           "r.yaml"));
}

/** @return what a kernel of cuDNN with a causal mask reaches forward */
double ShareOf(const KernelEfficiency& gpu,
               uint32_t head,
               uint32_t sequence,
               uint32_t window,
               bool isFp8)
{
    KernelEfficiency::AttentionPoint kernel;
    kernel.isCudnn = true;
    kernel.isCausal = true;
    kernel.window = window;
    kernel.isFp8 = isFp8;
    return gpu.GetAttentionEfficiency(kernel, false, {sequence, sequence, head, 1});
}

TEST(Attention, WindowsCostTheTilesThatTheyTouch)
{
    const std::string full =
        "      - {kernel: cudnn, head: 64, causal: true, sequence: 4096, forward: 0.4, "
        "backward: 0.3}\n";
    const std::string windowed =
        "      - {kernel: cudnn, head: 64, causal: true, window: 1024, sequence: 4096, "
        "forward: 0.3, backward: 0.2}\n";
    // Of 128 + 256 keys that a tile visits 128 count: a third.
    EXPECT_NEAR(ShareOf(Find(Profile(full), "R"), 64, 4096, 128, false), 0.4 / 3, 1e-9);
    const ComputeProfile both = Profile(full + windowed);
    EXPECT_NEAR(ShareOf(Find(both, "R"), 64, 4096, 0, false), 0.4, 1e-9);
    EXPECT_NEAR(ShareOf(Find(both, "R"), 64, 4096, 1024, false), 0.3, 1e-9);
    // From 1024 of 1280 to 128 of 384.
    EXPECT_NEAR(ShareOf(Find(both, "R"), 64, 4096, 128, false), 0.3 / 0.8 / 3, 1e-9);
}

// A kernel without a window does what one with a window does, if the mask says so: none that was
// not measured takes longer, and a longer window takes no less.
TEST(Attention, WindowsMakeNoKernelSlower)
{
    const ComputeProfile profile =
        Profile("      - {kernel: cudnn, head: 64, causal: true, sequence: 4096, forward: 0.4, "
                "backward: 0.3}\n"
                "      - {kernel: cudnn, head: 64, causal: true, window: 128, sequence: 4096, "
                "forward: 0.03, backward: 0.02}\n");
    const KernelEfficiency& gpu = Find(profile, "R");
    const auto timeOf = [&](uint32_t head, uint32_t sequence, uint32_t window) {
        const double keys = window == 0 ? sequence : window;
        const double pairs = keys * sequence - keys * keys / 2;
        return pairs / ShareOf(gpu, head, sequence, window, false);
    };
    const auto time = [&](uint32_t window) { return timeOf(64, 4096, window); };
    // Neither another head size nor another sequence was measured with this window.
    EXPECT_LE(timeOf(128, 4096, 128), timeOf(128, 4096, 0) * (1 + 1e-9));
    for (const uint32_t sequence : {256, 1024, 131072})
    {
        EXPECT_LE(timeOf(64, sequence, 128), timeOf(64, sequence, 0) * (1 + 1e-9)) << sequence;
    }
    double last = 0;
    for (const uint32_t window : {16, 64, 100, 200, 256, 512, 1024, 2048, 4000})
    {
        EXPECT_LE(time(window), time(0) * (1 + 1e-9)) << window;
        EXPECT_GE(time(window), last * (1 - 1e-9)) << window;
        last = time(window);
    }
    // What was measured stays so.
    EXPECT_NEAR(ShareOf(gpu, 64, 4096, 128, false), 0.03, 1e-9);
}

TEST(Attention, Fp8IsMeasuredOrAsFastAs16Bits)
{
    const std::string wide =
        "      - {kernel: cudnn, head: 128, causal: true, sequence: 4096, forward: 0.6, "
        "backward: 0.5}\n";
    const std::string narrow =
        "      - {kernel: cudnn, precision: fp8, head: 192, causal: true, sequence: 4096, "
        "forward: 0.5, backward: 0.4}\n";
    // Half of a peak that is twice as high.
    EXPECT_NEAR(ShareOf(Find(Profile(wide), "R"), 128, 4096, 0, true), 0.3, 1e-9);
    EXPECT_NEAR(ShareOf(Find(Profile(wide + narrow), "R"), 128, 4096, 0, true), 0.5, 1e-9);
    EXPECT_NEAR(ShareOf(Find(Profile(wide + narrow), "R"), 192, 4096, 0, false), 0.6, 1e-9);
    const auto message = [](const std::string& keys) {
        return MessageOf([&] {
            Profile("      - {kernel: cudnn, head: 64, sequence: 9, forward: 0.4, backward: 0.3" +
                    keys + "}\n");
        });
    };
    EXPECT_EQ(message(""), "");
    EXPECT_THAT(message(", precision: fp4"), HasSubstr("found 'fp4', expected fp8 or 16-bit"));
    EXPECT_THAT(message(", window: 4"), HasSubstr("found '4', expected causal: true beside it"));
}

TEST(Attention, ShippedProfileHoldsWhatCudnnMeasured)
{
    // NVIDIA/cudnn-frontend @3929da2ef4, TFLOP/s forward at 4096 tokens over the peaks of 16 bits
    // and FP8: GB300 2500 and 5000, GB200 2500, H200 989.4.
    const ComputeProfile profile = ReadComputeProfile(
        YamlNode::LoadFile(ECHO_SOURCE_DIR "/calibration/compute/gemm-efficiency.yaml"));
    EXPECT_NEAR(ShareOf(Find(profile, "GB300"), 64, 4096, 128, false), 167 / 2500.0, 1e-3);
    EXPECT_NEAR(ShareOf(Find(profile, "GB300"), 192, 4096, 0, true), 2517 / 5000.0, 1e-3);
    EXPECT_NEAR(ShareOf(Find(profile, "GB200"), 192, 4096, 0, false), 1406 / 2500.0, 1e-3);
    EXPECT_NEAR(ShareOf(Find(profile, "H200"), 128, 4096, 0, false), 591 / 989.4, 1e-3);
}

TrainingPlan ContextPlan(ContextExchange exchange)
{
    TrainingPlan plan = SmallPlan({1, 4, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    plan.model.kvHeads = 2;
    plan.contextExchange = exchange;
    return plan;
}

/** @return operations of attention kernels of every rank, forward */
std::vector<double> CoreFlops(const WorkloadGraph& workload)
{
    std::vector<double> flops(workload.GetRankCount());
    for (uint32_t rank = 0; rank < workload.GetRankCount(); ++rank)
    {
        for (const Operator& op : workload.GetProgram(RankId(rank))->GetOperators())
        {
            flops[rank] += op.kernel == KernelKind::ATTENTION ? op.flops : 0;
        }
    }
    return flops;
}

TEST(Attention, ConsecutivePartsGiveLaterRanksMore)
{
    // 8 heads, 128^2 / 2 pairs, 4 x 32 operations a pair, over 4 ranks.
    const double all = 8 * 128 * 128 / 2 * 4 * 32;
    for (const ContextExchange exchange :
         {ContextExchange::RING, ContextExchange::ALL_GATHER, ContextExchange::GATHERED_PARTS})
    {
        TrainingPlan plan = ContextPlan(exchange);
        EXPECT_EQ(CoreFlops(*GenerateTransformer(plan, 4)), std::vector<double>(4, all / 4));
        plan.balanceContext = false;
        const auto workload = GenerateTransformer(plan, 4);
        EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
        EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
        // Rank r: half a block and r whole ones of 4^2 / 2 blocks.
        EXPECT_EQ(CoreFlops(*workload),
                  (std::vector<double>{all / 16, 3 * all / 16, 5 * all / 16, 7 * all / 16}));
    }
}

TEST(Attention, GatheredPartsAreMergedInFp32)
{
    const TrainingPlan plan = ContextPlan(ContextExchange::GATHERED_PARTS);
    const auto workload = GenerateTransformer(plan, 4);
    const ExecutionGraph& program = *workload->GetProgram(RankId(1));
    std::map<std::string, double> bytes;
    std::map<uint64_t, uint32_t> sends;
    for (const Operator& op : program.GetOperators())
    {
        bytes[program.GetName(op)] = op.memoryBytes;
        if (op.type == OperatorType::POINT_TO_POINT)
        {
            ++sends[program.GetCommunication(op).elements[0].bytes];
        }
        if (op.type == OperatorType::COLLECTIVE &&
            program.GetName(op) == "layer 0 forward attention keys and values all-gather")
        {
            // 128 tokens, keys and values of all 8 heads of 32, 2 B.
            EXPECT_EQ(program.GetCommunication(op).spec.bytes, 128u * 8 * 64 * 2);
        }
    }
    // 32 tokens: 2 heads of keys and values are read, 8 written.
    EXPECT_EQ(bytes["layer 0 forward attention keys and values repeat"], 32 * (2 + 8) * 64 * 2);
    // Three quarters of 32 tokens of 256 outputs: 2 B read, 4 B read and written.
    EXPECT_EQ(bytes.count("layer 0 forward attention 0 merge"), 0u);
    EXPECT_EQ(bytes["layer 0 forward attention 1 merge"], 0.75 * 32 * 256 * 10);
    EXPECT_EQ(bytes["layer 0 backward attention 3 sum"], 0.75 * 32 * (256 + 512) * 10);
    // Gradients of keys and values, 4 B, go round and come home.
    EXPECT_EQ(sends, (std::map<uint64_t, uint32_t>{{32 * 512 * 4, 4}}));
}

// Two context ranks on 8 heads of 32: 64 tokens of 3 x 256 elements of 2 B leave for the other, and
// 256 of the output come back; backward their gradients. Each rank works on all 128 tokens of 4
// heads.
TEST(Attention, HeadsAreSharedByAllToAlls)
{
    TrainingPlan plan = SmallPlan({1, 2, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    plan.contextExchange = ContextExchange::ALL_TO_ALL;
    const auto workload = GenerateTransformer(plan, 2);
    EXPECT_TRUE(WorkloadHealth(*workload).GetWarnings().empty());
    EXPECT_NEAR(FlopsOf(*workload) / plan.GetStepFlops(), 1, 1e-9);
    EXPECT_EQ(workload->GetProgram(RankId(0)), workload->GetProgram(RankId(1)));
    const ExecutionGraph& program = *workload->GetProgram(RankId(0));
    std::vector<uint64_t> bytes;
    for (const Operator& op : program.GetOperators())
    {
        if (op.type == OperatorType::COLLECTIVE &&
            program.GetCommunication(op).spec.kind == CollectiveKind::ALL_TO_ALL)
        {
            bytes.push_back(program.GetCommunication(op).spec.bytes);
        }
        if (program.GetName(op) == "layer 0 forward attention")
        {
            EXPECT_EQ(op.shape.rows, 128u);
            EXPECT_EQ(op.shape.batch, 4u);
        }
    }
    const uint64_t queries = 64 * 256 * 2;
    EXPECT_EQ(bytes, (std::vector<uint64_t>{3 * queries, queries, queries, 3 * queries}));
    plan.parallel.context = 16;
    EXPECT_EQ(MessageOf([&] { plan.Check(); }),
              "parallel.context_exchange: found all-to-all of 8 heads over tp x cp 16, expected "
              "heads and kv_heads that tp x cp divides");
}

TEST(Attention, PlansSayWhatIsMultipliedInFp8)
{
    const auto read = [](const std::string& keys) {
        return ReadTrainingPlan(YamlNode::LoadText("model: {preset: llama3-8b}\n"
                                                   "batch: {micro_batches: 1}\n" +
                                                       keys,
                                                   "g.yaml"),
                                1);
    };
    const auto message = [&](const std::string& keys) { return MessageOf([&] { read(keys); }); };
    const std::string cudnn = "attention: cudnn\n";
    EXPECT_FALSE(read(cudnn + "precision: {parameters: bf16, attention: bf16}").narrowAttention);
    const TrainingPlan plan =
        read(cudnn + "precision: {parameters: bf16, matmul: fp8, attention: fp8, output: fp8}");
    EXPECT_TRUE(plan.narrowAttention);
    EXPECT_TRUE(plan.narrowOutput);
    EXPECT_THAT(message("precision: {parameters: bf16, attention: fp8}"),
                HasSubstr("precision.attention: found fp8 without attention: cudnn"));
    EXPECT_THAT(message(cudnn + "precision: {parameters: bf16, attention: fp4}"),
                HasSubstr("found 'fp4', expected the parameters' bf16 (default) or fp8"));
    EXPECT_THAT(message(cudnn + "precision: {parameters: bf16, matmul: fp8, output: fp4}"),
                HasSubstr("found 'fp4', expected the parameters' bf16 (default) or fp8"));
    EXPECT_THAT(message(cudnn + "precision: {parameters: bf16, output: fp8}"),
                HasSubstr("found 'fp8', expected the parameters' bf16"));
    const GpuSpec gpu{"G1", {{DataType::BF16, 1e12}}, 1e12, 0};
    const YamlNode node =
        YamlNode::LoadText("model: {preset: llama3-8b}\nbatch: {micro_batches: 1}\n"
                           "attention: cudnn\nprecision: {parameters: bf16, attention: fp8}",
                           "g.yaml");
    EXPECT_THAT(MessageOf([&] { CheckFormats(node, ReadTrainingPlan(node, 1), gpu); }),
                HasSubstr("g.yaml:4: precision.attention: found fp8, expected what gpu G1 has"));
    EXPECT_THAT(message("parallel: {cp: 1, context_balance: false}\nattention: unfused\n"
                        "precision: {parameters: bf16}"),
                HasSubstr("context_balance: found false with attention: unfused"));
    EXPECT_THAT(message("parallel: {context_balance: false}\nprecision: {parameters: bf16}"),
                HasSubstr("context_balance: found 'false' without cp"));
    EXPECT_THAT(message("parallel: {cp: 1, context_exchange: all-gather-parts}\n"
                        "attention: unfused\nprecision: {parameters: bf16}"),
                HasSubstr("context_exchange: found all-gather-parts with attention: unfused"));
}

TEST(Attention, OutputLayerAndAttentionMultiplyInTheFormatOfThePlan)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 2);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::FP8;
    plan.attention = AttentionKernel::CUDNN;
    plan.model.window = 32;
    for (const bool isNarrow : {false, true})
    {
        plan.narrowAttention = isNarrow;
        plan.narrowOutput = isNarrow;
        const DataType format = isNarrow ? DataType::FP8 : DataType::BF16;
        const auto workload = Generate(plan);
        const ExecutionGraph& program = *workload->GetProgram(RankId(0));
        std::map<std::string, Operator> kernels;
        for (const Operator& op : program.GetOperators())
        {
            kernels[program.GetName(op)] = op;
        }
        EXPECT_EQ(kernels["head forward logits"].precision, format);
        EXPECT_EQ(kernels["head backward logits weight gradient"].precision, format);
        EXPECT_EQ(kernels["layer 0 forward attention"].precision, format);
        EXPECT_EQ(kernels.count("head forward logits cast"), isNarrow ? 1u : 0u);
        EXPECT_EQ(kernels.count("layer 1 backward attention cast"), isNarrow ? 1u : 0u);
        // Every second layer looks back on 32 tokens.
        EXPECT_EQ(kernels["layer 0 forward attention"].shape.columns, 32u);
        EXPECT_EQ(kernels["layer 1 forward attention"].shape.columns, 128u);
    }
}

TEST(Experts, BiasesBehindThemAreAddedInFp32UnlessFused)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    plan.model.experts = 4;
    plan.model.SetDefaults();
    const auto bytes = [](const TrainingPlan& of) {
        std::map<std::string, double> sizes;
        const auto workload = Generate(of);
        const ExecutionGraph& program = *workload->GetProgram(RankId(0));
        for (const Operator& op : program.GetOperators())
        {
            sizes[program.GetName(op)] = op.memoryBytes;
        }
        return sizes;
    };
    // 128 tokens, 2 experts each, 256 wide. Forward 4 (product) + 2 + 4 + 4 (sum) + 4 + 4 (put
    // together) + 4 + 2 (cast); backward 2 + 4, 4 + 2, 2 + 2, and twice 4 + 4 + 4.
    auto sizes = bytes(plan);
    EXPECT_EQ(sizes["layer 0 forward experts bias"], 256 * 256 * 28);
    EXPECT_EQ(sizes["layer 0 backward experts bias"], 256 * 256 * 40);
    plan.fusedExperts = true;
    EXPECT_EQ(bytes(plan).count("layer 0 forward experts bias"), 0u);
    plan.fusedExperts = false;
    plan.model.biases = false;
    EXPECT_EQ(bytes(plan).count("layer 0 forward experts bias"), 0u);
}

TEST(Graphs, AreLaunchedAsOneKernel)
{
    TrainingPlan plan = SmallPlan({1, 1, 1, 1, 1}, 1);
    plan.parameters = DataType::BF16;
    plan.matmul = DataType::BF16;
    plan.attention = AttentionKernel::FLASH;
    plan.model.experts = 4;
    plan.model.SetDefaults();
    plan.host.kernel = MicroSeconds(1);
    const auto launches = [&](std::vector<GraphModule> graphs, const std::string& pass) {
        plan.host.graphs = std::move(graphs);
        const auto workload = Generate(plan);
        const ExecutionGraph& program = *workload->GetProgram(RankId(0));
        for (const Operator& op : program.GetOperators())
        {
            if (program.GetName(op) == "layer 0 " + pass + " launches")
            {
                return op.duration.GetMicroSeconds();
            }
        }
        return int64_t(-1);
    };
    const auto saved = [&](const std::vector<GraphModule>& graphs, const std::string& pass) {
        return launches({}, pass) - launches(graphs, pass);
    };
    const GraphModule attn = GraphModule::ATTENTION;
    const GraphModule router = GraphModule::ROUTER;
    const GraphModule preprocess = GraphModule::PREPROCESS;
    // Norm, product, attention, projection and sum are one; norm and router, then permute.
    EXPECT_EQ(saved({attn}, "forward"), 4);
    EXPECT_EQ(saved({router}, "forward"), 1);
    EXPECT_EQ(saved({router, preprocess}, "forward"), 2);
    // Where they follow each other all eight are one.
    EXPECT_EQ(saved({attn, router, preprocess}, "forward"), 7);
    EXPECT_GT(saved({attn, router, preprocess}, "backward"), saved({attn}, "backward"));
    EXPECT_THAT(MessageOf([] {
                    ReadTrainingPlan(YamlNode::LoadText("model: {preset: mixtral-8x7b}\n"
                                                        "batch: {micro_batches: 1}\n"
                                                        "host: {graphs: [attn]}",
                                                        "g.yaml"),
                                     1);
                }),
                HasSubstr("host.graphs: found graphs with kernel 0, expected a host that takes"));
}

} // namespace
