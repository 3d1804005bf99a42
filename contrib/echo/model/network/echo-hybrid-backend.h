// SPDX-License-Identifier: GPL-2.0-only
#ifndef ECHO_HYBRID_BACKEND_H
#define ECHO_HYBRID_BACKEND_H

#include "echo-collective-backend.h"
#include "echo-fidelity-policy.h"
#include "echo-footprint-tracker.h"

#include <map>

namespace ns3
{
namespace echo
{

/**
 * Forwards each instance to the back end that a policy names. Traffic that one model serves is
 * invisible to the others: instances that share fabric links at the same time but are served by
 * different models are marked `uncoupled`.
 */
class HybridBackend : public CollectiveBackend
{
  public:
    static TypeId GetTypeId();
    HybridBackend();
    ~HybridBackend() override;

    void SetPolicy(Ptr<FidelityPolicy> policy);
    /** Adds the back end that serves a fidelity; it must be prepared, without a sink. */
    void AddBackend(Fidelity fidelity, Ptr<CollectiveBackend> backend);
    /** For footprints; the same router as the models of the network use. */
    void SetRouter(Ptr<Router> router);

    void ReportLinks(RecordSink& sink, Time duration) const override;
    Fidelity GetFidelity() const override;

  protected:
    void DoDispose() override;

  private:
    void DoPrepare() override;
    void DoStart(const InstancePtr& instance) override;
    void DoFinish(const InstancePtr& instance) override;

    Ptr<FidelityPolicy> m_policy;                          //!< decides
    std::map<Fidelity, Ptr<CollectiveBackend>> m_backends; //!< serve
    Ptr<Router> m_router;                                  //!< for footprints
    FootprintTracker m_tracker;                            //!< of active instances
};

} // namespace echo
} // namespace ns3

#endif /* ECHO_HYBRID_BACKEND_H */
