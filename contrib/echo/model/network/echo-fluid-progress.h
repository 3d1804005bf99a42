// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLUID_PROGRESS_H
#define ECHO_FLUID_PROGRESS_H

#include <cstdint>

namespace ns3
{
namespace echo
{

/**
 * How far a message is that moves at a rate which changes now and then. Exact: what is left is
 * counted in bits x 10^12, of which a rate of r bit/s takes r each picosecond.
 */
class FluidProgress
{
  public:
    /** A message of @p bytes begins at @p now (ps), at rate 0. */
    void Start(uint64_t bytes, int64_t now);
    /** The rate is @p bitsPerSecond from @p now on. */
    void SetRate(uint64_t bitsPerSecond, int64_t now)
    {
        const uint128 sent = static_cast<uint128>(m_rate) * static_cast<uint64_t>(now - m_updated);
        m_left -= sent < m_left ? sent : m_left;
        m_updated = now;
        m_rate = bitsPerSecond;
    }
    /**
     * A message of @p bytes follows at @p now without a gap, at the same rate. What the end of the
     * one before, rounded up to a picosecond, left over is used, so a sequence takes no longer than
     * one message of all bytes.
     */
    void Continue(uint64_t bytes, int64_t now);

    uint64_t GetRate() const
    {
        return m_rate;
    }

    /** @return bytes left when the rate was last set or a message began, rounded up */
    uint64_t GetLeftBytes() const;

    /** @return whether the last byte leaves by @p time (ps) at the present rate */
    bool EndsBy(int64_t time) const
    {
        return m_left <= static_cast<uint128>(m_rate) * static_cast<uint64_t>(time - m_updated);
    }

    /** @return when the last byte leaves at the present rate, ps, rounded up; the latest for rate 0
     */
    int64_t GetEnd() const;

  private:
    __extension__ using uint128 = unsigned __int128;

    uint128 m_left{0};    //!< bits x 10^12
    uint64_t m_rate{0};   //!< bit/s
    int64_t m_updated{0}; //!< ps: when m_left was true
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLUID_PROGRESS_H */
