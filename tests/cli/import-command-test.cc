// SPDX-License-Identifier: GPL-2.0-only
// ./echo import as a user calls it: exit codes and what is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

using testing::HasSubstr;

namespace
{

struct Outcome
{
    int code;
    std::string text; //!< standard output and error
};

Outcome RunImport(const std::string& arguments)
{
    const std::string command =
        "'" ECHO_BINARY_DIR "/scenarios/echo-import' " + arguments + " 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    Outcome outcome{-1, ""};
    std::array<char, 4096> block{};
    while (const size_t read = std::fread(block.data(), 1, block.size(), pipe))
    {
        outcome.text.append(block.data(), read);
    }
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
}

class ImportCommand : public testing::Test
{
  protected:
    ImportCommand()
    {
        std::string name = (std::filesystem::temp_directory_path() / "echo-import-XXXXXX").string();
        folder = mkdtemp(name.data());
    }

    ~ImportCommand() override
    {
        std::filesystem::remove_all(folder);
    }

    std::string Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(folder + "/" + name) << text;
        return folder + "/" + name;
    }

    std::string folder;
    const std::string dlrm{ECHO_SOURCE_DIR "/scenarios/traces/dlrm-8xv100"};
};

TEST_F(ImportCommand, PrintsTheReportAndWritesTheGraphs)
{
    const Outcome outcome = RunImport("--from=kineto --in=" + dlrm + " --out=" + folder + "/out");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("ranks: 8, files for 8"));
    EXPECT_THAT(outcome.text, HasSubstr("all-reduce: 24"));
    EXPECT_THAT(outcome.text, HasSubstr("20.823 ms"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/out/workload.json"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/out/program-7.json"));
}

TEST_F(ImportCommand, RefusesInOneSentence)
{
    const std::string cpu = Write("cpu.json",
                                  "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", "
                                  "\"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 1, "
                                  "\"dur\": 5}]}");
    for (const auto& [arguments, message] : std::vector<std::pair<std::string, std::string>>{
             {"--in=" + cpu, "no GPU kernels found"},
             {"--in=" + dlrm + " --out=/dev/null/out", "/dev/null/out"},
             {"--in=" + dlrm + "/kineto_rank[0-6].json.gz", "no such file"},
             {"--in=" + dlrm + "/kineto_rank0.json.gz --in=" + dlrm + "/kineto_rank2.json.gz",
              "files for ranks 0 and 2 of 8: missing 1 and 3 to 7"},
             {"--in=" + dlrm + " --step=99", "'99'"},
             {"--in=" + dlrm + " --from=nsys", "'nsys', expected kineto"},
             {"--in=" + dlrm + " --missing-ranks=maybe", "'maybe'"},
             {"", "--in: found none"},
             {"--input=x", "--input"}})
    {
        const Outcome outcome = RunImport(arguments);
        EXPECT_EQ(outcome.code, 2) << arguments;
        EXPECT_THAT(outcome.text, HasSubstr(message)) << arguments;
        EXPECT_LE(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
    }
    EXPECT_FALSE(std::filesystem::exists(folder + "/out"));
}

} // namespace
