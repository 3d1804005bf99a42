// SPDX-License-Identifier: GPL-2.0-only
// What the pages are made of: the thinned timeline, the drawn network, the validation of
// fidelities.

#include "synthetic-run.h"
#include "test-file.h"

#include "ns3/echo-html-page.h"
#include "ns3/echo-network-drawing.h"
#include "ns3/echo-report-assets.h"
#include "ns3/echo-timeline-sampler.h"
#include "ns3/echo-validation-report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <unistd.h>

using namespace ns3;
using namespace ns3::echo;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

namespace
{

json Written(const std::function<void(JsonWriter&)>& write)
{
    const std::string path = TestPath("echo-report-page-test.json");
    OutputFile file(path, path);
    JsonWriter writer(file);
    write(writer);
    writer.Flush();
    file.Close();
    return json::parse(TextOf(path));
}

json Sampled(TimelineSampler& sampler, Time step)
{
    return Written([&](JsonWriter& writer) { sampler.Write(writer, Time(), step); });
}

struct Block
{
    int64_t start;
    int64_t end;
    std::string name;
    int64_t count;
    int64_t busy;
};

/** The blocks of a lane, in units. */
std::vector<Block> BlocksOf(const json& timeline, size_t lane)
{
    const std::vector<int64_t> n = timeline["lanes"][lane]["blocks"];
    std::vector<Block> blocks;
    int64_t at = 0;
    for (size_t i = 0; i < n.size();)
    {
        Block block{at + n[i], at + n[i] + n[i + 1], "", 1, 100};
        at = block.end;
        const int64_t name = n[i + 2];
        i += 3;
        block.name = timeline["names"][name < 0 ? -1 - name : name];
        if (name < 0)
        {
            block.count = n[i];
            block.busy = n[i + 1];
            i += 2;
        }
        blocks.push_back(block);
    }
    return blocks;
}

OperatorRecord Kernel(int64_t start, int64_t end, const std::string& name)
{
    OperatorRecord op;
    op.rank = RankId(0);
    op.stream = StreamId(0);
    op.name = name;
    op.ready = op.start = MicroSeconds(start);
    op.end = MicroSeconds(end);
    return op;
}

TEST(TimelineSamplerTest, KeepsEveryOperatorWhileTheyFit)
{
    TimelineSampler sampler({}, 10);
    sampler.OnOperator(Kernel(5, 10, "a"));
    OperatorRecord slowed = Kernel(10, 30, "b");
    slowed.slowdown = MicroSeconds(4);
    sampler.OnOperator(slowed);
    OperatorRecord send = Kernel(60, 70, "send");
    send.activity = ActivityKind::COMMUNICATION;
    send.group = GroupKind::PIPELINE;
    send.ready = MicroSeconds(40);
    sampler.OnOperator(send);
    EXPECT_EQ(sampler.GetResolution(), Time());
    EXPECT_EQ(sampler.GetFirstTime(), MicroSeconds(5));
    // A step of 1 s: units of 1 us.
    const json timeline = Sampled(sampler, Seconds(1));
    EXPECT_EQ(timeline["unit_us"], 1);
    ASSERT_EQ(timeline["lanes"].size(), 3u);
    const auto kernels = BlocksOf(timeline, 0);
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].start, 5);
    EXPECT_EQ(kernels[1].end, 30);
    EXPECT_EQ(kernels[1].name, "b (slowed by overlap)");
    EXPECT_EQ(timeline["lanes"][1]["kind"], "pp");
    EXPECT_EQ(BlocksOf(timeline, 1)[0].start, 60);
    EXPECT_EQ(timeline["lanes"][2]["waiting"], true);
    EXPECT_EQ(BlocksOf(timeline, 2)[0].start, 40);
    EXPECT_EQ(BlocksOf(timeline, 2)[0].end, 60);
}

