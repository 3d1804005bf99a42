// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BUFFER_WAIT_H
#define ECHO_BUFFER_WAIT_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

class RoceFabric;
class RocePort;

/** A traffic class of a port that its peer has stopped. */
struct StoppedClass
{
    const RocePort* port;
    uint32_t trafficClass;
};

/**
 * Deadlock of priority flow control: a port is stopped until buffer space at the other end is free,
 * which is held by packets that wait for ports that are stopped likewise, in a circle (a cyclic
 * buffer dependency; Hu et al., "Deadlocks in datacenter networks", HotNets 2016).
 *
 * Exact at any instant but for pause frames under way: a port counts as stuck only if what waits
 * for other stuck ports suffices to keep it stopped whatever else leaves.
 *
 * @return the ports of a circle, each waiting for the next and the last for the first; empty if
 * there is none
 */
std::vector<StoppedClass> FindBufferCycle(const RoceFabric& fabric);

/** @return "leaf0 -> leaf1 (class 0, stopped since 12 us) waits for leaf1 -> leaf2 ...", a line
 * each */
std::string DescribeBufferCycle(const RoceFabric& fabric, const std::vector<StoppedClass>& cycle);

} // namespace echo
} // namespace ns3

#endif /* ECHO_BUFFER_WAIT_H */
