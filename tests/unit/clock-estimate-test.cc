// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/echo-clock-estimate.h"
#include "ns3/echo-input-file.h"
#include "ns3/echo-learned-slowdown.h"
#include "ns3/echo-overlap-table-reader.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;

namespace
{

const std::string ROOT = ECHO_SOURCE_DIR;

OverlapSample Kernel(const std::string& name, double place, double us, double dram)
{
    OverlapSample sample;
    sample.name = name;
    sample.place = place;
    sample.description.durationUs = us;
    sample.description.counters.computeThroughput = 80;
    sample.description.counters.memoryThroughput = 50;
    sample.description.counters.dramThroughput = dram;
    sample.description.counters.achievedOccupancy = 40;
    return sample;
}

/** A step whose clock is 0.6 of what it is in the second half: products take 1/0.6 as long, kernels
 * that DRAM holds up as long as ever. */
std::vector<OverlapSample> Step()
{
    std::vector<OverlapSample> samples;
    for (int i = 0; i < 40; ++i)
    {
        const double slower = i < 20 ? 1 / 0.6 : 1;
        const double alone[] = {100, 300, 70}; // of three kinds of products, in turn
        samples.push_back(Kernel("gemm " + std::to_string(i % 3), 2 * i, alone[i % 3] * slower, 5));
        samples.push_back(Kernel("add", 2 * i + 1, 50, 85));
    }
    return samples;
}

TEST(ClockEstimate, FollowsKernelsThatMemoryDoesNotHoldUp)
{
    std::vector<OverlapSample> samples = Step();
    EstimateClocks(samples);
    for (const auto& sample : samples)
    {
        if (std::fabs(sample.place - 39.5) > 8) // but at the edge, where neighbours are of both
        {
            EXPECT_DOUBLE_EQ(sample.description.counters.clock, sample.place < 39.5 ? 0.6 : 1)
                << sample.place;
        }
        EXPECT_TRUE(sample.isClockEstimated);
    }
}

TEST(ClockEstimate, OrderOfRowsDoesNotMatter)
{
    std::vector<OverlapSample> forward = Step();
    std::vector<OverlapSample> backward(forward.rbegin(), forward.rend());
    EstimateClocks(forward);
    EstimateClocks(backward);
    for (size_t i = 0; i < forward.size(); ++i)
    {
        EXPECT_EQ(forward[i].description.counters.clock,
                  backward[forward.size() - 1 - i].description.counters.clock);
    }
}

TEST(ClockEstimate, IsUnknownWithoutRepeatedKernels)
{
    std::vector<OverlapSample> samples{Kernel("one", 0, 10, 5),
                                       Kernel("other", 1, 20, 5),
                                       Kernel("add", 2, 50, 85),
                                       Kernel("add", 3, 90, 85)};
    EstimateClocks(samples);
    for (const auto& sample : samples)
    {
        EXPECT_TRUE(std::isnan(sample.description.counters.clock));
    }
    std::vector<OverlapSample> none;
    EstimateClocks(none);
}

// The published step: products of the first two fifths take 1.65 times as long.
TEST(ClockEstimate, PublishedStepHasALowClockAtItsBeginning)
{
    const auto samples = ReadOverlapTable(ROOT + "/calibration/tables/overlap-slowdown-a100.csv");
    for (const auto& sample : samples)
    {
        if (sample.place < 240 || sample.place > 290)
        {
            EXPECT_NEAR(sample.description.counters.clock, sample.place < 240 ? 0.6 : 1, 0.11)
                << sample.line;
        }
    }
}

// A slower clock never slows less; GPUs have their usual one unless Clock says otherwise.
TEST(LearnedSlowdown, SlowerClocksSlowMore)
{
    if (!TreeEnsemble::IsAvailable())
    {
        GTEST_SKIP() << "built without XGBoost";
    }
    const std::string path = ROOT + "/calibration/slowdown/a100-ddp-gpt2.json";
    LearnedSlowdown model;
    model.SetModel(TreeEnsemble::FromJson(ReadInputFile(path), path), path);
    double larger = 0;
    for (auto sample : ReadOverlapTable(ROOT + "/calibration/tables/overlap-slowdown-a100.csv"))
    {
        double before = 1e9;
        for (const double clock : {0.6, 0.8, 1.0})
        {
            sample.description.counters.clock = clock;
            const double factor = model.GetFactor(sample.description);
            EXPECT_LE(factor, before);
            larger += before < 1e9 && factor < before;
            before = factor;
        }
    }
    EXPECT_GT(larger, 100);
}

} // namespace
