// SPDX-License-Identifier: GPL-2.0-only
#include "echo-fluid-progress.h"

#include <limits>

namespace ns3
{
namespace echo
{

namespace
{

constexpr uint64_t SCALE = 8 * 1000000000000ULL; //!< bits x 10^12 in a byte

} // namespace

void FluidProgress::Start(uint64_t bytes, int64_t now)
{
    m_left = static_cast<uint128>(bytes) * SCALE;
    m_rate = 0;
    m_updated = now;
}

void FluidProgress::Continue(uint64_t bytes, int64_t now)
{
    const uint128 sent = static_cast<uint128>(m_rate) * static_cast<uint64_t>(now - m_updated);
    const uint128 over = sent > m_left ? sent - m_left : 0;
    const uint128 whole = static_cast<uint128>(bytes) * SCALE;
    m_left = whole > over ? whole - over : 0;
    m_updated = now;
}

uint64_t FluidProgress::GetLeftBytes() const
{
    return static_cast<uint64_t>((m_left + (SCALE - 1)) / SCALE);
}

int64_t FluidProgress::GetEnd() const
{
    constexpr int64_t LATEST = std::numeric_limits<int64_t>::max();
    if (m_rate == 0)
    {
        return LATEST;
    }
    uint128 ticks;
    if (m_left >> 64 == 0) // below 2.3 MB, where a division costs a tenth
    {
        const auto left = static_cast<uint64_t>(m_left);
        ticks = left / m_rate + (left % m_rate != 0 ? 1 : 0);
    }
    else
    {
        ticks = (m_left + (m_rate - 1)) / m_rate;
    }
    const auto room = static_cast<uint64_t>(LATEST - m_updated);
    return ticks > room ? LATEST : m_updated + static_cast<int64_t>(ticks);
}

} // namespace echo
} // namespace ns3
