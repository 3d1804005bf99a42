// SPDX-License-Identifier: GPL-2.0-only
// Readers of nccl-tests output and of profiles, and the rules for rows that count.

#include "estimator-fixtures.h"

#include "ns3/echo-error.h"
#include "ns3/echo-measurement.h"
#include "ns3/echo-nccl-tests-reader.h"
#include "ns3/echo-profile-residuals.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

namespace
{

// As old nccl-tests print: no root column, the largest error instead of a count, N/A.
const std::string OLD_LOG =
    R"(# nThread 1 nGpus 2 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid  63389 on node0 device  0 [0x00] A100-SXM4-40GB
#   Rank  1 Pid  63389 on node0 device  1 [0x00] A100-SXM4-40GB
#
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum     8.65    0.00    0.00  0e+00     8.51    0.00    0.00  0e+00
          16             4     float     sum     8.68    0.00    0.00  1e-07     9.49    0.00    0.00    N/A
# Out of bounds values : 0 OK
)";

// As new ones print; other programs' lines in between; one row with wrong results.
const std::string NEW_LOG = R"(# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902
# Collective test starting: all_gather_perf
# nThread 1 nGpus 1 minBytes 33554432 maxBytes 67108864 step: 2(factor) warmup iters: 5
#
#  Rank  0 Group  0 Pid 2619192 on node0 device  0 [0000:43:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 2619193 on node1 device  1 [0000:52:00] NVIDIA H100 80GB HBM3
NCCL version 2.29.2+cuda12.8
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
    33554432        131072     double    none      -1   1501.0   22.35   11.18       0  1499.77   22.37   11.19       0
    67108864        262144     double    none      -1   2803.1   23.94   11.97       5  2788.90   24.06   12.03       5
)";

std::string MessageOf(const std::string& text, const NcclTestsHints& hints = {})
{
    try
    {
        ReadNcclTestsText(text, "log.txt", hints);
    }
    catch (const InputError& error)
    {
        return error.what();
    }
    return "";
}

NcclTestsHints Hints(CollectiveKind kind)
{
    NcclTestsHints hints;
    hints.kind = kind;
    return hints;
}

TEST(NcclTestsReader, ReadsOldAndNewOutput)
{
    const auto old = ReadNcclTestsText(OLD_LOG, "old", Hints(CollectiveKind::ALL_REDUCE));
    ASSERT_EQ(old.size(), 2u);
    EXPECT_EQ(old[0].ranks, 2u);
    EXPECT_EQ(old[0].hosts, 1u);
    EXPECT_TRUE(old[0].oneThread); // nGpus 2
    EXPECT_EQ(old[0].bytes, 8u);
    EXPECT_DOUBLE_EQ(TimeOf(old[0]), 8.51);
    EXPECT_DOUBLE_EQ(TimeOf(old[1]), 8.68);
    EXPECT_EQ(old[1].wrongElements, 0u); // 1e-07 is an error within bounds

    // Several runs in a file.
    EXPECT_EQ(ReadNcclTestsText(OLD_LOG + OLD_LOG, "two", Hints(CollectiveKind::ALL_REDUCE)).size(),
              4u);

    // The log's operation comes before the hint.
    const auto rows = ReadNcclTestsText(NEW_LOG, "new", Hints(CollectiveKind::ALL_REDUCE));
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].kind, CollectiveKind::ALL_GATHER);
    EXPECT_EQ(rows[0].hosts, 2u);
    EXPECT_FALSE(rows[0].oneThread);
    EXPECT_EQ(rows[1].wrongElements, 5u);
    EXPECT_EQ(rows[1].line, 10u);
}

TEST(NcclTestsReader, ReadsCsv)
{
    const std::string csv = "# op: all_reduce\n# ngpus: 16\n# nodes: 2\n"
                            "size_bytes,time_us,algbw,busbw,wrong,time_us_inplace\n"
                            "1024,34.66,0.03,0.06,N/A,34.47\n"
                            "2048,36.05,0.06,0.11,2e-07,\n";
    const auto rows = ReadNcclTestsText(csv, "a.csv", {});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].ranks, 16u);
    EXPECT_DOUBLE_EQ(TimeOf(rows[0]), 34.47);
    EXPECT_DOUBLE_EQ(TimeOf(rows[1]), 36.05);

    const auto many = ReadNcclTestsText("ranks,hosts,op,one_thread,size_bytes,time_us\n"
                                        "2,1,all_reduce,1,8,9\n32,4,alltoall,0,64,70\n",
                                        "b.csv",
                                        {});
    EXPECT_TRUE(many[0].oneThread);
    EXPECT_EQ(many[1].kind, CollectiveKind::ALL_TO_ALL);
    EXPECT_EQ(many[1].hosts, 4u);
}

