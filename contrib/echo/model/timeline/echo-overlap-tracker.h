// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_OVERLAP_TRACKER_H
#define ECHO_OVERLAP_TRACKER_H

#include "ns3/nstime.h"

#include <cstdint>

namespace ns3
{
namespace echo
{

/**
 * Knows what runs side by side on one rank and adds up for how long.
 *
 * At any time a rank computes (a kernel or copy runs), else communicates exposed (a transfer runs),
 * else waits (it has joined a communication that others have not), else idles. The sums are of
 * integer picoseconds, so they add up exactly.
 */
class OverlapTracker
{
  public:
    /** Brings the sums up to date. */
    void Advance(Time now);
    void BeginKernel(Time now);
    void EndKernel(Time now);
    /** The rank joined a communication. */
    void BeginWait(Time now);
    /** All have joined it: waiting ends, transfer begins. */
    void BeginTransfer(Time now);
    /** @param wasTransferring whether BeginTransfer came for it */
    void EndCommunication(Time now, bool wasTransferring);

    bool IsComputing() const
    {
        return m_kernels > 0;
    }

    bool IsTransferring() const
    {
        return m_transfers > 0;
    }

    Time GetCompute() const
    {
        return TimeStep(m_compute);
    }

    Time GetExposed() const
    {
        return TimeStep(m_exposed);
    }

    Time GetWaiting() const
    {
        return TimeStep(m_waiting);
    }

    /** @return time with a transfer, overlapped or not */
    Time GetCommunication() const
    {
        return TimeStep(m_communication);
    }

  private:
    uint32_t m_kernels{0};
    uint32_t m_transfers{0};
    uint32_t m_waits{0};
    int64_t m_last{0}; //!< time steps, as all below
    uint64_t m_compute{0};
    uint64_t m_exposed{0};
    uint64_t m_waiting{0};
    uint64_t m_communication{0};
};

/**
 * The rest of an operator that progresses at 1/factor of its speed, where the factor changes as
 * what runs beside it does. Exact to the picosecond while the factor stays.
 */
class StretchedWork
{
  public:
    StretchedWork() = default;
    /** @param alone its time when nothing else runs; @param factor of at least 1 */
    StretchedWork(Time now, Time alone, double factor);

    /** Counts the progress until now and goes on at another factor. */
    void Change(Time now, double factor);

    double GetFactor() const
    {
        return m_factor;
    }

    /** @return when it ends if nothing changes */
    Time GetEnd() const;

  private:
    Time m_since;          //!< of the last change
    double m_remaining{0}; //!< time steps that it would take alone, from m_since
    double m_factor{1};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_OVERLAP_TRACKER_H */