TEST(TimelineSamplerTest, MergesNeighboursOnlyAsFarAsItMust)
{
    TimelineSampler sampler({}, 20);
    // 100 kernels of 6 us, one each 10 us, then one of 500 us. 101 blocks are more than 2 x 20.
    for (int i = 0; i < 100; ++i)
    {
        sampler.OnOperator(Kernel(10 * i, 10 * i + 6, i % 10 == 5 ? "odd" : "even"));
    }
    sampler.OnOperator(Kernel(2000, 2500, "long"));
    const json timeline = Sampled(sampler, Seconds(1));
    const auto blocks = BlocksOf(timeline, 0);
    EXPECT_LE(blocks.size(), 20u);
    EXPECT_GE(blocks.size(), 20u / 3); // the resolution grows by half: no cliff
    int64_t operators = 0;
    for (const Block& block : blocks)
    {
        operators += block.count;
        EXPECT_TRUE(block.count == 1 ||
                    block.end - block.start <= sampler.GetResolution().GetMicroSeconds());
        if (block.count > 1)
        {
            // n kernels of 6 us span 10 n - 4 us.
            const double busy =
                6.0 * static_cast<double>(block.count) / static_cast<double>(10 * block.count - 4);
            EXPECT_NEAR(static_cast<double>(block.busy), 100 * busy, 1.5);
        }
    }
    EXPECT_EQ(operators, 101);
    EXPECT_EQ(blocks.back().name, "long");
    EXPECT_EQ(blocks.back().count, 1);
    EXPECT_EQ(blocks.back().end - blocks.back().start, 500);
}

TEST(TimelineSamplerTest, HoldsALimitHoweverManyOperatorsThereAre)
{
    SyntheticShape shape;
    shape.layers = 8;
    shape.microBatches = 16;
    const SyntheticRun run(shape);
    TimelineSampler sampler({}, 500);
    for (const auto& op : run.operators)
    {
        sampler.OnOperator(op);
        EXPECT_LE(sampler.GetBlockCount(), 1001u);
    }
    Sampled(sampler, run.run.stepTime);
    EXPECT_LE(sampler.GetBlockCount(), 500u);
    EXPECT_GT(sampler.GetBlockCount(), 200u);
}

TEST(RankSelectionTest, ThinsItself)
{
    const RankSelection all;
    const RankSelection eight = all.Thin(96, 8);
    EXPECT_TRUE(eight.Contains(RankId(84)));
    EXPECT_FALSE(eight.Contains(RankId(85)));
    const RankSelection given(96, 64, {RankId(3), RankId(5), RankId(7), RankId(9)});
    const RankSelection two = given.Thin(96, 2);
    EXPECT_TRUE(two.Contains(RankId(3)));
    EXPECT_FALSE(two.Contains(RankId(5)));
    EXPECT_TRUE(two.Contains(RankId(7)));
    EXPECT_FALSE(two.Contains(RankId(0)));
    EXPECT_TRUE(given.Thin(96, 4).Contains(RankId(9)));
}

TEST(NetworkDrawingTest, DrawsHostsAndSwitchesInLayers)
{
    SyntheticShape shape;
    shape.ranks = 16;
    const SyntheticRun run(shape);
    const NetworkDrawing drawing(run.network, run.links, run.run.stepTime);
    // 2 hosts, 8 leaves, 4 spines; 16 links to hosts, 32 above.
    EXPECT_EQ(drawing.GetNodes().size(), 14u);
    EXPECT_EQ(drawing.GetEdges().size(), 48u);
    const json written = Written([&](JsonWriter& writer) { drawing.Write(writer); });
    EXPECT_EQ(written["layers"], json({"hosts", "leaf switches", "spine switches"}));
    EXPECT_EQ(written["edges_left_out"], 0);
    uint64_t drawn = 0;
    for (const auto& edge : drawing.GetEdges())
    {
        EXPECT_EQ(edge.links, 1u);
        EXPECT_DOUBLE_EQ(edge.rateGBps, 50);
        drawn += edge.load[0].bytes + edge.load[1].bytes;
    }
    uint64_t carried = 0;
    for (const auto& link : run.links)
    {
        const bool inside = link.from.substr(0, 5) == link.to.substr(0, 5) && link.from[0] == 'h';
        carried += inside ? 0 : link.wireBytes;
    }
    EXPECT_EQ(drawn, carried);
}

