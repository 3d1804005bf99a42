// SPDX-License-Identifier: GPL-2.0-only
// A run that is asked to stop ends as one with work left, and the next one is not disturbed.

#include "ns3/echo-error.h"
#include "ns3/echo-simulator-guard.h"
#include "ns3/simulator.h"

#include <signal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ns3;
using namespace ns3::echo;
using testing::HasSubstr;

TEST(SimulatorGuard, ASignalStopsTheRun)
{
    bool reached = false;
    {
        const SimulatorGuard guard;
        Simulator::Schedule(MicroSeconds(1), [] { raise(SIGTERM); });
        Simulator::Schedule(MicroSeconds(2), [&] { reached = true; });
        try
        {
            SimulatorGuard::Run();
            ADD_FAILURE() << "not stopped";
        }
        catch (const StallError& error)
        {
            EXPECT_THAT(
                error.what(),
                AllOf(HasSubstr("stopped by a signal (Terminated)"), HasSubstr("1.000 us")));
        }
    }
    EXPECT_FALSE(reached);
    {
        const SimulatorGuard guard;
        Simulator::Schedule(MicroSeconds(2), [&] { reached = true; });
        SimulatorGuard::Run();
    }
    EXPECT_TRUE(reached);
}
