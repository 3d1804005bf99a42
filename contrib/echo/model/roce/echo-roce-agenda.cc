// SPDX-License-Identifier: GPL-2.0-only
#include "echo-roce-agenda.h"

#include "echo-roce-device.h"

#include "ns3/simulator.h"

namespace ns3
{
namespace echo
{

RoceAgenda::RoceAgenda(RoceDevice* device, uint32_t context)
    : m_device(device), m_context(context), m_tree(2, NEVER)
{
}

void RoceAgenda::Configure(uint32_t slots, int64_t lookahead)
{
    m_span = std::max<int64_t>(lookahead, 1);
    while (m_leaves < slots)
    {
        m_leaves *= 2;
    }
    m_tree.assign(2 * m_leaves, NEVER);
}

void RoceAgenda::Schedule(int64_t time)
{
    m_scheduled.push_back(time);
    m_next = time;
    Ref(); // the scheduler gives one reference back after the event
    // Not the time of who asks: a device that runs ahead is later than the simulator.
    const Time delay = TimeStep(static_cast<uint64_t>(time)) - Simulator::Now();
    Simulator::ScheduleWithContext(m_context, delay, this);
}

void RoceAgenda::Notify()
{
    const int64_t now = m_next;
    m_scheduled.pop_back();
    m_next = m_scheduled.empty() ? NEVER : m_scheduled.back();
    if (!m_device)
    {
        return;
    }
    m_device->Prefetch();
    __builtin_prefetch(m_tree.data());
    m_running = true;
    const int64_t end = now + m_span;
    m_device->Prefetch(&m_tree[m_leaves], end);
    while (m_tree[1] < end)
    {
        const int64_t time = m_tree[1];
        size_t i = 1;
        while (i < m_leaves)
        {
            i = 2 * i + (m_tree[2 * i] != time ? 1 : 0);
        }
        m_device->Handle(static_cast<uint32_t>(i - m_leaves), time);
    }
    m_running = false;
    if (m_tree[1] < m_next)
    {
        Schedule(m_tree[1]);
    }
}

} // namespace echo
} // namespace ns3
