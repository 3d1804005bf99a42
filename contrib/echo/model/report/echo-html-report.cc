// SPDX-License-Identifier: GPL-2.0-only
#include "echo-html-report.h"

#include "echo-html-page.h"
#include "echo-json-writer.h"
#include "echo-network-drawing.h"
#include "echo-report-column.h"
#include "echo-report-tables.h"
#include "echo-summary-fields.h"

#include "ns3/echo-units.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

// Together at most about 4 MB of the page.
constexpr size_t DETAIL_BLOCKS = 90000;
constexpr size_t OVERVIEW_BLOCKS = 180000;

} // namespace

HtmlReport::HtmlReport(std::string cluster,
                       LayeredGraph network,
                       uint32_t ranks,
                       RankSelection selection)
    : m_cluster(std::move(cluster)),
      m_network(std::move(network)),
      m_selection(std::move(selection)),
      m_detailed(m_selection.Thin(ranks, DETAILED_RANKS)),
      m_details({}, DETAIL_BLOCKS),
      m_overview({}, OVERVIEW_BLOCKS)
{
}

void HtmlReport::Select(RankSelection selection, uint32_t ranks)
{
    m_detailed = selection.Thin(ranks, DETAILED_RANKS);
    m_selection = std::move(selection);
}

void HtmlReport::OnOperator(const OperatorRecord& record)
{
    if (m_selection.Contains(record.rank))
    {
        (m_detailed.Contains(record.rank) ? m_details : m_overview).OnOperator(record);
    }
}

void HtmlReport::OnLink(const LinkRecord& record)
{
    m_links.push_back(record);
}

void HtmlReport::OnRank(const RankRecord& record)
{
    m_ranks.push_back(record);
    if (m_selection.Contains(record.rank))
    {
        (m_detailed.Contains(record.rank) ? m_details : m_overview).OnRank(record);
    }
}

void HtmlReport::Write(OutputFile& file, const RunSummary& summary)
{
    HtmlPage page;
    page.title = (summary.run.scenario.empty() ? "Run" : summary.run.scenario) + " - Echo";
    page.body = "report.html";
    page.scripts = {"common.js", "timeline.js", "network.js", "report.js"};
    page.addData = [&](JsonWriter& json) { WriteData(json, summary); };
    WriteHtmlPage(file, page);
}

void HtmlReport::WriteData(JsonWriter& json, const RunSummary& summary)
{
    json.BeginObject();
    json.Member("cluster", m_cluster);
    json.Key("summary");
    WriteFields(json, GetSummaryFields(), summary);
    WriteRanks(json);
    WriteTotals(json, summary);
    WriteLinks(json, summary);
    json.Key("network");
    const LayeredGraph& graph = m_network.nodes.empty() ? MakeLayeredGraph(m_links) : m_network;
    NetworkDrawing(graph, m_links, summary.run.stepTime).Write(json);
    // A communication may be joined before the first operator starts.
    const Time begin = std::min(m_details.GetFirstTime(), m_overview.GetFirstTime());
    json.Key("timelines").BeginArray();
    m_details.Write(json, begin, summary.run.stepTime);
    m_overview.Write(json, begin, summary.run.stepTime);
    json.EndArray();
    json.EndObject();
}

void HtmlReport::WriteRanks(JsonWriter& json) const
{
    const size_t step = (m_ranks.size() + MAX_BARS - 1) / MAX_BARS;
    json.Key("ranks").BeginArray();
    for (size_t begin = 0; begin < m_ranks.size(); begin += step)
    {
        const size_t end = std::min(begin + step, m_ranks.size());
        Time sums[4];
        for (size_t i = begin; i < end; ++i)
        {
            sums[0] += m_ranks[i].compute;
            sums[1] += m_ranks[i].exposedCommunication;
            sums[2] += m_ranks[i].waiting;
            sums[3] += m_ranks[i].idle;
        }
        json.BeginObject().Member("first", m_ranks[begin].rank.Get());
        json.Member("last", m_ranks[end - 1].rank.Get()).Member("host", m_ranks[begin].host);
        json.Key("parts_us").BeginArray();
        for (const Time& sum : sums)
        {
            json.Value(PicoSeconds(sum.GetPicoSeconds() / static_cast<int64_t>(end - begin)));
        }
        json.EndArray().EndObject();
    }
    json.EndArray();
}

void HtmlReport::WriteTotals(JsonWriter& json, const RunSummary& summary) const
{
    json.Key("totals").BeginArray();
    for (const auto& t : summary.totals)
    {
        const auto count = static_cast<int64_t>(t.count);
        json.BeginObject();
        if (!t.job.empty())
        {
            json.Member("job", t.job);
        }
        json.Member("operation", ToString(t.kind)).Member("group", ToString(t.group));
        json.Member("fidelity", ToString(t.fidelity)).Member("count", t.count);
        json.Member("bytes", t.bytes).Member("payload", t.payloadBytes);
        json.Member("duration_us", t.duration).Member("longest_us", t.longest);
        json.Member("mean_us", PicoSeconds(t.duration.GetPicoSeconds() / count));
        json.Member("waiting_us", PicoSeconds(t.waiting.GetPicoSeconds() / count));
        json.Member("busbw_GBps", RateGBps(t.busBytes, t.duration));
        json.Member("utilisation", t.largestUtilization);
        json.Member("extrapolated", t.extrapolated).Member("contended", t.contended);
        json.Member("uncoupled", t.uncoupled).EndObject();
    }
    json.EndArray();
}

void HtmlReport::WriteLinks(JsonWriter& json, const RunSummary& summary) const
{
    json.Member("links_used", m_links.size());
    json.Key("links").BeginArray();
    for (const auto* links : {&summary.hottestFabricLinks, &summary.hottestHostLinks})
    {
        for (const auto& link : *links)
        {
            json.BeginObject().Member("from", link.from).Member("to", link.to);
            json.Member("fabric", IsFabricLink(link));
            json.Member("rate_GBps", GigabytesPerSecond(link.rate)).Member("bytes", link.wireBytes);
            json.Member("utilisation", MeanUtilization(link, summary.run.stepTime));
            json.Member("peak", link.peakRate).Member("queue", link.maxQueueBytes);
            json.Member("marks", link.ecnMarks).Member("pauses", link.pauses);
            json.Member("paused_us", link.paused).Member("drops", link.drops).EndObject();
        }
    }
    json.EndArray();
}

} // namespace echo
} // namespace ns3
