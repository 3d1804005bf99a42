// SPDX-License-Identifier: GPL-2.0-only
// ./echo collective refuses, in one sentence, options that it would ignore.

#include "run-program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

using testing::HasSubstr;
using testing::Not;

namespace
{

Outcome RunCollective(const std::string& options)
{
    return RunProgram("echo-collective",
                      "--cluster='" ECHO_SOURCE_DIR "/scenarios/clusters/dgx-h100.yaml' --hosts=2 "
                      "--bytes=1MiB " +
                          options);
}

TEST(CollectiveCommand, RefusesWhatItWouldIgnore)
{
    struct Case
    {
        const char* options;
        const char* text;
    };

    for (const Case& one :
         {Case{"--fidelity=hybrid", "--fidelity: found 'hybrid', expected packet, flow or"},
          Case{"--channels=1000", "--channels"},
          Case{"--op=all-to-all --channels=3", "--channels: found '3', expected 0: all-to-all has"},
          Case{"--op=barrier --channels=3", "--channels: found '3', expected 0: barrier has"},
          Case{"--congestion-control=dcqcn", "--congestion-control: found 'dcqcn', expected none"},
          Case{"--load-balancing=flowlet", "--load-balancing: found 'flowlet', expected ecmp"},
          Case{"--load-balancing=ns3::echo::FlowletBalancer --fidelity=flow",
               "--load-balancing: found 'ns3::echo::FlowletBalancer', expected ecmp, static"},
          Case{"--op=send-recv --protocol=simple", "--protocol: found 'simple', expected auto"},
          Case{"--op=all-to-all --chunk=4KiB --profile=derived", "--chunk: found '4KiB', expected"},
          Case{"--protocol=ll --profile=derived", "--protocol: found 'll', expected auto, simple"},
          Case{"--protocol=ll128 --fidelity=flow", "--protocol: found 'll128', expected auto"},
          Case{"--op=barrier --bytes=foo", "--bytes"},
          Case{"--mtu=1024", "--mtu: found '1024', expected --fidelity=packet"},
          Case{"--mtu=1024 --fidelity=flow", "--mtu: found '1024', expected --fidelity=packet"},
          Case{"--chunk=4KiB", "--chunk: found '4KiB', expected 0"}})
    {
        const Outcome outcome = RunCollective(one.options);
        EXPECT_EQ(outcome.code, 2) << one.options << "\n" << outcome.text;
        EXPECT_THAT(outcome.text, HasSubstr(one.text));
    }
}

TEST(CollectiveCommand, TakesWhatHasAnEffect)
{
    for (const char* options : {"--channels=8",
                                "--mtu=1024 --profile=derived",
                                "--chunk=4KiB --profile=derived",
                                "--load-balancing=spray",
                                "--load-balancing=ns3::echo::SprayBalancer --fidelity=flow",
                                "--load-balancing=static --fidelity=flow"})
    {
        const Outcome outcome = RunCollective(options);
        EXPECT_EQ(outcome.code, 0) << options << "\n" << outcome.text;
    }
}

// nccl-tests of the A100 profile ran with one thread a host: rows stand beside them and say so.
TEST(CollectiveCommand, SaysWhereOneThreadIssuesAllKernels)
{
    const std::string profiles = " --profile='" ECHO_SOURCE_DIR "/calibration/profiles/";
    const std::string text = "one thread issues all GPUs' kernels";
    EXPECT_THAT(RunCollective(profiles + "azure-ndv4-a100.yaml'").text, HasSubstr(text));
    EXPECT_THAT(RunCollective(profiles + "h100-sxm.yaml'").text, Not(HasSubstr(text)));
}

} // namespace
