// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TIME_LIMIT_H
#define ECHO_TIME_LIMIT_H

#include "ns3/nstime.h"

namespace ns3
{
namespace echo
{

// At most 4 million seconds may be simulated: less than half of what ns-3's 64 bits of picoseconds
// hold, so that adding a delay to a time of the clock cannot wrap.

/** @return the same. @throws UnsupportedError if it is longer */
Time WithinClock(Time time);

/**
 * @return microseconds as a time, rounded to picoseconds
 * @throws UnsupportedError if they are longer, or no number
 */
Time MicrosecondsToTime(double microseconds);

} // namespace echo
} // namespace ns3

#endif /* ECHO_TIME_LIMIT_H */
