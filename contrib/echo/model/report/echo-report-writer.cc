// SPDX-License-Identifier: GPL-2.0-only
#include "echo-report-writer.h"

#include "echo-chrome-trace-sink.h"
#include "echo-columns-document.h"
#include "echo-csv-sink.h"
#include "echo-html-report.h"
#include "echo-json-writer.h"
#include "echo-output-folder.h"
#include "echo-rank-selection.h"
#include "echo-summary-fields.h"
#include "echo-text-table.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/// The page draws neighbours as one block where there are too many; this bounds the time it takes.
constexpr uint64_t PAGE_OPERATORS = 2000000;

std::vector<std::string> NamesOf(const LayeredGraph& network)
{
    std::vector<std::string> names;
    for (const auto& node : network.nodes)
    {
        names.push_back(node.name);
    }
    return names;
}

void WriteFieldsFile(OutputFile& file,
                     const std::vector<SummaryField>& fields,
                     const RunSummary& summary)
{
    JsonWriter json(file, JsonWriter::INDENTED);
    WriteFields(json, fields, summary);
    json.Flush();
}

uint64_t LimitOf(uint64_t option)
{
    return option == 0 ? UINT64_MAX : option;
}

} // namespace

struct ReportWriter::Impl
{
    Impl(const std::string& directory, ReportOptions given)
        : options(std::move(given)),
          folder(directory),
          selection(options.ranks, options.timelineRanks, options.wantedRanks),
          summary(options.jobs),
          csv(folder, NamesOf(options.network), LimitOf(options.rows), options.jobs),
          trace(folder.Create("timeline.json"), selection, LimitOf(options.timelineEvents)),
          pageSelection(selection),
          page(options.cluster, options.network, options.ranks, selection),
          sinks{&summary, &csv, &trace, &page}
    {
    }

    std::vector<std::string> GetNotes() const;

    ReportOptions options;
    uint64_t simulated{0}; //!< ranks
    OutputFolder folder;
    RankSelection selection;
    SummarySink summary;
    CsvSink csv;
    ChromeTraceSink trace;
    RankSelection pageSelection;
    HtmlReport page;
    std::vector<RecordSink*> sinks;
    bool complete{false}; //!< the run record has come
};

/** What the files leave out. */
std::vector<std::string> ReportWriter::Impl::GetNotes() const
{
    std::vector<std::string> notes;
    const auto add = [&](const char* what, const RankSelection& shown, const char* advice) {
        if (shown.GetCount(simulated) < simulated)
        {
            notes.push_back(std::string(what) + " shows " + FormatCount(shown.GetCount(simulated)) +
                            " of " + FormatCount(simulated) + " simulated ranks; " + advice);
        }
    };
    add("timeline.json",
        selection,
        "--set=output.timeline_events=N sets how many operators may be in it");
    add("the page's timeline",
        pageSelection,
        "--set=output.timeline_ranks=N sets how many ranks it may show");
    if (trace.GetLeftOut() > 0)
    {
        notes.push_back("timeline.json leaves out the last " + FormatCount(trace.GetLeftOut()) +
                        " operators; --set=output.timeline_events=0 writes all");
    }
    for (const auto& note : csv.GetNotes())
    {
        notes.push_back(note);
    }
    return notes;
}

ReportWriter::ReportWriter(const std::string& directory, ReportOptions options)
    : m_impl(std::make_unique<Impl>(directory, std::move(options)))
{
}

ReportWriter::~ReportWriter() = default;

void ReportWriter::OnBegin(const std::vector<SimulatedRank>& ranks)
{
    const ReportOptions& options = m_impl->options;
    m_impl->simulated = ranks.size();
    if (options.wantedRanks.empty())
    {
        const auto limit =
            static_cast<uint32_t>(std::min<uint64_t>(LimitOf(options.timelineRanks), UINT32_MAX));
        m_impl->selection = RankSelection::Fit(ranks, limit, LimitOf(options.timelineEvents));
        m_impl->trace.Select(m_impl->selection);
        m_impl->pageSelection = RankSelection::Fit(ranks, limit, PAGE_OPERATORS);
        m_impl->page.Select(m_impl->pageSelection, options.ranks);
    }
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnBegin(ranks);
    }
}

void ReportWriter::OnOperator(const OperatorRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnOperator(record);
    }
}

void ReportWriter::OnCollective(const CollectiveRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnCollective(record);
    }
}

void ReportWriter::OnFlow(const FlowRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnFlow(record);
    }
}

void ReportWriter::OnLink(const LinkRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnLink(record);
    }
}

void ReportWriter::OnRank(const RankRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnRank(record);
    }
}

void ReportWriter::OnRun(const RunRecord& record)
{
    for (RecordSink* sink : m_impl->sinks)
    {
        sink->OnRun(record);
    }
    for (const auto& note : m_impl->GetNotes())
    {
        m_impl->summary.AddNote(note);
    }
    m_impl->complete = true;
}

void ReportWriter::Finish()
{
    NS_ASSERT_MSG(m_impl->complete, "Finish before the run record");
    const RunSummary& summary = m_impl->summary.GetSummary();
    OutputFolder& folder = m_impl->folder;
    m_impl->page.Write(folder.Create("report.html"), summary);
    folder.Create("columns.md").Write(MakeColumnsDocument(summary));
    WriteFieldsFile(folder.Create("run.json"), GetRunFields(), summary);
    WriteFieldsFile(folder.Create("summary.json"), GetSummaryFields(), summary);
    folder.Commit();
}

const RunSummary& ReportWriter::GetSummary() const
{
    return m_impl->summary.GetSummary();
}

} // namespace echo
} // namespace ns3
