// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HYBRID_BACKEND_H
#define ECHO_HYBRID_BACKEND_H

#include "echo-analytical-backend.h"
#include "echo-collective-backend.h"
#include "echo-contention-watch.h"
#include "echo-fidelity-policy.h"

#include "ns3/echo-cost-model.h"

#include <map>
#include <set>

namespace ns3
{
namespace echo
{

/**
 * Forwards each instance to the back end that a policy names, and finds out which instances slow
 * one another on fabric links. Traffic that one model serves is invisible to the others: instances
 * that are contended while not all are served by one model of the network are marked `uncoupled`.
 */
class HybridBackend : public CollectiveBackend
{
  public:
    static TypeId GetTypeId();

    /** To be called before Prepare, as the two below. */
    void SetPolicy(Ptr<FidelityPolicy> policy);
    /**
     * For footprints; the same router as the models of the network use.
     * @param fixedWays as FootprintCache::Prepare
     */
    void SetRouter(Ptr<Router> router, bool fixedWays = true);
    /**
     * With it, what an estimate holds beyond the network's time (launch, protocol, reduction)
     * delays transfers of the flow and packet levels, which leave that out, and no member is done
     * before the estimate ends: an instance that meets others is not faster than it is alone.
     * @param idle what the network takes when nothing else is on it: DerivedCostModel
     */
    void SetCalibrated(Ptr<CostModel> model, Ptr<CostModel> idle);
    /** Adds the back end that serves a fidelity; it is prepared already, without a sink. */
    void AddBackend(Fidelity fidelity, Ptr<CollectiveBackend> backend);

    /** @return the instances that were contended so far, whoever served them */
    const std::set<InstanceKey>& GetContended() const;
    /** @return of those that met others which another model served: the most detailed of theirs */
    const std::map<InstanceKey, Fidelity>& GetUncoupled() const;
    /** @return packets times fabric links that these would take, with full packets of @p mtuBytes
     */
    uint64_t GetContendedPacketHops(uint64_t mtuBytes) const;

    /** @return what the policy has to say of its choices */
    std::vector<std::string> GetNotes() const;

    void ReportLinks(RecordSink& sink, Time duration) const override;
    Fidelity GetFidelity() const override;
    /** While it has an analytical back end only. */
    bool CanFold() const override;

  protected:
    void DoDispose() override;

  private:
    Time DoEstimate(const CollectivePlan& plan, PlanFacts& facts) override;
    void DoPrepare() override;
    void DoStart(const InstancePtr& instance) override;
    void DoMemberDone(const InstancePtr& instance) override;
    /** Has the network simulate an instance, after what is not the network's time. */
    void StartBeside(Ptr<CollectiveBackend> child, const InstancePtr& instance);
    void MarkUncoupled(const std::vector<InstancePtr>& contended);

    Ptr<AnalyticalBackend> m_estimates; //!< if they share links: null where the policy parts them
    Ptr<FidelityPolicy> m_policy;       //!< decides
    std::map<Fidelity, Ptr<CollectiveBackend>> m_backends; //!< serve
    Ptr<Router> m_router;                                  //!< for footprints
    bool m_fixedWays{true};                                //!< see SetRouter
    Ptr<CostModel> m_calibrated;                           //!< null: estimates are the network's
    Ptr<CostModel> m_idle;                                 //!< costs of the network alone
    ContentionWatch m_watch;                               //!< over all models
    std::set<InstanceKey> m_contended;                     //!< so far
    std::map<InstanceKey, Fidelity> m_uncoupled;           //!< by SeriesKeyOf()
    double m_contendedBytes{0};                            //!< of these, over fabric links
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_HYBRID_BACKEND_H */
