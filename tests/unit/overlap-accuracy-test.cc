// SPDX-License-Identifier: GPL-2.0-only
#include "overlap-accuracy.h"

#include <gtest/gtest.h>

using namespace ns3::echo;

namespace
{

const std::string SCENARIOS = ECHO_SOURCE_DIR "/scenarios/";

const char* const NETWORKS[] = {"ddp-gpt2-8xa100.yaml", "ddp-bert-large-8xa100.yaml"};

// The paper's factor (arXiv 2412.12487, section 2.3) is over the step without communication.
// Kernels are in one stream, so that step is their sum: a job of one rank takes it.
TEST(OverlapStep, WithoutCommunicationIsTheSumOfItsKernels)
{
    const OverlapStep eight = RunOverlapStep(SCENARIOS + NETWORKS[0], {"compute.slowdown=none"});
    const OverlapStep one = RunOverlapStep(
        SCENARIOS + NETWORKS[0], {"compute.slowdown=none", "workload.generate.parallel.dp=1"});
    EXPECT_EQ(one.step, one.compute);
    EXPECT_EQ(one.step, eight.compute);
    EXPECT_EQ(one.kernels, 0);
    EXPECT_EQ(eight.mean, 1);
    EXPECT_GT(eight.step, eight.compute);
}

// Table 2: 1.481 with 59.5 % of kernels overlapped for GPT-2, 1.391 with 59.2 % for BERT-Large.
TEST(OverlapStep, GrowsAsInThePaperSTable2)
{
    const double published[] = {1.481, 1.391};
    for (int i = 0; i < 2; ++i)
    {
        const std::string scenario = SCENARIOS + NETWORKS[i];
        const OverlapStep bare = RunOverlapStep(scenario, {"compute.slowdown=none"});
        const OverlapStep slowed = RunOverlapStep(scenario, {});
        EXPECT_NEAR(slowed.step.GetSeconds() / bare.compute.GetSeconds(), published[i], 0.05)
            << scenario;
        EXPECT_NEAR(slowed.kernels, 0.59, 0.06) << scenario;
        EXPECT_GT(slowed.compute, bare.compute) << scenario;
        EXPECT_GT(slowed.mean, 1) << scenario;
    }
}

// Where communication is hidden, it is slowed kernels that lengthen the step, all but the last
// bucket's: the more so, the larger their factor.
TEST(OverlapStep, GrowsWithTheFactorWhereCommunicationIsHidden)
{
    const auto step = [](const std::string& factor) {
        return RunOverlapStep(
            SCENARIOS + NETWORKS[1],
            {"workload.generate.batch.micro_batch=4", "compute.slowdown=" + factor});
    };
    const OverlapStep none = step("none");
    const OverlapStep some = step("1.3");
    const OverlapStep more = step("1.7");
    EXPECT_LT(none.step, some.step);
    EXPECT_LT(some.step, more.step);
    EXPECT_NEAR((more.step - none.step).GetSeconds(),
                (more.compute - none.compute).GetSeconds(),
                0.02 * none.compute.GetSeconds());
}

} // namespace
