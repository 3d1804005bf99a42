// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HTML_REPORT_H
#define ECHO_HTML_REPORT_H

#include "echo-layered-graph.h"
#include "echo-output-folder.h"
#include "echo-rank-selection.h"
#include "echo-run-summary.h"
#include "echo-timeline-sampler.h"

#include "ns3/echo-records.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Writes report.html: the step in numbers, the ranks' timeline, time by rank, communication by
 * kind, load of the links, warnings. The page holds all that it shows and loads nothing.
 */
class HtmlReport : public RecordSink
{
  public:
    /** Ranks that the chart of time by rank shows one by one; of more, means of neighbours. */
    static constexpr size_t MAX_BARS = 256;

    /** Ranks of the timeline whose operators stay apart longest, spread evenly over the job. */
    static constexpr uint32_t DETAILED_RANKS = 8;

    /**
     * @param cluster its name; may be empty
     * @param network may be empty: drawn from the links that carried bytes
     * @param ranks of the job; 0 if not known
     * @param selection ranks of the timeline
     */
    HtmlReport(std::string cluster, LayeredGraph network, uint32_t ranks, RankSelection selection);
    /** Shows other ranks; before the first operator. @param ranks of the job */
    void Select(RankSelection selection, uint32_t ranks);
    void OnOperator(const OperatorRecord& record) override;
    void OnLink(const LinkRecord& record) override;
    void OnRank(const RankRecord& record) override;

    /** Writes the page; @p summary is of the same records. */
    void Write(OutputFile& file, const RunSummary& summary);

  private:
    void WriteData(JsonWriter& json, const RunSummary& summary);
    void WriteRanks(JsonWriter& json) const;
    void WriteTotals(JsonWriter& json, const RunSummary& summary) const;
    void WriteLinks(JsonWriter& json, const RunSummary& summary) const;

    std::string m_cluster;
    LayeredGraph m_network;
    RankSelection m_selection;
    RankSelection m_detailed;   //!< within the selection
    TimelineSampler m_details;  //!< of the detailed ranks
    TimelineSampler m_overview; //!< of the others
    std::vector<LinkRecord> m_links;
    std::vector<RankRecord> m_ranks;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_HTML_REPORT_H */
