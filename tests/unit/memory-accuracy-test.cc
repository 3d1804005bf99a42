// SPDX-License-Identifier: GPL-2.0-only
#include "error-message.h"
#include "memory-accuracy.h"

#include "ns3/echo-error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3::echo;
using testing::HasSubstr;
using testing::Not;

namespace
{

const std::string CALIBRATION = ECHO_SOURCE_DIR "/calibration/";

/** @return what the page says of @p sources and of the tables in @p folder */
std::string Page(const std::vector<std::string>& sources, const std::string& folder)
{
    std::vector<MeasuredSteps> steps;
    for (const std::string& name : sources)
    {
        MeasuredSteps source;
        source.title = name;
        source.table = CALIBRATION + "training/" + name + ".csv";
        source.scenario = CALIBRATION + "training/" + name + ".yaml";
        steps.push_back(source);
    }
    std::ostringstream out;
    WriteMemoryAccuracy(out, steps, folder);
    return out.str();
}

TEST(MemoryAccuracy, NoPlanThatRanIsSaidNotToFit)
{
    // Sources whose plans come closest to their GPUs' memory.
    const std::string page = Page({"bridge-dense", "bridge-moe", "dgxc-llama3-8b", "torchtitan"},
                                  CALIBRATION + "memory/");
    EXPECT_THAT(page, Not(HasSubstr("Said not to fit")));
    EXPECT_THAT(page, Not(HasSubstr(" | ran | "))); // none of the rows that are judged wrongly
    EXPECT_THAT(page, HasSubstr(" | out of memory | "));
}

TEST(MemoryAccuracy, PeaksAreWithinATenth)
{
    const std::string page = Page({}, CALIBRATION + "memory/");
    const std::regex mean("Mean absolute error ([0-9.]+) %");
    std::vector<double> errors;
    for (std::sregex_iterator i(page.begin(), page.end(), mean); i != std::sregex_iterator(); ++i)
    {
        errors.push_back(std::stod((*i)[1]));
    }
    ASSERT_EQ(errors.size(), 2u); // Megatron-Core, torchtitan
    EXPECT_LT(errors[0], 10);
    EXPECT_LT(errors[1], 10);
}

TEST(MemoryAccuracy, RefusesOtherOutcomesAtTheirLine)
{
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "memory-accuracy";
    std::filesystem::create_directories(folder);
    for (const auto& entry : std::filesystem::directory_iterator(CALIBRATION + "memory"))
    {
        std::ifstream in(entry.path());
        std::ofstream out(folder / entry.path().filename());
        for (std::string line; std::getline(in, line);)
        {
            line = std::regex_replace(
                line, std::regex("\\.\\./\\.\\./scenarios"), ECHO_SOURCE_DIR "/scenarios");
            out << line << "\n";
        }
    }
    std::ofstream(folder / "border-llama.csv") << "ranks,model.layers,model.hidden,model.heads,"
                                                  "model.sequence,batch.global_batch,outcome\n"
                                                  "8,2,256,8,128,8,ran\n"
                                                  "8,2,256,8,128,8,maybe\n";
    EXPECT_THAT(MessageOf([&] { Page({}, folder.string() + "/"); }),
                HasSubstr("border-llama.csv:3: outcome: found 'maybe', expected ran or out of "
                          "memory"));
    std::filesystem::remove_all(folder);
}

} // namespace
