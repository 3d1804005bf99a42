// SPDX-License-Identifier: GPL-2.0-only
#include "echo-stall-watchdog.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3
{
namespace echo
{

StallWatchdog::~StallWatchdog()
{
    Stop();
}

void StallWatchdog::Start(Time interval, Subject subject)
{
    Stop();
    m_interval = interval;
    m_subject = std::move(subject);
    m_done = m_subject.getDone();
    if (m_interval.IsStrictlyPositive())
    {
        m_next = Simulator::Schedule(m_interval, &StallWatchdog::Look, this);
    }
}

void StallWatchdog::Stop()
{
    if (m_next.IsRunning())
    {
        Simulator::Remove(m_next);
    }
    m_next = EventId();
}

void StallWatchdog::Look()
{
    if (Simulator::IsFinished())
    {
        return; // nothing else is scheduled: the run has drained
    }
    const uint64_t done = m_subject.getDone();
    if (done == m_done && !m_subject.isComputing())
    {
        Simulator::Stop();
        return;
    }
    m_done = done;
    m_next = Simulator::Schedule(m_interval, &StallWatchdog::Look, this);
}

} // namespace echo
} // namespace ns3
