// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REPORT_WRITER_H
#define ECHO_REPORT_WRITER_H

#include "echo-layered-graph.h"
#include "echo-run-summary.h"

#include "ns3/echo-records.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What the writer knows before the run. */
struct ReportOptions
{
    std::string cluster;  //!< its name, for the page's head; may be empty
    uint32_t ranks{0};    //!< of the job; 0: not known, all ranks are shown
    LayeredGraph network; //!< may be empty: drawn from the links that carried bytes
    /// Most ranks in timeline.json and in the page's timeline; above it, so many spread evenly. The
    /// page's has its own limit of operators, as it draws neighbours together.
    uint32_t timelineRanks{128};
    /// Most operators in timeline.json: as many ranks as fit are in it; 0: no limit.
    uint64_t timelineEvents{400000};
    uint64_t rows{200000};     //!< most rows of collectives.csv, and of flows.csv; 0: no limit
    std::vector<JobSpan> jobs; //!< several jobs; empty: all ranks are one
    std::vector<RankId> wantedRanks; //!< if not empty: these ranks in both
};

/**
 * Writes everything that a run leaves in its folder: summary.json, collectives.csv, flows.csv,
 * links.csv, ranks.csv, timeline.json, columns.md, report.html, which are equal from run to run,
 * and run.json, which is not. Rows are written as they come; the files appear under their names
 * at Finish, all of them or none.
 */
class ReportWriter : public RecordSink
{
  public:
    /**
     * @param directory made if it is missing; files of earlier runs in it are replaced
     * @throws InputError if it cannot be made or written
     */
    explicit ReportWriter(const std::string& directory, ReportOptions options = {});
    ~ReportWriter() override;

    void OnBegin(const std::vector<SimulatedRank>& ranks) override;
    void OnOperator(const OperatorRecord& record) override;
    void OnCollective(const CollectiveRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLink(const LinkRecord& record) override;
    void OnRank(const RankRecord& record) override;
    void OnRun(const RunRecord& record) override;

    /**
     * To be called once, after OnRun. @throws InputError if the files cannot be written
     */
    void Finish();

    /** @return what summary.json says; whole after OnRun */
    const RunSummary& GetSummary() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> m_impl; //!< the files and the sinks that fill them
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_REPORT_WRITER_H */
