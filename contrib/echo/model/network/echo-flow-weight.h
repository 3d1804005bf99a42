// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FLOW_WEIGHT_H
#define ECHO_FLOW_WEIGHT_H

#include <cstdint>

namespace ns3
{
namespace echo
{

/**
 * What streams count on a link: one as much as another, but the parts of a message that is spread
 * over several ways as much together as another one.
 */
struct FlowWeight
{
    /** Of a stream that is no part: divided without rest by 1 to 12, 14, 15 and 16, of which no
     * message has more parts. */
    static constexpr uint64_t WHOLE = 55440;

    /** @return of one of so many parts */
    static uint64_t Of(uint32_t parts)
    {
        return parts == 1 ? WHOLE : WHOLE / parts;
    }

    /**
     * @param capacity bit/s, up to 300 Tb/s
     * @param weight of those that share it, above zero
     * @return bit/s of one that is no part; for n of these: capacity / n, rounded down
     */
    static uint64_t GetShare(uint64_t capacity, uint64_t weight)
    {
        return capacity * WHOLE / weight;
    }
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FLOW_WEIGHT_H */