// As Open MPI (--tag-output), Slurm (--label) and programs that print in between leave them.
TEST(NcclTestsReader, ReadsThroughLaunchersAndInterruptions)
{
    const std::string text = R"([1,0]<stdout>:# nThread 1 nGpus 1 minBytes 8 maxBytes 64
[1,0]<stdout>:#  Rank  0 Group  0 Pid 1 on a device  0 [0x00] NVIDIA H100
0: #  Rank  1 Group  0 Pid 2 on b device  0 [0x00] NVIDIA H100
[1,0]<stdout>:#   size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong
[1,0]<stdout>:      8      2 float    sum    -1   10.5   0.00   0.00      0  10.1   0.00   0.00    N/A
0:      16      4     float     sum      -1    11.5    0.00    0.00      0     11.1    0.00    0.00      0
     32      8     float     sum      -1    12.5    0.00    0.00      0 b:17:19 [0] NCCL INFO NET/IB
    12.1    0.00    0.00      0
     64     16     float     sum      -1    13.5    0.00    0.00      0 warning: slow
    128     32     float     sum      -1 gone
1024 7 other words
)";
    std::vector<std::string> notes;
    const auto rows = ReadNcclTestsText(text, "all_reduce_n2.log", {}, &notes);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].kind, CollectiveKind::ALL_REDUCE); // by the file's name
    EXPECT_EQ(rows[0].hosts, 2u);
    EXPECT_DOUBLE_EQ(rows[0].inPlaceUs, 10.1);
    EXPECT_DOUBLE_EQ(rows[1].inPlaceUs, 11.1);
    EXPECT_DOUBLE_EQ(rows[2].inPlaceUs, 12.1); // completed by the next line
    EXPECT_DOUBLE_EQ(rows[3].inPlaceUs, 0);
    EXPECT_DOUBLE_EQ(rows[3].outOfPlaceUs, 13.5);
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_THAT(notes[0], HasSubstr("log:9: a row of 9 of 13 columns counts without the others"));
    EXPECT_THAT(notes[1], HasSubstr("log:10: a row of 5 of 13 columns is left out"));
}

TEST(NcclTestsReader, TakesOtherToolsColumnsAndReleases)
{
    const auto rows = ReadNcclTestsText("num_workers,devices_per_node,size_bytes,time_us_median\n"
                                        "4,2,8,9\n",
                                        "x/a100_all_gather.csv",
                                        {});
    EXPECT_EQ(rows.at(0).kind, CollectiveKind::ALL_GATHER);
    EXPECT_EQ(rows.at(0).hosts, 2u);
    EXPECT_FALSE(rows.at(0).threadKnown);
    EXPECT_EQ(ReadNcclTestsText(NEW_LOG, "new", {}).at(0).ncclRelease, "2.29");
}

TEST(NcclTestsReader, RefusesByLine)
{
    EXPECT_THAT(MessageOf("hello\nworld\n"), HasSubstr("log.txt: found no nccl-tests table"));
    EXPECT_THAT(MessageOf(""), HasSubstr("no nccl-tests table"));
    EXPECT_THAT(MessageOf("a,b\n"), HasSubstr("no nccl-tests table"));
    EXPECT_THAT(MessageOf("  8  2  float\n"),
                HasSubstr("log.txt:1: found numbers before a header"));
    const std::string head = "# op: all_reduce\n# ngpus: 2\n# nodes: 1\nsize_bytes,time_us\n";
    EXPECT_THAT(MessageOf(head), HasSubstr("no row of measurements"));
    EXPECT_THAT(MessageOf(head + "8\n"), HasSubstr("log.txt:5: found a row of 1 columns"));
    EXPECT_THAT(MessageOf(head + "8,fast\n"), HasSubstr("log.txt:5: found 'fast'"));
    EXPECT_THAT(MessageOf(head + "-8,1\n"), HasSubstr("log.txt:5: found size '-8'"));
    EXPECT_THAT(MessageOf("size_bytes,us\n8,1\n"), HasSubstr("header without size_bytes or time"));
    EXPECT_THAT(MessageOf("# op: scan\n"), HasSubstr("log.txt:1: found operation 'scan'"));
    // What the log does not say must come from the options, and must not contradict it.
    EXPECT_THAT(MessageOf(OLD_LOG), HasSubstr("log.txt:10: found no operation"));
    NcclTestsHints hints = Hints(CollectiveKind::ALL_REDUCE);
    hints.ranks = 4;
    EXPECT_THAT(MessageOf(OLD_LOG, hints), HasSubstr("another number of ranks"));
    EXPECT_THAT(MessageOf("size_bytes,time_us\n8,1\n", Hints(CollectiveKind::ALL_REDUCE)),
                HasSubstr("log.txt:2: found no number of ranks"));
    std::string twice = OLD_LOG;
    twice.replace(twice.find("Rank  1"), 7, "Rank  0");
    EXPECT_THAT(MessageOf(twice), HasSubstr("log.txt:5: found rank 0 twice"));
    EXPECT_THROW(ReadNcclTests("/nonexistent", {}), InputError);
}

