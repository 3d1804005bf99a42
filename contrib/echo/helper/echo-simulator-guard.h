// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SIMULATOR_GUARD_H
#define ECHO_SIMULATOR_GUARD_H

#include "ns3/simulator.h"

namespace ns3
{
namespace echo
{

/** Ends a simulation also when an exception leaves it, so that the next one starts clean. */
struct SimulatorGuard
{
    SimulatorGuard() = default;
    SimulatorGuard(const SimulatorGuard&) = delete;
    SimulatorGuard& operator=(const SimulatorGuard&) = delete;

    ~SimulatorGuard()
    {
        Simulator::Destroy();
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SIMULATOR_GUARD_H */
