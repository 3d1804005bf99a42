// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LINK_EVENT_H
#define ECHO_LINK_EVENT_H

#include "echo-topology.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What happens to links at a time: a failure, or its end. */
struct LinkEvent
{
    enum class Kind : uint8_t
    {
        DOWN, //!< what is on the links is lost, nothing passes
        UP,   //!< the subject's DOWN is over
        RATE, //!< from now on this rate, each way
        LOSS, //!< from now on data packets are lost with this chance, each way
    };

    Time time;
    Kind kind{Kind::DOWN};
    std::string subject;       //!< what went down: "leaf0 - spine1", "spine1"
    std::vector<LinkId> links; //!< fabric links
    DataRate rate;             //!< of RATE
    double loss{0};            //!< of LOSS, 0 to 1
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LINK_EVENT_H */
