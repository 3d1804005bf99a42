// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CHROME_TRACE_SINK_H
#define ECHO_CHROME_TRACE_SINK_H

#include "echo-json-writer.h"
#include "echo-rank-selection.h"

#include "ns3/echo-records.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace ns3
{
namespace echo
{

/**
 * Writes timeline.json in the Chrome trace event format (Perfetto and chrome://tracing open it):
 * a process a rank; a thread for each of its streams and what runs there: compute, copy, host, or
 * communication of one group kind. An operator is a complete event; the time that a communication
 * waited for its other members stands before it as an event called "waiting". Events are written
 * as they come.
 */
class ChromeTraceSink : public RecordSink
{
  public:
    /**
     * @param file outlives this object
     * @param limit most operators to write: those that end first
     */
    ChromeTraceSink(OutputFile& file, RankSelection selection, uint64_t limit = UINT64_MAX);
    /** Shows other ranks; before the first operator. */
    void Select(RankSelection selection);
    void OnBegin(const std::vector<SimulatedRank>& ranks) override;
    void OnOperator(const OperatorRecord& record) override;
    void OnRank(const RankRecord& record) override;
    /** Writes names of processes and threads and ends the document. */
    void OnRun(const RunRecord& record) override;

    /** @return operators of the selected ranks that were left out */
    uint64_t GetLeftOut() const
    {
        return m_leftOut;
    }

  private:
    void BeginEvent(const OperatorRecord& record, uint32_t thread, const std::string& name);
    void WriteMetadata(RankId rank, uint32_t thread, const char* what, const std::string& name);
    void WriteOrder(RankId rank, uint32_t thread, const char* what, uint32_t order);

    JsonWriter m_json;
    RankSelection m_selection;
    uint64_t m_limit;
    uint64_t m_written{0}; //!< operators
    uint64_t m_leftOut{0};
    std::map<RankId, uint32_t> m_replicas; //!< of the ranks that stand for more than themselves
    std::map<RankId, std::map<uint32_t, std::string>> m_threads; //!< names of those seen
    std::map<RankId, uint32_t> m_hosts;
};

/** @return "compute", "copy", "host", or for communication its group kind: "tp", "pp" ... */
std::string LaneName(ActivityKind activity, GroupKind group);
/** @return a number that orders lanes: compute, copy, communication by group kind, host */
uint32_t LaneOrder(ActivityKind activity, GroupKind group);

} // namespace echo
} // namespace ns3

#endif /* ECHO_CHROME_TRACE_SINK_H */
