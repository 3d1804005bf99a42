// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_GRAPH_BUILDER_H
#define ECHO_GRAPH_BUILDER_H

#include "echo-topology-builder.h"

#include "ns3/echo-error.h"

#include <optional>

namespace ns3
{
namespace echo
{

/** Any fabric, as a list of switches and links. NICs are named "host0/nic0". */
class GraphBuilder : public TopologyBuilder
{
  public:
    /** One line of the list; may stand for several parallel links. */
    struct LinkEntry
    {
        std::string a;
        std::string b;
        std::optional<DataRate> rate; //!< not given: the rate of the NIC at one end
        std::optional<Time> delay;    //!< not given: the delay of the NIC at one end
        uint32_t count{1};            //!< parallel links
        SourceLocation where;         //!< for messages
    };

    static TypeId GetTypeId();

    /** A switch; @p role is LEAF, SPINE or CORE. */
    void AddNode(const std::string& name, DeviceRole role, SourceLocation where = {});
    void AddLink(LinkEntry link);

  private:
    struct Node
    {
        std::string name;
        DeviceRole role;
        SourceLocation where;
    };

    void DoBuildFabric(Topology& topology, const NicTable& nics) const override;
    void AddLinkTo(Topology& topology, const LinkEntry& link) const;

    std::vector<Node> m_nodes;      //!< in order of adding
    std::vector<LinkEntry> m_links; //!< in order of adding
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_GRAPH_BUILDER_H */
