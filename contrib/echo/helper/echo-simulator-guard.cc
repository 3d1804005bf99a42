// SPDX-License-Identifier: GPL-2.0-only
#include "echo-simulator-guard.h"

#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/global-value.h"
#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <signal.h>

#include <array>
#include <cstring>

namespace ns3
{
namespace echo
{

namespace
{

const std::array<int, 3> SIGNALS{SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t g_signal = 0; //!< the one that asked to stop

/** Simulator::Stop only sets a flag, which Run looks at before each event. */
void AskToStop(int signal)
{
    g_signal = signal;
    Simulator::Stop();
}

/** Takes the signals while it lives, but those that the process ignores. */
class SignalScope
{
  public:
    SignalScope()
    {
        g_signal = 0;
        struct sigaction action
        {
        };
        action.sa_handler = AskToStop;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        for (size_t i = 0; i < SIGNALS.size(); ++i)
        {
            sigaction(SIGNALS[i], nullptr, &m_before[i]);
            if (m_before[i].sa_handler != SIG_IGN)
            {
                sigaction(SIGNALS[i], &action, nullptr);
            }
        }
    }

    ~SignalScope()
    {
        for (size_t i = 0; i < SIGNALS.size(); ++i)
        {
            sigaction(SIGNALS[i], &m_before[i], nullptr);
        }
    }

    SignalScope(const SignalScope&) = delete;
    SignalScope& operator=(const SignalScope&) = delete;

  private:
    std::array<struct sigaction, 3> m_before{};
};

} // namespace

SimulatorGuard::SimulatorGuard()
{
    StringValue scheduler;
    GlobalValue::GetValueByName("SchedulerType", scheduler);
    if (scheduler.Get() == "ns3::MapScheduler")
    {
        Simulator::SetScheduler(ObjectFactory("ns3::echo::BucketWheelScheduler"));
    }
}

SimulatorGuard::~SimulatorGuard()
{
    Simulator::Destroy();
}

void SimulatorGuard::Run()
{
    const SignalScope scope;
    Simulator::Run();
    if (g_signal != 0)
    {
        throw StoppedError("stopped by a signal (" + std::string(strsignal(g_signal)) +
                           ") at simulated time " + FormatTime(Simulator::Now()) +
                           " with work left; no results were written");
    }
}

} // namespace echo
} // namespace ns3
