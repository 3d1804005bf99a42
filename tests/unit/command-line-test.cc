// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/echo-command-line.h"
#include "ns3/echo-error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

struct Parsed
{
    std::string file;
    std::string out{"default"};
    uint64_t seed{1};
    bool verbose{false};
    std::vector<std::string> sets;
    std::string error;
};

Parsed Parse(std::vector<std::string> words)
{
    Parsed parsed;
    EchoCommandLine line("usage");
    line.AddArgument("FILE", "a scenario", parsed.file, true);
    line.AddOption("out", "folder", parsed.out);
    line.AddOption("seed", "seed", parsed.seed);
    line.AddFlag("verbose", "more", parsed.verbose);
    line.AddList("set", "key=value", parsed.sets);
    words.insert(words.begin(), "program");
    std::vector<char*> pointers;
    for (auto& word : words)
    {
        pointers.push_back(word.data());
    }
    try
    {
        line.Parse(static_cast<int>(pointers.size()), pointers.data());
    }
    catch (const InputError& error)
    {
        parsed.error = error.what();
    }
    return parsed;
}

TEST(CommandLine, TakesOptionsInAnyOrder)
{
    const Parsed parsed =
        Parse({"--seed=7", "a.yaml", "--set=a.b=1", "--verbose", "--set=c=2=3", "--out=d"});
    EXPECT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.file, "a.yaml");
    EXPECT_EQ(parsed.seed, 7u);
    EXPECT_TRUE(parsed.verbose);
    EXPECT_EQ(parsed.out, "d");
    EXPECT_THAT(parsed.sets, ElementsAre("a.b=1", "c=2=3"));
}

TEST(CommandLine, RefusesInOneSentence)
{
    EXPECT_THAT(Parse({}).error, HasSubstr("no FILE"));
    EXPECT_THAT(Parse({"a", "b"}).error, HasSubstr("argument 'b'"));
    EXPECT_THAT(Parse({"a", "--ouz=1"}).error, HasSubstr("such as --out"));
    EXPECT_THAT(Parse({"a", "--out"}).error, HasSubstr("--out: found no value"));
    EXPECT_THAT(Parse({"a", "--seed=-1"}).error, HasSubstr("--seed: found '-1'"));
    EXPECT_THAT(Parse({"a", "--verbose=maybe"}).error, HasSubstr("true or false"));
    EXPECT_THAT(Parse({"a", "--ns3::NoSuch::Thing=1"}).error, HasSubstr("ns3::NoSuch::Thing"));
}

TEST(CommandLine, ProgramsExitAsDocumented)
{
    EXPECT_EQ(RunProgram([] { return 0; }), 0);
    EXPECT_EQ(RunProgram([]() -> int { throw InputError({}, "a", "b"); }), 2);
    EXPECT_EQ(RunProgram([]() -> int { throw UnsupportedError("no"); }), 2);
    EXPECT_EQ(RunProgram([]() -> int { throw StallError("stuck"); }), 3);
}

} // namespace
