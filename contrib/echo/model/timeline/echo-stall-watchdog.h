// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_STALL_WATCHDOG_H
#define ECHO_STALL_WATCHDOG_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>

namespace ns3
{
namespace echo
{

/**
 * Ends a run that goes on without getting anywhere (packets that are sent again for ever): looks
 * from time to time whether anything was done, and if not stops the simulator. Whoever called
 * Simulator::Run sees work left, as after a run that has drained. (An exception out of an event
 * would leak the event.)
 */
class StallWatchdog
{
  public:
    /** What it watches. */
    struct Subject
    {
        std::function<uint64_t()> getDone; //!< a number that grows with progress
        std::function<bool()> isComputing; //!< something runs that ends by itself
    };

    ~StallWatchdog();
    /** @param interval simulated time without progress that counts as a stall; zero: never */
    void Start(Time interval, Subject subject);
    /** Leaves no event behind. */
    void Stop();

  private:
    void Look();

    Time m_interval;
    Subject m_subject;
    uint64_t m_done{0}; //!< at the last look
    EventId m_next;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_STALL_WATCHDOG_H */
