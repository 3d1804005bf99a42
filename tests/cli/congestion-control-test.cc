// SPDX-License-Identifier: GPL-2.0-only
// Congestion control chosen by name: in a scenario, by --set and on the command line of a
// collective; what is not known is refused with the names that are.

#include "run-program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using testing::HasSubstr;

namespace
{

const std::string KNOWN = "expected one of dcqcn, fixed-rate, hpcc, none, swift";

class CongestionControlCommand : public testing::Test
{
  protected:
    CongestionControlCommand()
    {
        std::string name = (std::filesystem::temp_directory_path() / "echo-cc-XXXXXX").string();
        folder = mkdtemp(name.data());
        scenario = folder + "/incast.yaml";
        std::ofstream(scenario)
            << "echo: 1\nfidelity: packet\n"
               "cluster: " ECHO_SOURCE_DIR "/scenarios/clusters/single-switch-8x100g.yaml\n"
               "workload:\n  collectives:\n"
               "    - {op: send-recv, bytes: 1MB, pairs: [[1, 0], [2, 0], [3, 0], [4, 0]]}\n"
               "network: {congestion_control: dcqcn}\n"
               "attributes: {\"ns3::echo::Dcqcn::T\": 55us}\n";
    }

    ~CongestionControlCommand() override
    {
        std::filesystem::remove_all(folder);
    }

    std::string folder;
    std::string scenario;
};

TEST_F(CongestionControlCommand, OfAScenarioIsNamedInItsResults)
{
    for (const std::string name : {"", "none", "dcqcn", "hpcc", "swift", "ns3::echo::Swift"})
    {
        std::string arguments = "'" + scenario + "' --out='" + folder + "/out'";
        arguments += name.empty() ? "" : " --set=network.congestion_control=" + name;
        const Outcome outcome = RunProgram("echo-run", arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.text;
        const std::string shown =
            name.empty() ? "dcqcn" : (name == "ns3::echo::Swift" ? "swift" : name);
        EXPECT_THAT(outcome.text, HasSubstr("congestion control: " + shown));
    }
}

TEST_F(CongestionControlCommand, AttributesOfTheCommandLineHold)
{
    const std::string arguments = "'" + scenario + "' --out='" + folder + "/out'";
    const Outcome plain = RunProgram("echo-run", arguments);
    const std::string lossy = "ns3::echo::PacketNetwork::LossRate=0.1";
    const Outcome byKey = RunProgram("echo-run", arguments + " --set=attributes." + lossy);
    const Outcome byOption = RunProgram("echo-run", arguments + " --" + lossy);
    EXPECT_NE(byOption.text, plain.text);
    EXPECT_EQ(byOption.text, byKey.text);
    EXPECT_THAT(RunProgram("echo-run", arguments + " --ns3::echo::PacketNetwork::Mtu=9000").text,
                HasSubstr("expected the key network.mtu for it"));
}

TEST_F(CongestionControlCommand, ParametersAreAttributes)
{
    std::string steps[2];
    for (int i = 0; i < 2; ++i)
    {
        const std::string set =
            i == 0 ? "" : " '--set=attributes.ns3::echo::Dcqcn::WindowBdps=0.1'";
        const Outcome outcome = RunProgram("echo-run", "'" + scenario + "' --out=none" + set);
        ASSERT_EQ(outcome.code, 0) << outcome.text;
        const size_t start = outcome.text.find("Step time");
        steps[i] = outcome.text.substr(start, outcome.text.find('\n', start) - start);
    }
    EXPECT_NE(steps[0], steps[1]);
    const Outcome outcome = RunProgram(
        "echo-run", "'" + scenario + "' --out=none '--set=attributes.ns3::echo::Dcqcn::G=2'");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.text, HasSubstr("ns3::echo::Dcqcn::G"));
}

TEST_F(CongestionControlCommand, UnknownOnesAreRefusedWithTheKnownNames)
{
    const Outcome run =
        RunProgram("echo-run", "'" + scenario + "' --set=network.congestion_control=bbr");
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.text, HasSubstr("found 'bbr', " + KNOWN));
    const std::string cluster =
        "--cluster='" ECHO_SOURCE_DIR "/scenarios/clusters/single-switch-8x100g.yaml' "
        "--bytes=1MiB --fidelity=packet ";
    const Outcome wrong = RunProgram("echo-collective", cluster + "--congestion-control=bbr");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.text, HasSubstr("--congestion-control: found 'bbr', " + KNOWN));
    const Outcome right = RunProgram("echo-collective", cluster + "--congestion-control=swift");
    EXPECT_EQ(right.code, 0) << right.text;
}

} // namespace
