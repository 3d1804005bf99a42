// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TESTS_LOTTERY_H
#define ECHO_TESTS_LOTTERY_H

#include <cstdint>

namespace ns3
{
namespace echo
{

/** Small random problems, the same in every run. */
class Lottery
{
  public:
    explicit Lottery(uint64_t seed) : m_state(seed)
    {
    }

    uint32_t Draw(uint32_t below)
    {
        m_state = m_state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<uint32_t>((m_state >> 33) % below);
    }

  private:
    uint64_t m_state;
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TESTS_LOTTERY_H */
