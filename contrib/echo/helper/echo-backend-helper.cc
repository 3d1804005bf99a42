// SPDX-License-Identifier: GPL-2.0-only
#include "echo-backend-helper.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-bounded-cost-model.h"
#include "ns3/echo-derived-cost-model.h"
#include "ns3/echo-error.h"
#include "ns3/echo-flow-network.h"
#include "ns3/echo-hybrid-backend.h"
#include "ns3/echo-least-cost-selector.h"
#include "ns3/echo-load-balancer.h"
#include "ns3/echo-nccl-selector.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-policy.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-scheduled-backend.h"
#include "ns3/echo-settings-selector.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-spread-network.h"
#include "ns3/echo-train-network.h"
#include "ns3/echo-white-box-cost-model.h"
#include "ns3/echo-yaml.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <optional>
#include <utility>

namespace ns3
{
namespace echo
{

namespace
{

/** @return what chooses a way once for each flow; nothing if that is another's matter */
std::optional<TypeId> FindPathChoice(const std::string& loadBalancing)
{
    return LookupPolicy(loadBalancing, PathChoice::GetTypeId(), "PathChoice");
}

/** @return whether packets choose their ports one by one: they fill equal ways evenly */
bool SpreadsPackets(const std::string& loadBalancing)
{
    const auto balancer = LookupPolicy(loadBalancing, LoadBalancer::GetTypeId(), "Balancer");
    return balancer == SprayBalancer::GetTypeId() || balancer == AdaptiveBalancer::GetTypeId();
}

/**
 * @return the ways of what takes one for all its packets
 *
 * Parts of what is spread take the others in turn, from the one that static routes say. A flowlet
 * keeps its way for long.
 */
TypeId PathChoiceFor(const std::string& loadBalancing)
{
    if (const auto pathChoice = FindPathChoice(loadBalancing))
    {
        return *pathChoice;
    }
    const auto balancer = LookupPolicy(loadBalancing, LoadBalancer::GetTypeId(), "Balancer");
    return balancer == FlowletBalancer::GetTypeId() ? EcmpPathChoice::GetTypeId()
                                                    : StaticPathChoice::GetTypeId();
}

std::vector<TrafficClass> ClassesOf(const NetworkSettings& settings)
{
    std::vector<TrafficClass> classes;
    for (const TrafficClassSettings& settingsOfOne : settings.classes)
    {
        classes.push_back({settingsOfOne.strict, settingsOfOne.weight});
    }
    return classes.empty() ? std::vector<TrafficClass>(1) : classes;
}

/** @return class by kind of group; what no class names is of the last */
std::map<GroupKind, uint8_t> ClassOfGroups(const NetworkSettings& settings)
{
    std::map<GroupKind, uint8_t> result;
    for (uint8_t kind = 0; !settings.classes.empty() && kind <= uint8_t(GroupKind::OTHER); ++kind)
    {
        result[static_cast<GroupKind>(kind)] = static_cast<uint8_t>(settings.classes.size() - 1);
    }
    for (size_t c = 0; c < settings.classes.size(); ++c)
    {
        for (const GroupKind kind : settings.classes[c].groups)
        {
            result[kind] = static_cast<uint8_t>(c);
        }
    }
    return result;
}

CollectiveChoice ChoiceOf(const CollectiveSettings& settings)
{
    CollectiveChoice choice;
    choice.algorithm = settings.algorithm;
    choice.protocol = settings.protocol;
    choice.channels = settings.channels;
    choice.chunkBytes = settings.chunkBytes;
    return choice;
}

} // namespace

EchoBackendHelper::EchoBackendHelper(const Cluster& cluster,
                                     PlacementPtr placement,
                                     const BackendSettings& settings)
    : m_placement(std::move(placement)), m_settings(settings)
{
    m_settings.network.loadBalancing = GetLoadBalancing(settings.network, cluster);
    m_router = MakeRouter(cluster.topology);
    m_liveRouter = settings.failures.empty() ? m_router : m_router->CopyWithAllLinksUp();

    Ptr<CollectiveSelector> selector;
    Ptr<DerivedCostModel> derived = CreateObject<DerivedCostModel>();
    m_idleCosts = derived;
    derived->SetAttribute("Mtu", UintegerValue(settings.network.mtuBytes));
    derived->SetRouter(m_router);
    if (settings.profile.empty())
    {
        m_costModel = derived;
        Ptr<LeastCostSelector> leastCost = CreateObject<LeastCostSelector>();
        Ptr<FixedSelector> fixed = CreateObject<FixedSelector>();
        if (settings.collective.chunkBytes > 0) // compared as they will be carried out
        {
            fixed->SetAttribute("ChunkBytes", UintegerValue(settings.collective.chunkBytes));
        }
        leastCost->Set(fixed, derived);
        selector = leastCost;
    }
    else
    {
        Ptr<WhiteBoxCostModel> whiteBox = CreateObject<WhiteBoxCostModel>();
        whiteBox->SetAttribute("IssueAsMeasured", BooleanValue(settings.issuesAsMeasured));
        whiteBox->SetProfile(std::make_shared<const MachineProfile>(
            ReadProfile(YamlNode::LoadFile(settings.profile))));
        whiteBox->SetFallback(derived);
        m_costModel = whiteBox;
        Ptr<NcclSelector> nccl = CreateObject<NcclSelector>();
        nccl->SetCostModel(whiteBox);
        selector = nccl;
    }
    Ptr<SettingsSelector> chosen = CreateObject<SettingsSelector>();
    chosen->Set(selector, ChoiceOf(settings.collective));
    m_selector = chosen;
}

const std::string& EchoBackendHelper::GetLoadBalancing(const NetworkSettings& settings,
                                                       const Cluster& cluster)
{
    return settings.loadBalancing.empty() ? cluster.loadBalancing : settings.loadBalancing;
}

Ptr<Router> EchoBackendHelper::MakeRouter(TopologyPtr topology) const
{
    Ptr<Router> router = CreateObject<ShortestPathRouter>();
    router->SetAttribute("Seed", UintegerValue(m_settings.seed));
    router->SetAttribute("PathChoice",
                         StringValue(PathChoiceFor(m_settings.network.loadBalancing).GetName()));
    router->SetAttribute("Spread", BooleanValue(SpreadsPackets(m_settings.network.loadBalancing)));
    router->Prepare(topology);
    return router;
}

Ptr<NetworkModel> EchoBackendHelper::CreatePacketNetwork() const
{
    const NetworkSettings& settings = m_settings.network;
    Ptr<PacketNetwork> network = CreateObject<PacketNetwork>();
    network->SetAttribute("Mtu", UintegerValue(settings.mtuBytes));
    network->SetAttribute("Lossless", BooleanValue(settings.pfc));
    network->SetAttribute("CongestionControl", StringValue(settings.congestionControl));
    network->SetAttribute("RerouteDelay", TimeValue(settings.rerouteDelay));
    // Other traffic would go on beside a job that cannot.
    network->SetAttribute("WatchForDeadlock", BooleanValue(!m_settings.background.empty()));
    if (const std::string& name = settings.loadBalancing; !FindPathChoice(name))
    {
        const auto balancer = LookupPolicy(name, LoadBalancer::GetTypeId(), "Balancer");
        network->SetAttribute("LoadBalancer", StringValue(balancer ? balancer->GetName() : name));
    }
    network->SetTrafficClasses(ClassesOf(settings));
    network->SetLinkEvents(m_settings.failures);
    return network;
}

Ptr<NetworkModel> EchoBackendHelper::CreateFlowNetwork() const
{
    Ptr<FlowNetwork> network = CreateObject<FlowNetwork>();
    if (m_fidelity == Fidelity::FLOW) // else it is for links inside hosts
    {
        network->SetAttribute("RerouteDelay", TimeValue(m_settings.network.rerouteDelay));
        network->SetLinkEvents(m_settings.failures);
    }
    return network;
}

Ptr<NetworkModel> EchoBackendHelper::CreateNetwork(Fidelity fidelity, RecordSink* sink)
{
    Ptr<NetworkModel> network;
    if (fidelity == Fidelity::PACKET)
    {
        network = CreatePacketNetwork();
    }
    else
    {
        network = CreateFlowNetwork();
    }
    return PrepareNetwork(network, fidelity != Fidelity::PACKET, sink);
}

Ptr<NetworkModel> EchoBackendHelper::PrepareNetwork(Ptr<NetworkModel> network,
                                                    bool takesOneWay,
                                                    RecordSink* sink)
{
    if (takesOneWay && SpreadsPackets(m_settings.network.loadBalancing))
    {
        Ptr<SpreadNetwork> spread = CreateObject<SpreadNetwork>();
        spread->SetAttribute("LeastBytes", UintegerValue(m_settings.network.mtuBytes));
        spread->Set(network);
        network = spread;
    }
    network->Prepare(m_liveRouter, sink);
    m_networks.push_back(network);
    return network;
}

Ptr<NetworkModel> EchoBackendHelper::CreateTrainNetwork(RecordSink* sink)
{
    Ptr<TrainNetwork> network = CreateObject<TrainNetwork>();
    network->SetAttribute("Mtu", UintegerValue(m_settings.network.mtuBytes));
    if (!m_settings.network.pfc)
    {
        network->SetAttribute("PfcAlpha", DoubleValue(0));
    }
    return PrepareNetwork(network, true, sink);
}

Ptr<ScheduledBackend> EchoBackendHelper::CreateScheduled(Fidelity fidelity,
                                                         RecordSink* sink,
                                                         bool isHybrid)
{
    Ptr<ScheduledBackend> backend = CreateObject<ScheduledBackend>();
    // Inside hosts links are fluid in every fidelity: NVLink has no queues worth simulating.
    Ptr<NetworkModel> intraHost = CreateNetwork(Fidelity::FLOW, sink);
    Ptr<NetworkModel> interHost;
    if (fidelity == Fidelity::PACKET)
    {
        interHost = CreateNetwork(fidelity, sink);
    }
    else
    {
        // Beside estimates flows stand for packets: they take as long as those.
        interHost = isHybrid ? CreateTrainNetwork(sink) : intraHost;
    }
    backend->SetNetworks(intraHost, interHost);
    backend->SetTrafficClasses(ClassOfGroups(m_settings.network));
    return backend;
}

void EchoBackendHelper::BoundCosts()
{
    if (!m_settings.profile.empty())
    {
        Ptr<BoundedCostModel> bounded = CreateObject<BoundedCostModel>();
        bounded->Set(m_costModel, m_idleCosts);
        m_costModel = bounded;
    }
}

Ptr<AnalyticalBackend> EchoBackendHelper::CreateAnalytical() const
{
    Ptr<AnalyticalBackend> analytical = CreateObject<AnalyticalBackend>();
    analytical->SetCostModel(m_costModel);
    if (!m_settings.sharesLinks)
    {
        analytical->SetAttribute("ShareLinks", BooleanValue(false));
    }
    return analytical;
}

Ptr<CollectiveBackend> EchoBackendHelper::Create(Fidelity fidelity,
                                                 Ptr<FidelityPolicy> policy,
                                                 RecordSink* sink)
{
    Ptr<CollectiveBackend> backend;
    m_fidelity = fidelity;
    // Packets that are balanced one by one, and what goes around failures, take ways of their own.
    const bool fixedWays =
        m_settings.failures.empty() &&
        (fidelity == Fidelity::FLOW || FindPathChoice(m_settings.network.loadBalancing));
    switch (fidelity)
    {
    case Fidelity::ANALYTICAL:
    {
        Ptr<AnalyticalBackend> analytical = CreateAnalytical();
        analytical->SetRouter(m_router);
        backend = analytical;
        break;
    }
    case Fidelity::FLOW:
    case Fidelity::PACKET:
    {
        Ptr<ScheduledBackend> scheduled = CreateScheduled(fidelity, sink, false);
        scheduled->SetRouter(m_router, fixedWays);
        backend = scheduled;
        break;
    }
    case Fidelity::HYBRID:
    {
        BoundCosts();
        Ptr<HybridBackend> hybrid = CreateObject<HybridBackend>();
        hybrid->SetPolicy(policy);
        policy->SetCostModel(m_costModel);
        hybrid->SetRouter(m_router, fixedWays);
        hybrid->SetCalibrated(m_settings.profile.empty() ? nullptr : m_costModel, m_idleCosts);
        for (const Fidelity served : {Fidelity::ANALYTICAL, Fidelity::FLOW, Fidelity::PACKET})
        {
            if (!policy->MayChoose(served))
            {
                continue;
            }
            Ptr<CollectiveBackend> child;
            if (served == Fidelity::ANALYTICAL)
            {
                child = CreateAnalytical();
            }
            else
            {
                child = CreateScheduled(served, sink, true);
            }
            child->Prepare(m_placement, m_selector, nullptr);
            hybrid->AddBackend(served, child);
        }
        backend = hybrid;
        break;
    }
    }
    backend->Prepare(m_placement, m_selector, sink);
    return backend;
}

void EchoBackendHelper::StartBackground(std::function<bool()> isWanted)
{
    // The model between hosts is made last.
    constexpr int64_t FIRST_STREAM = 900000;
    if (m_networks.empty() && !m_settings.background.empty())
    {
        throw UnsupportedError("background traffic needs a network: packet or flow fidelity");
    }
    for (const TrafficSpec& spec : m_settings.background)
    {
        m_background.push_back(CreateObject<BackgroundTraffic>());
        m_background.back()->Start(m_networks.back(),
                                   m_router->GetTopology(),
                                   spec,
                                   FIRST_STREAM + static_cast<int64_t>(m_background.size()),
                                   isWanted);
    }
}

std::string EchoBackendHelper::DescribeTrouble() const
{
    std::string text;
    for (const auto& network : m_networks)
    {
        text += network->DescribeTrouble();
    }
    return text;
}

NetworkTotals EchoBackendHelper::GetTotals() const
{
    NetworkTotals sum;
    for (const auto& network : m_networks)
    {
        const NetworkTotals totals = network->GetTotals();
        sum.packets += totals.packets;
        sum.packetHops += totals.packetHops;
        sum.drops += totals.drops;
        sum.pauses += totals.pauses;
        sum.ecnMarks += totals.ecnMarks;
        sum.cnps += totals.cnps;
        sum.liveFlows += totals.liveFlows;
        sum.lostBackground += totals.lostBackground;
        if (!totals.congestionControl.empty())
        {
            sum.congestionControl = totals.congestionControl;
            sum.zeroCounters = totals.zeroCounters;
        }
    }
    return sum;
}

} // namespace echo
} // namespace ns3
