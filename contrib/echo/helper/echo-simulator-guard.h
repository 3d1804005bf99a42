// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SIMULATOR_GUARD_H
#define ECHO_SIMULATOR_GUARD_H

#include "ns3/global-value.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

namespace ns3
{
namespace echo
{

/**
 * Ends a simulation also when an exception leaves it, so that the next one starts clean. Events are
 * kept by Echo's bucket wheel, unless ns-3's global value SchedulerType asks for something other
 * than ns-3's default; results are the same with all.
 */
struct SimulatorGuard
{
    SimulatorGuard()
    {
        StringValue scheduler;
        GlobalValue::GetValueByName("SchedulerType", scheduler);
        if (scheduler.Get() == "ns3::MapScheduler")
        {
            Simulator::SetScheduler(ObjectFactory("ns3::echo::BucketWheelScheduler"));
        }
    }

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
