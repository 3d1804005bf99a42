// SPDX-License-Identifier: GPL-2.0-only
#include "echo-clos-builder.h"

#include "ns3/double.h"
#include "ns3/echo-error.h"
#include "ns3/echo-units.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <sstream>

namespace ns3
{
namespace echo
{

NS_OBJECT_ENSURE_REGISTERED(ClosBuilder);

TypeId ClosBuilder::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::echo::ClosBuilder")
            .SetParent<TopologyBuilder>()
            .SetGroupName("Echo")
            .AddAttribute("LinkRate",
                          "Rate of a link between leaf and spine, per direction; 0: as a NIC.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&ClosBuilder::m_linkRate),
                          MakeDataRateChecker())
            .AddAttribute("LinkDelay",
                          "Delay of a link between leaf and spine.",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&ClosBuilder::m_linkDelay),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Uplinks",
                          "Links of a leaf to spines, in all; 0: from Oversubscription.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&ClosBuilder::m_uplinks),
                          MakeUintegerChecker<uint32_t>(0, 4096))
            .AddAttribute(
                "Oversubscription",
                "Rate of a full leaf's NICs over the rate of its uplinks; 0: 1 if Uplinks "
                "is 0, else whatever they make.",
                DoubleValue(0),
                MakeDoubleAccessor(&ClosBuilder::m_oversubscription),
                MakeDoubleChecker<double>(0, 1e6));
    return tid;
}

DataRate ClosBuilder::GetLinkRate() const
{
    return m_linkRate.GetBitRate() > 0 ? m_linkRate : GetHost().GetNicRate();
}

uint32_t ClosBuilder::GetLeafUplinks(uint32_t nics) const
{
    return ResolveUplinks({m_uplinks,
                           m_oversubscription,
                           "Uplinks",
                           "Oversubscription",
                           nics * GetHost().GetNicRate().GetBitRate(),
                           GetLinkRate()});
}

uint32_t ClosBuilder::ResolveUplinks(const UplinkRequest& request)
{
    if (request.uplinks > 0)
    {
        if (request.oversubscription > 0)
        {
            throw InputError(
                {"", 0, request.overName}, "both uplinks and oversubscription", "one of them");
        }
        return request.uplinks;
    }
    const double over = request.oversubscription > 0 ? request.oversubscription : 1;
    const double exact = static_cast<double>(request.downBitsPerSecond) / over /
                         static_cast<double>(request.rate.GetBitRate());
    const double whole = std::round(exact);
    if (whole < 1 || std::abs(exact - whole) > 1e-9 * whole)
    {
        std::ostringstream found;
        found << exact << " uplinks (" << FormatRate(DataRate(request.downBitsPerSecond))
              << " from below, oversubscription " << over << ", " << FormatRate(request.rate)
              << " an uplink)";
        throw InputError({"", 0, request.overName}, found.str(), "a whole number of uplinks");
    }
    return static_cast<uint32_t>(whole);
}

void ClosBuilder::RequireFewLinks(uint64_t switches, uint64_t uplinks, const char* name)
{
    if (switches * uplinks > Topology::MAX_LINKS)
    {
        throw InputError({"", 0, name},
                         std::to_string(switches) + " switches of " + std::to_string(uplinks) +
                             " uplinks",
                         "at most " + std::to_string(Topology::MAX_LINKS) + " links");
    }
}

void ClosBuilder::JoinUp(Topology& topology,
                         DeviceId below,
                         const std::vector<DeviceId>& above,
                         uint32_t uplinks,
                         DataRate rate,
                         Time delay,
                         const char* name)
{
    if (uplinks % above.size() != 0)
    {
        throw InputError({"", 0, name},
                         std::to_string(uplinks) + " uplinks to " + std::to_string(above.size()) +
                             " switches",
                         "the same number of uplinks to each");
    }
    for (const DeviceId to : above)
    {
        for (uint32_t i = 0; i < uplinks / above.size(); ++i)
        {
            topology.AddLink(below, to, rate, delay);
        }
    }
}

} // namespace echo
} // namespace ns3
