// SPDX-License-Identifier: GPL-2.0-only
#include "echo-backend-helper.h"

#include "ns3/boolean.h"
#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-derived-cost-model.h"
#include "ns3/echo-error.h"
#include "ns3/echo-flow-network.h"
#include "ns3/echo-hybrid-backend.h"
#include "ns3/echo-least-cost-selector.h"
#include "ns3/echo-nccl-selector.h"
#include "ns3/echo-packet-network.h"
#include "ns3/echo-profile-reader.h"
#include "ns3/echo-scheduled-backend.h"
#include "ns3/echo-settings-selector.h"
#include "ns3/echo-shortest-path-router.h"
#include "ns3/echo-white-box-cost-model.h"
#include "ns3/echo-yaml.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace echo
{

namespace
{

/** @return the TypeId of a congestion control as scenarios name it */
std::string CongestionControlType(const std::string& name)
{
    if (name == "none")
    {
        return "ns3::echo::FixedRate";
    }
    if (name == "dcqcn")
    {
        return "ns3::echo::Dcqcn";
    }
    throw InputError({"", 0, "congestion control"}, "'" + name + "'", "dcqcn or none");
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
    m_router = CreateObject<ShortestPathRouter>();
    m_router->SetAttribute("Seed", UintegerValue(settings.seed));
    m_router->Prepare(cluster.topology);

    Ptr<CollectiveSelector> selector;
    Ptr<DerivedCostModel> derived = CreateObject<DerivedCostModel>();
    derived->SetAttribute("Mtu", UintegerValue(settings.network.mtuBytes));
    derived->SetRouter(m_router);
    if (settings.profile.empty())
    {
        m_costModel = derived;
        Ptr<LeastCostSelector> leastCost = CreateObject<LeastCostSelector>();
        leastCost->Set(CreateObject<FixedSelector>(), derived);
        selector = leastCost;
    }
    else
    {
        Ptr<WhiteBoxCostModel> whiteBox = CreateObject<WhiteBoxCostModel>();
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

Ptr<NetworkModel> EchoBackendHelper::CreateNetwork(Fidelity fidelity, RecordSink* sink)
{
    Ptr<NetworkModel> network;
    if (fidelity == Fidelity::PACKET)
    {
        network = CreateObject<PacketNetwork>();
        network->SetAttribute("Mtu", UintegerValue(m_settings.network.mtuBytes));
        network->SetAttribute("Lossless", BooleanValue(m_settings.network.pfc));
        network->SetAttribute(
            "CongestionControl",
            StringValue(CongestionControlType(m_settings.network.congestionControl)));
    }
    else
    {
        network = CreateObject<FlowNetwork>();
    }
    network->Prepare(m_router, sink);
    m_networks.push_back(network);
    return network;
}

Ptr<ScheduledBackend> EchoBackendHelper::CreateScheduled(Fidelity fidelity, RecordSink* sink)
{
    Ptr<ScheduledBackend> backend = CreateObject<ScheduledBackend>();
    // Inside hosts links are fluid in every fidelity: NVLink has no queues worth simulating.
    Ptr<NetworkModel> intraHost = CreateNetwork(Fidelity::FLOW, sink);
    Ptr<NetworkModel> interHost =
        fidelity == Fidelity::FLOW ? intraHost : CreateNetwork(fidelity, sink);
    backend->SetNetworks(intraHost, interHost);
    return backend;
}

Ptr<CollectiveBackend> EchoBackendHelper::Create(Fidelity fidelity,
                                                 Ptr<FidelityPolicy> policy,
                                                 RecordSink* sink)
{
    Ptr<CollectiveBackend> backend;
    switch (fidelity)
    {
    case Fidelity::ANALYTICAL:
    {
        Ptr<AnalyticalBackend> analytical = CreateObject<AnalyticalBackend>();
        analytical->SetCostModel(m_costModel);
        analytical->SetRouter(m_router);
        backend = analytical;
        break;
    }
    case Fidelity::FLOW:
    case Fidelity::PACKET:
    {
        Ptr<ScheduledBackend> scheduled = CreateScheduled(fidelity, sink);
        scheduled->SetRouter(m_router);
        backend = scheduled;
        break;
    }
    case Fidelity::HYBRID:
    {
        Ptr<HybridBackend> hybrid = CreateObject<HybridBackend>();
        hybrid->SetPolicy(policy);
        policy->SetCostModel(m_costModel);
        hybrid->SetRouter(m_router);
        Ptr<AnalyticalBackend> analytical = CreateObject<AnalyticalBackend>();
        analytical->SetCostModel(m_costModel);
        for (const auto& [served, child] : std::map<Fidelity, Ptr<CollectiveBackend>>{
                 {Fidelity::ANALYTICAL, analytical},
                 {Fidelity::FLOW, CreateScheduled(Fidelity::FLOW, sink)},
                 {Fidelity::PACKET, CreateScheduled(Fidelity::PACKET, sink)}})
        {
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
        sum.liveFlows += totals.liveFlows;
        if (!totals.congestionControl.empty())
        {
            sum.congestionControl = totals.congestionControl;
        }
    }
    return sum;
}

} // namespace echo
} // namespace ns3
