// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SHORTEST_PATH_ROUTER_H
#define ECHO_SHORTEST_PATH_ROUTER_H

#include "echo-router.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * All ways with the fewest links, for any graph.
 *
 * Fabric plane: destinations that are attached to the same switches share one table of next hops
 * over all switches, made when first asked for, so memory grows with switches times groups of
 * attachment (leaves), not with hosts squared. NICs never forward.
 *
 * Host plane: a table per GPU over the devices of its host. Another GPU forwards only where that is
 * strictly shorter than every way over switches, or the only way (DGX-1: hybrid cube mesh).
 */
class ShortestPathRouter : public Router
{
  public:
    static TypeId GetTypeId();

    void Prepare(TopologyPtr topology) override;
    void GetNextHops(DeviceId at, DeviceId destination, std::vector<PortId>& ports) const override;

    /** @return tables made so far, for tests of the memory's growth */
    uint32_t GetTableCount() const;
    /** @return bytes held by tables and port lists */
    uint64_t GetTableBytes() const;

  protected:
    void OnLinksChanged() override;

  private:
    using PortList = std::vector<PortId>;

    /** Ways to one group of destinations. */
    struct Table
    {
        std::vector<uint32_t> distance; //!< links to the destination, by number in its plane
        std::vector<uint32_t> list;     //!< port list by number in its plane
    };

    void NumberSwitches();
    /** Groups NICs by the switches that they are attached to. */
    void PrepareFabric();
    void PrepareHosts();
    const Table& FabricTable(uint32_t group) const;
    const Table& HostTable(DeviceId gpu) const;
    void NextHopsFromNic(DeviceId nic, DeviceId destination, PortList& ports) const;
    bool IsSwitch(DeviceId device) const;
    uint32_t ListId(const PortList& ports) const;

    std::vector<uint32_t> m_number;               //!< device -> number in its plane
    std::vector<DeviceId> m_switches;             //!< fabric switches by number
    std::vector<std::vector<DeviceId>> m_inHosts; //!< GPUs and switches inside a host, by number
    std::vector<uint32_t> m_groupOf;              //!< NIC -> attachment group
    std::vector<std::vector<DeviceId>> m_groups;  //!< attachment group -> its switches, sorted

    mutable std::vector<Table> m_fabricTables;      //!< by attachment group; empty: not made
    mutable std::vector<Table> m_hostTables;        //!< by device; empty: not made
    mutable std::vector<PortList> m_lists;          //!< distinct port lists; the first is empty
    mutable std::map<PortList, uint32_t> m_listIds; //!< port list -> index in m_lists
    mutable uint32_t m_tableCount{0};               //!< tables made
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SHORTEST_PATH_ROUTER_H */