// A line lost, a unit mistaken or a wrong cell: what contradicts itself is refused.
TEST(NcclTestsReader, RefusesWhatContradictsItself)
{
    std::string gap = OLD_LOG;
    gap.replace(gap.find("Rank  1"), 7, "Rank  7");
    EXPECT_THAT(MessageOf(gap), HasSubstr("'Rank' lines up to rank 7, expected one for each"));
    const std::string table = "# op: all_reduce\n# ngpus: 2\n# nodes: 1\n"
                              "size count type redop root time algbw busbw #wrong\n";
    EXPECT_THAT(MessageOf(table + "1048576 262144 float sum -1 0.1 10.49 10.49 0\n"),
                HasSubstr("log.txt:5: found a time of 0.1 us for 1048576 bytes beside"));
    EXPECT_EQ(ReadNcclTestsText(table + "1048576 262144 float sum -1 100 10.49 10.49 0\n", "x", {})
                  .size(),
              1u);
    EXPECT_THAT(
        MessageOf("op,ranks,hosts,gpus_per_node,size_bytes,time_us\nall_reduce,8,2,8,8,9\n"),
        HasSubstr("log.txt:2: found 2 hosts for 8 ranks, 8 a host, expected 1"));
    EXPECT_THAT(MessageOf("op,ranks,hosts,single_call,size_bytes,time_us\nall_reduce,8,2,2,8,9\n"),
                HasSubstr("log.txt:2: found '2', expected 0 or 1"));
    const std::string csv = "op,ranks,hosts,size_bytes,time_us\nall_reduce,8,2,8,9\n";
    NcclTestsHints hints = Hints(CollectiveKind::ALL_GATHER);
    EXPECT_EQ(MessageOf(csv, hints), ""); // of all logs: those that do not say
    hints.isKindOfLog = true;
    EXPECT_THAT(MessageOf(csv, hints), HasSubstr("operation"));
    EXPECT_EQ(ReadNcclTestsText("\xEF\xBB\xBF" + csv, "x", {}).size(), 1u);
}

Measurement Row(uint64_t bytes, double time)
{
    Measurement row;
    row.ranks = 8;
    row.hosts = 1;
    row.bytes = bytes;
    row.outOfPlaceUs = time;
    return row;
}

// A log whose list of ranks was cut, as published ones are: two of four ranks.
const std::string CUT_LOG = R"(# Collective test starting: alltoall_perf
# Using devices
#  Rank  0 Group  0 Pid 585240 on tray0 device  0 [0008:06:00] NVIDIA GB200
...
#  Rank  3 Group  0 Pid 585243 on tray1 device  1 [0009:06:00] NVIDIA GB200
#       size         count      type   redop    root     time   algbw   busbw  #wrong
    33554432       2097152     float    none      -1   1000.0   33.55   25.17       0
)";

