// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_ROUTER_H
#define ECHO_ROUTER_H

#include "echo-path-choice.h"
#include "echo-topology.h"

#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** A link of the ways between two devices. */
struct PathPart
{
    PortId port;
    double part{1}; //!< of the bytes, that it carries
};

/**
 * Finds ways through the topology.
 *
 * Two planes that never mix: between NICs a path uses leaf, spine and core switches only; between
 * GPUs of one host it uses NVLink, NVSwitch and PCIe switches (and, where GPUs are not all joined,
 * other GPUs of that host).
 */
class Router : public Object
{
  public:
    static TypeId GetTypeId();

    /** Binds to a topology; to be called once, before anything else. */
    virtual void Prepare(TopologyPtr topology) = 0;

    /**
     * @param at the device that forwards
     * @param destination a NIC (fabric plane) or a GPU (host plane)
     * @param[out] ports all ports of @p at on shortest paths, in port order; empty: unreachable
     */
    virtual void GetNextHops(DeviceId at,
                             DeviceId destination,
                             std::vector<PortId>& ports) const = 0;

    /**
     * The port of @p at that a flow takes, by the PathChoice. The same flow takes the same port
     * always, as long as links stay as they are.
     * @return invalid if unreachable
     */
    PortId ChooseNextHop(DeviceId at, DeviceId source, DeviceId destination, uint64_t label) const;

    /** @return which of @p candidates (2 or more) next hops, in port order, the flow takes */
    size_t ChooseAmong(const FlowHop& hop, size_t candidates) const
    {
        return m_choice->Choose(hop, candidates);
    }

    /**
     * @param[out] path transmitting ports from source to destination, cleared first
     * @return false if unreachable
     */
    bool FindPath(DeviceId source,
                  DeviceId destination,
                  uint64_t label,
                  std::vector<PortId>& path) const;

    /** @return a router of the same type, attributes and topology, all of whose links are up */
    Ptr<Router> CopyWithAllLinksUp() const;

    /**
     * The links of all ways that a flow's bytes take: those of its path or, with attribute Spread
     * and between NICs, of all ways of equal length, divided evenly at each device.
     * @param[out] parts cleared first, each link once
     * @return false if unreachable
     */
    bool FindParts(DeviceId source,
                   DeviceId destination,
                   uint64_t label,
                   std::vector<PathPart>& parts) const;

    /** Most ways that WithWay tells apart. */
    static constexpr uint32_t MOST_WAYS = 16;

    /** @return into how many equal parts a flow is divided to be spread, 1 to MOST_WAYS */
    uint32_t CountWays(DeviceId source, DeviceId destination) const;

    /** @return the label of a part of a flow, from 0; parts take ways of equal length in turn */
    static uint64_t WithWay(uint64_t label, uint32_t way)
    {
        return label ^ uint64_t { way } << WAY_SHIFT;
    }

    /** From now on ways avoid the links (false) or use them again. All links are up at first. */
    void SetLinksUp(const std::vector<LinkId>& links, bool up);

    bool IsLinkUp(LinkId link) const
    {
        return m_down.empty() || !m_down[link.Get()];
    }

    /** @return how often links went or came: ways found before the last time may be no more */
    uint64_t GetChanges() const
    {
        return m_changes;
    }

    TopologyPtr GetTopology() const
    {
        return m_topology;
    }

  protected:
    void DoDispose() override;
    /** To be called by Prepare, when m_topology is set. @throws InputError */
    void MakePathChoice();
    /** Ways found so far are no longer valid. */
    virtual void OnLinksChanged() = 0;

    TopologyPtr m_topology; //!< set by Prepare
    uint64_t m_seed{1};     //!< attribute Seed: switch s hashes with a seed derived from (Seed, s)

  private:
    static constexpr uint32_t WAY_SHIFT = 56; //!< in labels, above the groups of any run

    /** @param[in,out] before ways to choose among up to here, or MOST_WAYS; with this hop's */
    PortId ChooseNextHop(const FlowHop& hop, uint64_t& before) const;
    /** @return which of several next hops a part of a spread flow takes */
    size_t ChooseWay(FlowHop hop, size_t candidates, uint64_t before) const;

    bool m_spreads{false};                    //!< attribute Spread
    uint64_t m_changes{0};                    //!< of links
    std::string m_choiceType;                 //!< attribute PathChoice
    Ptr<PathChoice> m_choice;                 //!< the policy
    std::vector<bool> m_down;                 //!< by link; empty: all are up
    mutable std::vector<PortId> m_candidates; //!< of the last choice; kept for its memory
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_ROUTER_H */
