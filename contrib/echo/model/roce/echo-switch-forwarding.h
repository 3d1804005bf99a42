// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_SWITCH_FORWARDING_H
#define ECHO_SWITCH_FORWARDING_H

#include "echo-load-balancer.h"

#include "ns3/echo-router.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{
namespace echo
{

/**
 * Forwarding in one switch, for networks in which ways are not known when a queue pair is made:
 * packets may each take another (LoadBalancer), or links may fail. Groups of ports are looked up in
 * the Router when first needed.
 */
class SwitchForwarding
{
  public:
    /** @return the RocePort with a topology's number */
    using PortFunction = std::function<RocePort*(PortId port)>;

    /** @param balancer null: all packets of a flow take the Router's way */
    SwitchForwarding(Ptr<Router> router,
                     DeviceId self,
                     Ptr<LoadBalancer> balancer,
                     PortFunction getPort);

    /** @return the port by which @p packet leaves; null if no way is known */
    RocePort* Choose(const RocePacket& packet, int64_t now);

    /** The Router's ways have changed. */
    void Forget();

  private:
    const PortGroup& FindGroup(DeviceId destination);

    Ptr<Router> m_router;
    DeviceId m_self;
    Ptr<LoadBalancer> m_balancer;
    PortFunction m_getPort;
    std::vector<const PortGroup*> m_byDestination; //!< by DeviceId; null: not looked up
    std::map<std::vector<PortId>, std::unique_ptr<PortGroup>> m_groups; //!< distinct ones
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_SWITCH_FORWARDING_H */
