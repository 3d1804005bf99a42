// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PROGRESS_H
#define ECHO_PROGRESS_H

#include "ns3/echo-records.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Shows how far a run is, on one line of a terminal: simulated time, share done, time left. It
 * looks at the wall clock when records pass through it on their way to another sink, so it adds no
 * events and cannot change their order. In a pipe or a file it writes nothing.
 */
class Progress : public RecordSink
{
  public:
    /** @return how much work is done and how much there is in all (operators) */
    using WorkFunction = std::function<std::pair<uint64_t, uint64_t>()>;
    /** @return seconds that only grow */
    using ClockFunction = std::function<double()>;
    /** Takes text for the terminal. */
    using WriteFunction = std::function<void(const std::string&)>;

    /** Shows on stderr if that is a terminal. @p next gets all records; it may be null. */
    Progress(RecordSink* next, WorkFunction work);
    /** For other terminals and tests. */
    Progress(RecordSink* next, WorkFunction work, ClockFunction clock, WriteFunction write);
    /** Clears the line. */
    ~Progress() override;

    void OnBegin(const std::vector<SimulatedRank>& ranks) override;
    void OnOperator(const OperatorRecord& record) override;
    void OnCollective(const CollectiveRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLink(const LinkRecord& record) override;
    void OnRank(const RankRecord& record) override;
    void OnRun(const RunRecord& record) override;

    /**
     * Looks whether it is time to show the line again (at most five times a second); for work that
     * goes on long without records.
     */
    void Poll(Time simulated);
    /** Clears the line, so that other text may follow; it comes back with the next record. */
    void Clear();

  private:
    void Show(Time simulated, double now);

    RecordSink* m_next;
    WorkFunction m_work;
    ClockFunction m_clock;
    WriteFunction m_write; //!< empty: nothing is shown
    double m_begin{0};     //!< clock at the start
    double m_shown{0};     //!< clock when the line was last shown
    size_t m_width{0};     //!< characters of the line on the terminal
};

/** @return @p seconds as "12 s", "3 min 05 s" or "2 h 07 min" */
std::string FormatSeconds(double seconds);

} // namespace echo
} // namespace ns3

#endif /* ECHO_PROGRESS_H */
