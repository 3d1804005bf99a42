// SPDX-License-Identifier: GPL-2.0-only
#include "echo-csv-sink.h"

#include "echo-report-tables.h"
#include "echo-text-table.h"

#include <algorithm>

namespace ns3
{
namespace echo
{

namespace
{

/** @return a line that another is to be joined to */
std::string Begin(std::string line)
{
    line.back() = ',';
    return line;
}

} // namespace

CsvSink::CsvSink(OutputFolder& folder,
                 std::vector<std::string> deviceNames,
                 uint64_t mostRows,
                 std::vector<JobSpan> jobs)
    : m_folder(folder),
      m_collectives(folder.Create("collectives.csv")),
      m_flows(folder.Create("flows.csv")),
      m_linksFile(folder.Create("links.csv")),
      m_ranks(folder.Create("ranks.csv")),
      m_deviceNames(std::move(deviceNames)),
      m_jobs(std::move(jobs)),
      m_mostRows(mostRows)
{
    if (!m_jobs.empty())
    {
        m_collectives.Write(Begin(CsvHeader(GetCollectiveJobColumns())));
        m_ranks.Write(Begin(CsvHeader(GetRankJobColumns())));
    }
    m_collectives.Write(CsvHeader(GetCollectiveColumns()));
    m_flows.Write(CsvHeader(GetFlowColumns()));
    m_linksFile.Write(CsvHeader(GetLinkColumns()));
    m_ranks.Write(CsvHeader(GetRankColumns()));
}

std::string CsvSink::NameOf(DeviceId device) const
{
    if (device.Get() < m_deviceNames.size())
    {
        return m_deviceNames[device.Get()];
    }
    return device.IsValid() ? std::to_string(device.Get()) : "";
}

std::string CsvSink::JobFields(const ReportColumns<JobRow>& columns, RankId rank) const
{
    const JobSpan* job = FindJob(m_jobs, rank);
    return job ? Begin(CsvLine(columns, JobRow{*job, rank})) : "";
}

void CsvSink::OnCollective(const CollectiveRecord& record)
{
    if (m_collectiveCount++ < m_mostRows)
    {
        m_collectives.Write(JobFields(GetCollectiveJobColumns(), record.firstMember) +
                            CsvLine(GetCollectiveColumns(), record));
    }
}

void CsvSink::OnFlow(const FlowRecord& record)
{
    if (m_flowCount++ < m_mostRows)
    {
        m_flows.Write(CsvLine(GetFlowColumns(),
                              FlowRow{record, NameOf(record.source), NameOf(record.destination)}));
    }
}

std::vector<std::string> CsvSink::GetNotes() const
{
    std::vector<std::string> notes;
    const auto add = [&](const char* file, uint64_t count) {
        if (count > m_mostRows)
        {
            notes.push_back(std::string(file) + " holds the first " + FormatCount(m_mostRows) +
                            " of " + FormatCount(count) +
                            " rows, in order of end; --set=output.rows=0 writes all");
        }
    };
    add("collectives.csv", m_collectiveCount);
    add("flows.csv", m_flowCount);
    return notes;
}

void CsvSink::OnLink(const LinkRecord& record)
{
    m_links.push_back(record);
}

void CsvSink::OnRank(const RankRecord& record)
{
    m_ranks.Write(JobFields(GetRankJobColumns(), record.rank) + CsvLine(GetRankColumns(), record));
}

void CsvSink::OnRun(const RunRecord& record)
{
    std::stable_sort(m_links.begin(), m_links.end(), [](const LinkRecord& a, const LinkRecord& b) {
        return a.port < b.port;
    });
    for (const auto& link : m_links)
    {
        m_linksFile.Write(CsvLine(GetLinkColumns(), LinkRow{link, record.stepTime}));
    }
    if (m_flowCount == 0 && record.fidelity == Fidelity::ANALYTICAL)
    {
        m_folder.Drop("flows.csv");
    }
}

} // namespace echo
} // namespace ns3
