// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_CLOS_BUILDER_H
#define ECHO_CLOS_BUILDER_H

#include "echo-topology-builder.h"

namespace ns3
{
namespace echo
{

/**
 * What fabrics of several tiers share: links between leaf and spine switches, and how many of them
 * a leaf has, given as a number or by its oversubscription (rate of its hosts / rate of its
 * uplinks).
 */
class ClosBuilder : public TopologyBuilder
{
  public:
    static TypeId GetTypeId();

  protected:
    /** Uplinks of a switch of one tier as the user gave them. */
    struct UplinkRequest
    {
        uint32_t uplinks;           //!< 0: from oversubscription
        double oversubscription;    //!< 0: not given; 1 if uplinks are not either
        const char* uplinksName;    //!< attribute, for messages
        const char* overName;       //!< attribute, for messages
        uint64_t downBitsPerSecond; //!< rate of the links below
        DataRate rate;              //!< of one uplink
    };

    /** @throws InputError if both are given, or the number is not whole */
    static uint32_t ResolveUplinks(const UplinkRequest& request);
    /** @return uplinks of a leaf with @p nics NICs below it */
    uint32_t GetLeafUplinks(uint32_t nics) const;
    /** @return rate of a link between leaf and spine: the attribute, or else the NIC's */
    DataRate GetLinkRate() const;

    Time GetLinkDelay() const
    {
        return m_linkDelay;
    }

    /** @throws InputError if @p switches of @p uplinks each are more links than a topology takes */
    static void RequireFewLinks(uint64_t switches, uint64_t uplinks, const char* name);

    /**
     * Joins a switch to all of @p above with the same number of links to each.
     * @throws InputError at @p name if @p uplinks cannot be shared out evenly
     */
    static void JoinUp(Topology& topology,
                       DeviceId below,
                       const std::vector<DeviceId>& above,
                       uint32_t uplinks,
                       DataRate rate,
                       Time delay,
                       const char* name);

    uint32_t m_uplinks{0};        //!< attribute Uplinks
    double m_oversubscription{0}; //!< attribute Oversubscription
    DataRate m_linkRate;          //!< attribute LinkRate
    Time m_linkDelay;             //!< attribute LinkDelay
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_CLOS_BUILDER_H */
