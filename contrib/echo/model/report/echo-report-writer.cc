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

#include "ns3/assert.h"

namespace ns3
{
namespace echo
{

namespace
{

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

} // namespace

struct ReportWriter::Impl
{
    Impl(const std::string& directory, ReportOptions given)
        : options(std::move(given)),
          folder(directory),
          selection(options.ranks, options.timelineRanks, options.wantedRanks),
          csv(folder, NamesOf(options.network)),
          trace(folder.Create("timeline.json"), selection),
          page(options.cluster, options.network, options.ranks, selection),
          sinks{&summary, &csv, &trace, &page}
    {
    }

    ReportOptions options;
    OutputFolder folder;
    RankSelection selection;
    SummarySink summary;
    CsvSink csv;
    ChromeTraceSink trace;
    HtmlReport page;
    std::vector<RecordSink*> sinks;
    bool complete{false}; //!< the run record has come
};

ReportWriter::ReportWriter(const std::string& directory, ReportOptions options)
    : m_impl(std::make_unique<Impl>(directory, std::move(options)))
{
}

ReportWriter::~ReportWriter() = default;

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
    m_impl->complete = true;
}

void ReportWriter::Finish()
{
    NS_ASSERT_MSG(m_impl->complete, "Finish before the run record");
    const RunSummary& summary = m_impl->summary.GetSummary();
    OutputFolder& folder = m_impl->folder;
    m_impl->page.Write(folder.Create("report.html"), summary);
    folder.Create("columns.md").Write(MakeColumnsDocument());
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
