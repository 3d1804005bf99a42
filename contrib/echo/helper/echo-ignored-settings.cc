// SPDX-License-Identifier: GPL-2.0-only
#include "echo-ignored-settings.h"

#include "echo-backend-helper.h"

#include "ns3/echo-congestion-control.h"
#include "ns3/echo-error.h"
#include "ns3/echo-load-balancer.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-roce-channel.h"
#include "ns3/echo-roce-port.h"
#include "ns3/echo-roce-switch.h"
#include "ns3/echo-scenario-reader.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

const char* const LOSS_RATE = "ns3::echo::PacketNetwork::LossRate";

/** @return attributes of what only packets have that differ from their defaults, sorted */
std::vector<std::string> FindChangedAttributes()
{
    const std::vector<TypeId> ofPackets{PacketNetwork::GetTypeId(),
                                        RoceSwitch::GetTypeId(),
                                        RocePort::GetTypeId(),
                                        RoceChannel::GetTypeId(),
                                        CongestionControl::GetTypeId(),
                                        LoadBalancer::GetTypeId()};
    std::vector<std::string> changed;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        const bool isOfPackets =
            std::any_of(ofPackets.begin(), ofPackets.end(), [&type](const TypeId& parent) {
                return type == parent || type.IsChildOf(parent);
            });
        for (size_t a = 0; isOfPackets && a < type.GetAttributeN(); ++a)
        {
            const TypeId::AttributeInformation attribute = type.GetAttribute(a);
            if (attribute.initialValue->SerializeToString(attribute.checker) !=
                attribute.originalInitialValue->SerializeToString(attribute.checker))
            {
                changed.push_back(type.GetAttributeFullName(a));
            }
        }
    }
    std::sort(changed.begin(), changed.end());
    return changed;
}

/** @return a list for a sentence */
std::string Join(const std::vector<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
    {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

/** @return keys that differ from their defaults and that the fidelity takes no heed of */
std::vector<std::string> FindChangedKeys(const Scenario& scenario, bool isTrain)
{
    const NetworkSettings& network = scenario.network;
    std::vector<std::string> changed;
    const bool isMeasured = scenario.fidelity == Fidelity::ANALYTICAL && !scenario.profile.empty();
    if (network.mtuBytes != NetworkSettings().mtuBytes &&
        (scenario.fidelity == Fidelity::FLOW || isMeasured))
    {
        changed.push_back("network.mtu");
    }
    if (scenario.collective.chunkBytes > 0 && isMeasured)
    {
        changed.push_back("collective.chunk");
    }
    if (KnowsCongestionControl(network.congestionControl))
    {
        changed.push_back("network.congestion_control");
    }
    if (!network.pfc && !isTrain) // trains may have no pauses either
    {
        changed.push_back("network.pfc");
    }
    if (!network.classes.empty())
    {
        changed.push_back("network.classes");
    }
    return changed;
}

/**
 * @throws UnsupportedError for loss where not all communications are packets: hybrid fidelity
 * leaves to estimates what meets nobody, has samples or no rule
 */
void RefuseLoss()
{
    const std::vector<std::string> changed = FindChangedAttributes();
    if (std::count(changed.begin(), changed.end(), LOSS_RATE) > 0)
    {
        throw UnsupportedError(std::string(LOSS_RATE) +
                               ": estimates, flows and trains have no packets to lose; take "
                               "fidelity packet");
    }
}

} // namespace

std::vector<std::string> DescribeIgnoredSettings(const Scenario& scenario)
{
    if (scenario.fidelity == Fidelity::PACKET)
    {
        return {};
    }
    RefuseLoss();
    std::vector<std::string> sentences;
    const std::string& balancing =
        EchoBackendHelper::GetLoadBalancing(scenario.network, scenario.cluster);
    if (LookupPolicy(balancing, LoadBalancer::GetTypeId(), "Balancer") ==
        FlowletBalancer::GetTypeId())
    {
        sentences.push_back("load balancing '" + balancing +
                            "' moves packets to other ways: what is not simulated as packets keeps "
                            "the way of ecmp");
    }
    // Where it has packets, what matters runs as such.
    if (scenario.fidelity != Fidelity::HYBRID || scenario.hybrid.contended == "flow")
    {
        const std::vector<std::string> ofPackets = DescribeSettingsOfPackets(scenario);
        sentences.insert(sentences.end(), ofPackets.begin(), ofPackets.end());
    }
    return sentences;
}

std::vector<std::string> DescribeSettingsOfPackets(const Scenario& scenario)
{
    std::vector<std::string> changed = FindChangedAttributes();
    const bool isHybrid = scenario.fidelity == Fidelity::HYBRID;
    const std::vector<std::string> keys = FindChangedKeys(scenario, isHybrid);
    changed.insert(changed.begin(), keys.begin(), keys.end());
    if (changed.empty())
    {
        return {};
    }
    const std::string who = isHybrid ? "trains of packets (hybrid.contended: flow) and estimates"
                            : scenario.fidelity == Fidelity::FLOW ? "flows"
                                                                  : "estimates";
    return {who + " take no heed of " + Join(changed) +
            ": packet fidelity simulates what that costs"};
}

} // namespace echo
} // namespace ns3
