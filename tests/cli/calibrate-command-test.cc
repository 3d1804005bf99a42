// SPDX-License-Identifier: GPL-2.0-only
// ./echo calibrate makes profiles of other profiles, as calibration/refit-profiles has it do.

#include "run-program.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

using testing::HasSubstr;
using testing::Not;

namespace
{

const std::string PROFILES = ECHO_SOURCE_DIR "/calibration/profiles/";

Outcome RunCalibrate(const std::string& cluster, const std::string& options)
{
    return RunProgram("../calibration/echo-calibrate",
                      "--cluster='" ECHO_SOURCE_DIR "/scenarios/clusters/" + cluster + ".yaml' " +
                          options);
}

std::string Like(const std::string& profile)
{
    return "--like='" + PROFILES + profile + ".yaml' ";
}

std::string Net(const std::string& profile)
{
    return "--net='" + PROFILES + profile + ".yaml' ";
}

std::string ReadAll(const std::string& path)
{
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(CalibrateCommand, MakesTheShippedProfilesThatAreNotMeasured)
{
    struct Made
    {
        const char* profile;
        const char* cluster;
        std::string options;
    };

    const std::string folder = testing::TempDir() + "echo-calibrate-command/";
    std::filesystem::create_directories(folder);
    for (const Made& made :
         {Made{"dgx-a100", "dgx-a100", Like("azure-ndv4-a100") + Net("a100-4xhdr")},
          Made{"a800", "a800", Like("dgx-a100")},
          Made{"b300", "b300", Like("b200") + "--nccl=2.28"},
          Made{"gb200", "gb200", Like("b200")},
          Made{"gb300", "gb300", Like("b200") + "--nccl=2.28"},
          Made{"h800", "h800", Like("h100-sxm")},
          Made{"h100-sxm-nvls-off", "dgx-h100", Like("h100-sxm") + "--nvls=off"}})
    {
        const std::string out = folder + made.profile + ".yaml";
        const Outcome outcome = RunCalibrate(made.cluster, made.options + " --out='" + out + "'");
        ASSERT_EQ(outcome.code, 0) << outcome.text;
        EXPECT_EQ(ReadAll(out), ReadAll(PROFILES + made.profile + ".yaml")) << made.profile;
    }
    std::filesystem::remove_all(folder);
}

// Served messages are of the host's software, which a machine like it has too.
TEST(CalibrateCommand, KeepsWhatMessagesCost)
{
    const std::string out = testing::TempDir() + "echo-calibrate-like.yaml";
    const Outcome made = RunCalibrate("polaris", Like("polaris-a100") + "--out='" + out + "'");
    ASSERT_EQ(made.code, 0) << made.text;
    EXPECT_THAT(ReadAll(out), HasSubstr("eager_bytes: 16384"));
    EXPECT_THAT(ReadAll(out), HasSubstr("message_us: 4.346"));
}

// How rings return is a setting: that of the profile, unless another is said.
TEST(CalibrateCommand, KeepsHowRingsReturnUnlessToldOtherwise)
{
    const std::string out = testing::TempDir() + "echo-calibrate-rings.yaml";
    const std::string like = Like("alps-gh200") + "--out='" + out + "' ";
    ASSERT_EQ(RunCalibrate("alps", like).code, 0);
    EXPECT_THAT(ReadAll(out), HasSubstr("return_path_GBps: 6"));
    ASSERT_EQ(RunCalibrate("alps", like + "--cross-nic=on").code, 0);
    EXPECT_THAT(ReadAll(out), Not(HasSubstr("return_path_GBps")));
}

TEST(CalibrateCommand, RefusesWhatItWouldIgnore)
{
    const auto said = [](const std::string& options) {
        const Outcome refused = RunCalibrate("polaris", options);
        EXPECT_EQ(refused.code, 2) << options;
        return refused.text;
    };
    const std::string log = "--log='" ECHO_SOURCE_DIR "/calibration/tables/polaris-a100.csv' ";
    for (const char* option :
         {"--check", "--rows", "--eager=1", "--thread=one", "--selection=tuner", "--op=barrier"})
    {
        EXPECT_THAT(said(Like("polaris-a100") + option), HasSubstr("found it beside --like"));
    }
    EXPECT_THAT(said(log + "--check --out=none.yaml"), HasSubstr("--out: found it beside --check"));
    EXPECT_THAT(said(Like("polaris-a100") + "--ll128=foo"), HasSubstr("--ll128: found 'foo'"));
    EXPECT_THAT(said(Like("polaris-a100") + "--cpu=foo"), HasSubstr("--cpu: found 'foo'"));
    EXPECT_THAT(said(Like("polaris-a100") + "--cross-nic=foo"),
                HasSubstr("--cross-nic: found 'foo'"));
    EXPECT_THAT(said(Like("polaris-a100") + "--cross-nic=off"),
                HasSubstr("expected hosts of GH200"));
    EXPECT_THAT(said(Like("polaris-a100") + "--nvls=on"), HasSubstr("has no NVLink SHARP"));
    EXPECT_THAT(said(Like("polaris-a100")), HasSubstr("--like: found no --out"));
    EXPECT_THAT(said(""), HasSubstr("found neither --log nor --like"));
    EXPECT_THAT(said(log + "--check --nccl=3"), HasSubstr("--nccl: found '3'"));
    EXPECT_THAT(
        said("--log='" ECHO_SOURCE_DIR "/calibration/tables/polaris-a100.csv@op=bogus' --check"),
        HasSubstr("--log: found 'bogus'"));
}

TEST(CalibrateCommand, RefusesConstantsOfOtherNics)
{
    const Outcome other = RunCalibrate("dgx-a100", Like("azure-ndv4-a100") + Net("h100-sxm"));
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.text, HasSubstr("NICs of 50 GB/s, expected the cluster's NICs"));
    const Outcome alone = RunCalibrate(
        "dgx-a100",
        "--log='" ECHO_SOURCE_DIR "/calibration/tables/a100-oci.csv' " + Net("a100-4xhdr"));
    EXPECT_EQ(alone.code, 2);
    EXPECT_THAT(alone.text, HasSubstr("--net: found no --like"));
}

} // namespace
