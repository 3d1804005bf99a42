// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CSV_SINK_H
#define ECHO_CSV_SINK_H

#include "echo-job-tables.h"
#include "echo-output-folder.h"

#include "ns3/echo-records.h"

#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Writes collectives.csv, flows.csv, links.csv and ranks.csv, a row a record as they come.
 * flows.csv is left out where the run was analytical and there were none.
 */
class CsvSink : public RecordSink
{
  public:
    /**
     * @param folder where the files go; outlives this object
     * @param deviceNames by DeviceId, for flows.csv; may be empty
     * @param mostRows of collectives.csv and of flows.csv: those that end first
     * @param jobs several jobs, which two of the tables name; empty: all ranks are one
     */
    CsvSink(OutputFolder& folder,
            std::vector<std::string> deviceNames,
            uint64_t mostRows = UINT64_MAX,
            std::vector<JobSpan> jobs = {});
    void OnCollective(const CollectiveRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLink(const LinkRecord& record) override;
    void OnRank(const RankRecord& record) override;
    /** Writes the links, whose shares are of the step time. */
    void OnRun(const RunRecord& record) override;
    /** @return a sentence for each table that does not hold all rows */
    std::vector<std::string> GetNotes() const;

  private:
    std::string NameOf(DeviceId device) const;
    /** @return the fields of @p columns and a comma; empty if there are no jobs */
    std::string JobFields(const ReportColumns<JobRow>& columns, RankId rank) const;

    OutputFolder& m_folder;
    OutputFile& m_collectives;
    OutputFile& m_flows;
    OutputFile& m_linksFile;
    OutputFile& m_ranks;
    std::vector<std::string> m_deviceNames;
    std::vector<JobSpan> m_jobs;
    std::vector<LinkRecord> m_links;
    uint64_t m_mostRows;
    uint64_t m_collectiveCount{0};
    uint64_t m_flowCount{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CSV_SINK_H */
