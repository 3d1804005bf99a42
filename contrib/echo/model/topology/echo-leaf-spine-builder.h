// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_LEAF_SPINE_BUILDER_H
#define ECHO_LEAF_SPINE_BUILDER_H

#include "echo-clos-builder.h"

namespace ns3
{
namespace echo
{

/**
 * Two tiers: hosts fill leaves in order, every leaf is joined to every spine. All NICs of a host
 * hang on its leaf. As many leaves as the hosts need, the last one partly filled, unless Leaves is
 * given.
 */
class LeafSpineBuilder : public ClosBuilder
{
  public:
    static TypeId GetTypeId();

  private:
    void DoBuildFabric(Topology& topology, const NicTable& nics) const override;

    uint32_t m_hostsPerLeaf{0}; //!< attribute HostsPerLeaf
    uint32_t m_leaves{0};       //!< attribute Leaves
    uint32_t m_spines{0};       //!< attribute Spines
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_LEAF_SPINE_BUILDER_H */
