// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_RAIL_OPTIMISED_BUILDER_H
#define ECHO_RAIL_OPTIMISED_BUILDER_H

#include "echo-clos-builder.h"

namespace ns3
{
namespace echo
{

/**
 * One leaf for each rail of each pod: NICs of the same rail of a pod's hosts share a leaf, so
 * traffic between GPUs of equal number takes two links. Spines join rails and pods. Leaf
 * pod * rails + rail.
 */
class RailOptimisedBuilder : public ClosBuilder
{
  public:
    static TypeId GetTypeId();

  private:
    void DoBuildFabric(Topology& topology, const NicTable& nics) const override;

    uint32_t m_hostsPerPod{0}; //!< attribute HostsPerPod
    uint32_t m_rails{0};       //!< attribute Rails
    uint32_t m_spines{0};      //!< attribute Spines
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_RAIL_OPTIMISED_BUILDER_H */
