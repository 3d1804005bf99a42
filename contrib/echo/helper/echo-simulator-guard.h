// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SIMULATOR_GUARD_H
#define ECHO_SIMULATOR_GUARD_H

#include "ns3/echo-error.h"

namespace ns3
{
namespace echo
{

/** A signal asked to stop: work is left, and nothing is to be tried again. */
class StoppedError : public StallError
{
    using StallError::StallError;
};

/**
 * Ends a simulation also when an exception leaves it, so that the next one starts clean. Events are
 * kept by Echo's bucket wheel, unless ns-3's global value SchedulerType asks for something other
 * than ns-3's default; results are the same with all.
 */
class SimulatorGuard
{
  public:
    SimulatorGuard();
    SimulatorGuard(const SimulatorGuard&) = delete;
    SimulatorGuard& operator=(const SimulatorGuard&) = delete;
    ~SimulatorGuard();

    /**
     * Runs the simulator to its end.
     * @throws StoppedError if SIGINT, SIGTERM or SIGHUP asks to stop: what is half-written is
     * cleared away as after any error. A second signal ends the process at once.
     */
    static void Run();
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SIMULATOR_GUARD_H */
