// SPDX-License-Identifier: GPL-2.0-only
// ./echo import as a user calls it: exit codes and what is printed.

#include "run-program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using testing::HasSubstr;

namespace
{

Outcome RunImport(const std::string& arguments)
{
    return RunProgram("echo-import", arguments);
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

// Case 25: no step marks, kernels as newer NCCL names them, ranks only in the files' names.
TEST_F(ImportCommand, ReadsForeignFilesOfAnyName)
{
    for (const char* rank : {"0", "1"})
    {
        Write(std::string("my trace \xc3\xa9 rank") + rank + ".json",
              "{\"traceEvents\": ["
              "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernelExC\", "
              "\"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 5, \"args\": {\"correlation\": 1}},"
              "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
              "\"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)\", "
              "\"pid\": 0, \"tid\": 20, \"ts\": 10, \"dur\": 50, \"args\": {\"device\": 0, "
              "\"stream\": 20, \"correlation\": 1, \"Collective name\": "
              "\"_reduce_scatter_base\", \"In msg nelems\": 2048, \"Out msg nelems\": 1024, "
              "\"Group size\": 2, \"dtype\": \"BFloat16\"}}]}");
    }
    const Outcome outcome = RunImport("--in=" + folder + " --out='" + folder + "/the out'");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("ranks: 2, files for 2"));
    EXPECT_THAT(outcome.text, HasSubstr("reduce-scatter: 2, 8 KiB"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/the out/workload.json"));
}

TEST_F(ImportCommand, ReadsTextWorkloads)
{
    const std::string path =
        Write("w.txt", "DATA\n1\nlayer -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 4096 0\n");
    const Outcome outcome =
        RunImport("--from=astra-sim --ranks=4 --in=" + path + " --out=" + folder + "/out");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("ASTRA-sim: 4 ranks, 1 file"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/out/program-0.json"));
    EXPECT_EQ(RunImport("--from=astra-sim --in=" + path).code, 2);
    EXPECT_EQ(RunImport("--from=astra-sim --ranks=4 --passes=0 --in=" + path).code, 2);
}

// Case 25: a profile without a GPU, a folder that cannot be; and other wrong input.
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

TEST_F(ImportCommand, OptionsThatAFormatIgnoresAreRefused)
{
    const std::string text =
        Write("w.txt", "DATA\n1\nlayer -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 0\n");
    const std::string layers = " --ranks=4 --in=" + text;
    for (const auto& [format, options] : std::vector<std::pair<std::string, std::string>>{
             {"kineto", "groups system first-dimension passes"},
             {"chakra", "step missing-ranks keep-gaps align-clocks first-dimension passes"},
             {"simai", "step missing-ranks keep-gaps align-clocks groups system replicate"},
             {"astra-sim", "step missing-ranks keep-gaps align-clocks groups system replicate"},
             {"echo-tracer",
              "step missing-ranks keep-gaps align-clocks groups system replicate passes"}})
    {
        std::istringstream words(options);
        for (std::string option; words >> option;)
        {
            const bool isFlag = option == "keep-gaps" || option == "align-clocks";
            const Outcome outcome =
                RunImport("--from=" + format + layers + " --" + option + (isFlag ? "=true" : "=1"));
            EXPECT_EQ(outcome.code, 2) << format << " " << option;
            EXPECT_THAT(outcome.text,
                        HasSubstr("--" + option + ": found an option that --from=" + format +
                                  " does not have"));
        }
    }
    const std::string used = "--from=astra-sim --passes=2" + layers;
    EXPECT_EQ(RunImport(used).code, 0);
    EXPECT_THAT(RunImport(used + " --first-dimension=2").text, HasSubstr("first dimension"));
}

TEST_F(ImportCommand, ARefusedImportLeavesNoFolder)
{
    const std::string bad = Write("w.txt", "DATA\n1\nlayer -1\n");
    const std::string import = "--from=astra-sim --ranks=4 --in=" + bad + " --out=" + folder;
    EXPECT_EQ(RunImport(import + "/new/one").code, 2);
    EXPECT_FALSE(std::filesystem::exists(folder + "/new"));
    std::filesystem::create_directory(folder + "/kept");
    Write("kept/notes.txt", "mine");
    EXPECT_EQ(RunImport(import + "/kept/one").code, 2);
    EXPECT_EQ(RunImport(import + "/kept").code, 2);
    EXPECT_TRUE(std::filesystem::exists(folder + "/kept/notes.txt"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder + "/kept"), {}), 1);
}

} // namespace