TEST(NetworkDrawingTest, KeepsDirectionsApartAndJoinsParallelLinks)
{
    LayeredGraph graph;
    graph.nodes = {{"spine0", DeviceRole::SPINE, HostId()}, {"leaf0", DeviceRole::LEAF, HostId()}};
    // Two parallel links, laid in opposite order; 8 Gb/s = 1 GB/s = 1000 B a microsecond.
    graph.edges = {{0, 1, DataRate("8Gbps")}, {1, 0, DataRate("8Gbps")}};
    std::vector<LinkRecord> links(3);
    const auto set = [&](size_t i, uint32_t port, const char* from, const char* to, uint64_t n) {
        links[i].link = LinkId(port / 2);
        links[i].port = PortId(port);
        links[i].from = from;
        links[i].to = to;
        links[i].rate = DataRate("8Gbps");
        links[i].wireBytes = n;
    };
    set(0, 0, "spine0", "leaf0", 100);
    set(1, 1, "leaf0", "spine0", 500);
    set(2, 2, "leaf0", "spine0", 300);
    const NetworkDrawing drawing(graph, links, MicroSeconds(1));
    ASSERT_EQ(drawing.GetEdges().size(), 1u);
    const auto& edge = drawing.GetEdges()[0];
    EXPECT_EQ(edge.links, 2u);
    EXPECT_EQ(drawing.GetNodes()[edge.a].label, "spine0");
    EXPECT_EQ(edge.load[0].bytes, 100u);
    EXPECT_EQ(edge.load[1].bytes, 800u);
    EXPECT_DOUBLE_EQ(edge.load[1].largest, 0.5);
    EXPECT_DOUBLE_EQ(edge.load[1].sum, 0.8);

    // Without a cluster, the links alone give the same.
    for (auto& link : links)
    {
        link.fromRole = link.from[0] == 's' ? DeviceRole::SPINE : DeviceRole::LEAF;
        link.toRole = link.to[0] == 's' ? DeviceRole::SPINE : DeviceRole::LEAF;
    }
    const NetworkDrawing alone(MakeLayeredGraph(links), links, MicroSeconds(1));
    ASSERT_EQ(alone.GetEdges().size(), 1u);
    EXPECT_EQ(alone.GetEdges()[0].links, 2u);
    EXPECT_EQ(alone.GetEdges()[0].load[1].bytes, 800u);
}

TEST(NetworkDrawingTest, DrawsOneHostDeviceByDeviceAndManyHostsAsGroups)
{
    const SyntheticRun one(SyntheticShape{});
    EXPECT_EQ(NetworkDrawing(one.network, one.links, one.run.stepTime).GetNodes().size(), 17u);
    const NetworkDrawing alone(MakeLayeredGraph(one.links), one.links, one.run.stepTime);
    EXPECT_EQ(alone.GetNodes().size(), 17u);

    // 200 hosts, even ones on leaf 0, odd ones on leaf 1.
    LayeredGraph graph;
    for (uint32_t h = 0; h < 200; ++h)
    {
        graph.nodes.push_back({"host" + std::to_string(h) + "/nic0", DeviceRole::NIC, HostId(h)});
    }
    graph.nodes.push_back({"leaf0", DeviceRole::LEAF, HostId()});
    graph.nodes.push_back({"leaf1", DeviceRole::LEAF, HostId()});
    for (uint32_t h = 0; h < 200; ++h)
    {
        graph.edges.push_back({h, 200 + h % 2, DataRate("8Gbps")});
    }
    const NetworkDrawing drawing(graph, {}, MicroSeconds(1));
    ASSERT_EQ(drawing.GetNodes().size(), 4u);
    EXPECT_EQ(drawing.GetNodes()[0].label, "100 hosts: 0 .. 198");
    ASSERT_EQ(drawing.GetEdges().size(), 2u);
    EXPECT_EQ(drawing.GetEdges()[0].links, 100u);
    EXPECT_EQ(drawing.GetEdges()[0].load[0].bytes, 0u);
}

