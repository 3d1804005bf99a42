// SPDX-License-Identifier: GPL-2.0-only
#include "echo-overlap-tracker.h"

#include "ns3/assert.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace echo
{

void OverlapTracker::Advance(Time now)
{
    const int64_t step = now.GetTimeStep();
    const auto passed = static_cast<uint64_t>(step - m_last);
    m_last = step;
    if (passed == 0)
    {
        return;
    }
    if (m_kernels > 0)
    {
        m_compute += passed;
    }
    else if (m_transfers > 0)
    {
        m_exposed += passed;
    }
    else if (m_waits > 0)
    {
        m_waiting += passed;
    }
    if (m_transfers > 0)
    {
        m_communication += passed;
    }
}

void OverlapTracker::BeginKernel(Time now)
{
    Advance(now);
    ++m_kernels;
}

void OverlapTracker::EndKernel(Time now)
{
    Advance(now);
    NS_ASSERT(m_kernels > 0);
    --m_kernels;
}

void OverlapTracker::BeginWait(Time now)
{
    Advance(now);
    ++m_waits;
}

void OverlapTracker::BeginTransfer(Time now)
{
    Advance(now);
    NS_ASSERT(m_waits > 0);
    --m_waits;
    ++m_transfers;
}

void OverlapTracker::EndCommunication(Time now, bool wasTransferring)
{
    Advance(now);
    uint32_t& count = wasTransferring ? m_transfers : m_waits;
    NS_ASSERT(count > 0);
    --count;
}

StretchedWork::StretchedWork(Time now, Time alone, double factor)
    : m_since(now), m_remaining(static_cast<double>(alone.GetTimeStep())), m_factor(factor)
{
}

void StretchedWork::Change(Time now, double factor)
{
    const auto passed = static_cast<double>((now - m_since).GetTimeStep());
    m_remaining = std::max(0.0, m_remaining - passed / m_factor);
    m_since = now;
    m_factor = factor;
}

Time StretchedWork::GetEnd() const
{
    return m_since + TimeStep(static_cast<uint64_t>(std::llround(m_remaining * m_factor)));
}

} // namespace echo
} // namespace ns3