TEST(NcclTestsReader, TakesRanksFromTheUserWhereTheListIsCut)
{
    EXPECT_THAT(MessageOf(CUT_LOG), HasSubstr("2 'Rank' lines up to rank 3"));
    NcclTestsHints hints;
    hints.ranks = 4;
    hints.hosts = 1;
    const auto rows = ReadNcclTestsText(CUT_LOG, "log", hints);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].ranks, 4u);
    EXPECT_EQ(rows[0].hosts, 1u);
    hints.ranks = 3; // rank 3 is the fourth
    EXPECT_THAT(MessageOf(CUT_LOG, hints), HasSubstr("up to rank 3"));
    hints.ranks = 8; // 33.55 GB/s would be 29.36 then, not 25.17
    EXPECT_THAT(MessageOf(CUT_LOG, hints), HasSubstr("as of all-to-all among 8 ranks"));
}

TEST(NcclTestsReader, BusBandwidthTellsTheOperation)
{
    // An all-to-all of four ranks has busbw of 3/4 algbw, an all-reduce 6/4.
    std::string text = CUT_LOG.substr(CUT_LOG.find("#       size"));
    NcclTestsHints hints;
    hints.ranks = 4;
    hints.hosts = 2;
    hints.kind = CollectiveKind::ALL_TO_ALL;
    EXPECT_EQ(ReadNcclTestsText(text, "log", hints).size(), 1u);
    hints.kind = CollectiveKind::ALL_REDUCE;
    EXPECT_THAT(MessageOf(text, hints),
                testing::AllOf(HasSubstr("log.txt:2"),
                               HasSubstr("busbw of 25.17"),
                               HasSubstr("as of all-reduce among 4 ranks")));
    // Small rates are printed as zeros, which tell nothing.
    text.replace(text.find("1000.0   33.55   25.17"), 22, "9999999    0.00    0.01");
    EXPECT_EQ(ReadNcclTestsText(text, "log", hints).size(), 1u);
}

TEST(NcclTestsReader, HostsAreDomainsAndMayHaveNoName)
{
    NcclTestsHints hints; // NEW_LOG: two ranks, two names
    hints.hosts = 1;      // which share NVLink
    EXPECT_EQ(ReadNcclTestsText(NEW_LOG, "log", hints)[0].hosts, 1u);
    hints.hosts = 4;
    EXPECT_THAT(MessageOf(NEW_LOG, hints), HasSubstr("another number of hosts"));
    std::string nameless = NEW_LOG;
    for (const char* name : {" on node0", " on node1"})
    {
        nameless.erase(nameless.find(name), 9);
    }
    EXPECT_THAT(MessageOf(nameless), HasSubstr("no number of hosts"));
    hints.hosts = 2;
    const auto rows = ReadNcclTestsText(nameless, "log", hints);
    EXPECT_EQ(rows[0].ranks, 2u);
    EXPECT_EQ(rows[0].hosts, 2u);
}

TEST(NcclTestsReader, TakesTheReleaseOfARow)
{
    const auto rows = ReadNcclTestsText("op,ranks,hosts,size_bytes,time_us,nccl\n"
                                        "all_reduce,16,2,8,24.7,2.26.2\n"
                                        "all_reduce,8,1,8,13.7,\n",
                                        "table.csv",
                                        {});
    NcclEnvironment machine;
    machine.version = "2.29";
    EXPECT_EQ(EnvironmentOf(machine, rows.at(0)).version, "2.26");
    EXPECT_EQ(EnvironmentOf(machine, rows.at(1)).version, "2.29");
}

TEST(NcclTestsReader, TakesPalsPrefixesAndRccl)
{
    std::string text;
    std::istringstream in(NEW_LOG);
    for (std::string line; std::getline(in, line);)
    {
        text += "x3102c0s1b0n0.hsn.example.org 0: " + line + "\n";
    }
    const auto rows = ReadNcclTestsText(text, "log", {});
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].hosts, 2u);
    EXPECT_EQ(rows[1].wrongElements, 5u);
    const std::string amd =
        "# rccl-tests version 2.17 rccl-headers=22803 rccl-library=22707\n" + OLD_LOG;
    EXPECT_EQ(ReadNcclTestsText(amd, "amd", Hints(CollectiveKind::ALL_REDUCE))[0].ncclRelease,
              "2.27");
}

