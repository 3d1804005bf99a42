// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_BACKEND_HELPER_H
#define ECHO_BACKEND_HELPER_H

#include "ns3/echo-analytical-backend.h"
#include "ns3/echo-background-traffic.h"
#include "ns3/echo-cluster.h"
#include "ns3/echo-collective-backend.h"
#include "ns3/echo-cost-model.h"
#include "ns3/echo-fidelity-policy.h"
#include "ns3/echo-network-model.h"
#include "ns3/echo-scenario.h"
#include "ns3/echo-scheduled-backend.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace echo
{

/** What a back end is assembled from, beside cluster and placement. */
struct BackendSettings
{
    uint64_t seed{1};
    std::string profile;    //!< estimator profile file; empty: derived from link rates and delays
    bool sharesLinks{true}; //!< analytical: see AnalyticalBackend's attribute ShareLinks
    bool issuesAsMeasured{true}; //!< see WhiteBoxCostModel's attribute IssueAsMeasured
    CollectiveSettings collective;
    NetworkSettings network;
    std::vector<LinkEvent> failures;     //!< packet and flow fidelity only
    std::vector<TrafficSpec> background; //!< packet and flow fidelity only
};

/**
 * Assembles the back end of a fidelity: a fidelity is nothing but an assembly of back ends, models
 * of the network, a selector and a cost model. One object serves one run.
 */
class EchoBackendHelper
{
  public:
    /** @throws InputError if the profile cannot be read */
    EchoBackendHelper(const Cluster& cluster,
                      PlacementPtr placement,
                      const BackendSettings& settings);

    /**
     * @param policy for HYBRID; not used otherwise
     * @param sink gets collectives and flows; may be null; outlives the back end
     */
    Ptr<CollectiveBackend> Create(Fidelity fidelity, Ptr<FidelityPolicy> policy, RecordSink* sink);

    /** Starts the settings' background traffic; after Create. @p isWanted as BackgroundTraffic */
    void StartBackground(std::function<bool()> isWanted);

    /** @return what the models of the network know of why messages did not arrive, in lines */
    std::string DescribeTrouble() const;

    /** @return sums over the models of the network made so far */
    NetworkTotals GetTotals() const;

    /** @return the scenario's load balancing, or the cluster's where it names none */
    static const std::string& GetLoadBalancing(const NetworkSettings& settings,
                                               const Cluster& cluster);

    Ptr<Router> GetRouter() const
    {
        return m_router;
    }

    Ptr<CollectiveSelector> GetSelector() const
    {
        return m_selector;
    }

    Ptr<CostModel> GetCostModel() const
    {
        return m_costModel;
    }

  private:
    /** @param isHybrid flows are trains of packets (TrainNetwork) */
    Ptr<ScheduledBackend> CreateScheduled(Fidelity fidelity, RecordSink* sink, bool isHybrid);
    Ptr<NetworkModel> CreateTrainNetwork(RecordSink* sink);
    /** @param takesOneWay messages are divided where packets are spread */
    Ptr<NetworkModel> PrepareNetwork(Ptr<NetworkModel> network, bool takesOneWay, RecordSink* sink);
    Ptr<NetworkModel> CreateNetwork(Fidelity fidelity, RecordSink* sink);
    /** Estimates of a profile take no less than the network does alone: hybrid runs mix both. */
    void BoundCosts();
    Ptr<AnalyticalBackend> CreateAnalytical() const;
    Ptr<NetworkModel> CreatePacketNetwork() const;
    Ptr<Router> MakeRouter(TopologyPtr topology) const;
    Ptr<NetworkModel> CreateFlowNetwork() const;

    PlacementPtr m_placement;                         //!< ranks on GPUs
    BackendSettings m_settings;                       //!< as given
    Fidelity m_fidelity{Fidelity::ANALYTICAL};        //!< of the back end
    Ptr<Router> m_router;                             //!< of estimates and plans: all links up
    Ptr<Router> m_liveRouter;                         //!< of networks, whose links may fail
    Ptr<CostModel> m_costModel;                       //!< calibrated or derived
    Ptr<CostModel> m_idleCosts;                       //!< derived: of a network that is idle
    Ptr<CollectiveSelector> m_selector;               //!< one choice for all fidelities
    std::vector<Ptr<NetworkModel>> m_networks;        //!< made so far
    std::vector<Ptr<BackgroundTraffic>> m_background; //!< started
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_BACKEND_HELPER_H */
