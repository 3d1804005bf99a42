// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_NIC_LOADS_H
#define ECHO_NIC_LOADS_H

#include "ns3/echo-collective-algorithm.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace ns3
{
namespace echo
{

/**
 * What the busiest NIC needs for a collective's bytes. The white-box formulas spread a host's bytes
 * evenly over its NICs; where hosts have different numbers of members, channels that cross a host
 * with fewer do not.
 */
class NicLoads
{
  public:
    /** @return whether a group has hosts with different numbers of members */
    static bool IsUneven(const GroupLayout& layout);
    /**
     * @param plan its bytes do not matter; the layout is kept until Clear()
     * @return time of the busiest direction of a NIC for each byte of the collective's, us
     */
    double GetUsPerByte(const CollectivePlan& plan);
    /**
     * @return time of the busiest direction of a NIC for a byte from each rank to each other one,
     *         us; by hosts and their NICs, so that no pair is walked
     */
    static double GetPairsUsPerByte(const GroupLayout& layout);
    void Clear();

  private:
    using Key =
        std::tuple<GroupLayoutPtr, CollectiveKind, CollectiveAlgorithmKind, uint32_t, uint32_t>;
    std::map<Key, double> m_usPerByte; //!< never iterated
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_NIC_LOADS_H */