TEST(CleanUp, LeavesOutWhatTimeCannotMean)
{
    std::vector<Measurement> rows{Row(8, 68), // a warm-up call: 32 B take 13 us
                                  Row(16, 14),
                                  Row(32, 13), // within 1.25 of each other: both count
                                  Row(64, 20),
                                  Row(64, 19), // the faster of two
                                  Row(0, 5),
                                  Row(128, 0)};
    Measurement wrong = Row(256, 30);
    wrong.wrongElements = 1;
    rows.push_back(wrong);
    const CleanMeasurements clean = CleanUp(rows);
    ASSERT_EQ(clean.rows.size(), 3u);
    EXPECT_EQ(clean.rows[0].bytes, 16u);
    EXPECT_EQ(TimeOf(clean.rows[2]), 19);
    EXPECT_EQ(clean.falling, 1u);
    EXPECT_EQ(clean.empty, 2u);
    EXPECT_EQ(clean.wrong, 1u);
}

// A dense sweep keeps its rows though one of them is quick by chance; a rank alone only copies.
TEST(CleanUp, KeepsDenseSweepsAndLeavesOutCopies)
{
    std::vector<Measurement> rows;
    for (uint64_t bytes = 1024; bytes <= 64 * 1024; bytes += 1024)
    {
        rows.push_back(Row(bytes, bytes == 60 * 1024 ? 5 : 20));
    }
    EXPECT_EQ(CleanUp(rows).rows.size(), rows.size());
    Measurement copy = Row(1024, 1);
    copy.ranks = 1;
    rows.push_back(copy);
    EXPECT_EQ(CleanUp(rows).alone, 1u);
}

TEST(Profile, ReadsBackWhatItWrites)
{
    MachineProfile profile = MakeRoundProfile();
    profile.hardware = "two \"quoted\" words \\ and a line\nbreak";
    profile.ranges = {{CollectiveKind::ALL_TO_ALL, 1, 1024, 2, 8, 1, 2, 1, 4}};
    profile.residuals = {{CollectiveKind::ALL_REDUCE, 8, 1, 1048576, 11, 3.25, 1.5, 7, 9.75}};
    profile.intervals["nic_GBps"] = {9, 11.5};
    profile.nccl.hostRings = {1, 2, 4};
    profile.nccl.nvlsPathGBps = 40;
    profile.nccl.nvlink = false;
    const std::string text = FormatProfile(profile);
    const MachineProfile read = ReadProfile(YamlNode::LoadText(text, "p.yaml"));
    EXPECT_EQ(FormatProfile(read), text);
    EXPECT_EQ(read.hardware, "two \"quoted\" words \\ and a line break");
    EXPECT_EQ(read.ranges.at(0).maxLocalRanks, 4u);
    EXPECT_DOUBLE_EQ(read.residuals.at(0).worstPercent, 9.75);
    EXPECT_DOUBLE_EQ(read.constants.protocols[2].interStepUs, 20);
    // The shipped profile is as the command writes it.
    const std::string path = SourceFile("calibration/profiles/azure-ndv4-a100.yaml");
    std::ifstream in(path);
    std::ostringstream shipped;
    shipped << in.rdbuf();
    EXPECT_EQ(FormatProfile(ReadAzureProfile()), shipped.str());
}

TEST(Profile, RefusesWithPlace)
{
    const std::string good = FormatProfile(MakeRoundProfile());
    const auto messageOf = [&good](const std::string& from, const std::string& to) {
        std::string text = good;
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        try
        {
            ReadProfile(YamlNode::LoadText(text, "p.yaml"));
        }
        catch (const InputError& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(messageOf("echo_profile: 1", "echo_profile: 2"), HasSubstr("p.yaml:2"));
    EXPECT_THAT(messageOf("setup_us: 7", "setup_us: -7"), HasSubstr("constants.setup_us"));
    EXPECT_THAT(messageOf("  setup_us: 7", "  set_up_us: 7"), HasSubstr("no key 'setup_us'"));
    EXPECT_THAT(messageOf("constants:", "constants:\n  speed: 3"),
                HasSubstr("unknown key 'speed'"));
    EXPECT_THAT(messageOf("\"2.10\"", "\"1.0\""), HasSubstr("nccl.version"));
    EXPECT_THAT(messageOf("gpu: ampere", "gpu: turing"), HasSubstr("volta, ampere"));
    EXPECT_THAT(messageOf("selection: tuner", "selection: best"), HasSubstr("least-cost"));
    EXPECT_THAT(messageOf("calibrated: []",
                          "calibrated:\n  - operation: all-reduce\n    bytes: [2, 1]\n    ranks: "
                          "[1, 1]\n    hosts: [1, 1]\n    ranks_per_host: [1, 1]"),
                HasSubstr("at least the first"));
}

} // namespace
