// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_PATH_CHOICE_H
#define ECHO_PATH_CHOICE_H

#include "echo-topology.h"

#include "ns3/object.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a device decides on when ways of equal length lead to a flow's destination. */
struct FlowHop
{
    DeviceId at; //!< the device that forwards
    DeviceId source;
    DeviceId destination;
    uint64_t label{0}; //!< tells flows of a pair apart, as a UDP source port does
};

/**
 * How flows are spread over ways of equal length: a policy of the Router, asked once for each flow
 * and device, so that a flow keeps its way. All fidelities use the same.
 */
class PathChoice : public Object
{
  public:
    static TypeId GetTypeId();

    /**
     * @return a new object of the TypeId @p type, prepared
     * @throws InputError if there is no such path choice
     */
    static Ptr<PathChoice> Make(const std::string& type, TopologyPtr topology, uint64_t seed);

    /** @return a number below @p candidates, which is 2 or more: the port to take */
    virtual size_t Choose(const FlowHop& hop, size_t candidates) const = 0;

  private:
    virtual void DoPrepare(const Topology& topology, uint64_t seed) = 0;
};

/**
 * Per-flow ECMP (RFC 2992): a hash of source, destination and label with a seed of its own in each
 * device. With one seed for all, flows that took the same port at the first switch would take the
 * same at the next, and half of the ways stay empty.
 */
class EcmpPathChoice : public PathChoice
{
  public:
    static TypeId GetTypeId();
    size_t Choose(const FlowHop& hop, size_t candidates) const override;

  protected:
    void DoPrepare(const Topology& topology, uint64_t seed) override;

  private:
    uint64_t m_seed{1}; //!< switch s hashes with a seed derived from (seed, s)
};

/**
 * Static routes by destination (D-mod-k; Zahavi et al., "Optimized InfiniBand fat-tree routing for
 * shift all-to-all communication patterns", Concurrency and Computation 2010): NICs are numbered
 * leaf by leaf in the order of the leaf's ports; up from a leaf goes port (number mod ports), up
 * from a spine (number / uplinks of a leaf) mod ports; on the way down, parallel links are told
 * apart by the same digit as on the way up. So a shift by any distance on a whole tree meets no
 * collision; where all NICs of a host share a leaf with as many uplinks, each rail has a spine of
 * its own. NICs with several ports hash, as EcmpPathChoice.
 */
class StaticPathChoice : public EcmpPathChoice
{
  public:
    static TypeId GetTypeId();
    size_t Choose(const FlowHop& hop, size_t candidates) const override;

  private:
    void DoPrepare(const Topology& topology, uint64_t seed) override;
    /** @return what divides the number at a device; 0: it hashes */
    uint64_t DivisorAt(const FlowHop& hop) const;

    std::vector<DeviceRole> m_roles;            //!< by device
    std::vector<uint64_t> m_number;             //!< by device: of NICs
    std::vector<DeviceId> m_leafOf;             //!< by device: of NICs
    std::vector<std::vector<DeviceId>> m_below; //!< by device: leaves joined to a spine, sorted
    uint64_t m_leafUplinks{1};                  //!< most of a leaf
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_PATH_CHOICE_H */