TEST(HtmlPageTest, HoldsWhatItNeedsAndNoneOfTheTextAsMarkup)
{
    EXPECT_EQ(EscapeHtml("<a href=\"x\">'&'</a>"),
              "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    EXPECT_TRUE(GetReportAsset("nothing").empty());
    const std::string path = TestPath("echo-html-page-test.html");
    OutputFile file(path, path);
    HtmlPage page;
    page.title = "</title><script>alert(1)</script>";
    page.body = "report.html";
    page.scripts = {"common.js"};
    page.addData = [](JsonWriter& writer) { writer.Value("</script><script>alert(2)</script>"); };
    WriteHtmlPage(file, page);
    file.Close();
    const std::string text = TextOf(path);
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(text, HasSubstr("default-src 'none'"));
    EXPECT_THAT(text, HasSubstr(std::string(GetReportAsset("chart.umd.min.js"))));
    EXPECT_THAT(text, HasSubstr("The MIT License (MIT)")); // which asks for it
    for (const char* loads : {"src=\"", "href=\"http", "@import", "url("})
    {
        for (const char* asset : {"report.html", "validation.html", "page.css", "common.js"})
        {
            EXPECT_THAT(std::string(GetReportAsset(asset)), Not(HasSubstr(loads))) << asset;
        }
    }
}

std::vector<ValidationRow> Validation()
{
    std::vector<ValidationRow> rows(3);
    rows[0].packet = MicroSeconds(100);
    rows[0].flow = MicroSeconds(97);
    rows[0].analytical = MicroSeconds(108);
    rows[1].bytes = 1 << 20;
    rows[1].ranks = 8;
    rows[1].packet = MicroSeconds(200);
    rows[1].flow = MicroSeconds(200);
    rows[1].analytical = MicroSeconds(170);
    rows[2].analytical = MicroSeconds(50); // too large for packets
    return rows;
}

TEST(ValidationReportTest, ComparesWithPacketsWhereThereAreAny)
{
    const auto rows = Validation();
    EXPECT_TRUE(std::isnan(RelativeError(MicroSeconds(1), Time())));
    const ValidationError flow = SummarizeErrors(rows, Fidelity::FLOW);
    EXPECT_EQ(flow.rows, 2u);
    EXPECT_NEAR(flow.mean, 0.015, 1e-12); // (3 % + 0) / 2
    EXPECT_EQ(flow.within5, 2u);
    const ValidationError analytical = SummarizeErrors(rows, Fidelity::ANALYTICAL);
    EXPECT_EQ(analytical.rows, 2u);
    EXPECT_NEAR(analytical.mean, 0.115, 1e-12); // (8 % + 15 %) / 2
    EXPECT_NEAR(analytical.worst, 0.15, 1e-12);
    EXPECT_EQ(analytical.worstRow, 1u);
    EXPECT_EQ(analytical.within5, 0u);
    EXPECT_EQ(analytical.within10, 1u);
    const std::string text = FormatValidation(rows);
    EXPECT_THAT(
        text,
        HasSubstr("analytical against packet: mean error 11.50 %, worst 15.00 % (all-reduce "
                  "other of 1 MiB on 8 ranks), 0 of 2 within 5 %, 1 within 10 %"));
    EXPECT_THAT(FormatValidation({}), HasSubstr("flow: nothing to compare with packets"));
}

TEST(ValidationReportTest, WritesTheTableAndThePage)
{
    const std::string folder = TestPath("echo-validation-report-test");
    std::filesystem::remove_all(folder);
    const std::vector<ValidationStep> steps{
        {"analytical, no slowdown", MicroSeconds(90), Time(), MicroSeconds(100)},
        {"analytical, learned slowdown", MicroSeconds(105), MicroSeconds(15), Time()}};
    WriteValidationReport(folder, "made <up>", Validation(), steps);
    EXPECT_THAT(TextOf(folder + "/steps.csv"),
                HasSubstr("\"analytical, no slowdown\",90.000000,0.000000,100.000000,-10\n"
                          "\"analytical, learned slowdown\",105.000000,15.000000,,\n"));
    EXPECT_THAT(FormatSteps(steps), HasSubstr("-10.0 %"));
    const std::string table = TextOf(folder + "/validation.csv");
    EXPECT_THAT(table,
                HasSubstr("all-reduce,other,8,0,1048576,auto,auto,0,1,200.000000,200.000000,"
                          "170.000000,0,-15,0\n"));
    EXPECT_THAT(table, HasSubstr(",1,,,50.000000,,,0\n"));
    EXPECT_THAT(TextOf(folder + "/validation.html"),
                HasSubstr("<title>made &lt;up&gt; - validation - Echo</title>"));
    const std::string document = TextOf(folder + "/columns.md");
    std::istringstream columns(table.substr(0, table.find('\n')));
    std::string column;
    while (std::getline(columns, column, ','))
    {
        EXPECT_THAT(document, HasSubstr("| `" + column + "` | "));
    }
    std::filesystem::remove_all(folder);
}

} // namespace
