// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_FAT_TREE_BUILDER_H
#define ECHO_FAT_TREE_BUILDER_H

#include "echo-clos-builder.h"

namespace ns3
{
namespace echo
{

/**
 * Three tiers: pods of leaves and spines, joined by cores. Every leaf of a pod is joined to every
 * spine of it; spine s of every pod is joined to the same group of cores (the s-th). NICs fill the
 * leaves in order; what the hosts do not need of the last leaf stays empty.
 *
 * Either K, the ports of a switch, gives the whole tree: K pods of K/2 leaves and K/2 spines,
 * (K/2)^2 cores, K^3/4 NICs (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008). Or HostsPerLeaf and
 * LeavesPerPod give a general one, with the oversubscription of leaves and spines; with one pod
 * only it has no cores unless Cores is given.
 */
class FatTreeBuilder : public ClosBuilder
{
  public:
    static TypeId GetTypeId();

  private:
    /** The tree in numbers, whichever way it was given. */
    struct Shape
    {
        uint32_t nicsPerLeaf;
        uint32_t pods;
        uint32_t leaves; //!< in all; the last pod may lack some
        uint32_t leavesPerPod;
        uint32_t spinesPerPod;
        uint32_t cores;
        uint32_t uplinks;      //!< of a leaf
        uint32_t spineUplinks; //!< of a spine
    };

    void DoBuildFabric(Topology& topology, const NicTable& nics) const override;
    Shape ShapeOfK() const;
    Shape GeneralShape() const;
    DataRate GetCoreLinkRate() const;

    uint32_t m_k{0};                   //!< attribute K
    uint32_t m_hostsPerLeaf{0};        //!< attribute HostsPerLeaf
    uint32_t m_leavesPerPod{0};        //!< attribute LeavesPerPod
    uint32_t m_pods{0};                //!< attribute Pods
    uint32_t m_spinesPerPod{0};        //!< attribute SpinesPerPod
    uint32_t m_cores{0};               //!< attribute Cores
    uint32_t m_spineUplinks{0};        //!< attribute SpineUplinks
    double m_spineOversubscription{0}; //!< attribute SpineOversubscription
    DataRate m_coreLinkRate;           //!< attribute CoreLinkRate
    Time m_coreLinkDelay;              //!< attribute CoreLinkDelay
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_FAT_TREE_BUILDER_H */
