// SPDX-License-Identifier: GPL-2.0-only
#include "echo-time-limit.h"

#include "echo-error.h"

#include <cmath>
#include <sstream>

namespace ns3
{
namespace echo
{

namespace
{

constexpr int64_t LONGEST_PS = 4'000'000'000'000'000'000;

[[noreturn]] void Refuse(double seconds)
{
    std::ostringstream message;
    message << "a simulated time of " << seconds << " s, where at most "
            << static_cast<double>(LONGEST_PS) * 1e-12
            << " s fit the clock: a size, duration or rate is out of proportion";
    throw UnsupportedError(message.str());
}

} // namespace

Time WithinClock(Time time)
{
    if (time.GetPicoSeconds() > LONGEST_PS)
    {
        Refuse(static_cast<double>(time.GetPicoSeconds()) * 1e-12);
    }
    return time;
}

Time MicrosecondsToTime(double microseconds)
{
    if (!(microseconds * 1e6 <= static_cast<double>(LONGEST_PS)))
    {
        Refuse(microseconds * 1e-6);
    }
    return PicoSeconds(static_cast<int64_t>(std::llround(microseconds * 1e6)));
}

} // namespace echo
} // namespace ns3
