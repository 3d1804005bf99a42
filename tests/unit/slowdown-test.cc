// SPDX-License-Identifier: GPL-2.0-only
#include "error-message.h"
#include "slowdown-accuracy.h"

#include "ns3/echo-csv-table.h"
#include "ns3/echo-input-file.h"
#include "ns3/echo-learned-slowdown.h"
#include "ns3/echo-overlap-table-reader.h"
#include "ns3/echo-scenario-reader.h"
#include "ns3/echo-scenario-setup.h"
#include "ns3/echo-slowdown-trainer.h"
#include "ns3/echo-workload-builder.h"

#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;
const std::string ELSEWHERE = ROOT + "/tests/unit/data/slowdown-elsewhere.json";
const std::string TABLE = ROOT + "/calibration/tables/overlap-slowdown-a100.csv";

#define NEEDS_XGBOOST()                          \
    if (!TreeEnsemble::IsAvailable())            \
    {                                            \
        GTEST_SKIP() << "built without XGBoost"; \
    }

std::shared_ptr<const TreeEnsemble> ReadModel(const std::string& path)
{
    return TreeEnsemble::FromJson(ReadInputFile(path), path);
}

/** Writes a file that lives as long as the object. */
class TextFile
{
  public:
    explicit TextFile(const std::string& text)
        : m_path(testing::TempDir() + "slowdown-" +
                 testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv")
    {
        std::ofstream(m_path) << text;
    }

    ~TextFile()
    {
        std::remove(m_path.c_str());
    }

    const std::string& GetPath() const
    {
        return m_path;
    }

  private:
    std::string m_path;
};

/** Kernels of two names: "slow" takes 3 times as long beside communication, "fast" as long. */
std::vector<OverlapSample> TwoKernels()
{
    std::vector<OverlapSample> samples;
    for (int i = 0; i < 40; ++i)
    {
        OverlapSample sample;
        const bool isSlow = i % 2 == 0;
        sample.name = isSlow ? "slow" : "fast";
        sample.description.durationUs = 50 + i;
        sample.description.counters.dramThroughput = isSlow ? 80 : 5;
        sample.overlap = i % 3 == 0 ? 0.5 : 1;
        sample.measuredUs = sample.GetTimeUs(isSlow ? 3 : 1);
        samples.push_back(sample);
    }
    return samples;
}

// Trained by XGBoost in Python (see the CSV); missing values take XGBoost's own branch.
TEST(TreeEnsemble, PredictsWhatXgboostPredicts)
{
    NEEDS_XGBOOST();
    LearnedSlowdown model;
    model.SetModel(ReadModel(ELSEWHERE), ELSEWHERE);
    const CsvTable rows(ROOT + "/tests/unit/data/slowdown-elsewhere.csv");
    ASSERT_EQ(rows.GetRowCount(), 40u);
    for (size_t i = 0; i < rows.GetRowCount(); ++i)
    {
        const auto get = [&](const char* name) { return rows.FindNumber(i, name, -1e12, 1e12); };
        OverlapDescription description;
        description.durationUs = get("duration_us");
        description.counters.computeThroughput = get("compute_throughput");
        description.counters.dramThroughput = get("dram_throughput");
        description.counters.l2HitRate = get("l2_hit_rate");
        description.bytes = get("bytes");
        EXPECT_NEAR(model.GetRaw(description), get("prediction"), 1e-5) << "row " << i;
        EXPECT_EQ(model.GetFactor(description),
                  std::max(1.0, static_cast<double>(model.GetRaw(description))));
    }
}

TEST(TreeEnsemble, RefusesWhatIsNoModel)
{
    NEEDS_XGBOOST();
    for (const char* text : {"", "binary", "{}", "{\"learner\": {}}", "{\"learner\": [1"})
    {
        EXPECT_THAT(MessageOf([&] { TreeEnsemble::FromJson(text, "m.json"); }), HasSubstr("m.json"))
            << text;
    }
    LearnedSlowdown model;
    EXPECT_THAT(MessageOf([&] { model.SetModel(ReadModel(ELSEWHERE), "m.json", {"duration_us"}); }),
                HasSubstr("1 names"));
    EXPECT_THAT(MessageOf([&] {
                    model.SetModel(ReadModel(ELSEWHERE), "m.json", {"a", "b", "c", "d", "e"});
                }),
                HasSubstr("found 'a', expected of duration_us, compute_throughput"));
}

TEST(SlowdownTrainer, LearnsFactorsThroughPartialOverlap)
{
    NEEDS_XGBOOST();
    SlowdownTraining training;
    training.boosting.rounds = 200;
    LearnedSlowdown model;
    model.SetModel(TrainSlowdown(TwoKernels(), training, "test"), "");
    for (const auto& sample : TwoKernels())
    {
        EXPECT_NEAR(model.GetFactor(sample.description), sample.name == "slow" ? 3 : 1, 0.02);
    }
    // Without its counter a kernel gets the default, the median of what was learned from (80).
    OverlapDescription unknown;
    unknown.durationUs = 70;
    EXPECT_NEAR(model.GetFactor(unknown), 3, 0.02);
    // The same input gives the same bytes, and a model read back predicts the same.
    const std::string text = TrainSlowdown(TwoKernels(), training, "test")->ToJson();
    EXPECT_EQ(text, TrainSlowdown(TwoKernels(), training, "test")->ToJson());
    LearnedSlowdown again;
    again.SetModel(TreeEnsemble::FromJson(text, "again.json"), "again.json");
    EXPECT_EQ(again.GetFactor(unknown), model.GetFactor(unknown));
}

TEST(SlowdownTrainer, RefusesRowsWithoutOverlap)
{
    NEEDS_XGBOOST();
    auto samples = TwoKernels();
    for (auto& sample : samples)
    {
        sample.overlap = 0;
    }
    EXPECT_THAT(MessageOf([&] { TrainSlowdown(samples, {}, ""); }),
                HasSubstr("no kernel that communication overlaps"));
}

// The model that ships knows the kernels that it was trained on, and sees no kernel as faster.
TEST(LearnedSlowdown, ShippedModelFitsItsTable)
{
    NEEDS_XGBOOST();
    const std::string path = ROOT + "/calibration/slowdown/a100-ddp-gpt2.json";
    LearnedSlowdown model;
    model.SetModel(ReadModel(path), path);
    const auto samples = ReadOverlapTable(TABLE);
    ASSERT_EQ(samples.size(), 496u);
    double estimated = 0;
    double measured = 0;
    int within = 0;
    int overlapped = 0;
    for (const auto& sample : samples)
    {
        const double factor = model.GetFactor(sample.description);
        EXPECT_GE(factor, 1);
        if (sample.overlap > 0)
        {
            ++overlapped;
            within += std::fabs(sample.GetTimeUs(factor) / sample.measuredUs - 1) <= 0.05;
            estimated += sample.GetTimeUs(factor);
            measured += sample.measuredUs;
        }
    }
    EXPECT_EQ(overlapped, 323);
    EXPECT_GT(within, 0.65 * overlapped);
    EXPECT_NEAR(estimated / measured, 1, 0.05);
}

// The bars that `learned` has to pass on rows that it did not see: 65, 75 and 80 % of the kernels
// within 5, 10 and 15 %, their total within 5 %; `none` passes none of them. Means of three
// divisions.
TEST(SlowdownAccuracy, HeldOutRowsPassTheBars)
{
    NEEDS_XGBOOST();
    const auto samples = ReadOverlapTable(TABLE);
    OverlapAccuracy mean;
    for (uint32_t seed = 1; seed <= 3; ++seed)
    {
        const OverlapAccuracy one =
            JudgeFactors(samples, CrossValidate(samples, {}, HeldOut::ROWS, seed));
        mean.within5 += one.within5 / 3;
        mean.within10 += one.within10 / 3;
        mean.within15 += one.within15 / 3;
        mean.total += one.total / 3;
    }
    EXPECT_GE(mean.within5, 0.65);
    EXPECT_GE(mean.within10, 0.75);
    EXPECT_GE(mean.within15, 0.80);
    EXPECT_LE(std::fabs(mean.total), 0.05);
    const OverlapAccuracy none = JudgeFactors(samples, std::vector<double>(samples.size(), 1));
    EXPECT_LT(none.within5, 0.65);
    EXPECT_LT(none.total, -0.05);
}

// Two kernels of 100 us with communication all the time: 120 and 100 us measured. Factor 1.17 gives
// 117 us twice: 2.5 % and 17 % off, 234 of 220 us in total. The third has no overlap.
TEST(SlowdownAccuracy, CountsKernelsAndTheirTotal)
{
    std::vector<OverlapSample> samples(3);
    for (size_t i = 0; i < 3; ++i)
    {
        samples[i].description.durationUs = 100;
        samples[i].measuredUs = i == 0 ? 120 : 100;
        samples[i].overlap = i < 2 ? 1 : 0;
    }
    const OverlapAccuracy accuracy = JudgeFactors(samples, {1.17, 1.17, 1.17});
    EXPECT_EQ(accuracy.kernels, 2u);
    EXPECT_EQ(accuracy.within5, 0.5);
    EXPECT_EQ(accuracy.within15, 0.5);
    EXPECT_NEAR(accuracy.total, 234.0 / 220 - 1, 1e-12);
}

/** A scenario with a key or two of its own. */
Scenario ScenarioWith(const std::string& keys)
{
    return ReadScenario(YamlNode::LoadText("echo: 1\n"
                                           "cluster: " +
                                               ROOT +
                                               "/scenarios/clusters/dgx-a100.yaml\n"
                                               "hosts: 1\n"
                                               "workload: {collectives: [{op: all-reduce, bytes: "
                                               "1MiB}]}\n" +
                                               keys,
                                           "s.yaml"),
                        ScenarioOverrides());
}

TEST(SlowdownScenario, SaysModelAndMeasuredStep)
{
    EXPECT_EQ(ScenarioWith("").slowdown.model, "none");
    EXPECT_EQ(ScenarioWith("compute: {slowdown: none}\n").slowdown.model, "none");
    const Scenario plain = ScenarioWith("compute: {slowdown: 1.3}\nmeasured: {step_time: 12ms}\n");
    EXPECT_EQ(plain.slowdown.model, "constant");
    EXPECT_EQ(plain.slowdown.factor, 1.3);
    EXPECT_EQ(plain.measuredSpan, MilliSeconds(12));
    const Scenario learned =
        ScenarioWith("compute: {slowdown: {model: learned, file: /m.json, target: excess, "
                     "features: [duration_us, bytes]}}\n");
    EXPECT_EQ(learned.slowdown.file, "/m.json");
    EXPECT_EQ(learned.slowdown.target, "excess");
    EXPECT_EQ(learned.slowdown.features.size(), 2u);
}

TEST(SlowdownScenario, AnotherTargetThanTheModelSaysIsRefused)
{
    const std::string model =
        std::string(ECHO_SOURCE_DIR) + "/calibration/slowdown/a100-ddp-gpt2.json";
    Scenario scenario = ScenarioWith("");
    scenario.slowdown.model = "learned";
    scenario.slowdown.file = model;
    EXPECT_NE(MakeSlowdownModel(scenario), nullptr);
    scenario.slowdown.target = "log-factor"; // as the model says
    EXPECT_NE(MakeSlowdownModel(scenario), nullptr);
    scenario.slowdown.target = "excess";
    EXPECT_THAT(MessageOf([&] { MakeSlowdownModel(scenario); }),
                testing::HasSubstr("compute.slowdown.target: found excess for a model that says "
                                   "log-factor, expected log-factor, or no target"));
}

TEST(SlowdownScenario, RefusesInOneSentence)
{
    const std::pair<const char*, const char*> CASES[] = {
        {"compute: {slowdown: 0.5}\n", "found '0.5'"},
        {"compute: {slowdown: {model: magic}}\n", "found 'magic', expected none, constant or"},
        {"compute: {slowdown: {model: constant}}\n", "neither factor nor file"},
        {"compute: {slowdown: {model: constant, factor: 2, file: f}}\n", "both factor and file"},
        {"compute: {slowdown: {model: learned}}\n", "file"},
        {"compute: {slowdown: {model: learned, file: f, target: t}}\n", "one of log-factor"},
        {"compute: {slowdown: {model: learned, file: f, factor: 2}}\n", "unknown key 'factor'"},
        {"measured: {step_time: 0s}\n", "found zero, expected the time of a step"},
        {"measured: {}\n", "step_time"},
    };
    for (const auto& [keys, message] : CASES)
    {
        EXPECT_THAT(MessageOf([&] { ScenarioWith(keys); }), HasSubstr(message)) << keys;
    }
}

// 1e9 operations in 100 us at 100 TFLOP/s are 10 %; 4e7 B in 100 us at 1 TB/s 40 %. Counters of a
// profiler come first.
TEST(LearnedSlowdown, DerivesThroughputsFromWork)
{
    ExecutionGraphBuilder builder;
    const StreamId stream = builder.GetStream("s");
    const OperatorId plain =
        builder.AddCompute(stream, "ampere_sgemm_128x64_tn", MicroSeconds(100), 1e9, 4e7);
    const OperatorId counted = builder.AddCompute(stream, "k", MicroSeconds(100), 1e9, 4e7);
    KernelCounters counters;
    counters.dramThroughput = 77;
    counters.l1HitRate = 5;
    builder.SetCounters(counted, counters);
    CollectiveSpec spec;
    spec.bytes = 1024;
    spec.protocol = CollectiveProtocol::SIMPLE;
    const OperatorId collective =
        builder.AddCollective(builder.GetStream("n"), "c", builder.AddGroupSlot(), spec);
    const ExecutionGraphPtr graph = builder.Build();
    GpuSpec gpu;
    gpu.name = "A100-SXM4-40GB";
    gpu.peakFlops[DataType::FP32] = 100e12;
    gpu.memoryBandwidthBytesPerSecond = 1e12;
    LearnedSlowdown model;
    model.SetGpu(gpu);
    const auto describe = [&](OperatorId id) {
        return model.Describe(
            *graph, graph->GetOperator(id), MicroSeconds(100), graph->GetOperator(collective));
    };
    const OverlapDescription first = describe(plain);
    EXPECT_DOUBLE_EQ(first.durationUs, 100);
    EXPECT_DOUBLE_EQ(first.counters.computeThroughput, 10);
    EXPECT_DOUBLE_EQ(first.counters.dramThroughput, 40);
    EXPECT_DOUBLE_EQ(first.counters.memoryThroughput, 40);
    EXPECT_TRUE(std::isnan(first.counters.l2HitRate));
    EXPECT_EQ(first.kernel, KernelKind::GEMM);
    EXPECT_EQ(first.gpu, GetGpuCategory("A100-SXM4-80GB"));
    EXPECT_EQ(first.bytes, 1024);
    EXPECT_EQ(first.protocol, static_cast<double>(CollectiveProtocol::SIMPLE));
    EXPECT_TRUE(std::isnan(first.algorithm));
    EXPECT_EQ(describe(counted).counters.dramThroughput, 77);
    EXPECT_EQ(describe(counted).counters.l1HitRate, 5);
}

TEST(KernelKind, IsReadFromNames)
{
    EXPECT_EQ(ClassifyKernel("ampere_sgemm_128x32_tn"), KernelKind::GEMM);
    EXPECT_EQ(ClassifyKernel("forward aten::addmm"), KernelKind::GEMM);
    EXPECT_EQ(ClassifyKernel("fmha_cutlassB_f32_aligned_64x64_k64_dropout_sm80(...)"),
              KernelKind::ATTENTION);
    EXPECT_EQ(ClassifyKernel("void at::native::<unnamed>::GammaBetaBackwardCUDAKernel_32x32"),
              KernelKind::NORMALIZATION);
    EXPECT_EQ(ClassifyKernel("void at::native::vectorized_elementwise_kernel<(int)4, ...>"),
              KernelKind::ELEMENTWISE);
    EXPECT_EQ(ClassifyKernel("void at::native::reduce_kernel<(int)512, ...>"), KernelKind::OTHER);
}

TEST(ConstantSlowdown, TakesFactorsByGpuAndKernel)
{
    const std::string file = ROOT + "/calibration/slowdown/constant.yaml";
    const SlowdownFactors a100 = ReadSlowdownFactors(file, "A100-SXM4-40GB");
    EXPECT_EQ(a100.byKernel.at(KernelKind::GEMM), 1.269);
    EXPECT_EQ(a100.byKernel.at(KernelKind::NORMALIZATION), 1.613);
    EXPECT_EQ(a100.other, 1.508);
    EXPECT_EQ(ReadSlowdownFactors(file, "A800").byKernel.at(KernelKind::GEMM), 1.178);
    EXPECT_THAT(MessageOf([&] { ReadSlowdownFactors(file, "H100"); }),
                HasSubstr("none for a GPU 'H100', expected one of its names (A100, A800"));
}

TEST(OverlapTable, ChecksWhichTimeIsWhich)
{
    const std::string head = "id,kShortName,ground_truth,duration,overlap_ratio,slowdown\n";
    // 100 us alone, 150 us beside communication that covers half of it: (150 - 100) / (0.5 x 100).
    const TextFile good(head + "1,\"a, b\",100000,150000,0.5,1\n2,c,1000,1000,0,0\n");
    const auto samples = ReadOverlapTable(good.GetPath());
    ASSERT_EQ(samples.size(), 2u);
    EXPECT_EQ(samples[0].name, "a, b");
    EXPECT_EQ(samples[0].description.durationUs, 100);
    EXPECT_EQ(samples[0].measuredUs, 150);
    EXPECT_TRUE(std::isnan(samples[0].description.counters.clock)); // no kernel twice
    // 75 us alone at 1/3 for 75 us make 25, the other 75 us as much: 150 (0.5 + 0.5 / 3) = 100.
    EXPECT_NEAR(samples[0].GetTimeUs(3), 150, 1e-9);
}

TEST(OverlapTable, SaysWhatIsWrong)
{
    const std::string head = "id,kShortName,ground_truth,duration,overlap_ratio,slowdown\n";
    const std::pair<const char*, const char*> CASES[] = {
        {"1,a,150000,100000,0.5,1\n", ":2: column slowdown: found 1, expected (duration"},
        {"1,a,0,100,0.5,1\n", ":2: column ground_truth: found '0'"},
        {"1,a,nan,100,0.5,1\n", "column ground_truth: found 'nan'"},
        {"1,a,100,100,1.5,0\n", "column overlap_ratio: found '1.5', expected a number from 0 to 1"},
        {"1,a,100,100,1\n", ":2: found 5 cells, expected 6"},
        {"", "no row"},
    };
    for (const auto& [row, message] : CASES)
    {
        const TextFile file(head + row);
        EXPECT_THAT(MessageOf([&] { ReadOverlapTable(file.GetPath()); }), HasSubstr(message));
    }
    const TextFile other("a,b\n1,2\n");
    EXPECT_THAT(MessageOf([&] { ReadOverlapTable(other.GetPath()); }),
                HasSubstr("no column 'kShortName' (columns: a, b)"));
}

} // namespace
