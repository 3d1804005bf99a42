// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FINGERPRINT_H
#define ECHO_FINGERPRINT_H

#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/**
 * A 64-bit hash of a sequence of values: equal sequences give equal fingerprints on every machine
 * and in every run; a changed, missing, added or moved value gives another with overwhelming
 * probability. For comparing results, not for security.
 *
 * Each 64-bit word w turns the state s into mix(s xor w) with mix(z): z += 0x9e3779b97f4a7c15;
 * z = (z xor z >> 30) * 0xbf58476d1ce4e5b9; z = (z xor z >> 27) * 0x94d049bb133111eb;
 * z xor z >> 31, the step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, OOPSLA 2014). A text is its length and its bytes, eight to a word, lowest first, the
 * last word filled with zeros.
 */
class Fingerprint
{
  public:
    void Add(uint64_t word)
    {
        uint64_t z = (m_state ^ word) + 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        m_state = z ^ (z >> 31);
    }

    /** Adds @p time in picoseconds. */
    void Add(Time time)
    {
        Add(static_cast<uint64_t>(time.GetPicoSeconds()));
    }

    void Add(const std::string& text);

    uint64_t GetValue() const
    {
        return m_state;
    }

    /** @return the value as 16 hexadecimal digits */
    std::string ToString() const;

  private:
    uint64_t m_state{0}; //!< 0 before the first word
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FINGERPRINT_H */
