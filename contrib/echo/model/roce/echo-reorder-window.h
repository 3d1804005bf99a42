// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_REORDER_WINDOW_H
#define ECHO_REORDER_WINDOW_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * The packets of a queue pair that have arrived before an earlier one: what a receiver needs that
 * keeps them, as an earlier one was lost or takes a longer way. It writes them to memory as they
 * come (RDMA writes name their place) and keeps a bit each, until the gap before them is filled.
 *
 * The bits are a ring that grows with the largest distance met and is otherwise free.
 */
class ReorderWindow
{
  public:
    /**
     * Packet @p sequence has arrived, before @p expected, the first that has not.
     * @return false if it had arrived before
     */
    bool Insert(uint64_t sequence, uint64_t expected);

    /** Packets before @p expected have arrived. @return the first packet that has not */
    uint64_t TakeFrom(uint64_t expected);

    /** @return packets that wait for a gap to be filled */
    uint64_t GetWaiting() const
    {
        return m_waiting;
    }

  private:
    void Grow(uint64_t expected, uint64_t distance);

    bool Test(uint64_t sequence) const
    {
        return ((m_bits[Word(sequence)] >> (sequence % 64)) & 1) != 0;
    }

    void Flip(uint64_t sequence)
    {
        m_bits[Word(sequence)] ^= uint64_t{1} << (sequence % 64);
    }

    /** The number of words is a power of two. */
    size_t Word(uint64_t sequence) const
    {
        return (sequence / 64) & (m_bits.size() - 1);
    }

    std::vector<uint64_t> m_bits; //!< ring: bit of packet s at s modulo its size
    uint64_t m_waiting{0};        //!< bits set
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_REORDER_WINDOW_H */
