// SPDX-License-Identifier: GPL-2.0-only
#include "echo-reorder-window.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

bool ReorderWindow::Insert(uint64_t sequence, uint64_t expected)
{
    const uint64_t distance = sequence - expected;
    if (distance >= 64 * m_bits.size())
    {
        Grow(expected, distance);
    }
    if (Test(sequence))
    {
        return false;
    }
    Flip(sequence);
    ++m_waiting;
    return true;
}

uint64_t ReorderWindow::TakeFrom(uint64_t expected)
{
    while (m_waiting > 0 && Test(expected))
    {
        Flip(expected);
        --m_waiting;
        ++expected;
    }
    return expected;
}

void ReorderWindow::Grow(uint64_t expected, uint64_t distance)
{
    const std::vector<uint64_t> old = std::move(m_bits);
    size_t words = std::max<size_t>(1, old.size());
    while (64 * words <= distance)
    {
        words *= 2;
    }
    m_bits.assign(words, 0);
    for (uint64_t s = expected; s < expected + 64 * old.size(); ++s)
    {
        if ((old[(s / 64) & (old.size() - 1)] >> (s % 64)) & 1)
        {
            Flip(s);
        }
    }
}

} // namespace echo
} // namespace ns3
