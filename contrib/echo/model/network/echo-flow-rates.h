// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLOW_RATES_H
#define ECHO_FLOW_RATES_H

#include "echo-flow-filling.h"
#include "echo-flow-streams.h"
#include "echo-max-min-solver.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Keeps the rates of active streams max-min fair as streams come and go.
 *
 * Shares are fair exactly if every stream crosses a bottleneck: a link that is full and on which
 * nobody has more. Streams whose bottleneck nobody touched keep their rates. So an update solves
 * for the streams that came, or whose bottleneck was touched, with all others fixed, and then takes
 * in those for which that made their bottleneck invalid, until there are none. The result equals
 * that of solving for all streams (tested); the cost is that of the few whose rates change, where a
 * whole fabric that hangs together by chance collisions would be solved at every change.
 */
class FlowRates
{
  public:
    /** @p streams outlives this object. */
    explicit FlowRates(FlowStreams& streams);

    /**
     * Changes of less than this part of a rate are not passed on, which saves most of the work
     * where hundreds of streams depend on one another. Links are never given more than they have,
     * but may be left that part short. 0, at first: exact.
     */
    void SetTolerance(double tolerance)
    {
        m_tolerance = tolerance;
    }

    /** From a set of more streams than this on, shares are found for all streams at once. */
    void SetLargeSet(size_t streams)
    {
        m_largeSet = streams;
    }

    /** A stream came to or left the link. */
    void Touch(PortId port);

    /** Capacities have changed: the next update is for all streams. */
    void TouchAll()
    {
        m_allTouched = true;
    }

    /** @return whether any stream could be affected by what was touched */
    bool HasWork() const
    {
        return m_allTouched || !m_touched.empty();
    }

    /**
     * Makes rates fair again from @p now (ps) on.
     * @return the streams whose rates changed, or all if it was found for all; valid until the next
     * call
     */
    const std::vector<uint32_t>& Update(int64_t now);

    /** @return whether the last update found the rates of all streams */
    bool WasForAll() const
    {
        return m_forAll;
    }

    /** @return bit/s of all streams together, if the last update was for all */
    uint64_t GetTotalRate() const
    {
        return m_totalRate;
    }

    /** @return updates that had to find rates, for tests of the cost */
    uint64_t GetUpdateCount() const
    {
        return m_updates;
    }

  private:
    void Include(uint32_t stream);
    uint32_t IncludeLink(PortId port);
    void Solve();
    /** Takes the rates found over; links where that changes anything are in doubt. */
    void ReadSolution();
    void Doubt(PortId port);
    /** Takes in the streams whose bottleneck the rates found make invalid. */
    void IncludeAffected(PortId port);
    void Commit(int64_t now);
    /** Finds the rates of all streams, whatever was touched. */
    void UpdateAll(int64_t now);

    FlowStreams& m_streams;
    double m_tolerance{0};
    size_t m_largeSet{SIZE_MAX};
    MaxMinSolver m_solver;             //!< for a few streams
    FlowFilling m_filling;             //!< for all
    bool m_allTouched{false};          //!< since the last update
    bool m_forAll{false};              //!< the last update
    uint64_t m_totalRate{0};           //!< bit/s
    std::vector<PortId> m_touched;     //!< with users, since the last update
    uint64_t m_visit{0};               //!< number of the present update
    std::vector<uint32_t> m_set;       //!< streams that are solved for
    std::vector<PortId> m_links;       //!< that they cross
    std::vector<uint64_t> m_fixed;     //!< by link: rates of streams outside the set
    std::vector<PortId> m_inDoubt;     //!< links to be checked
    std::vector<uint32_t> m_pathLinks; //!< of the stream in hand; kept for its memory
    std::vector<uint32_t> m_changed;   //!< the result
    uint64_t m_updates{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLOW_RATES_H */
