// SPDX-License-Identifier: GPL-2.0-only
// The parts of the report room: JSON, CSV, sums, text, progress.

#include "synthetic-run.h"
#include "test-file.h"

#include "ns3/echo-collective-table.h"
#include "ns3/echo-error.h"
#include "ns3/echo-fingerprint.h"
#include "ns3/echo-json-writer.h"
#include "ns3/echo-progress.h"
#include "ns3/echo-rank-selection.h"
#include "ns3/echo-report-tables.h"
#include "ns3/echo-run-summary.h"
#include "ns3/echo-summary-text.h"
#include "ns3/echo-text-table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <unistd.h>

using namespace ns3;
using namespace ns3::echo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

namespace
{

std::string Written(JsonWriter::Layout layout, const std::function<void(JsonWriter&)>& write)
{
    const std::string path = TestPath("echo-json-writer-test.json");
    OutputFile file(path, path);
    JsonWriter json(file, layout);
    write(json);
    json.Flush();
    file.Close();
    return TextOf(path);
}

TEST(FingerprintTest, IsSplitMix64ForOneWord)
{
    // From state 0, the word 0 gives the first output of SplitMix64 with seed 0, which the
    // reference implementation (prng.di.unimi.it/splitmix64.c) prints as e220a8397b1dcdaf.
    Fingerprint zero;
    zero.Add(uint64_t{0});
    EXPECT_EQ(zero.ToString(), "e220a8397b1dcdaf");
}

TEST(FingerprintTest, SeesOrderNumberAndPlaceOfValues)
{
    const auto of = [](const std::vector<std::string>& texts) {
        Fingerprint f;
        for (const auto& text : texts)
        {
            f.Add(text);
        }
        return f.GetValue();
    };
    EXPECT_EQ(of({"abc", "defghijklmnop"}), of({"abc", "defghijklmnop"}));
    EXPECT_NE(of({"a", "b"}), of({"b", "a"}));
    EXPECT_NE(of({"ab", ""}), of({"a", "b"}));
    EXPECT_NE(of({"ab"}), of({"ab", ""}));
    EXPECT_NE(of({std::string("a\0", 2)}), of({"a"}));
    Fingerprint time;
    time.Add(PicoSeconds(7));
    Fingerprint word;
    word.Add(uint64_t{7});
    EXPECT_EQ(time.GetValue(), word.GetValue());
}

TEST(JsonWriterTest, ReadsBackEqual)
{
    const double values[] = {0.1, 1e-300, 1.0 / 3, 12345678.9, 1e22, -0.0, 5};
    const std::string text = Written(JsonWriter::COMPACT, [&](JsonWriter& json) {
        json.BeginObject().Member("a \"key\"\n", "v\\\t\x01/</script>&");
        json.Key("numbers").BeginArray();
        for (const double value : values)
        {
            json.Value(value);
        }
        json.EndArray();
        json.Member("largest", std::numeric_limits<uint64_t>::max()).Member("yes", true);
        json.Member("time", PicoSeconds(1234567)).Key("none").Null();
        json.Member("nan", std::nan(""));
        json.Key("empty").BeginObject().EndObject();
        json.Member("letters", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80").EndObject();
    });
    const auto read = nlohmann::json::parse(text);
    EXPECT_EQ(read["a \"key\"\n"], "v\\\t\x01/</script>&");
    for (size_t i = 0; i < std::size(values); ++i)
    {
        EXPECT_EQ(read["numbers"][i].get<double>(), values[i]);
    }
    EXPECT_EQ(read["largest"].get<uint64_t>(), std::numeric_limits<uint64_t>::max());
    EXPECT_THAT(text, HasSubstr("\"time\":1.234567,"));
    EXPECT_TRUE(read["none"].is_null());
    EXPECT_TRUE(read["nan"].is_null());
    EXPECT_EQ(read["letters"], "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
    EXPECT_THAT(text, Not(HasSubstr("<"))); // may stand inside a script element
}

TEST(JsonWriterTest, IndentsTwoSpacesALevel)
{
    EXPECT_EQ(Written(JsonWriter::INDENTED,
                      [](JsonWriter& json) {
                          json.BeginObject().Member("a", 1).Key("b").BeginArray();
                          json.Value(2).EndArray().Key("c").BeginArray().EndArray().EndObject();
                      }),
              "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ],\n  \"c\": []\n}\n");
}

TEST(JsonWriterTest, ReplacesWhatIsNoUtf8)
{
    // A lone continuation, an overlong slash, a surrogate, above U+10FFFF, a cut sequence; each
    // byte that begins no character becomes one U+FFFD.
    std::string out;
    AppendJsonString(out, "a\x80z");
    EXPECT_EQ(out, "\"a\\ufffdz\"");
    for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"})
    {
        out.clear();
        AppendJsonString(out, bad);
        EXPECT_THAT(out, HasSubstr("\\ufffd")) << bad;
        EXPECT_NO_THROW(nlohmann::json::parse(out));
    }
}

TEST(ReportColumnTest, QuotesOnlyWhatMustBe)
{
    std::string line;
    AppendCsvField(line, "plain text");
    line += ',';
    AppendCsvField(line, "a,b");
    line += ',';
    AppendCsvField(line, "say \"no\"");
    EXPECT_EQ(line, "plain text,\"a,b\",\"say \"\"no\"\"\"");
}

TEST(RankSelectionTest, SpreadsOverTheJob)
{
    const auto count = [](const RankSelection& selection, uint32_t ranks) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < ranks; ++r)
        {
            n += selection.Contains(RankId(r));
        }
        return n;
    };
    EXPECT_EQ(count(RankSelection(), 1000), 1000u);
    EXPECT_EQ(count(RankSelection(96, 128, {}), 96), 96u);
    const RankSelection some(8192, 64, {});
    EXPECT_EQ(count(some, 8192), 64u);
    EXPECT_TRUE(some.Contains(RankId(0)));
    EXPECT_TRUE(some.Contains(RankId(128)));
    EXPECT_EQ(count(RankSelection(8192, 64, {RankId(5)}), 8192), 1u);
}

TEST(RankSelectionTest, TakesAsManyWholeRanksAsFit)
{
    std::vector<SimulatedRank> ranks;
    for (uint32_t i = 0; i < 8; ++i)
    {
        ranks.push_back({RankId(10 * i), 16, i < 4 ? 100u : 200u});
    }
    const auto selected = [&](uint32_t limit, uint64_t operators) {
        const RankSelection selection = RankSelection::Fit(ranks, limit, operators);
        std::vector<uint32_t> chosen;
        for (uint32_t r = 0; r < 100; ++r)
        {
            if (selection.Contains(RankId(r)))
            {
                chosen.push_back(r);
            }
        }
        return chosen;
    };
    EXPECT_THAT(selected(128, 1200), SizeIs(8));
    EXPECT_THAT(selected(4, 1200), ElementsAre(0, 20, 40, 60));
    EXPECT_THAT(selected(128, 600), ElementsAre(0, 20, 40, 60));
    EXPECT_THAT(selected(128, 1), ElementsAre(0)) << "at least one";
    EXPECT_EQ(RankSelection::Fit(ranks, 2, 1200).GetCount(8), 2u);
}

CollectiveRecord AllReduce(int64_t join, int64_t start, int64_t end, Fidelity fidelity)
{
    CollectiveRecord c;
    c.id = CollectiveId(0);
    c.group = GroupKind::DATA;
    c.ranks = 4;
    c.bytes = 1000000;
    c.fidelity = fidelity;
    c.firstJoin = MicroSeconds(join);
    c.start = MicroSeconds(start);
    c.end = MicroSeconds(end);
    return c;
}

TEST(ReportTablesTest, CollectiveRowDerivesTimesAndRates)
{
    // 1e6 B in 50 us: algbw 20 GB/s; busbw of an all-reduce on 4: times 2 * 3 / 4.
    const auto row = CsvLine(GetCollectiveColumns(), AllReduce(10, 30, 80, Fidelity::FLOW));
    EXPECT_EQ(row,
              "0,all-reduce,dp,,4,0,1000000,auto,auto,0,flow,10.000000,30.000000,80.000000,"
              "20.000000,50.000000,,20,30,0,,0,0,0,1\n");
}

TEST(SummarySinkTest, MeansRoundDownAndCannotOverflow)
{
    SummarySink sink;
    RunRecord run;
    run.stepTime = Seconds(9000000); // 9e18 ps: three of them overflow 64 bits
    for (uint32_t r = 0; r < 3; ++r)
    {
        RankRecord rank;
        rank.rank = RankId(r);
        rank.compute = run.stepTime - PicoSeconds(r);
        rank.idle = PicoSeconds(r);
        sink.OnRank(rank);
    }
    sink.OnRun(run);
    // The mean of 0, 1 and 2 ps less is 1 ps less.
    EXPECT_EQ(sink.GetSummary().compute.mean, run.stepTime - PicoSeconds(1));
    EXPECT_EQ(sink.GetSummary().compute.largest, run.stepTime);
    EXPECT_EQ(sink.GetSummary().idle.mean, PicoSeconds(1));
    EXPECT_THAT(sink.GetSummary().warnings, SizeIs(0));
}

TEST(SummarySinkTest, AddsCollectivesByKindGroupAndFidelity)
{
    SummarySink sink;
    sink.OnCollective(AllReduce(0, 10, 60, Fidelity::FLOW));
    sink.OnCollective(AllReduce(50, 60, 160, Fidelity::FLOW));
    CollectiveRecord c = AllReduce(0, 0, 400, Fidelity::ANALYTICAL);
    c.extrapolated = c.contended = c.uncoupled = true;
    sink.OnCollective(c);
    sink.OnRun(RunRecord());
    const RunSummary& s = sink.GetSummary();
    EXPECT_EQ(s.collectives, 3u);
    EXPECT_EQ(s.byFidelity.at(Fidelity::FLOW), 2u);
    EXPECT_EQ(s.byFidelity.at(Fidelity::ANALYTICAL), 1u);
    EXPECT_EQ(s.byFidelity.at(Fidelity::PACKET), 0u);
    ASSERT_EQ(s.totals.size(), 2u);
    EXPECT_EQ(s.totals[0].fidelity, Fidelity::ANALYTICAL); // 400 us against 150
    EXPECT_EQ(s.totals[1].count, 2u);
    EXPECT_EQ(s.totals[1].duration, MicroSeconds(150));
    EXPECT_EQ(s.totals[1].longest, MicroSeconds(100));
    EXPECT_EQ(s.totals[1].waiting, MicroSeconds(20));
    EXPECT_EQ(s.extrapolated, 1u);
    EXPECT_EQ(s.contended, 1u);
    EXPECT_EQ(s.uncoupled, 1u);
}

// Each job has its own world, data-parallel and other groups.
TEST(SummarySinkTest, AddsCollectivesOfEachJobApart)
{
    SummarySink sink({{"dense", RankId(0), 8}, {"sparse", RankId(8), 8}});
    CollectiveRecord c = AllReduce(0, 0, 100, Fidelity::FLOW);
    c.firstMember = RankId(0);
    sink.OnCollective(c);
    c.firstMember = RankId(9);
    sink.OnCollective(c);
    c.firstMember = RankId(8);
    sink.OnCollective(c);
    RunRecord run;
    run.jobs.resize(2);
    sink.OnRun(run);
    const RunSummary& s = sink.GetSummary();
    ASSERT_EQ(s.totals.size(), 2u);
    EXPECT_EQ(s.totals[0].job, "sparse"); // 200 us against 100
    EXPECT_EQ(s.totals[0].count, 2u);
    EXPECT_EQ(s.totals[1].job, "dense");
    EXPECT_EQ(s.totals[1].count, 1u);
    EXPECT_THAT(FormatSummary(s),
                testing::AllOf(testing::ContainsRegex("job +communication +group"),
                               testing::ContainsRegex("\n *sparse +all-reduce"),
                               testing::ContainsRegex("\n *dense +all-reduce")));
}

TEST(SummarySinkTest, ARecordCountsForAllThatItStandsFor)
{
    OperatorRecord op;
    op.rank = RankId(0);
    op.stream = StreamId(0);
    op.op = OperatorId(3);
    op.end = MicroSeconds(5);
    CollectiveRecord c = AllReduce(0, 10, 60, Fidelity::ANALYTICAL);
    c.contended = true;
    SummarySink each;
    for (uint32_t i = 0; i < 3; ++i)
    {
        op.rank = RankId(i);
        each.OnOperator(op);
        c.id = CollectiveId(i);
        each.OnCollective(c);
    }
    SummarySink folded;
    op.replicas = c.replicas = 3;
    folded.OnCollective(c);
    folded.OnOperator(op);
    RunRecord run;
    run.ranks = 3;
    each.OnRun(run);
    run.simulatedRanks = 1;
    folded.OnRun(run);
    const RunSummary& a = each.GetSummary();
    const RunSummary& b = folded.GetSummary();
    EXPECT_EQ(a.fingerprint, b.fingerprint);
    EXPECT_EQ(b.operators, 3u);
    EXPECT_EQ(b.collectives, 3u);
    EXPECT_EQ(b.contended, 3u);
    ASSERT_EQ(b.totals.size(), 1u);
    EXPECT_EQ(b.totals[0].count, 3u);
    EXPECT_EQ(b.totals[0].duration, MicroSeconds(150));
    EXPECT_EQ(b.totals[0].waiting, MicroSeconds(30));
    EXPECT_EQ(b.totals[0].longest, MicroSeconds(50));
    EXPECT_EQ(b.totals[0].busBytes, a.totals[0].busBytes);
    EXPECT_THAT(a.notes, SizeIs(0));
    EXPECT_THAT(b.notes, ElementsAre(HasSubstr("1 of 3 ranks were simulated")));
}

TEST(SummarySinkTest, SaysWhereRanksDoNotAddUp)
{
    SummarySink sink;
    RankRecord rank;
    rank.rank = RankId(7);
    rank.compute = MicroSeconds(9);
    sink.OnRank(rank);
    RunRecord run;
    run.stepTime = MicroSeconds(10);
    sink.OnRun(run);
    EXPECT_THAT(sink.GetSummary().warnings,
                ElementsAre("the parts of 1 ranks do not add up to the step time (first rank 7: "
                            "9.000 us of 10.000 us)"));
}

TEST(SummarySinkTest, FingerprintFollowsResultsNotNames)
{
    const SyntheticRun run(SyntheticShape{});
    const auto of = [](const SyntheticRun& r) {
        SummarySink sink;
        r.Replay(sink);
        return sink.GetSummary().fingerprint;
    };
    const std::string original = of(run);
    EXPECT_EQ(of(run), original);
    SyntheticRun renamed = run;
    renamed.operators[3].name = "other";
    renamed.collectives[3].groupName = "other";
    EXPECT_EQ(of(renamed), original);
    SyntheticRun op = run;
    op.operators[3].start += PicoSeconds(1);
    EXPECT_NE(of(op), original);
    SyntheticRun collective = run;
    collective.collectives.back().channels = 5;
    EXPECT_NE(of(collective), original);
    SyntheticRun flow = run;
    flow.flows.back().retransmitted = 1;
    EXPECT_NE(of(flow), original);
    SyntheticRun link = run;
    link.links.back().drops += 1;
    EXPECT_NE(of(link), original);
    SyntheticRun rank = run;
    rank.ranks.back().slowdown += PicoSeconds(1);
    EXPECT_NE(of(rank), original);
    SyntheticRun step = run;
    step.run.stepTime += PicoSeconds(1);
    EXPECT_NE(of(step), original);
}

TEST(SummarySinkTest, KeepsTheHottestLinks)
{
    SummarySink sink;
    for (uint32_t i = 0; i < 1000; ++i)
    {
        LinkRecord link;
        link.port = PortId(i);
        link.rate = DataRate("8Gbps");    // 1 GB/s
        link.wireBytes = i * 7919 % 1000; // each value once
        link.fromRole = link.toRole = DeviceRole::LEAF;
        sink.OnLink(link);
    }
    RunRecord run;
    run.stepTime = MicroSeconds(2); // room for 2000 bytes
    sink.OnRun(run);
    const auto& hottest = sink.GetSummary().hottestFabricLinks;
    ASSERT_EQ(hottest.size(), 12u);
    EXPECT_EQ(sink.GetSummary().hottestHostLinks.size(), 0u);
    EXPECT_EQ(hottest.front().wireBytes, 999u);
    EXPECT_EQ(hottest.back().wireBytes, 988u);
    EXPECT_DOUBLE_EQ(MeanUtilization(hottest.front(), run.stepTime), 0.4995);
    EXPECT_EQ(sink.GetSummary().bytesOnWire, 999u * 1000 / 2);
}

TEST(TextTest, TablesAlignAndNumbersReadWell)
{
    TextTable table({{"name", TextTable::LEFT}, {"value", TextTable::RIGHT}}, 1);
    table.Add({"a", "1"});
    table.Add({"gr\xc3\xbc\xc3\x9f", "1,000"});
    EXPECT_EQ(table.ToString(), " name  value\n a         1\n gr\xc3\xbc\xc3\x9f  1,000\n");
    EXPECT_EQ(FormatCount(0), "0");
    EXPECT_EQ(FormatCount(999), "999");
    EXPECT_EQ(FormatCount(1234567), "1,234,567");
    EXPECT_EQ(FormatPercent(1, 3), "33.3 %");
    EXPECT_EQ(FormatPercent(1, 0), "-");
    EXPECT_EQ(FormatFixed(std::numeric_limits<double>::max(), 1).size(), 311u);
    EXPECT_EQ(FormatLabel("a\x1b[31mb\n", 20), "a [31mb ");
    EXPECT_EQ(FormatLabel("0123456789", 6), "01..89");
    EXPECT_EQ(FormatLabel("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 7), "\xc3\xbc..\xc3\xbc");
}

TEST(TextTest, SummaryNamesWhatMatters)
{
    const SyntheticRun run(SyntheticShape{});
    SummarySink sink;
    run.Replay(sink);
    const std::string text = FormatSummary(sink.GetSummary());
    for (const char* part : {"synthetic: 8 ranks on 1 host, hybrid fidelity, seed 1",
                             "Step time ",
                             "exposed communication",
                             "waiting for other ranks",
                             "all-reduce",
                             "send-recv",
                             "busiest links",
                             "congestion control: dcqcn",
                             "Warning: the scenario is made up"})
    {
        EXPECT_THAT(text, HasSubstr(part));
    }
    SummarySink empty;
    empty.OnRun(RunRecord());
    EXPECT_THAT(FormatSummary(empty.GetSummary()), HasSubstr("No communication."));
}

class ProgressTest : public testing::Test
{
  protected:
    Progress Make(RecordSink* next)
    {
        return Progress(
            next,
            [this] { return work; },
            [this] { return clock; },
            [this](const std::string& text) { shown.push_back(text); });
    }

    void Poll(Progress& progress, int times)
    {
        for (int i = 0; i < times; ++i)
        {
            progress.Poll(MilliSeconds(5));
        }
    }

    std::pair<uint64_t, uint64_t> work{0, 100};
    double clock{0};
    std::vector<std::string> shown;
};

TEST_F(ProgressTest, ShowsAtMostFiveTimesASecondAndEstimates)
{
    Progress progress = Make(nullptr);
    clock = 0.5;
    Poll(progress, 1000);
    EXPECT_THAT(shown, SizeIs(0)); // a short run shows nothing
    work.first = 25;
    clock = 30;
    Poll(progress, 64);
    // A quarter in 30 s: three quarters take 90 s.
    EXPECT_THAT(shown,
                ElementsAre("\r5.000 ms simulated, 25.0 % of operators done, about 1 min 30 s "
                            "left"));
    clock = 30.1;
    Poll(progress, 1000);
    EXPECT_THAT(shown, SizeIs(1));
    clock = 30.3;
    Poll(progress, 1000);
    EXPECT_THAT(shown, SizeIs(2));
    progress.Clear();
    progress.Clear();
    EXPECT_THAT(shown, SizeIs(3));
    EXPECT_EQ(shown.back(), "\r" + std::string(shown.front().size() - 1, ' ') + "\r");
}

TEST_F(ProgressTest, PassesAllRecordsOn)
{
    const SyntheticRun run(SyntheticShape{});
    SummarySink direct;
    run.Replay(direct);
    SummarySink behind;
    {
        Progress progress = Make(&behind);
        run.Replay(progress);
    }
    EXPECT_EQ(behind.GetSummary().fingerprint, direct.GetSummary().fingerprint);
}

TEST_F(ProgressTest, IsQuietWithoutATerminal)
{
    testing::internal::CaptureStderr(); // a file
    {
        Progress progress(nullptr, [this] { return work; });
        Poll(progress, 1000);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(FormatSecondsTest, UsesTheUnitThatSuits)
{
    EXPECT_EQ(FormatSeconds(0.2), "0 s");
    EXPECT_EQ(FormatSeconds(59.4), "59 s");
    EXPECT_EQ(FormatSeconds(59.6), "1 min 00 s");
    EXPECT_EQ(FormatSeconds(7620), "2 h 07 min");
    EXPECT_EQ(FormatSeconds(-1), "0 s");
}

CollectivePoint Point()
{
    CollectivePoint point;
    point.ranks = 8;
    point.bytes = 16777216;
    point.time = NanoSeconds(136400);
    point.algorithm = CollectiveAlgorithmKind::RING;
    point.protocol = CollectiveProtocol::SIMPLE;
    point.channels = 24;
    point.linkUtilization = 0.5;
    point.extrapolated = true;
    return point;
}

TEST(CollectiveTableTest, PrintsAsNcclTestsDoes)
{
    // 16777216 B / 136.4 us = 123.00 GB/s; an all-reduce on 8: times 2 * 7 / 8 = 215.25.
    EXPECT_EQ(FormatCollectiveRow(Point()),
              "    16777216       4194304     float     sum      -1    136.4  123.00  215.25  "
              "     ring    simple        24    50.0 %           yes\n");
    // nccl-tests counts one rank's part: 16777216 / 2 / 8 elements.
    CollectivePoint gather = Point();
    gather.kind = CollectiveKind::ALL_GATHER;
    gather.dataType = DataType::BF16;
    EXPECT_THAT(FormatCollectiveRow(gather),
                HasSubstr("16777216       1048576  bfloat16    none      -1"));
    const std::string header = FormatCollectiveHeader();
    EXPECT_EQ(header.find("\n") + 1, FormatCollectiveRow(Point()).size());
    EXPECT_EQ(header[0], '#');
    EXPECT_EQ(header[header.find("\n") + 1], '#');
}

TEST(CollectiveTableTest, CsvHasTheColumnsThatToolsReadAndIsWholeOrAbsent)
{
    EXPECT_EQ(CollectiveCsvHeader(),
              "size_bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol,channels,"
              "max_link_utilisation,extrapolated\n");
    EXPECT_EQ(CollectiveCsvRow(Point()),
              "16777216,136.400000,123.000117,215.250205,ring,simple,24,0.5,1\n");
    const std::string folder = TestPath("echo-collective-table-test");
    std::filesystem::remove_all(folder);
    WriteCollectiveCsv(folder + "/a/points.csv", {Point(), Point()});
    EXPECT_EQ(TextOf(folder + "/a/points.csv"),
              CollectiveCsvHeader() + CollectiveCsvRow(Point()) + CollectiveCsvRow(Point()));
    EXPECT_THROW(WriteCollectiveCsv(folder + "/a", {}), InputError);
    EXPECT_THROW(WriteCollectiveCsv(folder + "/a/points.csv/x.csv", {}), InputError);
    EXPECT_THROW(WriteCollectiveCsv("/dev/full", {Point()}), InputError);
    std::filesystem::remove_all(folder);
}

} // namespace
