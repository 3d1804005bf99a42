// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_TRAFFIC_SPEC_H
#define ECHO_TRAFFIC_SPEC_H

#include "echo-ids.h"
#include "echo-size-distribution.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace echo
{

/** Traffic beside the job: who sends what to whom and when. */
struct TrafficSpec
{
    enum class Pattern : uint8_t
    {
        POISSON,     //!< flows at random times, from any NIC to one of another host
        INCAST,      //!< now and then several NICs send to one at once
        PERMUTATION, //!< each NIC sends to one of another host all the time, no two to the same
    };

    Pattern pattern{Pattern::POISSON};
    double load{0};         //!< POISSON: of the summed NIC rates, above 0 and up to 1
    SizeDistribution sizes; //!< of flows (PERMUTATION: of its messages)
    uint32_t senders{0};    //!< INCAST
    DeviceId receiver;      //!< INCAST: a NIC; invalid: drawn each time
    Time interval;          //!< INCAST: from one to the next
    Time start;             //!< when it begins
    Time stop{Time::Max()}; //!< no flow begins then or later, nor when the job has ended
    uint8_t trafficClass{0};
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_TRAFFIC_SPEC_H */
